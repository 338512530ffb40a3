"""Stack traces as the JVM and its logging libraries print them: lines into exceptions with their frames.

Knows `Caused by:` and `Suppressed:`, the root cause first with `Wrapped by:` (logback), frames with module, loader, jar
and version, frames without `at` (JUnit), and what Hadoop adds of another process: a stack above an empty line.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_FRAME = re.compile(
    r"(?P<indent>\s*)(?P<at>at )?(?:[^\s/()]*/){0,3}(?P<owner>[^\s/()]+)\.(?P<method>[^\s./()][^./()]*)"
    r"\((?P<file>[^():]*)(?::(?P<line>\d+))?\)(?: ~?\[[^\]]*\])?\s*"
)
_PLACES = ("Native Method", "Unknown Source")  # in place of a file
_OMITTED = re.compile(r"\s*\.\.\. (?P<frames>\d+) (?:more|common frames omitted)(?:, .*)?\s*")
_RELATION = re.compile(r"(?P<indent>\s*)(?P<how>Caused by|Suppressed|Wrapped by): ?(?P<rest>.*)")
_CIRCULAR = re.compile(r"\[CIRCULAR REFERENCE:\s*(?P<rest>.*)\]")
_SOUNDS_THROWN = r"(?:\w|\$)*(?:Exception|Error|Throwable|Failure|Timeout|ThreadDeath)(?:\w|\$)*"
_TYPE = rf"(?:(?:[A-Za-z_][\w$-]*\.)+{_SOUNDS_THROWN}|[A-Z]\w*(?:Exception|Error))"
_NAMED = rf"(?P<type>{_TYPE})(?:\((?P<remote>{_TYPE})\))?(?:: ?(?P<message>.*))?"
_HEADER = re.compile(_NAMED)
_ANY_TYPE = re.compile(r"(?P<type>[A-Za-z_][\w$.-]*)(?:\((?P<remote>[\w.$]+)\))?(?:: ?(?P<message>.*))?")
_INSIDE = re.compile(rf"(?<![\w.$/(]){_NAMED}$")
_RUN = re.compile(r"\s*at (?:[^\s/()]*/){0,2}java\.lang\.Thread\.run\(.*")
_MAIN = re.compile(r"\s*at (?:[^\s/()]*/){0,2}[^\s/()]+\.main\(.*")


class PrintedFrame(NamedTuple):
    owner: str  # a class, dotted
    method: str
    file: str  # "" if it is not told
    line: int  # 0 likewise


@dataclass(frozen=True, slots=True)
class PrintedException:
    type: str
    message: str
    frames: tuple[
        PrintedFrame, ...
    ] = ()  # innermost first; those left out as they are of the enclosing one, too, are there
    suppressed: bool = False


@dataclass(slots=True)
class _Reading:
    """An exception while its lines are being read."""

    header: re.Match[str] | None
    indent: int = 0
    how: str = ""
    message: list[str] = field(default_factory=list)
    remote: list[PrintedFrame] = field(default_factory=list)  # of the process that answered with it
    frames: list[PrintedFrame] = field(default_factory=list)
    omitted: int = 0
    within: "_Reading | None" = None  # whose outer frames are not printed again


def frame_of(line: str, *, inside: bool = True) -> PrintedFrame | None:
    """`inside` a trace, a frame needs no `at`."""
    if "(" not in line:
        return None
    found = _FRAME.fullmatch(line)
    if not found or not (found["at"] or inside):
        return None
    file = found["file"]
    if not found["at"] and not (found["line"] or file in _PLACES):
        return None
    return PrintedFrame(found["owner"], found["method"], "" if file in _PLACES else file, int(found["line"] or 0))


def names_exception(line: str) -> bool:
    """Whether a line is the first of a trace: a type that sounds like one, and what it says."""
    return _HEADER.fullmatch(line) is not None


def named_at_end(line: str) -> int | None:
    """Where in a line an exception is named, by its whole name, up to the end of the line."""
    found = next((found for found in _INSIDE.finditer(line) if "." in found["type"]), None)
    return found.start() if found else None


def is_related(line: str) -> bool:
    return _RELATION.match(line) is not None or _CIRCULAR.search(line) is not None


def is_omission(line: str) -> bool:
    return _OMITTED.fullmatch(line) is not None


def begins_thread(line: str, *, at_once: bool = False) -> bool:
    """No frame comes after this one; `at_once`: not even right below. Launchers call the `main` of others."""
    return is_omission(line) or _RUN.match(line) is not None or (not at_once and _MAIN.match(line) is not None)


def printed_exceptions(lines: Iterable[str]) -> list[PrintedException]:
    """The root cause first, what is at the head of the trace last; what was suppressed right before that."""
    found = _read(lines)
    whole = [_whole(reading) for reading in found]
    if any(reading.how == "Wrapped by" for reading in found):
        return [exception for each in whole for exception in each]
    head, *others = whole or [[]]
    causes = [each for each in others if not any(exception.suppressed for exception in each)]
    suppressed = [each for each in others if each not in causes]
    return [exception for each in (*causes[::-1], *suppressed, head) for exception in each]


def _read(lines: Iterable[str]) -> list[_Reading]:
    found: list[_Reading] = []
    for line in lines:
        if related := _RELATION.match(line):
            found.append(_related(found, related))
        elif omitted := _OMITTED.fullmatch(line):
            for reading in found[-1:]:
                reading.omitted = int(omitted["frames"])
        elif frame := frame_of(line):
            if not found:
                found.append(_Reading(None))
            found[-1].frames.append(frame)
        elif not found:
            found += [_Reading(_ANY_TYPE.match(line.strip()))] if line.strip() else []
        elif not found[-1].frames:
            found[-1].message.append(line.strip())
        elif not line.strip() and not found[-1].remote:
            found[-1].remote, found[-1].frames = found[-1].frames, []
    return found


def _related(found: Sequence[_Reading], line: re.Match[str]) -> _Reading:
    indent = len(line["indent"].expandtabs(8))
    circular = _CIRCULAR.search(line["rest"])
    reading = _Reading(_ANY_TYPE.match(circular["rest"] if circular else line["rest"]), indent, line["how"])
    if line["how"] == "Wrapped by":
        for cause in found[-1:]:
            cause.within = reading
    else:
        around = indent + (line["how"] == "Caused by")  # a cause is as far to the right as what it is the cause of
        reading.within = next((other for other in reversed(found) if other.indent < around), None)
    return reading


def _whole(reading: _Reading) -> list[PrintedException]:
    header, suppressed = reading.header, reading.how == "Suppressed"
    kind = header["type"] if header else ""
    message = "\n".join([(header["message"] if header else "") or "", *reading.message]).strip()
    here, there = (reading.frames, reading.remote) if reading.frames else (reading.remote, [])
    exceptions = [PrintedException(kind, message, (*here, *_outer(reading)), suppressed)]
    if there:
        remote = (header["remote"] if header else "") or kind
        exceptions.insert(0, PrintedException(remote, message, tuple(there), suppressed))
    return exceptions


def _outer(reading: _Reading) -> tuple[PrintedFrame, ...]:
    """The frames that are left out, as the enclosing exception has them."""
    if not reading.omitted or reading.within is None:
        return ()
    around = (*reading.within.frames, *_outer(reading.within))
    return around[-reading.omitted :]
