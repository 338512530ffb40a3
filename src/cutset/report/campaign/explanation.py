"""Does a request survive this set of failures, and which experiment proves it? Answered from what was recorded."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.markup import escape

from cutset.errors import UsageError
from cutset.model.event import CampaignEvent, CampaignStarted
from cutset.model.fault import Fault, points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.summary import RequestSummary, outcomes_of, summarise
from cutset.model.wording import did_you_mean, known_names
from cutset.report.campaign.json import outcome_document
from cutset.report.campaign.terminal import describe_cut, describe_points
from cutset.search.certificates import Explanation, explain
from cutset.search.strategy import Certificates

CLOSE_MATCHES = 3
_WORDS = {
    Verdict.FAILED: "[red]✗ fails[/]",
    Verdict.SURVIVED: "[green]✓ survives[/]",
    Verdict.DEGRADED: "[green]✓ survives[/]",
    Verdict.UNKNOWN: "[magenta]? not known[/]",
}


@dataclass(frozen=True, slots=True)
class ExplainedRequest:
    request: str
    points: Points
    explanation: Explanation


def answers(text: str, events: Sequence[CampaignEvent], requests: Sequence[str] = ()) -> list[ExplainedRequest]:
    """`text` is a cut as reports show it. All request classes, unless some are named."""
    known = {request.name: request for request in summarise(events).requests}
    for name in requests:
        if name not in known:
            raise UsageError(f"There is no request `{name}` in this campaign", hint=_closest(name, known))
    outcomes = {name: outcomes_of(name, events) for name in known}
    points = _points(text, outcomes, known.values())
    certificates = _certificates(events)
    return [
        ExplainedRequest(name, points, _explain(outcomes[name], points, certificates, known[name].not_reached))
        for name in requests or known
    ]


def to_lines(found: Sequence[ExplainedRequest]) -> Iterator[str]:
    """Lines with rich's markup."""
    for answer in found:
        explanation = answer.explanation
        cut = escape(describe_points(answer.points))
        yield f"[bold]{escape(answer.request)}[/]  {_WORDS[explanation.verdict]}  [bold]{cut}[/]"
        yield f"  {escape(explanation.reason)}"
        if (proof := explanation.because) is not None:
            tried = escape(describe_cut(proof.cut)) or "no fault"
            yield f"  experiment  {tried}: {proof.verdict}, {escape(proof.reason)}"
            if proof.trace_ids:
                yield f"  evidence    [dim]trace {' '.join(proof.trace_ids)}[/]"


def to_document(found: Sequence[ExplainedRequest], campaign: str) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "cut": sorted(map(str, found[0].points)) if found else [],
        "requests": [
            {
                "name": answer.request,
                "verdict": answer.explanation.verdict.value,
                "reason": answer.explanation.reason,
                "because": _proof(answer.explanation.because),
            }
            for answer in found
        ],
    }


def _proof(outcome: Outcome | None) -> dict[str, Any] | None:
    return None if outcome is None else {"verdict": outcome.verdict.value} | outcome_document(outcome)


def _explain(
    outcomes: Sequence[Outcome], points: Points, certificates: Certificates, not_reached: Points
) -> Explanation:
    explanation = explain(outcomes, points, certificates)
    apis = {point.of_api for point in not_reached}
    beyond = frozenset(point for point in points if point.of_api in apis)
    if beyond and explanation.verdict is not Verdict.FAILED:
        # Calls without the trace context are on no path, so that every path seems to do without them.
        return Explanation(Verdict.UNKNOWN, None, f"No plan reaches {describe_points(beyond)}.")
    return explanation


def _points(text: str, outcomes: Mapping[str, Sequence[Outcome]], requests: Iterable[RequestSummary]) -> Points:
    faults = [Fault.parse(part) for part in text.split(" + ")]
    tried = {fault for each in outcomes.values() for outcome in each for fault in outcome.cut}
    effects = {fault.effect for fault in tried}
    for fault in faults:
        if fault != Fault(fault.point) and (fault.effect not in effects or fault.percent < 100 or fault.attempts):
            injected = ", ".join(f"`{effect}`" for effect in sorted(effects)) or "nothing"
            raise UsageError(f"`{fault}`: this campaign injected {injected}", hint="Name the points alone")
    points = points_of(frozenset(faults))
    known = points_of(frozenset(tried)).union(*(request.calls | request.not_reached for request in requests))
    for point in sorted(points - known):
        raise UsageError(f"No request of this campaign calls `{point}`", hint=_closest(str(point), map(str, known)))
    return points


def _certificates(events: Sequence[CampaignEvent]) -> Certificates:
    recorded = [event.certificates for event in events if isinstance(event, CampaignStarted) and event.certificates]
    return Certificates(recorded[-1]) if recorded else Certificates.EXACT


def _closest(wanted: str, known: Iterable[str]) -> str:
    names = sorted(known)
    return did_you_mean(wanted, names, most=CLOSE_MATCHES, cutoff=0.4) or known_names(names[:10])
