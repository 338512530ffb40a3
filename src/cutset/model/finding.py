"""A finding: a minimal cut of a request, with its evidence and a name by which it can be replayed."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from cutset.model.event import CampaignEvent, ExperimentFinished
from cutset.model.fault import Cut, format_cut
from cutset.model.outcome import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Finding:
    request: str
    outcome: Outcome

    @property
    def cut(self) -> Cut:
        return self.outcome.cut

    @property
    def id(self) -> str:
        """The same in every campaign, so that a replay or a later run can be compared."""
        return hashlib.sha256(f"{self.request}\n{format_cut(self.cut)}".encode()).hexdigest()[:8]


def findings_of(events: Iterable[CampaignEvent]) -> list[Finding]:
    """The minimal failing cuts of each request, the smallest first."""
    return _minimal(events, Verdict.FAILED)


def degradations_of(events: Iterable[CampaignEvent]) -> list[Finding]:
    """The smallest cuts under which a request is still answered, but with a part missing.

    Search injects large sets that it expects to survive, so that most of a degraded cut may have nothing to do with
    what is missing: where a smaller one shows the same, that one is meant.
    """
    found = _minimal(events, Verdict.DEGRADED)
    smallest: dict[tuple[str, str], int] = {}
    for each in found:
        key = (each.request, each.outcome.reason)
        smallest[key] = min(len(each.cut), smallest.get(key, len(each.cut)))
    return [each for each in found if len(each.cut) == smallest[each.request, each.outcome.reason]]


def _minimal(events: Iterable[CampaignEvent], verdict: Verdict) -> list[Finding]:
    found = [
        Finding(event.request, event.outcome)
        for event in events
        if isinstance(event, ExperimentFinished) and event.outcome.verdict is verdict and event.outcome.cut
    ]
    minimal = [
        finding
        for finding in found
        if not any(other.request == finding.request and other.cut < finding.cut for other in found)
    ]
    return sorted(minimal, key=lambda finding: (finding.request, len(finding.cut), format_cut(finding.cut)))
