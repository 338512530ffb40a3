"""Programs that were read before, kept by what they were read from: the text of every file, and the code that reads it.

A file has a digest of its content, then the tables of `syntax` as plain tuples, by `marshal`: it makes nothing but
values, where `pickle` would run what a file tells it to, and is three times as fast as JSON. It is not safe against
files that somebody has crafted, so that the folder must be its owner's alone; what is damaged is read anew.
"""

import hashlib
import marshal
import os
import stat
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import Any

from cutset.model.reproduction.site import Site, SiteKind
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

MOST_BYTES = 500_000_000  # of a folder; a million lines take a fifth of it
_SUFFIX = ".program"
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
_DIGEST_BYTES = hashlib.sha256().digest_size


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
    path = folder / f"{key}{_SUFFIX}"
    try:
        if not _is_ours_alone(folder):
            return None
        content = path.read_bytes()
        if hashlib.sha256(content[_DIGEST_BYTES:]).digest() != content[:_DIGEST_BYTES]:
            return None
        program = _program(marshal.loads(memoryview(content)[_DIGEST_BYTES:]))  # noqa: S302 - ours, and only values
        os.utime(path)  # it was of use
    except (OSError, ValueError, TypeError, EOFError, KeyError):
        return None
    return program


def save(folder: Path, key: str, program: PythonProgram) -> None:
    """If it can be; the oldest go if there are too many."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours_alone(folder):
            return
        content = marshal.dumps(_plain(program))
        unfinished = folder / f"{key}.{os.getpid()}"
        unfinished.write_bytes(hashlib.sha256(content).digest() + content)
        unfinished.replace(folder / f"{key}{_SUFFIX}")
        _make_room(folder)
    except OSError:
        return


def _is_ours_alone(folder: Path) -> bool:
    found = folder.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _make_room(folder: Path) -> None:
    kept = 0
    for path in sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True):
        kept += path.stat().st_size
        if kept > MOST_BYTES:
            path.unlink(missing_ok=True)


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
