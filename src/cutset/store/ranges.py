# ruff: noqa: S608 - of what is put into queries, only paths are not our own, and those are quoted
"""Cuts what is stored into ranges of traces that are analysed one by one, by anybody who sees the files.

A range is some blocks, or a part of one. Which blocks belong together follows from their hours alone, so that ranges
stay the same, and what is kept of them true, when traces are added or forgotten at one end.
"""

import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from cutset.store.manifest import SpanPart, SpanStore
from cutset.store.parquet import END_OF_TIME_NS, connect, hour_number, quoted, reading
from cutset.store.place import address_of

SPANS_PER_RANGE = 1_000_000  # to analyse so many takes some 400 MB
_ALL_HOURS = 1 << 22  # since 1970: more than times in nanoseconds can tell

_Block = tuple[int, tuple[SpanPart, ...]]  # with its hour


@dataclass(frozen=True, slots=True)
class TraceRange:
    """The traces from one id to before another, as far as their spans start within a window of time."""

    files: tuple[str, ...]  # addresses of parts
    first_trace_id: str = ""
    end_trace_id: str = ""  # after all of them; "" if there is no end
    since_ns: int = 0
    until_ns: int = END_OF_TIME_NS


def trace_ranges(
    store: SpanStore, spans_per_range: int = SPANS_PER_RANGE, since_ns: int = 0, until_ns: int = END_OF_TIME_NS
) -> list[TraceRange]:
    """Ranges with at most about so many spans; every trace with a span that starts in the window is in exactly one.

    The window chooses spans, not traces: of a trace that began before it, only what started within it is seen.
    """
    parts = sorted(
        (part for part in store.parts if part.last_ns >= since_ns and part.first_ns < until_ns),
        key=lambda part: (part.hour, part.block),
    )
    blocks = [
        (hour_number(hour), tuple(found)) for (hour, _), found in groupby(parts, lambda part: (part.hour, part.block))
    ]
    ranges = []
    for group in _grouped(blocks, spans_per_range, 0, _ALL_HOURS):
        # A window that has all of them is none: what is kept of them is true of any.
        since = since_ns if any(part.first_ns < since_ns for part in group) else 0
        until = until_ns if any(part.last_ns >= until_ns for part in group) else END_OF_TIME_NS
        cuts = _cuts(store, group, spans_per_range)
        for first, end in zip(cuts, [*cuts[1:], ""], strict=True):
            files = (
                address_of(store.folder, part.file)
                for part in group
                if part.last_trace_id >= first and (part.first_trace_id < end or not end)
            )
            ranges.append(TraceRange(tuple(files), first, end, since, until))
    return ranges


def _grouped(blocks: Sequence[_Block], most: int, first: int, hours: int) -> Iterator[tuple[SpanPart, ...]]:
    """Blocks of some hours together, if they have no more spans than that; else each half of these hours by itself."""
    if sum(part.spans for _, parts in blocks for part in parts) <= most:
        if blocks:
            yield tuple(part for _, parts in blocks for part in parts)
    elif hours == 1:
        yield from (parts for _, parts in blocks)
    else:
        middle = first + hours // 2
        for begin, half in (
            (first, [block for block in blocks if block[0] < middle]),
            (middle, [block for block in blocks if block[0] >= middle]),
        ):
            yield from _grouped(half, most, begin, hours // 2)


def _cuts(store: SpanStore, parts: Sequence[SpanPart], most: int) -> list[str]:
    """The trace ids at which parts of a block begin that have about equally many spans: footers of files tell."""
    spans = sum(part.spans for part in parts)
    if spans <= most:
        return [""]
    files = [address_of(store.folder, part.file) for part in parts]
    with connect(Path(tempfile.gettempdir()), files) as database, reading(files):
        groups = database.execute(f"""
            SELECT coalesce(stats_min_value, '') AS first, row_group_num_rows
            FROM parquet_metadata([{", ".join(map(quoted, files))}]) WHERE path_in_schema = 'trace_id' ORDER BY ALL
        """).fetchall()
    share = spans / math.ceil(spans / most)
    cuts, size = [""], 0
    for first, rows in groups:
        if size >= len(cuts) * share and first > max(cuts[-1], groups[0][0]):
            cuts.append(first)
        size += rows
    return cuts
