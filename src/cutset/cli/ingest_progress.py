"""How far an ingest is, on standard error: one line that changes, or one now and then where there is no terminal.

The share that is done is that of bytes. Pipes and servers do not say how many there are: then it is left out.
"""

import time
from collections import deque
from dataclasses import dataclass, field

from rich.markup import escape

from cutset.app.ingest import IngestEvent, SourcesFound
from cutset.cli.output import Console
from cutset.model.wording import count
from cutset.report.survey.ingest import SHOWN_PROBLEMS
from cutset.survey.ingest import SourceRead

TERMINAL_SECONDS = 0.2
LINE_SECONDS = 10
LINE_LETTERS = 99
MEASURED_FROM_START = 4  # measurements; then the start is forgotten
LATEST = 150  # measurements that the time left is told by: half a minute of them in a terminal


@dataclass(slots=True)
class IngestStanding:
    """What the line shows; nothing in it looks at a clock."""

    sources: int = 0
    bytes: int = 0  # of all files; 0 if nobody knows
    done: int = 0
    refused: int = 0
    spans: dict[str, int] = field(default_factory=dict)  # by source
    bytes_read: dict[str, int] = field(default_factory=dict)
    measured: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=LATEST))  # seconds, and bytes

    def learn(self, event: IngestEvent) -> None:
        if isinstance(event, SourcesFound):
            self.sources, self.bytes = event.number, event.bytes
            self.measured.append((0.0, 0))
            return
        name, spans = (event.name, event.tally.spans) if isinstance(event, SourceRead) else (event.source, event.spans)
        self.spans[name], self.bytes_read[name] = spans, event.bytes_read
        if isinstance(event, SourceRead):
            self.done += 1
            self.refused += event.problem is not None

    def line(self, seconds: float) -> str:
        """After so many seconds."""
        spans, read = sum(self.spans.values()), sum(self.bytes_read.values())
        self.measured.append((seconds, read))
        if len(self.measured) == MEASURED_FROM_START:
            self.measured.popleft()
        if self.done == self.sources:
            return f"{count(self.sources, 'source')} read, sorting {count(spans, 'span')} in"
        parts = [f"{self.done:,} of {count(self.sources, 'source')}"]
        if spans:
            parts.append(f"{count(spans, 'span')}, {spans / max(seconds, 1e-9):,.0f} a second")
        if self.bytes:
            parts = [f"{min(read / self.bytes, 1.0):.0%}", *parts, *self._time_left()]
        return " · ".join(parts)

    def _time_left(self) -> list[str]:
        """By the latest measurements: what an ingest before that was interrupted had read took no time now."""
        (began, before), (now, read) = self.measured[0], self.measured[-1]
        return [f"{_about((self.bytes - read) * (now - began) / (read - before))} left"] if read > before else []


@dataclass(slots=True)
class IngestProgress:
    console: Console
    standing: IngestStanding = field(default_factory=IngestStanding)
    started: float = field(default_factory=time.monotonic)
    shown: float = field(default_factory=time.monotonic)

    def tell(self, event: IngestEvent) -> None:
        self.standing.learn(event)
        if isinstance(event, SourceRead) and event.problem is not None:
            self._tell_problem(event, event.problem.message)
        now = time.monotonic()
        begins = isinstance(event, SourcesFound) and self.console.is_terminal
        if begins or now - self.shown >= (TERMINAL_SECONDS if self.console.is_terminal else LINE_SECONDS):
            self.shown = now
            line = self.standing.line(now - self.started)
            self.console.print(f"{line:<{LINE_LETTERS}}" if self.console.is_terminal else line, end=self._end)

    def _tell_problem(self, event: SourceRead, problem: str) -> None:
        # If there is no other source, and nothing of it was read, the command fails with that.
        if self.standing.refused <= SHOWN_PROBLEMS and (self.standing.sources > 1 or event.tally.spans):
            self.clear()
            what = "not read to its end:" if event.tally.spans else "refused:"
            self.console.print(f"[yellow]{what}[/] {escape(problem)}")

    @property
    def _end(self) -> str:
        return "\r" if self.console.is_terminal else "\n"

    def clear(self) -> None:
        if self.console.is_terminal:
            self.console.print(" " * LINE_LETTERS, end="\r")


def _about(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
