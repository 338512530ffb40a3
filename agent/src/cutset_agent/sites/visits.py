"""Reads back the visits and functions that were recorded in a run, as `record` lays them out; for Cutset's side."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cutset_agent.sites.record import COUNTS_AT, FUNCTION, FUNCTIONS_AT, NAMES_AT, VISIT


class RecordedVisit(NamedTuple):
    site: int
    occurrence: int
    logged: int  # records of `logging` before
    process: int
    thread: str
    within: str  # its context; "" if it was not recorded
    nth: int
    printed: int  # bytes of the log before, if the plan names its file


def read_visits(out: str) -> Iterator[RecordedVisit]:
    """In order for each process."""
    for process, content in _visit_files(out):
        names: dict[int, str] = {0: ""}
        used = -(-len(content[:NAMES_AT].rstrip(b"\0")) // VISIT.size) * VISIT.size
        for name_at, within_at, nth, logged, printed, site, occurrence in VISIT.iter_unpack(content[:used]):
            if occurrence == 0:
                continue  # the process was killed before it got to that
            for place in (name_at, within_at):
                if place not in names:
                    names[place] = _name_at(content, NAMES_AT + place)
            within = names[within_at]
            yield RecordedVisit(
                site, occurrence, logged, process, names[name_at], within, nth if within else 0, printed
            )


def read_functions(out: str) -> dict[int, set[int]]:
    """By place of a file in the plan, from 1 on: the first lines of its functions that ran; 0 if it was loaded."""
    found: dict[int, set[int]] = {}
    for _, content in _visit_files(out):
        for number, line in FUNCTION.iter_unpack(content[FUNCTIONS_AT:COUNTS_AT]):
            if number == 0:
                break
            found.setdefault(number, set()).add(line)
    return found


def read_counts(out: str) -> dict[tuple[int, int], int]:
    """How often each process visited each site: {(process, site): times}, including what was only counted."""
    counts: dict[tuple[int, int], int] = {}
    for visit in read_visits(out):
        key = visit.process, visit.site
        counts[key] = max(visit.occurrence, counts.get(key, 0))
    for process, content in _visit_files(out):
        for site, (count,) in enumerate(struct.iter_unpack("<I", content[COUNTS_AT:])):
            if count:
                counts[process, site] = max(count, counts.get((process, site), 0))
    return counts


def _name_at(content: bytes, start: int) -> str:
    end = start + 2 + int.from_bytes(content[start : start + 2], "little")
    return content[start + 2 : end].decode("utf-8", "replace")


def _visit_files(out: str) -> Iterator[tuple[int, bytes]]:
    for path in sorted(Path(out).glob("visits.*"), key=_process_of):
        yield _process_of(path), path.read_bytes()


def _process_of(path: Path) -> int:
    return int(path.name.split(".")[1])
