"""Finds a site again in another version of the source, by its code.

Its lines are others there; calls like it may have been added or taken away before it, so that of several in its
function the one counts whose code around is most like what it was; its function may have another name or be elsewhere.
What is called, awaited or raised must read as it did: a fault at something else would say nothing about the bug.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

from cutset.model.reproduction.site import Site
from cutset.reproduce.python.extract import read_module
from cutset.reproduce.python.source_text import deep_recursion, parse, read_text
from cutset.reproduce.python.tables import Tables

AROUND = 3  # lines of code before and after a site that are compared
ALIKE = 0.6  # of the text around: from there on it is taken for the same place, whatever its function is called
SOMEWHAT_ALIKE = 0.3  # that is enough in the function where it was, if it is still the same one in order there

SiteName = tuple[str, str, int, str]  # in a module: function, expression, ordinal and kind
SitePosition = tuple[int, int, int, int]  # line, column, end line, end column


def locate(site: Site, around: Sequence[str], files: Iterable[tuple[str, Path]]) -> Site | None:
    """In any of the files, which have the names of their modules; none if nothing is as like as it should be.

    Of what is alike, its own function goes first, then others of its module, then others of its name.
    """
    found = [each for module, path in files for each in _candidates(site, module, path, around)]
    best = max(found, key=lambda each: each[0], default=None)
    return None if best is None else best[1]


def code_around(path: Path, line: int, end_line: int) -> tuple[str, ...]:
    """Lines of code, without their indentation."""
    return _code_around(_lines(path), line, end_line)


def positions(path: Path, module: str) -> dict[SiteName, SitePosition]:
    """Of all that can have a name as a site; which of them are sites takes the rest of the program to tell."""
    text = read_text(path, [])
    tree = None if text is None else parse(text, path, [])
    if tree is None:
        return {}
    tables = Tables()
    with deep_recursion():
        read_module(tree, module, str(path), 0, tables=tables, implicit=frozenset(), injectable=True)
    return {
        (tables.functions[event.function].site_name, event.expression, event.ordinal, event.kind.value): (
            event.line,
            event.column,
            event.end_line,
            event.end_column,
        )
        for event in tables.events
    }


def file_of(module: str, search_path: Sequence[str]) -> Path | None:
    """As an import along the search path finds it."""
    for folder in search_path:
        found = Path(folder, *module.split("."))
        for path in (found / "__init__.py", found.with_name(f"{found.name}.py")):  # in this order, as Python does
            if path.is_file():
                return path.resolve()
    return None


def _candidates(site: Site, module: str, path: Path, around: Sequence[str]) -> Iterator[tuple[tuple[float, ...], Site]]:
    """Each with how well it fits."""
    lines = _lines(path)
    word = re.findall(r"\w+", site.expression)[-1:]
    if not any(part in line for part in word for line in lines):
        return  # to parse a file takes long
    for (function, expression, ordinal, kind), (line, column, end_line, end_column) in positions(path, module).items():
        if (expression, kind) != (site.expression, site.kind.value):
            continue
        alike = _likeness(around, _code_around(lines, line, end_line)) if around else SOMEWHAT_ALIKE
        at_home, same = (module, function) == (site.module, site.function), ordinal == site.ordinal
        same_name = function.rpartition(".")[2] == site.function.rpartition(".")[2]
        if alike >= ALIKE or (at_home and same and alike >= SOMEWHAT_ALIKE):
            place = replace(
                site,
                module=module,
                function=function,
                ordinal=ordinal,
                path=str(path),
                line=line,
                column=column,
                end_line=end_line,
                end_column=end_column,
            )
            yield (alike >= ALIKE, at_home, module == site.module, same_name, alike, same), place


def _likeness(before: Sequence[str], after: Sequence[str]) -> float:
    return SequenceMatcher(None, "\n".join(before), "\n".join(after), autojunk=False).ratio()


def _lines(path: Path) -> list[str]:
    return (read_text(path, []) or "").split("\n")


def _code_around(lines: Sequence[str], line: int, end_line: int) -> tuple[str, ...]:
    before = [text.strip() for text in lines[: line - 1] if text.strip()]
    after = [text.strip() for text in lines[end_line:] if text.strip()]
    return (*before[-AROUND:], *(text.strip() for text in lines[line - 1 : end_line]), *after[:AROUND])
