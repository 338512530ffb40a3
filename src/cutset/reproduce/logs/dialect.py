"""How programs of one language speak in a log, beside what they log: traces of a stack, last words, a test runner."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

NumberedLine = tuple[int, str]


class LogDialect(Protocol):
    prints_traces_at_once: bool  # right below their message, whatever its level: other traces hardly get between

    def undecorated(self, lines: Sequence[str]) -> list[NumberedLine]:
        """What a test runner prints of its own is left out; all else keeps its number."""
        ...

    def begins_trace(self, line: str) -> bool: ...

    def continues_trace(self, trace: Sequence[str], line: str, *, formatted: bool) -> bool:
        """Whether a line is more of the trace so far. `formatted`: what is logged can be told from plain output."""
        ...

    def resumes_trace(self, trace: Sequence[str], line: str) -> bool:
        """Whether a line can be more of a trace that lines of others have come between."""
        ...

    def uncaught(self, line: str) -> str | None:
        """The thread whose last words a line announces, "" if it is not named; None if the line announces none."""
        ...

    def raised(self, trace: Sequence[str]) -> tuple[str, str]:
        """The last exception of a trace and the function that raised it, in words; and what it says. "" if none."""
        ...

    def exceptions(self, lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
        """Of lines of a whole output, each with its place: where a trace ends, with what type and what message."""
        ...
