# ruff: noqa: S608 - of what is put into queries, only paths are not our own, and those are quoted
"""How long calls took, by what was called, from the span store."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from cutset.model.span import SpanKind, SpanLabel
from cutset.store.manifest import SpanStore
from cutset.store.parquet import connect, reading
from cutset.store.place import address_of

_WHAT = ("service", "http_method", "http_route", "url_path", "rpc_system", "rpc_method")
_NAME = "CASE WHEN rpc_method || http_route || url_path = '' THEN name ELSE '' END AS name"  # all that some tell
BUSY_SECONDS = 60  # over which the busiest time is averaged


@dataclass(frozen=True, slots=True)
class Durations:
    label: SpanLabel  # of the callee's spans
    calls: int
    seconds: tuple[float, float, float, float]  # median, the slowest in a hundred and in a thousand, the slowest
    per_second: float  # in the busiest minute


def server_durations(store: SpanStore) -> list[Durations]:
    """Of calls as their servers saw them, those that failed left out: failures may be quick."""
    columns = ", ".join((*_WHAT, "name"))
    files = [address_of(store.folder, part.file) for part in store.parts]
    with connect(Path(tempfile.gettempdir()), files) as database, reading(files) as spans:
        rows = database.execute(f"""
            WITH served AS (
                SELECT {", ".join(_WHAT)}, {_NAME}, (end_ns - start_ns) / 1e9 AS seconds,
                       start_ns // {BUSY_SECONDS * 10**9} AS minute
                FROM {spans} WHERE kind = 'server' AND NOT error
            ), busiest AS (
                SELECT {columns}, max(calls) AS calls
                FROM (SELECT {columns}, minute, count(*) AS calls FROM served GROUP BY ALL) GROUP BY ALL
            )
            SELECT {columns}, count(*), quantile_disc(seconds, [0.5, 0.99, 0.999, 1.0]), max(busiest.calls)
            FROM served JOIN busiest USING ({columns}) GROUP BY ALL ORDER BY ALL
        """).fetchall()
    return [
        Durations(
            SpanLabel(kind=SpanKind.SERVER, **dict(zip((*_WHAT, "name"), row, strict=False))),
            row[-3],
            tuple(row[-2]),
            row[-1] / BUSY_SECONDS,
        )
        for row in rows
    ]
