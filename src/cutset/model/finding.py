"""A finding: a minimal cut of a request, with its evidence and a name by which it can be replayed."""

import hashlib
from collections.abc import Iterable, Sequence
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
    return _minimal(_with_verdict(events, Verdict.FAILED))


def degradations_of(events: Iterable[CampaignEvent]) -> list[Finding]:
    """The minimal cuts under which a request is still answered, but with a part missing or a value wrong.

    Also where others take the same part away: each call that changes the answer is worth knowing. What survives only
    because more failed than a cut that fails it is told with that cut.
    """
    recorded = list(events)
    failing = _with_verdict(recorded, Verdict.FAILED)
    return [
        finding
        for finding in _minimal(_with_verdict(recorded, Verdict.DEGRADED))
        if not any(each.request == finding.request and each.cut <= finding.cut for each in failing)
    ]


def _with_verdict(events: Iterable[CampaignEvent], verdict: Verdict) -> list[Finding]:
    return [
        Finding(event.request, event.outcome)
        for event in events
        if isinstance(event, ExperimentFinished) and event.outcome.verdict is verdict and event.outcome.cut
    ]


def _minimal(found: Sequence[Finding]) -> list[Finding]:
    """Of those that were tried several times, the one with the most trials."""
    best = {(each.request, each.cut): each for each in sorted(found, key=lambda each: each.outcome.trials)}
    minimal = [
        finding
        for finding in best.values()
        if not any(other.request == finding.request and other.cut < finding.cut for other in found)
    ]
    return sorted(minimal, key=lambda finding: (finding.request, len(finding.cut), format_cut(finding.cut)))
