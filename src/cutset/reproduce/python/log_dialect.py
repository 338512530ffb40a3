"""Tracebacks as Python and pytest print them, in logs and in the output of a round."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cutset.reproduce.logs.dialect import NumberedLine
from cutset.reproduce.python.exception_groups import HEADER, PART, without_trees
from cutset.reproduce.python.pytest_output import without_decoration
from cutset.reproduce.python.rich_tracebacks import without_boxes

_PROGRESS = re.compile(r"\A[.EFsx]{1,200}(?=\[?\d{4}-\d\d-\d\d)")  # unittest's dots, before the first line of a test
_TRACEBACK = re.compile(rf"\s*{re.escape(HEADER)}\s*$")
_CHAINED = re.compile(
    rf"\s*(?:During handling of the above exception|The above exception was the direct cause|{re.escape(PART)})"
)
_UNCAUGHT = re.compile(
    r"Exception in thread (?P<thread>.+?):?$|Process (?P<process>[\w.:-]+):$"
    r"|Exception ignored (?:in|on|while)\b|Unhandled (?:exception|error)\b|Fatal Python error:"
    r"|(?:Task|Future) exception was never retrieved$|Exception in callback |Internal Server Error: /"
)
_FRAME = re.compile(r'[ >]*File ".*", line \d+, in (.+)')  # > is where loguru caught it
_RAISED = re.compile(r"(?:(?:\w+\.)+[A-Z]\w*|\w*(?:Error|Exception|Exit|Interrupt|Warning|Timeout|Group))(?:: .*)?")
_NAMED = re.compile(r"([A-Za-z_][\w.]*)(?:: ?(.*))?")
_EXCEPTION = re.compile(r"([A-Za-z_][\w.<>]*)(?:: (.*))?")
_PYTEST_EXCEPTION = re.compile(r"E\s+([A-Za-z_][\w.<>]*)(?:: (.*))?")


class PythonLogs:
    """The `LogDialect` of Python."""

    prints_traces_at_once = False

    def undecorated(self, lines: Sequence[str]) -> list[NumberedLine]:
        plain = without_decoration([_PROGRESS.sub("", line, count=1) for line in lines])
        return _with_all_headers(list(without_trees(without_boxes(plain))))

    def begins_trace(self, line: str) -> bool:
        return _TRACEBACK.match(line) is not None

    def continues_trace(self, trace: Sequence[str], line: str, *, formatted: bool) -> bool:
        """Until its exception was named, which is the first line that is not indented.

        Exceptions' messages may have more lines; where nothing but plain output could follow, they are taken to have
        one.
        """
        if _TRACEBACK.match(line):
            return any(_CHAINED.match(before) for before in trace[-3:])
        if not line.strip() or line[0].isspace() or _CHAINED.match(line) or _FRAME.match(line):
            return True
        return not (_is_named(trace) and (not formatted or not trace[-1].strip()))

    def resumes_trace(self, trace: Sequence[str], line: str) -> bool:
        """What comes next in it: a place, its source, marks below that; in the end, what was raised."""
        last = next((before for before in reversed(trace) if before.strip()), "")
        if _CHAINED.match(last):
            return self.begins_trace(line)
        if _is_named(trace):
            return False
        after_place = _FRAME.match(last) is not None
        if line.startswith("    "):
            return after_place if line.strip(" ~^") else not after_place and last.startswith("    ")
        return _FRAME.match(line) is not None or (len(trace) > 1 and _RAISED.fullmatch(line) is not None)

    def uncaught(self, line: str) -> str | None:
        found = _UNCAUGHT.match(line)
        return None if found is None else found["thread"] or found["process"] or ""

    def raised(self, trace: Sequence[str]) -> tuple[str, str]:
        starts = [number for number, line in enumerate(trace) if _TRACEBACK.match(line)]
        function = ""
        for line in trace[starts[-1] + 1 :] if starts else ():
            if frame := _FRAME.match(line):
                function = frame[1]
            elif exception := _NAMED.fullmatch(line):
                return f"{exception[1]} raised in {function}", exception[2] or ""
        return "", ""

    def exceptions(self, lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
        """Knows those of a thread, of an exception group, behind a prefix as in `api-1  | `, in JSON, and of pytest.

        Lines of others in the midst of one are skipped; of a message, the first line counts.
        """
        prefix: str | None = None  # of the traceback that we are in
        for where, whole_line in lines:
            for line in _unpacked(whole_line):
                before, header, _ = line.partition(HEADER)
                if header:
                    prefix = before.replace("+ Exception Group ", "| ")
                    continue
                match = _PYTEST_EXCEPTION.fullmatch(line)
                if prefix is not None and not match:
                    match = _EXCEPTION.fullmatch(line.removeprefix(prefix))
                if match:
                    prefix = None
                    yield where, match[1], match[2] or ""


def _with_all_headers(lines: list[NumberedLine]) -> list[NumberedLine]:
    """A cause that arose in C code, and was never raised in Python, has no traceback: here it gets an empty one."""
    found: list[NumberedLine] = []
    for number, line in lines:
        if _CHAINED.match(line):
            end = next((index for index in reversed(range(len(found))) if found[index][1].strip()), 0)
            before = found[end - 1][1] if end else ""
            if found and _RAISED.fullmatch(found[end][1]) and not before[:1].isspace() and not _TRACEBACK.match(before):
                found.insert(end, (found[end][0], HEADER))
        found.append((number, line))
    return found


def _is_named(trace: Sequence[str]) -> bool:
    for line in reversed(trace):
        if _TRACEBACK.match(line) or _CHAINED.match(line):
            return False
        if line.strip() and not _FRAME.match(line) and not line[0].isspace():
            return True
    return False


def _unpacked(line: str) -> list[str]:
    """The lines of the traceback in an entry of JSON."""
    if HEADER not in line or not line.startswith("{"):
        return [line]
    try:
        return [part for text in _strings(json.loads(line)) if HEADER in text for part in text.splitlines()]
    except ValueError:
        return [line]


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
