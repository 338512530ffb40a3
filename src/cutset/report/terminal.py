"""A campaign as text for people: each request, what breaks it, what the user would see, and how to see it again."""

from collections.abc import Iterator

from rich.markup import escape

from cutset.model.fault import UNAVAILABLE, Cut
from cutset.model.finding import Finding
from cutset.report.summary import RequestSummary, Summary


def to_lines(summary: Summary) -> Iterator[str]:
    """Lines with rich's markup."""
    for request in summary.requests:
        yield from _request_lines(request, summary.replay)
        yield ""
    yield _totals(summary)


def describe_cut(cut: Cut) -> str:
    """The usual effect goes without saying."""
    return " + ".join(
        str(fault.point) if fault.effect == UNAVAILABLE and fault.percent == 100 and not fault.attempts else str(fault)
        for fault in sorted(cut)
    )


def _request_lines(request: RequestSummary, replay: str) -> Iterator[str]:
    yield f"[bold]{escape(request.name)}[/]  {_completeness(request)}"
    for finding in request.findings:
        yield from _finding_lines(finding, replay)
    for finding in request.degradations:
        yield f"  [yellow]~ degraded[/]  {escape(describe_cut(finding.cut))}  [dim]{escape(finding.outcome.reason)}[/]"
    for outcome in request.undecided:
        yield f"  [magenta]? unknown[/]   {escape(describe_cut(outcome.cut))}  [dim]{escape(outcome.reason)}[/]"
    for point in sorted(request.not_reached):
        yield (
            f"  [magenta]! not coverable[/]  {escape(str(point))}  "
            "[dim]called without the trace context, so no plan reaches it[/]"
        )


def _completeness(request: RequestSummary) -> str:
    effort = f"[dim]{request.experiments} experiments, {request.requests} requests[/]"
    if request.complete_up_to < 0:
        return f"[magenta]not tested: {escape(request.problem)}[/]" if request.problem else effort
    size = f"every cut of up to {request.complete_up_to} faults is decided"
    return f"{size}{f', then {escape(request.problem)}' if request.problem else ''}  {effort}"


def _finding_lines(finding: Finding, replay: str) -> Iterator[str]:
    outcome = finding.outcome
    yield f"  [red]✗ fails[/]     [bold]{escape(describe_cut(finding.cut))}[/]"
    yield f"    user sees  {escape(outcome.reason)}"
    if outcome.dead:
        yield f"    [red]killed     {escape(', '.join(outcome.dead))}[/]"
    tries = len(outcome.trace_ids)
    yield f"    evidence   [dim]failed {tries} of {tries} times, never without; trace {' '.join(outcome.trace_ids)}[/]"
    yield f"    replay     [green]{escape(replay)} {finding.id}[/]"


def _totals(summary: Summary) -> str:
    experiments = sum(request.experiments for request in summary.requests)
    undecided = sum(len(request.undecided) for request in summary.requests)
    text = f"{_count(len(summary.findings), 'minimal cut')} in {_count(len(summary.requests), 'request class', 'es')}"
    text += f", {_count(experiments, 'experiment')}"
    return text + (f", {undecided} unknown" if undecided else "") + ("" if summary.finished else ", interrupted")


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number:,} {noun}{'' if number == 1 else plural}"
