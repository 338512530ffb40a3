"""Reads back the visits that `runtime` recorded in a run; for Cutset's side.

The record of a process: rows of VISIT; from NAMES_AT the names of its threads and tasks, each after its length; from
COUNTS_AT the number of visits of each site that had more than are recorded.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

from cutset_agent.sites.runtime import COUNTS_AT, NAMES_AT, VISIT


def read_visits(out: str) -> Iterator[tuple[int, int, int, int, str]]:
    """All that were recorded: (site, occurrence, log lines, process, thread), in order for each process."""
    for process, content in _visit_files(out):
        used = -(-len(content[:NAMES_AT].rstrip(b"\0")) // VISIT.size) * VISIT.size
        for name_at, log_lines, site, occurrence in VISIT.iter_unpack(content[:used]):
            if occurrence == 0:
                continue  # the process was killed before it got to that
            start = NAMES_AT + name_at + 1
            name = content[start : start + content[start - 1]].decode("utf-8", "replace") if name_at else ""
            yield site, occurrence, log_lines, process, name


def read_counts(out: str) -> dict[tuple[int, int], int]:
    """How often each process visited each site: {(process, site): times}, including what was only counted."""
    counts: dict[tuple[int, int], int] = {}
    for site, occurrence, _, process, _ in read_visits(out):
        counts[process, site] = max(occurrence, counts.get((process, site), 0))
    for process, content in _visit_files(out):
        for site, (count,) in enumerate(struct.iter_unpack("<I", content[COUNTS_AT:])):
            if count:
                counts[process, site] = max(count, counts.get((process, site), 0))
    return counts


def _visit_files(out: str) -> Iterator[tuple[int, bytes]]:
    for path in sorted(Path(out).glob("visits.*"), key=_process_of):
        yield _process_of(path), path.read_bytes()


def _process_of(path: Path) -> int:
    return int(path.name.split(".")[1])
