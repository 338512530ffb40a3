"""Does a request survive this set of failures, and which experiment proves it? Answered from what was recorded.

Whoever asks often prepares a campaign once (`prepare`): each answer then takes milliseconds, whatever its size.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from rich.markup import escape

from cutset.errors import UsageError
from cutset.model.effect import Effect
from cutset.model.event import CampaignEvent, CampaignStarted, ExperimentFinished
from cutset.model.fault import Cut, Fault, points_of
from cutset.model.finding import Finding
from cutset.model.moments import show_moment
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.summary import CampaignSummary, RequestSummary, outcomes_of, summarise
from cutset.model.wording import did_you_mean, known_names
from cutset.report.campaign.json import outcome_document
from cutset.report.campaign.terminal import describe_cut, describe_points
from cutset.search.certificates import Evidence, Explanation, evidence_of, explain, explain_by
from cutset.search.strategy import Certificates

CLOSE_MATCHES = 3
_WORDS = {
    Verdict.FAILED: "[red]✗ fails[/]",
    Verdict.SURVIVED: "[green]✓ survives[/]",
    Verdict.DEGRADED: "[green]✓ survives[/]",
    Verdict.UNKNOWN: "[magenta]? not known[/]",
}

TriedByHand = tuple[float, ExperimentFinished]  # after the campaign, because somebody asked; when, in Unix seconds


@dataclass(frozen=True, slots=True)
class ExplainedRequest:
    request: str
    cut: Cut
    explanation: Explanation
    finding: Finding | None = None  # the smallest that the cut is or contains
    by_hand_at: float | None = None  # the experiment that proves it was asked for by somebody then, in Unix seconds
    can_be_tried: bool = False  # nobody knows, and an experiment may tell

    @property
    def verdict(self) -> Verdict:
        """Degraded, too: where the experiment is also the run of this set, it would be answered in the same way."""
        proof = self.explanation.because
        if self.explanation.verdict is Verdict.SURVIVED and self.explanation.same_run and proof is not None:
            return proof.verdict
        return self.explanation.verdict


@dataclass(frozen=True)  # without slots, for what is computed once
class ExplainedCampaign:
    """All that answers need, computed when the first one is asked for."""

    summary: CampaignSummary
    outcomes: Mapping[str, Sequence[Outcome]]  # by request, those by hand included
    by_hand: Sequence[TriedByHand]
    certificates: Certificates

    def answers(self, cut: Cut, requests: Sequence[str] = ()) -> list[ExplainedRequest]:
        """Of all request classes, unless some are named."""
        for name in requests:
            if name not in self._requests:
                raise UsageError(f"There is no request `{name}` in this campaign", hint=_closest(name, self._requests))
        return [self._answer(self._requests[name], cut) for name in requests or self._requests]

    def cuts(self, text: str) -> list[Cut]:
        """A cut as reports show it. A point alone stands for each effect that is tried there."""
        cuts = [frozenset(chosen) for chosen in product(*(self._meant(part.strip()) for part in text.split(" + ")))]
        self.require_known(frozenset().union(*cuts))
        return cuts

    def require_known(self, faults: Cut) -> None:
        """Raises UsageError if they are at points that no request calls, or none that this campaign tries."""
        for fault in sorted(faults):
            tried = self._injected | {*self.summary.started.effects.at(fault.point)}
            if fault.percent != 100 or fault.effect not in tried:
                told = ", ".join(f"`{effect}`" for effect in sorted(self._injected))
                raise UsageError(f"`{fault}`: this campaign injected {told}", hint="Name the points alone")
        for point in sorted(points_of(faults) - self.points):
            hint = _closest(str(point), map(str, self.points))
            raise UsageError(f"No request of this campaign calls `{point}`", hint=hint)

    @cached_property
    def points(self) -> Points:
        """All that can be asked about."""
        called = (request.calls | request.not_reached for request in self.summary.requests)
        return points_of(self._tried).union(*called)

    @cached_property
    def _requests(self) -> dict[str, RequestSummary]:
        return {request.name: request for request in self.summary.requests}

    @cached_property
    def _tried(self) -> Cut:
        return frozenset(fault for each in self.outcomes.values() for outcome in each for fault in outcome.cut)

    @cached_property
    def _injected(self) -> set[Effect]:
        return {fault.effect for fault in self._tried} | set(self.summary.started.effects.all)

    @cached_property
    def _evidence(self) -> dict[str, Evidence]:
        return {}

    @cached_property
    def _undecided(self) -> dict[tuple[str, Cut], Outcome]:
        """What was injected, and stayed unknown."""
        return {
            (name, outcome.cut): outcome
            for name, outcomes in self.outcomes.items()
            for outcome in outcomes
            if outcome.verdict is Verdict.UNKNOWN
        }

    def _meant(self, text: str) -> list[Fault]:
        fault = Fault.parse(text)
        if str(fault.point) != text:
            return [fault]
        return [Fault(fault.point, effect) for effect in self.summary.started.effects.at(fault.point)] or [fault]

    def _answer(self, request: RequestSummary, cut: Cut) -> ExplainedRequest:
        explanation = self._explained(request.name, cut)
        apis = {point.of_api for point in request.not_reached}
        beyond = frozenset(point for point in points_of(cut) if point.of_api in apis)
        if beyond and explanation.verdict is not Verdict.FAILED:
            # Calls without the trace context are on no path, so that every path seems to do without them.
            explanation = Explanation(Verdict.UNKNOWN, None, f"No plan reaches {describe_points(beyond)}.")
        unknown = explanation.verdict is Verdict.UNKNOWN
        return ExplainedRequest(
            request.name,
            cut,
            explanation,
            finding=min(
                (each for each in request.findings if each.cut <= cut), key=lambda each: len(each.cut), default=None
            ),
            by_hand_at=next((at for at, each in self.by_hand if each.outcome is explanation.because), None),
            can_be_tried=unknown and bool(cut) and not beyond,
        )

    def _explained(self, name: str, cut: Cut) -> Explanation:
        if name not in self._evidence:
            self._evidence[name] = evidence_of(self.outcomes[name], self.certificates)
            self._evidence[name].run_of(frozenset())  # prepares its clauses, so that no later answer takes long
        evidence = self._evidence[name]
        appeared = frozenset(fault for fault in cut if evidence.elements.has(fault.point))
        if evidence.elements.know(appeared):
            found = explain_by(evidence, cut)
        else:  # an effect that was tried elsewhere, and is none that is possible there
            found = explain(self.outcomes[name], cut, self.certificates)
        if found.verdict is Verdict.UNKNOWN and (tried := self._undecided.get((name, cut))) is not None:
            return Explanation(Verdict.UNKNOWN, tried, "It was injected, and its outcome stayed unknown.")
        return found


def prepare(events: Sequence[CampaignEvent], by_hand: Sequence[TriedByHand] = ()) -> ExplainedCampaign:
    """`by_hand` are experiments on behalf of this campaign, after it."""
    summary = summarise(events)
    outcomes = {
        request.name: [
            *outcomes_of(request.name, events),
            *(each.outcome for _, each in by_hand if each.request == request.name),
        ]
        for request in summary.requests
    }
    recorded = [event.certificates for event in events if isinstance(event, CampaignStarted) and event.certificates]
    return ExplainedCampaign(summary, outcomes, by_hand, Certificates(recorded[-1]) if recorded else Certificates.EXACT)


def answers(
    text: str, events: Sequence[CampaignEvent], requests: Sequence[str] = (), by_hand: Sequence[TriedByHand] = ()
) -> list[ExplainedRequest]:
    """`text` is a cut as reports show it. All request classes, unless some are named."""
    prepared = prepare(events, by_hand)
    told = [prepared.answers(cut, requests) for cut in prepared.cuts(text)]
    return [answer for of_request in zip(*told, strict=True) for answer in of_request]


def to_lines(found: Sequence[ExplainedRequest]) -> Iterator[str]:
    """Lines with rich's markup."""
    for answer in found:
        explanation = answer.explanation
        cut = escape(describe_cut(answer.cut))
        yield f"[bold]{escape(answer.request)}[/]  {_WORDS[explanation.verdict]}  [bold]{cut}[/]"
        yield f"  {escape(explanation.reason)}"
        if (proof := explanation.because) is not None:
            tried = escape(describe_cut(proof.cut)) or "no fault"
            yield f"  experiment  {tried}: {proof.verdict}, {escape(proof.reason)}"
            if answer.by_hand_at is not None:
                yield f"  by hand     {show_moment(round(answer.by_hand_at * 1_000_000_000))} UTC, after the campaign"
            if proof.trace_ids:
                yield f"  evidence    [dim]trace {' '.join(proof.trace_ids)}[/]"


def to_document(found: Sequence[ExplainedRequest], campaign: str) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "cut": sorted({_named(fault) for answer in found for fault in answer.cut}),
        "requests": [
            {
                "name": answer.request,
                "cut": sorted(map(str, answer.cut)),
                "verdict": answer.explanation.verdict.value,
                "reason": answer.explanation.reason,
                "because": _proof(answer.explanation.because),
                "by_hand_at": answer.by_hand_at,
            }
            for answer in found
        ],
    }


def _proof(outcome: Outcome | None) -> dict[str, Any] | None:
    return None if outcome is None else {"verdict": outcome.verdict.value} | outcome_document(outcome)


def _named(fault: Fault) -> str:
    return describe_cut(frozenset({fault}))


def _closest(wanted: str, known: Iterable[str]) -> str:
    names = sorted(known)
    return did_you_mean(wanted, names, most=CLOSE_MATCHES, cutoff=0.4) or known_names(names[:10])
