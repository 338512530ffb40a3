"""How JVM programs speak beside what they log: stack traces, last words of threads, the JVM itself, test runners."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Any

from cutset.reproduce.jvm.printed_traces import (
    begins_thread,
    frame_of,
    is_omission,
    is_related,
    named_at_end,
    names_exception,
    printed_exceptions,
)
from cutset.reproduce.jvm.runner_output import without_decoration
from cutset.reproduce.logs.dialect import NumberedLine

_LONG = 12  # lines that the message of an exception may have
_OWN_WORDS = re.compile(  # of the JVM: they tell of its options, and of what is attached to it
    r"Picked up (?:JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS): .*|NOTE: Picked up JDK_JAVA_OPTIONS: .*"
    r"|(?:OpenJDK|Java HotSpot|Eclipse OpenJ9)\S* .{0,40}VM warning: .*"
    r"|WARNING: (?:An illegal reflective access|Illegal reflective access|Please consider reporting this to|Use --\S+"
    r"|All illegal access operations|A terminally deprecated method|sun\.misc\.|\S+ (?:has been called by|will be)"
    r"|A Java agent has been loaded|If a serviceability tool|Dynamic loading of agents|A restricted method).*"
)
_UNCAUGHT = re.compile(
    r'Exception in thread "(?P<thread>[^"]*)" ?'
    r'|Exception: \S+ thrown from the UncaughtExceptionHandler in thread "(?P<in>.*)"'
)
_LOGGED_BY_JUL = re.compile(  # java.util.logging says where and when on a line of its own, and what on the next
    r"[A-Z][a-z]{2} \d{1,2}, \d{4},? \d{1,2}:\d\d:\d\d(?:\s[AP]M)? \S+(?: \S+)?"
)
_PREFIX = re.compile(r"\A[\w.-]{1,80} +\| ")
_JUL_LEVEL = re.compile(r"(?:SEVERE|WARNING|INFO|CONFIG|FINE|FINER|FINEST): ")


class JvmLogs:
    """The `LogDialect` of the JVM."""

    prints_traces_at_once = True  # loggers do, and `printStackTrace` locks its stream

    def undecorated(self, lines: Sequence[str]) -> list[NumberedLine]:
        plain = [(number, line) for number, line in without_decoration(lines) if not _OWN_WORDS.fullmatch(line)]
        return list(_headers_apart(_jul_joined(plain)))

    def begins_trace(self, line: str) -> bool:
        return names_exception(line) or is_related(line) or frame_of(line, inside=False) is not None

    def continues_trace(self, trace: Sequence[str], line: str, *, formatted: bool) -> bool:
        """Frames, causes and what is left out; before the first frame, more lines of the exception's message."""
        if frame_of(line):
            return not (trace and begins_thread(trace[-1], at_once=True))
        if not line.strip() or is_related(line) or is_omission(line):
            return True
        if names_exception(line) or _is_placed(trace):
            return False
        words = list(takewhile(lambda before: not frame_of(before), reversed(trace)))
        return line[0].isspace() or (formatted and len(words) < _LONG)

    def resumes_trace(self, trace: Sequence[str], line: str) -> bool:
        """Frames of one that has not got to the beginning of its thread; causes of one that has frames."""
        last = next((before for before in reversed(trace) if before.strip()), "")
        if is_related(line):
            return _is_placed(trace)
        if is_omission(line):
            return frame_of(last) is not None
        return frame_of(line, inside=False) is not None and not begins_thread(last)

    def uncaught(self, line: str) -> str | None:
        found = _UNCAUGHT.match(line)
        return None if found is None else found["thread"] or found["in"] or ""

    def raised(self, trace: Sequence[str]) -> tuple[str, str]:
        """Of the root cause: what wraps it is the same whatever it was."""
        cause = next(iter(printed_exceptions(trace)), None)
        if cause is None or not cause.frames:
            return (cause.type, cause.message) if cause and names_exception(trace[0]) else ("", "")
        thrower = cause.frames[0]
        return f"{cause.type} raised in {thrower.owner.rpartition('.')[2]}.{thrower.method}", cause.message

    def exceptions(self, lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
        """Knows those of a thread, in the midst of a logged line, behind a prefix as in `api-1  | `, and in JSON.

        Causes count as well; of a message, the first line.
        """
        named: tuple[str, str] | None = None  # that may be the head of a trace
        for where, whole_line in lines:
            for line in _unpacked(whole_line):
                if is_related(line) or (line.startswith("Exception in thread") and named_at_end(line) is not None):
                    yield from _told(where, line)
                    named = None
                elif named and frame_of(line):
                    yield from _told(*named)
                    named = None
                elif names_exception(line) or named_at_end(line) is not None:
                    named = where, line


def _told(where: str, line: str) -> Iterator[tuple[str, str, str]]:
    start = 0 if names_exception(line) else named_at_end(line)
    for exception in printed_exceptions([line[start or 0 :]])[:1]:
        yield where, exception.type, exception.message


def _is_placed(trace: Sequence[str]) -> bool:
    """Whether the last exception of a trace has a frame already."""
    last = next((line for line in reversed(trace) if frame_of(line) or is_omission(line) or is_related(line)), "")
    return last != "" and not is_related(last)


def _headers_apart(lines: Iterable[NumberedLine]) -> Iterator[NumberedLine]:
    """Where an exception is named at the end of a line, and its frames follow, it has a line of its own."""
    for (number, line), (_, following) in pairwise([*lines, (0, "")]):
        at = named_at_end(line) if frame_of(following, inside=False) and not frame_of(line) else None
        uncaught = _UNCAUGHT.match(line)
        if uncaught and at is None and names_exception(line[uncaught.end() :]):
            at = uncaught.end()
        if at and not is_related(line):
            yield number, line[:at].rstrip()
            yield number, line[at:]
        else:
            yield number, line


def _jul_joined(lines: Sequence[NumberedLine]) -> Iterator[NumberedLine]:
    before: NumberedLine | None = None
    for number, line in lines:
        if before and _JUL_LEVEL.match(line):
            yield before[0], f"{before[1]} {line}"
            before = None
            continue
        if before:
            yield before
        before = (number, line) if _LOGGED_BY_JUL.fullmatch(line) else None
        if not before:
            yield number, line
    if before:
        yield before


def _unpacked(line: str) -> list[str]:
    """The lines of the stack trace in an entry of JSON; what a container's name is in front of."""
    if not line.startswith("{"):
        return [_PREFIX.sub("", line)]
    try:
        texts = [text for text in _strings(json.loads(line)) if "\n\tat " in text]
    except ValueError:
        return [line]
    return [part for text in texts for part in text.splitlines()]


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _strings(inner)
        case list():
            for inner in value:
                yield from _strings(inner)
