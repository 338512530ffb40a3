"""Reads logs of any common format into records.

A line that starts no record belongs to the record before, if it is blank, indented, part of a traceback, or if that
record's message is visibly unfinished. All else is plain output (`print`, warnings, uncaught exceptions): records
without logger. Where all is plain output, nothing tells where a message ends: each line is a record, indented or not.
What a traceback looks like is the dialect's to tell; the decoration of its test runner goes first.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.logs.dialect import LogDialect, NumberedLine
from cutset.reproduce.logs.fields import LoggedLine
from cutset.reproduce.logs.formats import LogFormats, choose_formats, users_format
from cutset.reproduce.logs.levels import HARMLESS
from cutset.reproduce.logs.shipping import unwrapped

_TORN = 50  # lines of others that may come between two of a traceback
_FOLDED = 5  # lines between a log message and its traceback that are taken for more of the message

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_UNFINISHED = (",", ":", "(", "[", "{", "\\", " ")  # at the end of a line: more of the message follows


@dataclass(slots=True)
class _Draft:
    """A record while its lines are being read."""

    line: int
    logged: bool  # starts with what a format asks for; else it is plain output
    thread: str = ""
    logger: str = ""
    level: str = ""
    message: list[str] = field(default_factory=list)
    traceback: list[str] = field(default_factory=list)


def formats_of(*logs: str | Iterable[str], pattern: str | None = None, dialect: LogDialect) -> LogFormats:
    """One choice for all logs of a case; `pattern` is that of its user, if there is one."""
    read = [[line for _, line in _numbered(log, dialect)] for log in logs]
    return choose_formats(read) if pattern is None else [users_format(pattern, [line for log in read for line in log])]


def read_log(log: str | Iterable[str], formats: LogFormats, *, dialect: LogDialect) -> list[LogRecord]:
    """The records of a log, in order."""
    return [_record(draft, dialect) for draft in _drafts(_numbered(log, dialect), formats, dialect)]


def _record(draft: _Draft, dialect: LogDialect) -> LogRecord:
    raised, reason = dialect.raised(draft.traceback) if draft.traceback else ("", "")
    return LogRecord(
        line=draft.line,
        thread=draft.thread,
        logger=draft.logger,
        level=draft.level,
        message="\n".join(draft.message).rstrip(),
        traceback=tuple(draft.traceback),
        raised=raised,
        reason=reason,
    )


def _numbered(log: str | Iterable[str], dialect: LogDialect) -> list[NumberedLine]:
    text = log.split("\n") if isinstance(log, str) else log
    lines = [_ANSI.sub("", line.rstrip("\r\n")) for line in text]
    if isinstance(log, str) and lines and not lines[-1]:
        lines.pop()  # what follows the last line's end is no line
    return dialect.undecorated(unwrapped(lines))


def _drafts(lines: Iterable[NumberedLine], formats: LogFormats, dialect: LogDialect) -> list[_Draft]:
    drafts: list[_Draft] = []
    inside: _Draft | None = None  # whose traceback the line before is of
    traces: list[tuple[int, _Draft]] = []  # that others may come between, with their last lines, the oldest first
    formatted = bool(formats)
    for number, line in lines:
        if logged := next((logged for form in formats if (logged := form(line))), None):
            drafts.append(_draft(number, logged))
            inside = None
            continue
        if (thread := dialect.uncaught(line)) is not None:
            drafts.append(_Draft(number, logged=False, thread=thread, message=[line]))
            inside = None
            continue
        traces = [(last, draft) for last, draft in traces if number - last <= _TORN]
        resumed = None
        goes_on = inside is not None and dialect.continues_trace(inside.traceback, line, formatted=formatted)
        if inside is None or (len(traces) > 1 and not (goes_on and dialect.prints_traces_at_once)):
            resumed = next((draft for _, draft in traces if dialect.resumes_trace(draft.traceback, line)), None)
        begins = not goes_on and dialect.begins_trace(line)
        inside = resumed or (inside if goes_on else _owner_of_traceback(drafts, number, dialect) if begins else None)
        if inside is not None:
            inside.traceback.append(line)
            traces = [*((last, draft) for last, draft in traces if draft is not inside), (number, inside)]
        elif drafts and _belongs_to(drafts[-1], line, formatted=formatted):
            drafts[-1].message.append(line)
        elif line.strip():
            drafts.append(_Draft(number, logged=False, message=[line]))
    return drafts


def _draft(number: int, line: LoggedLine) -> _Draft:
    traceback = list(line.traceback)
    return _Draft(number, True, line.thread, line.logger, line.level, line.message.split("\n"), traceback)


def _owner_of_traceback(drafts: list[_Draft], number: int, dialect: LogDialect) -> _Draft:
    """The record that a traceback belongs to: the message before it, unless that is no cause for one.

    After a harmless message, or one that has its traceback already, it is more likely that of an uncaught exception,
    which is an event of its own, and may have been announced. asyncio's messages have further lines before the
    traceback.
    """
    recent = drafts[-_FOLDED - 1 :]
    plain = list(takewhile(lambda draft: not draft.logged and not draft.traceback, reversed(recent)))[::-1]
    before = drafts[-len(plain) - 1] if len(drafts) > len(plain) else None
    announced = [draft for draft in recent if _announces(draft, dialect)]
    if announced:
        owner = announced[0]
        if owner in plain and len(announced) == 1:
            _fold(drafts, owner, plain[plain.index(owner) + 1 :])
        return owner
    if plain and plain[-1].message[0].endswith(":"):
        return plain[-1]
    is_cause = before is not None and (before.level not in HARMLESS or (not plain and dialect.prints_traces_at_once))
    if before and len(plain) <= _FOLDED and before.logged and is_cause and not before.traceback:
        _fold(drafts, before, plain)
        return before
    drafts.append(_Draft(number, logged=False))
    return drafts[-1]


def _announces(draft: _Draft, dialect: LogDialect) -> bool:
    return not draft.logged and not draft.traceback and dialect.uncaught(draft.message[0]) is not None


def _fold(drafts: list[_Draft], owner: _Draft, last: Sequence[_Draft]) -> None:
    """What was read last is more of the owner's message."""
    owner.message += [line for draft in last for line in draft.message]
    del drafts[len(drafts) - len(last) :]


def _belongs_to(draft: _Draft, line: str, *, formatted: bool) -> bool:
    indented = not line.strip() or line[0].isspace()
    return _is_unfinished(draft) or (indented and (formatted or not line.strip() or bool(draft.traceback)))


def _is_unfinished(draft: _Draft) -> bool:
    last = draft.message[-1] if draft.message else ""
    return draft.logged and not draft.traceback and last.endswith(_UNFINISHED)
