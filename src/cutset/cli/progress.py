"""Live progress of a campaign on standard error: a row per request on a terminal, now and then a line elsewhere."""

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from rich.progress import MofNCompleteColumn, Progress, TaskID, TextColumn

from cutset.cli.output import Console
from cutset.model.event import ExperimentFinished, RequestAudited, RequestFinished
from cutset.model.outcome import Verdict
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


@dataclass(slots=True)
class RequestProgress:
    """What is known of one request."""

    done: int = 0
    left: int = 0
    found: int = 0
    round: int = 0
    predicted: int = 0  # and not tried
    certificates: int = 0
    unknown: int = 0
    proven: int = -1

    @property
    def note(self) -> str:
        predicted = f"/{self.found + self.predicted}" if self.predicted else ""
        parts = [
            f"round {self.round}",
            f"{self.found}{predicted} found",
            f"{self.certificates} certified",
            *([f"{self.unknown} unknown"] if self.unknown else []),
            f"proven up to size {self.proven}" if self.proven >= 0 else "nothing proven",
        ]
        return ", ".join(parts)


_TOTALS = ("done", "left", "found")


def take_note(event: RecordedEvent, progress_of: dict[str, RequestProgress]) -> None:
    match event:
        case ExperimentFinished(request=request, outcome=outcome):
            known = progress_of.setdefault(request, RequestProgress())
            known.done += 1
            known.left = event.left
            known.round = event.round
            known.found += outcome.verdict is Verdict.FAILED
            known.predicted = event.predicted
            known.certificates = event.certificates + (outcome.verdict in (Verdict.SURVIVED, Verdict.DEGRADED))
            known.unknown += outcome.verdict is Verdict.UNKNOWN
            known.proven = event.complete_up_to
        case RequestFinished(request=request):
            known = progress_of.setdefault(request, RequestProgress())
            known.left = 0
            known.predicted = len(event.predicted)
            known.proven = event.complete_up_to


def _short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"


async def _kept(events: AsyncGenerator[EventType, None], recorded: list[EventType]) -> AsyncGenerator[EventType, None]:
    async with aclosing(events):
        async for event in events:
            recorded.append(event)
            yield event
