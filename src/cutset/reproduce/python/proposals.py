"""Which packages may be in question, when a case is begun: what its scripts import, and what the failure log names."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from cutset.errors import InputError
from cutset.model.reproduction.log import LogRecord
from cutset.model.wording import count
from cutset.reproduce.front_end import ProposedSource
from cutset.reproduce.python.source import find_files
from cutset.reproduce.python.source_text import parse, read_text

_FRAME = re.compile(r'\s*File "([^"]+)", line \d+')
_INSTALLED = ("site-packages", "dist-packages")


def proposed_sources(
    records: Sequence[LogRecord], scripts: Sequence[str], modules: Sequence[str], search_path: Sequence[str]
) -> list[ProposedSource]:
    """The likeliest first. `modules` are named by the command itself. What is installed must be named by the log."""
    imported = Counter([*modules, *(name for script in scripts for name in _imports(script))])
    logged = Counter(name for record in records for name in _named(record))
    own_scripts = {Path(script).stem for script in scripts}
    found = []
    for name in dict.fromkeys([*imported, *logged]):
        place = _place(name, search_path)
        if place is None or name in own_scripts or (_is_installed(place) and not logged[name]):
            continue
        why = ["the workload imports it"] if name in imported else [str(place)]
        if logged[name]:
            why.append(f"the failure log names it in {count(logged[name], 'entry')}")
        found.append((_is_installed(place), -logged[name], ProposedSource(name, "; ".join(why))))
    return [proposed for *_, proposed in sorted(found, key=lambda each: each[:2])]


def _imports(script: str) -> Iterator[str]:
    text = read_text(Path(script), [])
    tree = parse(text, Path(script), []) if text is not None else None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _named(record: LogRecord) -> set[str]:
    """Once for each entry: loggers are named like modules, and tracebacks have paths."""
    frames = (match[1] for line in record.traceback if (match := _FRAME.match(line)))
    parts = {part.removesuffix(".py") for frame in frames for part in Path(frame).parts}
    return {record.logger.partition(".")[0], *parts}


def _place(name: str, search_path: Sequence[str]) -> Path | None:
    """Where it is found; None if it is part of Python, or no package or module at all."""
    if not name.isidentifier() or name in sys.stdlib_module_names:
        return None
    try:
        return find_files(name, search_path)[0][1]
    except InputError:
        return None


def _is_installed(path: Path) -> bool:
    return any(part in _INSTALLED for part in path.parts)
