# ruff: noqa: S608 - of what is put into queries, only paths are not our own, and those are quoted
"""Reads the span store back for analysis: traces that are alike are counted together before Python sees them.

Each function takes a range of traces (or the store) as plain data, so that it runs in any process that sees the files,
with memory for one range; what it returns for all ranges, the caller merges.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from cutset.model.shape import ShapeBatch
from cutset.model.span import KEPT_ATTRIBUTES, SpanKind, SpanLabel
from cutset.store.fingerprints import shapes_of
from cutset.store.manifest import SpanStore
from cutset.store.parquet import connect, reading
from cutset.store.place import address_of
from cutset.store.ranges import TraceRange
from cutset.store.summaries import keep, key_of, pack, recalled

_LABEL_COLUMNS = ("service", "name", "kind", "error", *KEPT_ATTRIBUTES.values())


@dataclass(frozen=True, slots=True)
class Totals:
    traces: int
    spans: int
    services: tuple[tuple[str, int, int], ...]  # name, spans, and how many of those were errors; the largest first
    hours: tuple[tuple[str, int], ...]  # with spans, in order of time


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
    """The shapes of these traces. `canonical` removes from labels what differs between requests that are alike."""
    with _spans_in(traces) as (database, spans):
        labels = _number_labels(database, spans, canonical)
        database.execute(f"""
            CREATE TABLE traces AS SELECT trace_id, (row_number() OVER (ORDER BY trace_id) - 1)::INTEGER AS trace
            FROM (SELECT DISTINCT trace_id FROM {spans})
        """)
        columns = database.execute(f"""
            SELECT trace, label, hash(trace_id, span_id) AS id, hash(trace_id, parent_id) AS parent_id,
                   parent_id IN ('', span_id) AS is_root, start_ns, end_ns - start_ns AS duration
            FROM {spans} JOIN traces USING (trace_id)
            JOIN raw_labels USING ({", ".join(_LABEL_COLUMNS)}) JOIN numbers USING (raw_label)
            ORDER BY trace, start_ns, span_id, parent_id, end_ns
        """).fetchnumpy()
        trace_ids = database.execute("SELECT trace_id FROM traces ORDER BY trace").fetchnumpy()["trace_id"]
    return ShapeBatch(labels, shapes_of(columns, labels, trace_ids))


def totals(store: SpanStore) -> Totals:
    """Counted once for the same parts: see `store.summaries`."""
    hours: Counter[str] = Counter()
    for part in store.parts:
        hours[part.hour] += part.spans
    key = key_of("totals", sorted(Path(part.file).name for part in store.parts))
    if (counted := recalled(store.folder, key, _traces_and_services)) is None:
        files = [address_of(store.folder, part.file) for part in store.parts]
        with _connect(files) as database, reading(files) as spans:
            (traces,) = database.execute(f"SELECT count(*) FROM (SELECT DISTINCT trace_id FROM {spans})").fetchall()[0]
            services = database.execute(f"""
                SELECT service, count(*) AS spans, count(*) FILTER (error) FROM {spans}
                GROUP BY service ORDER BY spans DESC, service
            """).fetchall()
        if store.parts:
            keep(store.folder, key, pack([traces, services]))
        counted = _traces_and_services([traces, services])
    return Totals(counted[0], store.spans, counted[1], tuple(sorted(hours.items())))


def _traces_and_services(content: Any) -> tuple[int, tuple[tuple[str, int, int], ...]]:
    traces, services = content
    return traces, tuple((service, spans, errors) for service, spans, errors in services)


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
    with _connect(traces.files) as database, reading(traces.files) as spans:
        database.execute("SET VARIABLE first_id = $first", {"first": traces.first_trace_id})
        database.execute("SET VARIABLE end_id = $end", {"end": traces.end_trace_id})
        yield (
            database,
            f"""(SELECT * FROM {spans} WHERE start_ns >= {traces.since_ns} AND start_ns < {traces.until_ns}
                 AND trace_id >= getvariable('first_id')
                 {"AND trace_id < getvariable('end_id')" if traces.end_trace_id else ""})""",
        )


@contextmanager
def _connect(files: Sequence[str]) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(Path(tempfile.gettempdir()), files) as database:
        yield database
