"""Does a request survive this set of failures, and which experiment proves it? Answered from what was recorded."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from rich.markup import escape

from cutset.errors import UsageError
from cutset.model.effect import EffectChoice
from cutset.model.event import CampaignEvent, CampaignStarted
from cutset.model.fault import Cut, Fault, points_of
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
    cut: Cut
    explanation: Explanation


def answers(text: str, events: Sequence[CampaignEvent], requests: Sequence[str] = ()) -> list[ExplainedRequest]:
    """`text` is a cut as reports show it. All request classes, unless some are named.

    A point alone stands for each effect that is tried there.
    """
    summary = summarise(events)
    known = {request.name: request for request in summary.requests}
    for name in requests:
        if name not in known:
            raise UsageError(f"There is no request `{name}` in this campaign", hint=_closest(name, known))
    outcomes = {name: outcomes_of(name, events) for name in known}
    cuts = _cuts(text, outcomes, known.values(), summary.started.effects)
    certificates = _certificates(events)
    return [
        ExplainedRequest(name, cut, _explain(outcomes[name], cut, certificates, known[name].not_reached))
        for name in requests or known
        for cut in cuts
    ]


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
            }
            for answer in found
        ],
    }


def _proof(outcome: Outcome | None) -> dict[str, Any] | None:
    return None if outcome is None else {"verdict": outcome.verdict.value} | outcome_document(outcome)


def _explain(outcomes: Sequence[Outcome], cut: Cut, certificates: Certificates, not_reached: Points) -> Explanation:
    explanation = explain(outcomes, cut, certificates)
    apis = {point.of_api for point in not_reached}
    beyond = frozenset(point for point in points_of(cut) if point.of_api in apis)
    if beyond and explanation.verdict is not Verdict.FAILED:
        # Calls without the trace context are on no path, so that every path seems to do without them.
        return Explanation(Verdict.UNKNOWN, None, f"No plan reaches {describe_points(beyond)}.")
    return explanation


def _named(fault: Fault) -> str:
    return describe_cut(frozenset({fault}))


def _cuts(
    text: str, outcomes: Mapping[str, Sequence[Outcome]], requests: Iterable[RequestSummary], effects: EffectChoice
) -> list[Cut]:
    choices = [_meant(part.strip(), effects) for part in text.split(" + ")]
    tried = {fault for each in outcomes.values() for outcome in each for fault in outcome.cut}
    injected = {fault.effect for fault in tried} or set(effects.all)
    faults = frozenset(fault for choice in choices for fault in choice)
    for fault in sorted(faults):
        if fault.percent != 100 or fault.effect not in injected:
            told = ", ".join(f"`{effect}`" for effect in sorted(injected))
            raise UsageError(f"`{fault}`: this campaign injected {told}", hint="Name the points alone")
    points = points_of(faults)
    known = points_of(frozenset(tried)).union(*(request.calls | request.not_reached for request in requests))
    for point in sorted(points - known):
        raise UsageError(f"No request of this campaign calls `{point}`", hint=_closest(str(point), map(str, known)))
    return [frozenset(chosen) for chosen in product(*choices)]


def _meant(text: str, effects: EffectChoice) -> list[Fault]:
    fault = Fault.parse(text)
    if str(fault.point) != text:
        return [fault]
    return [Fault(fault.point, effect) for effect in effects.at(fault.point)] or [fault]


def _certificates(events: Sequence[CampaignEvent]) -> Certificates:
    recorded = [event.certificates for event in events if isinstance(event, CampaignStarted) and event.certificates]
    return Certificates(recorded[-1]) if recorded else Certificates.EXACT


def _closest(wanted: str, known: Iterable[str]) -> str:
    names = sorted(known)
    return did_you_mean(wanted, names, most=CLOSE_MATCHES, cutoff=0.4) or known_names(names[:10])
