"""Tracebacks as Rich draws them, in a box with source and variables, as Python prints them. structlog uses it."""

import re
from collections.abc import Iterable, Iterator

from cutset.reproduce.logs.dialect import NumberedLine

_TOP = re.compile(r"╭─+ Traceback \(most recent call last\) ─+╮")
_INSIDE = re.compile(r"│ ?(.*?) *│?")
_PLACE = re.compile(r"(?P<path>\S.*):(?P<line>\d+) in (?P<name>\S+)")
_SOURCE = re.compile(r"❱ +\d+ (?:│ *)*(.*)")


def without_boxes(lines: Iterable[NumberedLine]) -> Iterator[NumberedLine]:
    """What is no box is left alone. All keep their numbers."""
    inside = False
    begun = ""  # a path that goes on in the next line
    for number, line in lines:
        if _TOP.fullmatch(line.strip()):
            inside, begun = True, ""
            yield number, "Traceback (most recent call last):"
        elif not inside:
            yield number, line
        elif line.startswith("╰"):
            inside = False
        elif text := _INSIDE.fullmatch(line.strip()):
            begun = begun + text[1] if begun or text[1].startswith(("/", "~")) else ""
            if place := _PLACE.fullmatch(begun or text[1]):
                yield number, f'  File "{place["path"]}", line {place["line"]}, in {place["name"]}'
            elif source := _SOURCE.match(text[1]):
                yield number, f"    {source[1]}"
            if place or not text[1]:
                begun = ""
