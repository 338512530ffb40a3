"""Live progress of a search for the fault behind a failure, on standard error.

Finished rounds are a line each. On a terminal, what is thought of next stands below them and changes in place. Before
the first round, while the source is read, a log gets a sign of life now and then.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from cutset.cli.output import Console
from cutset.model.reproduction.event import (
    GoodRunFinished,
    OracleAnswer,
    ProgramAnalysed,
    RankedSite,
    ReproductionEvent,
    ReproductionFinished,
    RoundFinished,
)
from cutset.model.reproduction.result import Grade, ReproductionResult
from cutset.model.run import RunStarted
from cutset.model.wording import count
from cutset.report.printable import printable
from cutset.report.reproduction.rounds import undecided

SHOWN_SITES = 5
SHOWN_MESSAGES = 3
SHOWN_PROBLEMS = 3
SIGN_OF_LIFE_S = 10.0  # where there is no terminal
TEXT_LENGTH = 70  # characters of a log message or a reason
_UNKNOWN = (
    "no log statement or stack trace of the sources accounts for a message of the failure log: the search has only "
    "their texts to go by. Is the package that logs them missing from `--source`?"
)
_WARNING = "[yellow]warning:[/]"


@dataclass(slots=True)
class SearchStanding:
    """What the live part shows."""

    most_rounds: int
    run: str = ""  # the id of the search, once it has begun
    started: float = field(default_factory=time.monotonic)
    rounds: int = 0  # in all
    resumed: int = 0  # of them before this session
    messages: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    ranking: tuple[RankedSite, ...] = ()
    problems: set[str] = field(default_factory=set)  # that were shown: most come with every round
    doing: str = "running the workload without faults, reading the source"

    def tell(self, doing: str) -> None:
        """From whichever thread does it."""
        self.doing = doing

    def per_minute(self) -> float:
        return 60 * (self.rounds - self.resumed) / max(time.monotonic() - self.started, 0.001)


async def show_reproduction(events: AsyncIterator[ReproductionEvent], standing: SearchStanding) -> ReproductionResult:
    """Consumes the events to their end, which has the result."""
    console = Console(stderr=True, highlight=False)
    live = Live(console=console, transient=True, get_renderable=lambda: picture(standing), refresh_per_second=4)
    result: ReproductionResult | None = None
    if not console.is_terminal:
        _give_signs_of_life(console, standing)
    with live if console.is_terminal else nullcontext():
        async for event in events:
            for line in lines_of(event, standing):
                _print(console, line)
            follow(event, standing)
            if isinstance(event, ReproductionFinished):
                result = event.result
    assert result is not None, "a search ends with its result"
    return result


def _give_signs_of_life(console: Console, standing: SearchStanding) -> None:
    """Until there is something to explain, and rounds tell of themselves."""
    if not standing.messages:
        console.print(escape(standing.doing), soft_wrap=True)
        asyncio.get_running_loop().call_later(SIGN_OF_LIFE_S, _give_signs_of_life, console, standing)


def _print(console: Console, line: str) -> None:
    """On a terminal, a round is one line; in a file, nothing is cut off."""
    if console.is_terminal and not line.startswith(_WARNING):
        console.print(line, no_wrap=True, overflow="ellipsis")
    else:
        console.print(line, soft_wrap=not console.is_terminal)


def follow(event: ReproductionEvent, standing: SearchStanding) -> None:
    match event:
        case RunStarted():
            standing.run = event.run
        case GoodRunFinished():
            standing.problems.update(event.problems)
        case ProgramAnalysed():
            standing.messages = standing.missing = event.messages
            standing.rounds = standing.resumed = event.resumed
            standing.started = time.monotonic()
            standing.doing = "first round"
        case RoundFinished():
            standing.rounds = max(standing.rounds, event.number)
            standing.missing = event.missing
            standing.problems.update(event.problems)
            standing.ranking = event.ranking
            standing.doing = str(event.stage)


def lines_of(event: ReproductionEvent, standing: SearchStanding) -> list[str]:
    """What remains on the screen."""
    match event:
        case GoodRunFinished():
            line = f"run {event.number} of {event.of} without faults: {event.seconds:.1f} s"
            return [line, *_warnings(_new(event.problems, standing))]
        case ProgramAnalysed():
            return _analysed_lines(event)
        case RoundFinished() if event.number > standing.resumed:
            missing = f"{len(event.missing)} of {count(len(standing.messages), 'message')} missing"
            fault = printable(" + ".join(map(str, event.faults))) or "nothing that was armed occurred"
            # The long parts last: a narrow terminal cuts them off.
            line = f"[bold]{event.number:>4}[/] {_answer(event)}, {missing}  [dim]{event.stage}:[/] {fault}"
            return [line + _reason(event), *_warnings(_new(event.problems, standing))]
    return []


def _answer(event: RoundFinished) -> str:
    match event.grade:
        case Grade.LOG:
            return "[green]✓ the log is reproduced[/]"
        case Grade.MESSAGES:
            differing = count(event.agreement.values, "message")
            return f"[green]≃ the messages are reproduced[/], {differing} with other values or elsewhere"
        case Grade.SYMPTOM:
            return f"[yellow]≈ the symptom is reproduced[/], logs differ in {count(event.unlike, 'message')}"
    return "[dim]no[/]" if event.answer is OracleAnswer.NO else f"[magenta]{undecided(event)}[/]"


def _new(problems: Sequence[str], standing: SearchStanding) -> list[str]:
    return [problem for problem in problems if problem not in standing.problems]


def _reason(event: RoundFinished) -> str:
    """A plain no needs none."""
    return "" if event.answer is OracleAnswer.NO else f"  [dim]{printable(_short(event.reason))}[/]"


def _analysed_lines(event: ProgramAnalysed) -> list[str]:
    read = f"read {event.lines:,} lines of {event.files:,} files in {event.seconds:.1f} s"
    places = f"{event.sites:,} places for faults, {event.related_sites:,} of them can lead to the failure log"
    lines = [
        f"{read}: {places}; the workload gets to them {event.visits:,} times",
        f"{count(len(event.messages), 'message')} to explain: {printable(_texts(event.messages))}",
    ]
    if event.resumed:
        lines.append(f"going on after {event.resumed} rounds")
    problems = [] if event.recognised else [_UNKNOWN]
    if event.unvisited:
        problems.append(f"the workload gets to no place for faults in {', '.join(event.unvisited)}")
    return lines + _warnings([*problems, *(f"not read: {each}" for each in event.skipped)])


def _warnings(problems: Sequence[str]) -> list[str]:
    lines = [f"{_WARNING} {printable(problem)}" for problem in problems[:SHOWN_PROBLEMS]]
    more = len(problems) - SHOWN_PROBLEMS
    return [*lines, f"{_WARNING} and {more} more like these"] if more > 0 else lines


def _texts(messages: Sequence[str]) -> str:
    shown = [f"“{_short(text)}”" for text in messages[:SHOWN_MESSAGES]]
    return ", ".join(shown) + (", …" if len(messages) > SHOWN_MESSAGES else "")


def _short(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= TEXT_LENGTH else f"{line[: TEXT_LENGTH - 1]}…"


def picture(standing: SearchStanding) -> RenderableType:
    if not standing.messages:
        return Spinner("dots", escape(standing.doing))
    state = f"{standing.rounds} of at most {standing.most_rounds} rounds, {standing.per_minute():.0f} a minute"
    parts: list[RenderableType] = [Spinner("dots", f"{state}; {standing.doing}")]
    if standing.missing:
        lacking = f"{len(standing.missing)} of {count(len(standing.messages), 'message')} missing in the last round: "
        parts.append(Text(lacking + _texts(standing.missing), style="dim", no_wrap=True, overflow="ellipsis"))
    if standing.ranking:
        table = Table(box=None, padding=(0, 1), show_header=False)
        table.add_column(width=2, justify="right")
        table.add_column(no_wrap=True, overflow="ellipsis")
        table.add_column(no_wrap=True, overflow="ellipsis")
        for place, each in enumerate(standing.ranking[:SHOWN_SITES], start=1):
            table.add_row(str(place), Text(each.site), Text(each.next_fault, style="dim"))
        parts.append(table)
    return Group(*parts)
