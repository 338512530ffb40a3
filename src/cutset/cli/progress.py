"""Live progress of a campaign on standard error: a row per request on a terminal, now and then a line elsewhere."""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.progress import MofNCompleteColumn, Progress, TaskID, TextColumn

from cutset.model.event import CampaignEvent, ExperimentFinished, RequestAudited, RequestFinished
from cutset.model.outcome import Verdict

LINE_SECONDS = 10  # between lines where there is no terminal: CI systems kill silent builds after some minutes
NAME_LENGTH = 18  # so that a row fits 100 columns


async def show_progress(events: AsyncIterator[CampaignEvent], recorded: list[CampaignEvent]) -> None:
    """Consumes the events to their end, into `recorded`."""
    console = Console(stderr=True, highlight=False)
    if console.is_terminal:
        await _show_rows(_kept(events, recorded), console)
    else:
        await _show_lines(_kept(events, recorded), console)


async def _show_rows(events: AsyncIterator[CampaignEvent], console: Console) -> None:
    columns = (
        TextColumn("{task.description}"),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
    )
    rows: dict[str, TaskID] = {}
    tallies: dict[str, Tally] = {}
    with Progress(*columns, console=console, transient=True) as progress:
        async for event in events:
            count(event, tallies)
            if isinstance(event, RequestAudited) and event.request not in rows:
                rows[event.request] = progress.add_task(escape(_short(event.request)), total=None, note="")
            if isinstance(event, ExperimentFinished | RequestFinished) and event.request in rows:
                tally = tallies[event.request]
                progress.update(
                    rows[event.request], completed=tally.done, total=tally.done + tally.left, note=tally.note
                )


async def _show_lines(events: AsyncIterator[CampaignEvent], console: Console) -> None:
    tallies: dict[str, Tally] = {}
    due = time.monotonic() + LINE_SECONDS
    async for event in events:
        count(event, tallies)
        if isinstance(event, RequestFinished):
            tally = tallies[event.request]
            console.print(f"{escape(event.request)}: {tally.done} experiments, {tally.note}", soft_wrap=True)
        elif time.monotonic() >= due:
            due = time.monotonic() + LINE_SECONDS
            done, left, found = (sum(getattr(each, name) for each in tallies.values()) for name in _TOTALS)
            console.print(f"{done} experiments done, at least {left} to do, {found} found")


@dataclass(slots=True)
class Tally:
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


def count(event: CampaignEvent, tallies: dict[str, Tally]) -> None:
    match event:
        case ExperimentFinished(request=request, outcome=outcome):
            tally = tallies.setdefault(request, Tally())
            tally.done += 1
            tally.left = event.left
            tally.round = event.round
            tally.found += outcome.verdict is Verdict.FAILED
            tally.predicted = event.predicted
            tally.certificates = event.certificates + (outcome.verdict in (Verdict.SURVIVED, Verdict.DEGRADED))
            tally.unknown += outcome.verdict is Verdict.UNKNOWN
            tally.proven = event.complete_up_to
        case RequestFinished(request=request):
            tally = tallies.setdefault(request, Tally())
            tally.left = 0
            tally.predicted = len(event.predicted)
            tally.proven = event.complete_up_to


def _short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"


async def _kept(events: AsyncIterator[CampaignEvent], recorded: list[CampaignEvent]) -> AsyncIterator[CampaignEvent]:
    async for event in events:
        recorded.append(event)
        yield event
