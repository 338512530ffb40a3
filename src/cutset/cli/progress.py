"""Live progress of a campaign on standard error: a row per request on a terminal, now and then a line elsewhere."""

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import TypeVar

from rich.progress import MofNCompleteColumn, Progress, TaskID, TextColumn

from cutset.cli.output import Console
from cutset.model.event import ExperimentFinished, RequestAudited, RequestFinished
from cutset.report.campaign.progress import RequestProgress, take_note
from cutset.report.printable import printable
from cutset.store.codec import RecordedEvent

LINE_SECONDS = 10  # between lines where there is no terminal: CI systems kill silent builds after some minutes
NAME_LENGTH = 18  # so that a row fits 100 columns

EventType = TypeVar("EventType", bound=RecordedEvent)


async def show_progress(events: AsyncGenerator[EventType, None], recorded: list[EventType]) -> None:
    """Consumes the events to their end, into `recorded`."""
    console, kept = Console(stderr=True, highlight=False), _kept(events, recorded)
    await (_show_rows(kept, console) if console.is_terminal else _show_lines(kept, console))


async def _show_rows(events: AsyncIterator[RecordedEvent], console: Console) -> None:
    columns = (
        TextColumn("{task.description}"),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
    )
    rows: dict[str, TaskID] = {}
    progress_of: dict[str, RequestProgress] = {}
    with Progress(*columns, console=console, transient=True) as progress:
        async for event in events:
            take_note(event, progress_of)
            if isinstance(event, RequestAudited) and event.request not in rows:
                rows[event.request] = progress.add_task(printable(_short(event.request)), total=None, note="")
            if isinstance(event, ExperimentFinished | RequestFinished) and event.request in rows:
                known = progress_of[event.request]
                progress.update(
                    rows[event.request], completed=known.done, total=known.done + known.left, note=known.note
                )


async def _show_lines(events: AsyncIterator[RecordedEvent], console: Console) -> None:
    progress_of: dict[str, RequestProgress] = {}
    due = time.monotonic() + LINE_SECONDS
    async for event in events:
        take_note(event, progress_of)
        if isinstance(event, RequestFinished):
            known = progress_of[event.request]
            console.print(f"{printable(event.request)}: {known.done} experiments, {known.note}", soft_wrap=True)
        elif time.monotonic() >= due:
            due = time.monotonic() + LINE_SECONDS
            done, left, found = (sum(getattr(each, name) for each in progress_of.values()) for name in _TOTALS)
            console.print(f"{done} experiments done, at least {left} to do, {found} found")


_TOTALS = ("done", "left", "found")


def _short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"


async def _kept(events: AsyncGenerator[EventType, None], recorded: list[EventType]) -> AsyncGenerator[EventType, None]:
    async with aclosing(events):
        async for event in events:
            recorded.append(event)
            yield event
