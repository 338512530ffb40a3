# ruff: noqa: S608 - of what is put into queries, only paths are not our own, and those are quoted
"""Reads the span store back for analysis: traces that are alike are counted together before Python sees them.

The work is cut into ranges of trace ids. Each function takes a range (or the store) as plain data, so that it runs in
any process that sees the files, with memory for one range; what it returns for all ranges, the caller merges.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

from cutset.model.shape import LOST, ROOT, Shape, ShapeBatch
from cutset.model.span import KEPT_ATTRIBUTES, SpanKind, SpanLabel
from cutset.store.manifest import SpanStore
from cutset.store.parquet import END_OF_TIME_NS, connect, reading
from cutset.store.place import address_of

_LABEL_COLUMNS = ("service", "name", "kind", "error", *KEPT_ATTRIBUTES.values())
_FEWEST_PER_RANGE, _MOST_PER_RANGE, _PER_PART = 300_000, 1_500_000, 4_000  # spans; the most take some 700 MB
_SAMPLED_SPANS = 1_000_000  # of those, counted by trace, ranges of equal size follow well enough


@dataclass(frozen=True, slots=True)
class TraceRange:
    """The traces from one id to before another, as far as their spans start within a window of time."""

    files: tuple[str, ...]  # addresses of parts
    first_trace_id: str
    end_trace_id: str  # after all of them; "" if there is no end
    since_ns: int
    until_ns: int


@dataclass(frozen=True, slots=True)
class Totals:
    traces: int
    spans: int
    services: tuple[tuple[str, int, int], ...]  # name, spans, and how many of those were errors; the largest first
    hours: tuple[tuple[str, int], ...]  # with spans, in order of time


def trace_ranges(
    store: SpanStore, spans_per_range: int | None = None, since_ns: int = 0, until_ns: int = END_OF_TIME_NS
) -> list[TraceRange]:
    """Ranges with about so many spans each; every trace with a span that starts in the window is in exactly one.

    The window chooses spans, not traces: of a trace that began before it, only what started within it is seen.
    """
    parts = [part for part in store.parts if part.last_ns >= since_ns and part.first_ns < until_ns]
    if not parts:
        return []
    if spans_per_range is None:
        # A range reads at least a row group of each part, so that many parts ask for larger ranges.
        spans_per_range = min(max(_FEWEST_PER_RANGE, len(parts) * _PER_PART), _MOST_PER_RANGE)
    everything = TraceRange(tuple(address_of(store.folder, part.file) for part in parts), "", "", since_ns, until_ns)
    # One trace of so many stands for the others. Chosen by hash, so that ids may be random, sequential or anything.
    stride = sum(part.spans for part in parts) // _SAMPLED_SPANS + 1
    with _spans_in(everything) as (database, spans):
        sample = database.execute(
            f"SELECT trace_id, count(*) FROM {spans} WHERE hash(trace_id) % {stride} = 0 GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    cuts, size = [""], 0
    for trace_id, count in sample:
        if size and (size + count) * stride > spans_per_range:
            cuts.append(trace_id)
            size = 0
        size += count
    return [
        TraceRange(
            tuple(
                address_of(store.folder, part.file)
                for part in parts
                if part.last_trace_id >= first and (part.first_trace_id < end or not end)
            ),
            *(first, end, since_ns, until_ns),
        )
        for first, end in zip(cuts, [*cuts[1:], ""], strict=True)
    ]


def path_counts(traces: TraceRange) -> list[tuple[str, str, str, int]]:
    """Service, method and path of the HTTP spans whose route is not known, and how many there are of each."""
    with _spans_in(traces) as (database, spans):
        return database.execute(f"""
            SELECT service, http_method, url_path, count(*) FROM {spans}
            WHERE url_path <> '' AND http_route = '' GROUP BY ALL ORDER BY ALL
        """).fetchall()


def routes(traces: TraceRange) -> list[tuple[str, str]]:
    """The methods and routes of the HTTP spans whose route is known."""
    with _spans_in(traces) as (database, spans):
        return database.execute(
            f"SELECT DISTINCT http_method, http_route FROM {spans} WHERE http_route <> '' ORDER BY ALL"
        ).fetchall()


def shapes(traces: TraceRange, canonical: Callable[[SpanLabel], SpanLabel]) -> ShapeBatch:
    """The shapes of these traces. `canonical` removes from labels what differs between requests that are alike.

    The two halves of a call may share one span id, as in Zipkin: then the half that was called hangs under the one that
    called, and what names that id as its parent hangs under the half that was called.
    """
    with _spans_in(traces) as (database, spans):
        labels = _number_labels(database, spans, canonical)
        database.execute(f"""
            CREATE TABLE spans AS
            SELECT trace_id, span_id, parent_id, label, end_ns - start_ns AS duration,
                   kind IN ('client', 'producer') AS calls, kind IN ('server', 'consumer') AS serves,
                   row_number() OVER in_order - 1 AS position
            FROM {spans} JOIN raw_labels USING ({", ".join(_LABEL_COLUMNS)}) JOIN numbers USING (raw_label)
            -- Of equal starts, labels decide before ids: ids mean nothing, and would make two shapes of one.
            WINDOW in_order AS (PARTITION BY trace_id ORDER BY start_ns, label, span_id, parent_id, end_ns)
        """)
        found = database.execute(_SHAPES).fetchall()
    return ShapeBatch(labels, tuple(Shape(tuple(own), tuple(parents), *facts) for own, parents, *facts in found))


_SHAPES = f"""
    WITH ids AS (
        SELECT trace_id, span_id, min(position) FILTER (calls) AS caller,
               coalesce(min(position) FILTER (NOT calls), min(position)) AS callee
        FROM spans GROUP BY trace_id, span_id
    ), placed AS (
        SELECT spans.trace_id, position, label, duration, CASE
                   WHEN serves AND own.caller IS NOT NULL THEN own.caller
                   WHEN spans.parent_id IN ('', spans.span_id) THEN {ROOT}
                   ELSE coalesce(above.callee, {LOST})
               END AS parent
        FROM spans JOIN ids AS own USING (trace_id, span_id)
        LEFT JOIN ids AS above ON above.trace_id = spans.trace_id AND above.span_id = spans.parent_id
    ), traces AS (
        SELECT trace_id, list(label ORDER BY position) AS labels, list(parent ORDER BY position) AS parents,
               -- of the entry span: the first that says it has no parent, else whose parent is lost, else of all
               arg_min(duration, (CASE parent WHEN {ROOT} THEN 0 WHEN {LOST} THEN 1 ELSE 2 END, position)) AS duration
        FROM placed GROUP BY trace_id
    )
    SELECT labels, parents, count(*), sum(duration), max(duration), arg_min(trace_id, (-duration, trace_id))
    FROM traces GROUP BY labels, parents ORDER BY labels, parents
