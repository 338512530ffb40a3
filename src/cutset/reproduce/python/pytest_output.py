"""What pytest prints, without its decoration: what the program printed and logged, tracebacks as Python prints them.

session     progress, with output of the program (`-s`, live logs) in between
failure     of a test: source excerpts and `E` lines (`--tb=long`, `short`, `auto`), or a traceback (`--tb=native`)
captured    output and log of a test that failed; dropped if it was logged live before
warnings    and exceptions that threads of the program died of
summary     says nothing new, unless failures are not shown (`--tb=no`)
dropped     durations, coverage
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cutset.reproduce.logs.dialect import NumberedLine

_COUNTS = r"(?:\d+ [a-z]+(?:, \d+ [a-z]+)*|no tests ran) in \d+\.\d+s(?: \([\d:]+\))?"
_SECTION = re.compile(r"=+ (?P<title>.+?) =+")
_TEST = re.compile(r"_+ (?P<title>[^ _].*?) _+")
_OUTPUT = re.compile(r"-+ (?:(?P<live>live log .+)|Captured (?P<what>\w+) \w+) -+")
_END = re.compile(_COUNTS)
_START = re.compile(rf"=+ (?:test session starts|ERRORS|FAILURES) =+|(?:=+ )?{_COUNTS}(?: =+)?")
_SECTIONS = {
    "test session starts": "session",
    "ERRORS": "failure",
    "FAILURES": "failure",
    "PASSES": "failure",
    "warnings summary": "warnings",
    "short test summary info": "summary",
    "tests coverage": "dropped",
}

_STATUS = r"(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: \([^)]*\))?"
_DECORATION = re.compile(
    rf"(?:.* )?{_STATUS} +\[ *\d+%\]|{_STATUS}|[.FEsxX]+(?: *\[ *\d+%\])?|\[gw\d+\] .*|!+ .* !+"
    r"|(?:platform|rootdir:|plugins:|cachedir:|configfile:|testpaths:|asyncio: mode|hypothesis profile) ?.*"
    r"|(?:collecting \.\.\. )?collected \d+ items?\b.*|\S+\.py(?:::\S+)? ?"
)
_TEST_ID = re.compile(r"\A\S+\.py(?:::\S+)? (?=\S)")  # before the first line that a test prints

_NATIVE = re.compile(r"(?:  \+ Exception Group )?Traceback \(most recent call last\):")
_CHAINED = re.compile(r"During handling of the above exception|The above exception was the direct cause")
_SAID = re.compile(r"E(?P<indent> {2,})(?P<text>.*)")
_PLACE = re.compile(r"(?P<path>[^\s:][^:]*):(?P<line>\d+): ?(?:in (?P<name>\S.*)|(?P<type>[A-Za-z_][\w.]*)(?:: .*)?)?")
_DEF = re.compile(r"\s+(?:async )?def (?P<name>\w+)")
_ADVICE = ("  Enable tracemalloc to get", "  See https://docs.pytest.org/")
_UNHANDLED = re.compile(r"\A\S+:\d+: PytestUn(?:handled|raisable)\w*Warning: ")


class _Part(NamedTuple):
    kind: str
    title: str
    start: int  # number of its first line
    lines: list[NumberedLine]


def without_decoration(lines: Sequence[str]) -> list[NumberedLine]:
    """Lines that are not of pytest are left alone. All keep their numbers."""
    if not any(_START.fullmatch(line) for line in lines):
        return list(enumerate(lines, start=1))
    parts = list(_parts(lines))
    shows_failures = any(part.kind == "failure" and part.lines for part in parts)
    is_live = any((output := _OUTPUT.fullmatch(line)) and output["live"] for line in lines)
    found: list[NumberedLine] = []
    for part in parts:
        kept: list[NumberedLine] = []
        match part.kind:
            case "session":
                kept += _session(part.lines)
            case "failure":
                kept += _failure(part)
            case "captured" if not (is_live and part.title == "log"):
                kept += part.lines
            case "warnings":
                kept += _warnings(part.lines)
            case "summary" if not shows_failures:
                kept += [(number, line) for number, line in part.lines if line.startswith(("FAILED", "ERROR"))]
        # What follows is no more of a message that ends the part.
        found += [*kept, (kept[-1][0], "")] if kept else []
    return found


def _parts(lines: Sequence[str]) -> Iterator[_Part]:
    part = _Part("session", "", 1, [])
    for number, line in enumerate(lines, start=1):
        header = _header(line, part.kind)
        if header is None:
            part.lines.append((number, line))
        else:
            yield part
            part = _Part(*header, number, [])
    yield part


def _header(line: str, kind: str) -> tuple[str, str] | None:
    """Kind and title of the part that the line begins, if any does."""
    if section := _SECTION.fullmatch(line):
        title = section["title"]
        is_own = _END.fullmatch(title) or kind not in ("session", "captured")  # programs print such lines, too
        found = _SECTIONS.get(title, "dropped" if title.startswith("slowest ") else "session" if is_own else "")
        return (found, "") if found else None
    if kind in ("failure", "captured") and (test := _TEST.fullmatch(line)):
        return "failure", test["title"]
    if output := _OUTPUT.fullmatch(line):
        return ("session", "") if output["live"] else ("captured", output["what"])
    return ("session", "") if _END.fullmatch(line) else None


def _session(lines: Iterable[NumberedLine]) -> Iterator[NumberedLine]:
    for number, line in lines:
        text = _TEST_ID.sub("", line)
        if not _DECORATION.fullmatch(text) and not _DECORATION.fullmatch(line):
            yield number, text


def _warnings(lines: Iterable[NumberedLine]) -> Iterator[NumberedLine]:
    """The tests that they are of are not indented."""
    return (
        (number, _UNHANDLED.sub("", line[2:]))
        for number, line in lines
        if line.startswith("  ") and not line.startswith(_ADVICE)
    )


def _failure(part: _Part) -> Iterator[NumberedLine]:
    native = next((at for at, (_, line) in enumerate(part.lines) if _NATIVE.match(line)), None)
    told = list(_tracebacks(part.lines) if native is None else part.lines[native:])
    if told:
        where = part.title.removeprefix("ERROR ") if part.title.startswith("ERROR ") else f"in {part.title or 'a test'}"
        yield part.start, f"Unhandled exception {where}:"  # owns the traceback, which no log message before it does
        yield from told


def _tracebacks(lines: Sequence[NumberedLine]) -> Iterator[NumberedLine]:
    """One for each exception of a chain."""
    start = 0
    for at, (number, line) in enumerate(lines):
        if _CHAINED.match(line):
            yield from _traceback(lines[start:at])
            yield from ((number, text) for text in ("", line, ""))
            start = at + 1
    yield from _traceback(lines[start:])


def _traceback(lines: Sequence[NumberedLine]) -> Iterator[NumberedLine]:
    frames: list[NumberedLine] = []
    said: list[NumberedLine] = []
    function = source = kind = ""
    is_short = False  # the frame's source follows its place; else its whole function, up to the line, is before it
    for number, line in lines:
        if place := _PLACE.fullmatch(line):
            name = place["name"] or function or "<module>"
            frames.append((number, f'  File "{place["path"]}", line {place["line"]}, in {name}'))
            frames += [(number, f"    {source}")] if source else []
            function, source, kind, is_short = "", "", place["type"] or kind, bool(place["name"])
        elif text := _SAID.fullmatch(line):
            said.append((number, text["text"]) if not said else (number, f"  {text['text'].strip()}"))
        elif line.startswith(">"):
            source = line[1:].strip()
        elif not line[:1].isspace():  # between frames
            is_short = False
        elif is_short:
            frames.append((number, line))
        elif not function and (definition := _DEF.match(line)):
            function = definition["name"]
    if said and said[0][1].startswith("assert "):
        said[0] = (said[0][0], f"{kind or 'AssertionError'}: {said[0][1]}")
    if frames:
        yield lines[0][0], "Traceback (most recent call last):"
    yield from frames
    yield from ((number, text) for number, text in said if text.strip())
