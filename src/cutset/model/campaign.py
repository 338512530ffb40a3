"""A campaign: its events as they are recorded, and what they come to."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from cutset.model.event import CampaignEvent
from cutset.model.finding import Finding
from cutset.model.run import RunStarted
from cutset.model.summary import CampaignSummary, summarise


@dataclass(frozen=True)  # without slots, for what is computed once
class Campaign:
    id: str
    events: tuple[CampaignEvent, ...] = field(repr=False)

    @cached_property
    def summary(self) -> CampaignSummary:
        return summarise(self.events)

    @property
    def findings(self) -> list[Finding]:
        """The minimal cuts of all requests."""
        return self.summary.findings

    @property
    def complete(self) -> bool:
        """Whether each request is decided up to the size asked for, by experiments of its own."""
        return self.summary.complete

    @property
    def started(self) -> RunStarted:
        return next(event for event in self.events if isinstance(event, RunStarted))


def campaign_of(events: Iterable[CampaignEvent]) -> Campaign:
    """From all the events of one campaign, from its first on."""
    recorded = tuple(events)
    return Campaign(next(event.run for event in recorded if isinstance(event, RunStarted)), recorded)
