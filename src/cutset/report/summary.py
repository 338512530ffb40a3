"""What a campaign has shown so far, computed from its events alone: the common ground of all report formats."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutset.model.event import (
    CampaignFinished,
    CampaignStarted,
    Event,
    ExperimentFinished,
    RequestAudited,
    RequestFinished,
)
from cutset.model.fault import points_of
from cutset.model.finding import Finding, degradations_of, findings_of
from cutset.model.outcome import Outcome, Points, Verdict


@dataclass(frozen=True, slots=True)
class RequestSummary:
    name: str
    calls: Points
    not_reached: Points
    complete_up_to: int  # -1: nothing can be said
    problem: str  # why it is not complete up to the size that was asked for
    findings: tuple[Finding, ...]
    degradations: tuple[Finding, ...]
    undecided: tuple[Outcome, ...]
    experiments: int
    requests: int  # sent, repeats and re-checks included


@dataclass(frozen=True, slots=True)
class Summary:
    max_size: int
    replay: str  # the command that takes a finding's id and tries it again
    requests: tuple[RequestSummary, ...]
    finished: bool

    @property
    def findings(self) -> list[Finding]:
        return [finding for request in self.requests for finding in request.findings]

    @property
    def complete(self) -> bool:
        return self.finished and not any(request.problem or request.undecided for request in self.requests)


def summarise(events: Sequence[Event]) -> Summary:
    started = next((event for event in events if isinstance(event, CampaignStarted)), None)
    if started is None:
        return Summary(0, "", (), finished=False)
    ended = [event for event in events if isinstance(event, CampaignFinished)]
    requests = tuple(_summarise_request(name, events) for name in started.requests)
    return Summary(started.max_size, started.replay, requests, finished=bool(ended))


def _summarise_request(name: str, events: Sequence[Event]) -> RequestSummary:
    own = [
        event for event in events if not isinstance(event, CampaignStarted | CampaignFinished) and event.request == name
    ]
    audits = [event for event in own if isinstance(event, RequestAudited)]
    outcomes = [event.outcome for event in own if isinstance(event, ExperimentFinished)]
    ends = [event for event in own if isinstance(event, RequestFinished)]
    return RequestSummary(
        name=name,
        calls=frozenset().union(*(audit.calls for audit in audits), *(outcome.calls for outcome in outcomes)),
        not_reached=audits[-1].not_reached if audits else frozenset(),
        complete_up_to=ends[-1].complete_up_to if ends else -1,
        problem=ends[-1].reason if ends else "the campaign was interrupted",
        findings=tuple(findings_of(own)),
        degradations=tuple(degradations_of(own)),
        undecided=tuple(
            outcome
            for outcome in outcomes
            if outcome.verdict is Verdict.UNKNOWN and (not ends or points_of(outcome.cut) in ends[-1].undecided)
        ),
        experiments=len(outcomes),
        requests=sum(outcome.requests for outcome in outcomes),
    )
