"""An impact as text for people: what was done, what it does to each API upstream, what stopped it, what to do next."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.markup import escape

from cutset.model.impact import ApiImpact, ApiVerdict, Impact
from cutset.report.impact.wording import (
    SIGNS,
    advice,
    attempts_in_words,
    confidence_in_words,
    difference_in_words,
    groups_in_words,
    injected_in_words,
    is_amplified,
    others_in_words,
    p95_in_words,
    rate_in_words,
    recovery_in_words,
    slower_in_words,
    what_was_done,
)

TRACES_SHOWN = 3  # of each API; the document has all that are kept
COLOURS = {ApiVerdict.AFFECTED: "red", ApiVerdict.RESILIENT: "green", ApiVerdict.CANNOT_TELL: "magenta"}
_HEADS = ("", "success before", "control", "fault", "more failures", "p95", "attempts")
_VERDICT_WIDTH = max(map(len, ApiVerdict))
_MARGIN = " " * (_VERDICT_WIDTH + 6)


def impact_lines(impact: Impact, repeat: str = "") -> Iterator[str]:
    """Lines with rich's markup. `repeat` is the command that does the same again."""
    colour = COLOURS[impact.verdict]
    done = f"[bold]{escape(what_was_done(impact.started))}[/] ({groups_in_words(impact)})"
    yield f"[{colour}]{SIGNS[impact.verdict]} {impact.verdict}[/]  {done}"
    if not impact.finished:
        yield "[magenta]! unfinished[/]  what is known so far"
    if impact.guard is not None:
        yield f"[red]! stopped by {escape(impact.guard.guard)}[/]  {escape(impact.guard.reason)}"
    yield from (f"[yellow]! problem[/]  {escape(problem)}" for problem in impact.problems)
    yield from _table(impact)
    yield f"  [dim]{injected_in_words(impact)}; {others_in_words(impact)}[/]"
    yield f"  [dim]{confidence_in_words(impact)}[/]"
    yield from (f"next    {escape(step.replace('`', ''))}" for step in advice(impact))
    if repeat:
        yield f"repeat  [green]{escape(repeat)}[/]"


def history_lines(impacts: Sequence[tuple[float, Impact]]) -> Iterator[str]:
    """Each with the time at which it began, in Unix seconds."""
    for at, impact in impacts:
        when = datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
        verdict = f"{SIGNS[impact.verdict]} {impact.verdict.value:{_VERDICT_WIDTH}}"
        stopped = f"  [red]stopped by {escape(impact.guard.guard)}[/]" if impact.guard else ""
        unfinished = "" if impact.finished else "  [magenta]unfinished[/]"
        done = escape(what_was_done(impact.started))
        yield f"{escape(impact.run)}  {when}  [{COLOURS[impact.verdict]}]{verdict}[/]  {done}{stopped}{unfinished}"


def _table(impact: Impact) -> Iterator[str]:
    judged, target = ([_cells(api) for api in apis] for apis in (impact.apis, impact.target))
    widths = [max(map(len, column)) for column in zip(_HEADS, *judged, *target, strict=True)]
    yield f"{_MARGIN}[dim]{_aligned(_HEADS, widths)}[/]"
    for api, row in zip(impact.apis, judged, strict=True):
        yield _row(COLOURS[api.verdict], SIGNS[api.verdict], api.verdict, escape(_aligned(row, widths)))
        yield from (f"{_MARGIN}{note}" for note in _notes(api))
    for row in target:
        yield _row("cyan", "↯", "the fault", escape(_aligned(row, widths)))


def _row(colour: str, sign: str, verdict: str, cells: str) -> str:
    return f"  [{colour}]{sign} {verdict:{_VERDICT_WIDTH}}[/]  {cells}"


def _cells(api: ApiImpact) -> tuple[str, ...]:
    rates = (
        rate_in_words(sample.success_rate) if sample.requests else "–"
        for sample in (api.before, api.control, api.fault)
    )
    entry = " (entry)" if api.is_entry else ""
    return (f"{api.api}{entry}", *rates, difference_in_words(api), p95_in_words(api), attempts_in_words(api))


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Names to the left, rates to the right."""
    parts = (
        f"{cell:>{width}}" if number in (1, 2, 3) else f"{cell:{width}}"
        for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(parts).rstrip()


def _notes(api: ApiImpact) -> Iterator[str]:
    if api.reason:
        yield f"[dim]{escape(api.reason)}[/]"
    if api.slower is not None and api.slower.low > 0:
        yield f"[yellow]slower[/]     {slower_in_words(api.slower)}"
    if is_amplified(api):
        yield f"[yellow]amplified[/]  {attempts_in_words(api)} attempts per request"
    if recovery := recovery_in_words(api):
        yield f"[red]recovery[/]   {recovery}" if api.still_off else f"recovery   {recovery}"
    if api.fault.failed_traces:
        shown = " ".join(api.fault.failed_traces[:TRACES_SHOWN])
        more = api.fault.failed - TRACES_SHOWN
        yield f"traces     [dim]{escape(shown)}{f' and {more:,} more' if more > 0 else ''}[/]"
