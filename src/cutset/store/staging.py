# ruff: noqa: S608 - of what is put into queries, only paths are not our own, and those are quoted
"""Spans that a commit will sort into the store, written by any process.

Times that cannot be are moved to the nearest that can: a start before 1970 or after 2262 to that bound, an end before
its start to the start.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import duckdb
import numpy as np
from numpy.typing import NDArray

from cutset.model.span import KEPT_ATTRIBUTES, Span, SpanRow, row_of
from cutset.store.manifest import clear_errors
from cutset.store.parquet import COLUMNS, END_OF_TIME_NS, HOUR_NS, connect, layout_of, quoted

_LABEL_COLUMNS = ("service", "name", "kind", "error", *KEPT_ATTRIBUTES.values())


@dataclass(frozen=True, slots=True)
class Staged:
    file: str
    spans: int
    of_one_hour: bool  # then it is sorted as a part is


def stage_spans(staging: Path, spans: Iterable[Span]) -> Staged:
    return stage_rows(staging, [row_of(span) for span in spans])


def stage_rows(staging: Path, rows: Sequence[SpanRow]) -> Staged:
    """Writes spans to a file that a commit will sort in. Runs in any process: pass its result to `Ingest.adopt`."""
    if not rows:
        return Staged("", 0, of_one_hour=False)
    file = staging / f"{time.time_ns():016x}-{uuid4().hex}.parquet"  # of equal spans, that of the first name is kept
    spans, labels = _columns(rows)
    values = ", ".join(name if name in (spans | labels) else f"'' AS {name}" for name in COLUMNS)
    of_one_hour = len(np.unique(spans["start_ns"] // HOUR_NS)) == 1
    order, layout = ("ORDER BY trace_id, start_ns", layout_of(len(rows))) if of_one_hour else ("", "COMPRESSION lz4")
    query = f"SELECT {values} FROM spans JOIN labels USING (label) {order}"
    copy = f"COPY ({query}) TO {quoted(file)} (FORMAT parquet, {layout})"
    with clear_errors(staging.parent), connect(staging) as database:
        try:
            database.register("spans", spans).register("labels", labels).execute(copy)
        except duckdb.InvalidInputException:  # half of a surrogate pair, which has no UTF-8
            for name, table in (("spans", spans), ("labels", labels)):
                database.register(name, {column: _valid_text(values) for column, values in table.items()})
            database.execute(copy)
    return Staged(str(file), len(rows), of_one_hour)


_Columns = dict[str, NDArray[np.generic]]


def _columns(rows: Sequence[SpanRow]) -> tuple[_Columns, _Columns]:
    """What each span has of its own, and the labels that they share: those are few, and translated once.

    Labels are told apart by identity, which costs nothing: equal ones may come more than once. Without the columns of
    attributes that none of them has.
    """
    trace_ids, span_ids, parent_ids, starts, ends, labels = zip(*rows, strict=True)
    distinct = dict(zip(map(id, labels), labels, strict=True))
    named = zip(_LABEL_COLUMNS, zip(*distinct.values(), strict=True), strict=True)
    start_ns = _times(starts)
    return {
        "trace_id": np.array(trace_ids, dtype=object),
        "span_id": np.array(span_ids, dtype=object),
        "parent_id": np.array(parent_ids, dtype=object),
        "start_ns": start_ns,
        "end_ns": np.maximum(start_ns, _times(ends)),
        "label": np.fromiter(map(id, labels), dtype=np.int64, count=len(rows)),
    }, {
        "label": np.fromiter(distinct, dtype=np.int64, count=len(distinct)),
        **{
            name: np.array(values, dtype=bool if name == "error" else object)
            for name, values in named
            if name == "error" or any(values)
        },
    }


def _times(values: Sequence[int]) -> NDArray[np.int64]:
    try:
        times = np.array(values, dtype=np.int64)
    except OverflowError:
        times = np.array([max(0, min(value, END_OF_TIME_NS)) for value in values], dtype=np.int64)
    return np.clip(times, 0, END_OF_TIME_NS - 1)


def _valid_text(values: NDArray[np.generic]) -> NDArray[np.generic]:
    if values.dtype != object:
        return values
    return np.array([value.encode(errors="replace").decode() for value in values], dtype=object)
