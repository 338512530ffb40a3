"""Reads back what the agent recorded in the JVMs of a run: `Record.java` says how it is laid out."""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

_VISIT = struct.Struct("<7I")
_FUNCTION = struct.Struct("<2I")
_COUNTS_AT = 200_000 * _VISIT.size


class VisitRow(NamedTuple):
    site: int
    occurrence: int
    process: int
    thread: str
    within: str
    nth: int
    logged: int  # records of loggers before, in all JVMs
    printed: int  # bytes of the log before, if it is one file


def read_visits(out: Path) -> Iterator[VisitRow]:
    """In order for each JVM."""
    for process, content in _by_process(out, "visits"):
        used = -(-len(content[:_COUNTS_AT].rstrip(b"\0")) // _VISIT.size) * _VISIT.size
        names = ["", *_names(out / f"names.{process}")]
        for thread, within, nth, logged, printed, site, occurrence in _VISIT.iter_unpack(content[:used]):
            if occurrence and max(thread, within) < len(names):  # else the JVM was killed before it got to that
                yield VisitRow(site, occurrence, process, names[thread], names[within], nth, logged, printed)


def read_counts(out: Path) -> dict[int, int]:
    """By site, how often the JVM that was there most often was there."""
    most: dict[int, int] = {}
    for _, content in _by_process(out, "visits"):
        for *_, site, occurrence in _VISIT.iter_unpack(content[:_COUNTS_AT]):
            if occurrence > most.get(site, 0):
                most[site] = occurrence
        for site, (count,) in enumerate(struct.iter_unpack("<I", content[_COUNTS_AT:])):
            if count > most.get(site, 0):
                most[site] = count
    return most


def read_functions(out: Path) -> Mapping[int, frozenset[int]]:
    """By place of a file in the plan: the first lines of its functions that ran."""
    found: dict[int, set[int]] = {}
    for _, content in _by_process(out, "functions"):
        whole = len(content) // _FUNCTION.size * _FUNCTION.size
        for path, line in _FUNCTION.iter_unpack(content[:whole]):
            found.setdefault(path, set()).add(line)
    return {path: frozenset(lines) for path, lines in found.items()}


def read_problems(out: Path) -> list[str]:
    """Each once, though several JVMs may have it."""
    said = out / "problems.txt"
    return list(dict.fromkeys(said.read_text("utf-8", "replace").splitlines())) if said.exists() else []


def is_loaded(out: Path) -> bool:
    """Whether any JVM was told what to do."""
    return any(out.glob("visits.*"))


def _names(path: Path) -> list[str]:
    """The last one may be half a line: nothing refers to it."""
    return path.read_bytes().decode("utf-8", "replace").split("\n")[:-1] if path.exists() else []


def _by_process(out: Path, kind: str) -> Iterator[tuple[int, bytes]]:
    for process in sorted(int(path.suffix[1:]) for path in out.glob(f"{kind}.*")):
        yield process, (out / f"{kind}.{process}").read_bytes()