"""


def totals(store: SpanStore) -> Totals:
    hours: dict[str, int] = {}
    for part in store.parts:
        hours[part.hour] = hours.get(part.hour, 0) + part.spans
    with _connect() as database, reading([address_of(store.folder, part.file) for part in store.parts]) as spans:
        traces = database.execute(f"SELECT count(*) FROM (SELECT DISTINCT trace_id FROM {spans})").fetchall()[0][0]
        services = database.execute(f"""
            SELECT service, count(*) AS spans, count(*) FILTER (error) FROM {spans}
            GROUP BY service ORDER BY spans DESC, service
        """).fetchall()
    return Totals(traces, store.spans, tuple(services), tuple(sorted(hours.items())))


def _number_labels(
    database: duckdb.DuckDBPyConnection, spans: str, canonical: Callable[[SpanLabel], SpanLabel]
) -> tuple[SpanLabel, ...]:
    """Numbers the distinct labels (`raw_labels`), and tells of each number that of its canonical label (`numbers`)."""
    columns = ", ".join(_LABEL_COLUMNS)
    raw = database.execute(f"""
        CREATE TABLE raw_labels AS
        SELECT {columns}, row_number() OVER () - 1 AS raw_label FROM (SELECT DISTINCT {columns} FROM {spans});
        SELECT {columns} FROM raw_labels ORDER BY raw_label
    """).fetchall()
    mapped = [
        canonical(SpanLabel(service, name, SpanKind(kind), error, *values))
        for service, name, kind, error, *values in raw
    ]
    labels = tuple(sorted(set(mapped)))
    number = {label: position for position, label in enumerate(labels)}
    numbers = {"raw_label": np.arange(len(raw)), "label": np.array([number[label] for label in mapped], dtype=np.int32)}
    database.register("numbers", numbers)
    return labels


@contextmanager
def _spans_in(traces: TraceRange) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """A database, and the spans of the range as an expression in it."""
    with _connect() as database, reading(traces.files) as spans:
        database.execute("SET VARIABLE first_id = $first", {"first": traces.first_trace_id})
        database.execute("SET VARIABLE end_id = $end", {"end": traces.end_trace_id})
        yield (
            database,
            f"""(SELECT * FROM {spans} WHERE start_ns >= {traces.since_ns} AND start_ns < {traces.until_ns}
                 AND trace_id >= getvariable('first_id')
                 {"AND trace_id < getvariable('end_id')" if traces.end_trace_id else ""})""",
        )


@contextmanager
def _connect() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(Path(tempfile.gettempdir())) as database:
        yield database
