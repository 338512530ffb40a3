"""Tracebacks of exception groups, drawn as trees, as Python prints chained ones: the group, then each of its parts."""

import re
from collections.abc import Iterable, Iterator

from cutset.reproduce.logs.dialect import NumberedLine

HEADER = "Traceback (most recent call last):"
PART = "The above exception is a group; a part of it:"

_BEGINNING = re.compile(rf"(?P<before>.*?) *\+ Exception Group {re.escape(HEADER)}")
_PART = re.compile(r"[ |]*\+[-+]*-+ (?:\d+|\.\.\.) -+")
_END = re.compile(r"[ |]*\+-+")
_INSIDE = re.compile(r" +\| ?(.*)|")


def without_trees(lines: Iterable[NumberedLine]) -> Iterator[NumberedLine]:
    """What is no tree is left alone. All keep their numbers."""
    inside = False
    for number, line in lines:
        if beginning := _BEGINNING.fullmatch(line):
            inside = True
            yield number, beginning["before"] + HEADER
        elif not inside:
            yield number, line
        elif _PART.fullmatch(line):
            yield number, PART
        elif _END.fullmatch(line):
            yield number, ""
        elif text := _INSIDE.fullmatch(line):
            yield number, (text[1] or "").replace(f"Exception Group {HEADER}", HEADER)
        else:
            inside = False
            yield number, line
