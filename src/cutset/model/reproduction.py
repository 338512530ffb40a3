"""The words of a reproduction: places in source code, visits to them, log lines, what to look for (ANDURIL §4, §5)."""

from dataclasses import dataclass
from enum import StrEnum


class SiteKind(StrEnum):
    CALL = "call"  # of code outside the analysed packages: it raises in place of running
    AWAIT = "await"  # of something that is no call: a future, a task
    RAISE = "raise"  # a `raise` statement of the analysed code: it is reached in place of what goes before


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A place where an exception can be made to arise."""

    module: str
    function: str  # its qualified name, without `<locals>`
    expression: str  # what is called, awaited or raised, on one line
    ordinal: int  # 0 for the first such expression in the function, in order of appearance
    kind: SiteKind
    path: str
    line: int
    column: int  # as in `ast`: in bytes of UTF-8, from 0
    end_line: int
    end_column: int

    def __str__(self) -> str:
        ordinal = f"#{self.ordinal}" if self.ordinal else ""
        return f"{self.module}::{self.function}::{self.expression}{ordinal}"


@dataclass(frozen=True, slots=True, order=True)
class Visit:
    """One execution of a site."""

    site: int  # its number in the list that the run was given
    occurrence: int  # 1 for the first of its process
    log_lines: int  # how many the run had logged before
    process: int  # 0 for the workload itself, then in order of their start
    thread: str  # of the thread, or of the asyncio task in it


@dataclass(frozen=True, slots=True, order=True)
class Choice:
    """A fault that a run may fire: it fires the first of its choices that occurs, and no other."""

    site: int
    occurrence: int  # 0: any
    effect: str  # what makes the exception, as in `OSError(104, 'reset')`; or hang(), delay(2.5), crash(), return(None)


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One entry of a log; a traceback belongs to the entry before it."""

    line: int  # of the file, from 1
    thread: str  # "" if the log does not tell
    logger: str  # "" likewise
    level: str
    message: str  # without its time; may have several lines
    traceback: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Observable:
    """A message of the failure log that good runs do not have."""

    key: str  # of its log statement, or of its sanitised text where no statement is known
    thread: str
    line: int  # of the failure log
