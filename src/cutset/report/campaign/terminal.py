"""A campaign as text for people: each request, what breaks it, what the user would see, and how to see it again."""

from collections.abc import Iterator

from rich.markup import escape

from cutset.model.effect import EffectChoice
from cutset.model.event import CampaignStarted
from cutset.model.fault import Cut, Fault, points_of
from cutset.model.finding import Finding
from cutset.model.outcome import Points
from cutset.model.summary import CampaignSummary, RequestSummary
from cutset.report.campaign.effects import IMPOSSIBLE, rows, sentence, why_alone
from cutset.report.campaign.scope import (
    NOT_CONTAINED,
    TRUSTED,
    completeness,
    effort_of,
    evidence,
    method,
    of_variation,
    totals,
)
from cutset.search.strategies import AcrossRequests

PREDICTED_SHOWN = 5
USUAL = EffectChoice()


def to_lines(summary: CampaignSummary, replay: str) -> Iterator[str]:
    """Lines with rich's markup. `replay` is the command that takes the id of a finding."""
    for request in summary.requests:
        yield from _request_lines(request, replay, summary.started)
        yield ""
    yield totals(summary)
    yield from _outlived_lines(summary)
    yield from _method(summary)


def describe_cut(cut: Cut, effects: EffectChoice = USUAL) -> str:
    return " + ".join(describe_faults(cut, effects))


def describe_faults(cut: Cut, effects: EffectChoice = USUAL) -> list[str]:
    """The usual effect goes without saying, unless there are others beside it, or others that are tried."""
    if effects.single is None or any(fault != Fault(fault.point) for fault in cut):
        return list(map(str, sorted(cut)))
    return list(map(str, sorted(points_of(cut))))


def describe_points(points: Points) -> str:
    return " + ".join(map(str, sorted(points)))


def _named(cut: Cut, started: CampaignStarted) -> str:
    return escape(describe_cut(cut, started.effects))


def _request_lines(request: RequestSummary, replay: str, started: CampaignStarted) -> Iterator[str]:
    yield f"[bold]{escape(request.name)}[/]  {_completeness(request, started)}"
    if request.complete_up_to >= 0 and request.assumption:
        yield f"  [dim]proof rests on: {escape(request.assumption)}[/]"
    if variation := of_variation(request, started):
        yield f"  [yellow]{escape(variation)}[/]"
    for finding in request.findings:
        yield from _finding_lines(finding, replay, request, started)
        if not request.is_minimal(finding):
            yield "    [magenta]minimal    not proven: smaller cuts inside it are still to be tried[/]"
    for cut, survived in request.masked:
        yield (
            f"  [red]✗ masked[/]    [bold]{_named(cut, started)}[/]  "
            f"fails, but survives together with {_named(survived - cut, started)}"
        )
    for finding in request.degradations:
        mark = "wrong   " if finding.outcome.is_wrong else "degraded"
        yield f"  [yellow]~ {mark}[/]  {_named(finding.cut, started)}  [dim]{escape(finding.outcome.reason)}[/]"
    yield from _open_lines(request, started)


def _open_lines(request: RequestSummary, started: CampaignStarted) -> Iterator[str]:
    """What each effect does, and what nobody knows."""
    for row in rows(request):
        yield f"  [cyan]· by effect[/] {escape(str(row.point))}  [dim]{escape(sentence(row))}[/]"
    for outcome in request.undecided:
        yield f"  [magenta]? unknown[/]   {_named(outcome.cut, started)}  [dim]{escape(outcome.reason)}[/]"
    yield from _predicted_lines(request, started)
    for point in sorted(request.untried):
        yield f"  [magenta]! not coverable[/]  {escape(str(point))}  [dim]{IMPOSSIBLE}[/]"
    for each in request.uncoverable:
        colour = "magenta" if each.is_service else "dim"
        mark = "!" if each.is_service else "-"
        yield f"  [{colour}]{mark} not coverable[/]  {escape(each.call)}  [dim]{escape(each.reason)}[/]"


def _completeness(request: RequestSummary, started: CampaignStarted) -> str:
    said, effort = escape(completeness(request, started)), f"[dim]{effort_of(request)}[/]"
    if request.complete_up_to < 0:
        return f"[magenta]{said}[/]" if said else effort
    return f"{said}  {effort}"


def _predicted_lines(request: RequestSummary, started: CampaignStarted) -> Iterator[str]:
    for cut in request.predicted[:PREDICTED_SHOWN]:
        yield f"  [magenta]? predicted[/] {_named(cut, started)}  [dim]expected to fail, but not tried[/]"
    if (more := len(request.predicted) - PREDICTED_SHOWN) > 0:
        yield f"    [dim]and {more:,} more[/]"


def _finding_lines(finding: Finding, replay: str, request: RequestSummary, started: CampaignStarted) -> Iterator[str]:
    outcome = finding.outcome
    yield f"  [red]✗ fails[/]     [bold]{_named(finding.cut, started)}[/]"
    yield f"    user sees  {escape(outcome.reason)}"
    if outcome.dead:
        yield f"    [red]killed     {escape(', '.join(outcome.dead))}[/]"
    if why := why_alone(finding, request):
        yield f"    because    {escape(why)}"
    yield f"    evidence   [dim]{evidence(outcome)}; trace {' '.join(outcome.trace_ids)}[/]"
    yield f"    replay     [green]{escape(replay)} {finding.id}[/]"


def _outlived_lines(summary: CampaignSummary) -> Iterator[str]:
    for point in sorted(summary.outlived):
        yield f"[yellow]! not contained[/]  {escape(str(point))}  [dim]{NOT_CONTAINED}[/]"


def _method(summary: CampaignSummary) -> Iterator[str]:
    yield from (f"[dim]{escape(said)}[/]" for said in method(summary.started))
    if summary.started.across_requests == AcrossRequests.TRUST:
        yield f"[yellow]{TRUSTED}[/]"
