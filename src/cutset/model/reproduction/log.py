"""Entries of logs, and what is looked for in them (ANDURIL §5.1): alone, and two logs side by side."""

from dataclasses import dataclass

from cutset.model.reproduction.result import FailureMessage
from cutset.model.reproduction.site import FiredFault


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One entry of a log; a traceback belongs to the entry before it."""

    line: int  # of the file, from 1
    thread: str  # "" if the log does not tell
    logger: str  # "" likewise
    level: str
    message: str  # without its time; may have several lines
    traceback: tuple[str, ...] = ()
    raised: str = ""  # its last exception and the function that raised it, in words
    reason: str = ""  # what that exception says


@dataclass(frozen=True, slots=True, order=True)
class Observable:
    """A message of the failure log that good runs do not have."""

    key: str  # of its log statement, or of its sanitised text where no statement is known
    thread: str
    line: int  # of the failure log
    said_in: str = ""  # the function that says it, as calling contexts name it; "" if it is not known
    called: frozenset[str] = frozenset()  # by name: what that calls, if one of these calls must have failed; else none


@dataclass(frozen=True, slots=True)
class LogPart:
    """An entry of a log as it stands there, with its traceback."""

    record: LogRecord
    lines: tuple[str, ...]
    key: str  # equal for entries that read alike


@dataclass(frozen=True, slots=True)
class LogRow:
    """What stands side by side."""

    failure: LogPart | None
    run: LogPart | None
    message: FailureMessage | None = None  # of the failure log, that has to be explained
    shows_message: bool = False  # the run's entry is such a message
    before: tuple[FiredFault, ...] = ()  # that fired about here, before the run's entry


@dataclass(frozen=True, slots=True)
class LogComparison:
    """The failure log next to the log of the run that reproduced it."""

    rows: tuple[LogRow, ...]
    has_run: bool  # else the run's log is no longer there
    failure_left_out: int = 0  # lines in the middle, as it is very long
    run_left_out: int = 0
