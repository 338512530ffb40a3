"""Finds a site again by its name: in another version of the source, its lines are others."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cutset.model.reproduction.site import Site
from cutset.reproduce.python.extract import read_module
from cutset.reproduce.python.source_text import deep_recursion, parse, read_text
from cutset.reproduce.python.tables import Tables

SiteName = tuple[str, str, int, str]  # in a module: function, expression, ordinal and kind
SitePosition = tuple[int, int, int, int]  # line, column, end line, end column


def locate(site: Site, search_path: Sequence[str]) -> Site | None:
    """In the module that an import along the search path finds; none if the module or the site is not there."""
    path = _file_of(site.module, search_path)
    return None if path is None else locate_in(site, path)


def locate_in(site: Site, path: Path) -> Site | None:
    position = positions(path, site.module).get((site.function, site.expression, site.ordinal, site.kind.value))
    if position is None:
        return None
    line, column, end_line, end_column = position
    return replace(site, path=str(path), line=line, column=column, end_line=end_line, end_column=end_column)


def positions(path: Path, module: str) -> dict[SiteName, SitePosition]:
    """Of all that can have a name as a site; which of them are sites takes the rest of the program to tell."""
    text = read_text(path, [])
    tree = None if text is None else parse(text, path, [])
    if tree is None:
        return {}
    tables = Tables()
    with deep_recursion():
        read_module(tree, module, str(path), 0, tables=tables, properties=frozenset(), injectable=True)
    return {
        (tables.functions[event.function].site_name, event.expression, event.ordinal, event.kind.value): (
            event.line,
            event.column,
            event.end_line,
            event.end_column,
        )
        for event in tables.events
    }


def _file_of(module: str, search_path: Sequence[str]) -> Path | None:
    for folder in search_path:
        found = Path(folder, *module.split("."))
        for path in (found / "__init__.py", found.with_name(f"{found.name}.py")):  # in this order, as Python does
            if path.is_file():
                return path.resolve()
    return None
