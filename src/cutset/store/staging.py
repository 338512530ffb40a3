# ruff: noqa: S608 - of what is put into queries, only paths are not our own, and those are quoted
"""Spans that a commit will sort into the store, written by any process.

Times that cannot be are moved to the nearest that can: a start before 1970 or after 2262 to that bound, an end before
its start to the start.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from uuid import uuid4

import duckdb
import numpy as np
from numpy.typing import NDArray

from cutset.model.span import KEPT_ATTRIBUTES, Span
from cutset.store.manifest import clear_errors
from cutset.store.parquet import COLUMNS, END_OF_TIME_NS, HOUR_NS, connect, layout_of, quoted


@dataclass(frozen=True, slots=True)
class Staged:
    file: str
    spans: int
    of_one_hour: bool  # then it is sorted as a part is


def stage_spans(staging: Path, spans: Sequence[Span]) -> Staged:
    """Writes spans to a file that a commit will sort in. Runs in any process: pass its result to `Ingest.adopt`."""
    file = staging / f"{uuid4().hex}.parquet"
    columns = _columns(spans)
    values = ", ".join(name if name in columns else f"'' AS {name}" for name in COLUMNS)
    of_one_hour = len(np.unique(columns["start_ns"] // HOUR_NS)) == 1
    order, layout = ("ORDER BY trace_id, start_ns", layout_of(len(spans))) if of_one_hour else ("", "COMPRESSION lz4")
    copy = f"COPY (SELECT {values} FROM spans {order}) TO {quoted(file)} (FORMAT parquet, {layout})"
    with clear_errors(staging.parent), connect(staging) as database:
        try:
            database.register("spans", columns).execute(copy)
        except duckdb.InvalidInputException:  # half of a surrogate pair, which has no UTF-8
            database.register("spans", {name: _valid_text(values) for name, values in columns.items()}).execute(copy)
    return Staged(str(file), len(spans), of_one_hour)


def _columns(spans: Sequence[Span]) -> dict[str, NDArray[np.generic]]:
    """The columns of these spans, without those of attributes that none of them has."""
    texts = {
        name: list(map(attrgetter(name), spans)) for name in ("trace_id", "span_id", "parent_id", "service", "name")
    }
    texts["kind"] = [span.kind.value for span in spans]
    kept = {key: [""] * len(spans) for key in KEPT_ATTRIBUTES}
    for row, span in enumerate(spans):
        for key, value in span.attributes.items():
            if key in kept:
                kept[key][row] = str(value)
    texts |= {KEPT_ATTRIBUTES[key]: values for key, values in kept.items() if any(values)}
    starts = _times([span.start_ns for span in spans])
    return {name: np.array(values, dtype=object) for name, values in texts.items()} | {
        "start_ns": starts,
        "end_ns": np.maximum(starts, _times([span.end_ns for span in spans])),
        "error": np.array([span.error for span in spans], dtype=bool),
    }


def _times(values: list[int]) -> NDArray[np.int64]:
    try:
        times = np.array(values, dtype=np.int64)
    except OverflowError:
        times = np.array([max(0, min(value, END_OF_TIME_NS)) for value in values], dtype=np.int64)
    return np.clip(times, 0, END_OF_TIME_NS - 1)


def _valid_text(values: NDArray[np.generic]) -> NDArray[np.generic]:
    if values.dtype != object:
        return values
    return np.array([value.encode(errors="replace").decode() for value in values], dtype=object)
