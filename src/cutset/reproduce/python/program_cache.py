"""Programs that were read before, kept by what they were read from: the text of every file, and the code that reads it.

They are the tables of `syntax` as plain tuples, by `marshal`: it makes nothing but values, where `pickle` would run
what a file tells it to, and is three times as fast as JSON.
"""

import hashlib
import marshal
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import Any

from cutset.model.reproduction.site import Site, SiteKind
from cutset.reproduce import kept_programs
from cutset.reproduce.python.syntax import (
    Class,
    CodeEvent,
    EventKind,
    Function,
    Guard,
    GuardKind,
    Module,
    Place,
    PythonProgram,
    Skipped,
    Try,
    Write,
)

_ROWS: Mapping[str, type] = {
    "functions": Function,
    "classes": Class,
    "places": Place,
    "guards": Guard,
    "tries": Try,
    "events": CodeEvent,
    "writes": Write,
    "skipped": Skipped,
    "sites": Site,
}
_KINDS: Mapping[type, type[StrEnum]] = {CodeEvent: EventKind, Guard: GuardKind, Site: SiteKind}  # of the field `kind`
_NAMES = {row: [field.name for field in fields(row)] for row in (*_ROWS.values(), Module)}
_VALUES = {row: attrgetter(*names) for row, names in _NAMES.items()}


def program_key(files: Iterable[tuple[str, str, bool, str]]) -> str:
    """Of modules, with path, whether they get faults, and text."""
    digest = hashlib.sha256(repr((sys.version_info[:3], _own_code())).encode())
    for module, path, injectable, text in files:
        digest.update(repr((module, path, injectable, len(text))).encode())
        digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _own_code() -> str:
    """So that a program is read anew by another version of this analysis."""
    own = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in own)).hexdigest()


def load(folder: Path, key: str) -> PythonProgram | None:
    """None if it is not there, or is not what was put there."""
    content = kept_programs.load(folder, key)
    if content is None:
        return None
    try:
        return _program(marshal.loads(content))  # noqa: S302 - ours, and only values
    except (ValueError, TypeError, EOFError, KeyError):
        return None


def save(folder: Path, key: str, program: PythonProgram) -> None:
    """If it can be; the oldest go if there are too many."""
    kept_programs.save(folder, key, marshal.dumps(_plain(program)))


def _plain(program: PythonProgram) -> dict[str, Any]:
    found = {field.name: getattr(program, field.name) for field in fields(program)}
    for name, row in _ROWS.items():
        found[name] = [_as_tuple(each, row) for each in found[name]]
    found["modules"] = [_as_tuple(each, Module) for each in found["modules"].values()]
    return found


def _as_tuple(row: object, kind: type) -> tuple[Any, ...]:
    values: tuple[Any, ...] = _VALUES[kind](row)
    if kind not in _KINDS:
        return values
    at = _NAMES[kind].index("kind")
    return (*values[:at], str(values[at]), *values[at + 1 :])  # `marshal` knows no enumerations


def _program(plain: dict[str, Any]) -> PythonProgram:
    tables: dict[str, Any] = {}
    for name, row in _ROWS.items():
        rows = plain.pop(name)
        if row in _KINDS:
            at = _NAMES[row].index("kind")
            kinds = {str(kind): kind for kind in _KINDS[row]}
            rows = ((*each[:at], kinds[each[at]], *each[at + 1 :]) for each in rows)
        tables[name] = tuple(row(*each) for each in rows)
    modules = [Module(*row) for row in plain.pop("modules")]
    return PythonProgram(modules={module.name: module for module in modules}, **tables, **plain)
