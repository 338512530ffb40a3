"""Tracebacks in a log as places in the analysed source: the last frame of it, where the exception came from or left it.

Handled alike: tracebacks of `logger.exception`, of a thread that died ("Exception in thread"), of a task that nobody
awaited ("Task exception was never retrieved"), of the interpreter's end; chained ones are several, the cause first.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.logs.recognition import Origin
from cutset.reproduce.python.syntax import MODULE, PythonProgram

_FRAME = re.compile(r'\s*(?:[|+>-]\s*)*File "(?P<path>.+?)", line (?P<line>\d+)(?:, in (?P<name>.+))?')
_TYPE = re.compile(r"(?:[|+-]\s*)*(?P<type>[A-Za-z_][\w.]*)(?::\s|$)")
_COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>")
_START = "Traceback (most recent call last)"


@dataclass(frozen=True, slots=True)
class SourceIndex:
    """Functions by file name, so that a traceback from another machine finds them."""

    modules: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]  # file name to (path inside the package, module)
    functions: Mapping[str, tuple[int, ...]]  # by module
    program: PythonProgram


def index_source(program: PythonProgram) -> SourceIndex:
    modules: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
    for module in program.modules.values():
        path = PurePosixPath(module.path)
        depth = len(module.name.split(".")) + (path.name == "__init__.py")
        modules[path.name].append((path.parts[-depth:], module.name))
    functions: dict[str, list[int]] = defaultdict(list)
    for index, function in enumerate(program.functions):
        functions[function.module].append(index)
    return SourceIndex(
        {name: tuple(found) for name, found in modules.items()},
        {name: tuple(found) for name, found in functions.items()},
        program,
    )


def origins(record: LogRecord, source: SourceIndex) -> Iterator[Origin]:
    lines = record.traceback or (record.message.splitlines() if _START in record.message else ())
    for frames, kind in _stacks(lines):
        located = ((path, line, name, _locate(source, path, line, name)) for path, line, name in reversed(frames))
        inside = [(path, line, name, place) for path, line, name, place in located if place is not None]
        if inside:
            _, line, _, place = inside[0]
            context = _context((path, name) for path, _, name, _ in inside)
            yield Origin(source.program.functions[place].module, place, line, kind, context)


def _context(frames: Iterable[tuple[str, str]]) -> str:
    """As the hook in the workload names it: comprehensions are part of their function, recursion is one call."""
    names = [f"{_parts(path)[-1]}:{name.rpartition('.')[2]}" for path, name in frames if name not in _COMPREHENSIONS]
    return " < ".join(name for name, _ in groupby(names))


def _stacks(lines: Sequence[str]) -> Iterator[tuple[list[tuple[str, int, str]], str]]:
    """Each traceback: its frames, outermost first, and the type of the exception that ends it."""
    frames: list[tuple[str, int, str]] = []
    for text in lines:
        frame = _FRAME.match(text)
        if frame:
            frames.append((frame["path"], int(frame["line"]), frame["name"] or MODULE))
        elif frames and text and not text[0].isspace() and (kind := _TYPE.match(text)):
            yield frames, kind["type"]
            frames = []
    if frames:
        yield frames, ""


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path.replace("\\", "/")).parts


def _locate(source: SourceIndex, path: str, line: int, name: str) -> int | None:
    """The innermost function around the line, of the module whose path ends like the frame's."""
    parts = _parts(path)
    for tail, module in source.modules.get(parts[-1] if parts else "", ()):
        if parts[-len(tail) :] != tail:
            continue
        around = [
            index
            for index in source.functions[module]
            if (function := source.program.functions[index]).line <= line <= function.end_line
            and function.name.rpartition(".")[2] == name.rpartition(".")[2]
        ]
        if around:
            return max(around, key=lambda index: source.program.functions[index].line)
    return None
