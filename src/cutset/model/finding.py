"""A finding: a minimal cut of a request, with its evidence and a name by which it can be replayed."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from cutset.model.event import Event, ExperimentFinished
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


def findings_of(events: Iterable[Event]) -> list[Finding]:
    """The minimal failing cuts of each request, the smallest first."""
    return _minimal(events, Verdict.FAILED)


def degradations_of(events: Iterable[Event]) -> list[Finding]:
    """The minimal cuts under which a request is still answered, but with a part missing."""
    return _minimal(events, Verdict.DEGRADED)


def _minimal(events: Iterable[Event], verdict: Verdict) -> list[Finding]:
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
