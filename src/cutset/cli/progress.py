"""Live progress of a campaign on standard error: a bar per request on a terminal, now and then a line elsewhere."""

import time
from collections.abc import AsyncIterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from cutset.model.event import Event, ExperimentFinished, RequestAudited, RequestFinished
from cutset.model.fault import points_of
from cutset.model.outcome import Verdict

LINE_SECONDS = 10  # between lines where there is no terminal: CI systems kill silent builds after some minutes


async def show_progress(events: AsyncIterator[Event], past: Sequence[Event] = ()) -> None:
    """Consumes the events to their end."""
    console = Console(stderr=True, highlight=False)
    if console.is_terminal:
        await _show_bars(events, past, console)
    else:
        await _show_lines(events, past, console)


async def _show_bars(events: AsyncIterator[Event], past: Sequence[Event], console: Console) -> None:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    bars: dict[str, TaskID] = {}
    tally = Tally()
    with Progress(*columns, console=console, transient=True) as progress:
        async for event in _all(past, events):
            tally.add(event)
            if isinstance(event, RequestAudited) and event.request not in bars:
                bars[event.request] = progress.add_task(escape(event.request), total=None, note="")
            if isinstance(event, ExperimentFinished | RequestFinished) and event.request in bars:
                done, left = tally.done[event.request], tally.left.get(event.request, 0)
                progress.update(
                    bars[event.request], completed=done, total=done + left, note=escape(tally.note(event.request))
                )


async def _show_lines(events: AsyncIterator[Event], past: Sequence[Event], console: Console) -> None:
    tally = Tally()
    due = time.monotonic() + LINE_SECONDS
    async for event in _all(past, events):
        tally.add(event)
        if isinstance(event, RequestFinished):
            console.print(
                f"{escape(event.request)}: {tally.done[event.request]} experiments, {tally.note(event.request)}"
            )
        elif time.monotonic() >= due:
            due = time.monotonic() + LINE_SECONDS
            done, left = sum(tally.done.values()), sum(tally.left.values())
            console.print(f"{done} experiments done, at least {left} to do, {tally.total_note()}")


class Tally:
    """Counts per request."""

    def __init__(self) -> None:
        self.done: dict[str, int] = {}
        self.left: dict[str, int] = {}
        self._findings: dict[str, int] = {}
        self._unknown: dict[str, int] = {}
        self._size: dict[str, int] = {}

    def add(self, event: Event) -> None:
        if isinstance(event, ExperimentFinished):
            name, outcome = event.request, event.outcome
            self.done[name] = self.done.get(name, 0) + 1
            self.left[name] = event.left
            self._size[name] = len(points_of(outcome.cut))
            self._findings[name] = self._findings.get(name, 0) + (outcome.verdict is Verdict.FAILED)
            self._unknown[name] = self._unknown.get(name, 0) + (outcome.verdict is Verdict.UNKNOWN)
        elif isinstance(event, RequestFinished):
            self.done.setdefault(event.request, 0)
            self.left[event.request] = 0

    def note(self, request: str) -> str:
        unknown = self._unknown.get(request, 0)
        note = f"size {self._size.get(request, 0)}, {self._findings.get(request, 0)} found"
        return note + (f", {unknown} unknown" if unknown else "")

    def total_note(self) -> str:
        return f"{sum(self._findings.values())} found"


async def _all(past: Sequence[Event], events: AsyncIterator[Event]) -> AsyncIterator[Event]:
    for event in past:
        yield event
    async for event in events:
        yield event
