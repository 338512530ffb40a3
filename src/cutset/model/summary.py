"""What a campaign has shown so far, computed from its events alone: the common ground of all report formats."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutset.model.coverage import OutOfReach, Uncoverable
from cutset.model.event import (
    CampaignEvent,
    CampaignStarted,
    ExperimentFinished,
    RequestAudited,
    RequestFinished,
)
from cutset.model.fault import Cut
from cutset.model.finding import Finding, degradations_of, findings_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.quoting import quoted_tellingly
from cutset.model.run import RunFinished
from cutset.model.toleration import PointToleration, tolerations

INTERRUPTED = "the campaign was interrupted"


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
    rounds: int = 0
    assumption: str = ""  # what `complete_up_to` rests on
    exact_up_to: int = -1  # the part of it that rests on determinism alone
    masked: tuple[tuple[Cut, Cut], ...] = ()  # cuts that fail, each with a larger one that survives
    predicted: tuple[Cut, ...] = ()  # expected to fail, but not tried
    uncoverable: tuple[Uncoverable, ...] = ()  # no plan reaches these calls: `complete_up_to` is not about them
    outlived: Points = frozenset()  # calls that were faulted long after their request had ended
    varies: str = ""  # why one surviving request is no proof
    trials: int = 0  # then: so often, at least, was each surviving experiment repeated
    untried: Points = frozenset()  # calls that none of the effects is possible at
    tolerations: tuple[PointToleration, ...] = ()  # which effects at which call do what, each alone

    def is_minimal(self, finding: Finding) -> bool:
        """Whether it is proven that nothing smaller inside it fails."""
        return len(finding.cut) <= self.complete_up_to + 1


@dataclass(frozen=True, slots=True)
class CampaignSummary:
    started: CampaignStarted
    requests: tuple[RequestSummary, ...]
    finished: bool

    @property
    def findings(self) -> list[Finding]:
        return [finding for request in self.requests for finding in request.findings]

    @property
    def degradations(self) -> list[Finding]:
        return [finding for request in self.requests for finding in request.degradations]

    @property
    def complete(self) -> bool:
        """Whether each request is decided up to the size asked for, by experiments of its own."""
        return self.finished and not any(
            request.problem or request.undecided or request.predicted for request in self.requests
        )

    @property
    def out_of_reach(self) -> bool:
        """Whether some service is called in a way that cannot be tested, or in none of the ways that were asked for."""
        return any(request.untried or any(each.is_service for each in request.uncoverable) for request in self.requests)

    @property
    def outlived(self) -> Points:
        """Calls that were faulted long after their request had ended: those of others may have been among them."""
        return frozenset().union(*(request.outlived for request in self.requests))

    @property
    def requests_per_experiment(self) -> float:
        experiments = sum(request.experiments for request in self.requests)
        return sum(request.requests for request in self.requests) / max(experiments, 1)


def summarise(events: Sequence[CampaignEvent]) -> CampaignSummary:
    """A campaign that was resumed has several starts: what holds is the latest."""
    starts = [number for number, event in enumerate(events) if isinstance(event, CampaignStarted)]
    if not starts:
        return CampaignSummary(CampaignStarted(requests=(), max_size=0), (), finished=False)
    started = events[starts[-1]]
    assert isinstance(started, CampaignStarted)
    finished = any(isinstance(event, RunFinished) for event in events[starts[-1] :])
    requests = tuple(_summarise_request(name, events, started, finished=finished) for name in started.requests)
    return CampaignSummary(started, requests, finished)


def outcomes_of(name: str, events: Sequence[CampaignEvent]) -> list[Outcome]:
    """All that is known of a request: the runs of its latest audit, and its experiments."""
    usual: tuple[Outcome, ...] = ()
    outcomes: list[Outcome] = []
    for event in events:
        match event:
            case RequestAudited(request=request, runs=runs) if request == name:
                usual = runs
            case ExperimentFinished(request=request, outcome=outcome) if request == name:
                outcomes.append(outcome)
    return [*usual, *outcomes]


def _summarise_request(
    name: str, events: Sequence[CampaignEvent], started: CampaignStarted, *, finished: bool
) -> RequestSummary:
    own = [
        event
        for event in events
        if isinstance(event, RequestAudited | ExperimentFinished | RequestFinished) and event.request == name
    ]
    audits = [event for event in own if isinstance(event, RequestAudited)]
    experiments = [event for event in own if isinstance(event, ExperimentFinished)]
    outcomes = [event.outcome for event in experiments]
    varying = bool(audits and audits[-1].varies)
    proving = [outcome for outcome in outcomes if outcome.is_proof(started.trials, varying=varying)]
    decided = {outcome.cut for outcome in outcomes if outcome.verdict is not Verdict.UNKNOWN}
    ends = [event for event in own if isinstance(event, RequestFinished)]
    interrupted = not ends or (not finished and bool(ends[-1].reason))
    end = ends[-1] if ends else RequestFinished(request=name, complete_up_to=-1, reason="")
    not_reached = audits[-1].not_reached if audits else frozenset()
    calls = frozenset().union(*(audit.calls for audit in audits), *(outcome.calls for outcome in outcomes))
    tried = tolerations(calls - not_reached, started.effects, proving, audits[-1].runs if audits else ())
    covered = {each.point.of_api for each in tried}
    return RequestSummary(
        name=name,
        calls=calls,
        not_reached=not_reached,
        complete_up_to=_complete_up_to(own, interrupted=interrupted),
        problem=INTERRUPTED if interrupted else end.reason,
        # A search may inject many points at once to learn of a path: what fails then is no cut of the size asked for.
        findings=quoted_tellingly([each for each in findings_of(own) if len(each.cut) <= started.max_size]),
        degradations=tuple(finding for finding in degradations_of(own) if len(finding.cut) <= started.max_size),
        undecided=tuple(
            outcome
            for outcome in outcomes
            if outcome.verdict is Verdict.UNKNOWN
            and outcome.cut not in decided  # when it was tried again
            and (interrupted or outcome.cut in end.undecided)
        ),
        experiments=len(outcomes),
        requests=sum(outcome.requests for outcome in outcomes),
        rounds=max((event.round for event in experiments), default=0),
        assumption=end.assumption,
        exact_up_to=end.exact_up_to,
        masked=end.masked,
        predicted=end.predicted,
        uncoverable=_uncoverable(audits[-1], outcomes) if audits else (),
        outlived=frozenset().union(*(outcome.outlived for outcome in outcomes)),
        varies=_variation(audits, outcomes),
        untried=frozenset(point for point in calls - not_reached if point.of_api not in covered),
        tolerations=tried,
        trials=min((each.trials for each in proving if each.verdict in _SURVIVING), default=0),
    )


_SURVIVING = (Verdict.SURVIVED, Verdict.DEGRADED)


def _variation(audits: Sequence[RequestAudited], outcomes: Sequence[Outcome]) -> str:
    told = [*(audit.varies for audit in reversed(audits)), *(outcome.variation for outcome in outcomes)]
    return next(filter(None, told), "")


def _uncoverable(audited: RequestAudited, outcomes: Sequence[Outcome]) -> tuple[Uncoverable, ...]:
    """Of what is not reached, some laboratories know no more than that. Faults may bring more to light."""
    told = {each.call for each in audited.uncoverable}
    untold = {str(point.of_api) for point in audited.not_reached} - told
    later = {each for outcome in outcomes for each in outcome.uncoverable} - set(audited.uncoverable)
    return (
        *audited.uncoverable,
        *(Uncoverable(call, OutOfReach.OTHER_TRACE) for call in sorted(untold)),
        *sorted(later),
    )


def _complete_up_to(own: Sequence[CampaignEvent], *, interrupted: bool) -> int:
    """What was known last: a later call, or an outcome that stayed unknown, may make it less."""
    for event in reversed(own):
        if isinstance(event, RequestFinished) or (interrupted and isinstance(event, ExperimentFinished)):
            return event.complete_up_to
    return -1
