# ruff: noqa: S608 - of what is put into queries, only paths are not our own, and those are quoted
"""Sorts staged spans into the parts of the store: each span once, each part of one hour, and not too many parts."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

import duckdb

from cutset.store.manifest import SpanPart, SpanStore, sync
from cutset.store.parquet import COLUMNS, HOUR_NS, connect, hour_name, layout_of, quoted, reading
from cutset.store.staging import Staged

# Spans with equal values in all of these are one span, however often it was exported. Not its end: of a span that was
# exported while it ran, and again when it was over, the first that is stored stays (within one commit: the longest).
# As far as every format tells it: Zipkin has names in lower case, and most have microseconds.
_IDENTITY = ("trace_id", "span_id", "kind", "service_name", "start_us")
# Many small ingests would leave many parts to open: the small ones of an hour are merged once they are more than this.
_SMALL_PART_SPANS, _SMALL_PARTS = 100_000, 16


def sort_in(stored: SpanStore, staged: Sequence[Staged]) -> tuple[Counter[str], tuple[SpanPart, ...]]:
    """How many spans of each staged file are not new, and the parts of the store with the new ones."""
    folder = stored.folder
    with connect(folder / "staging") as database:
        surplus = _find_surplus(database, stored, [Path(each.file) for each in staged])
        ready = [Path(each.file) for each in staged if each.of_one_hour and not surplus[each.file]]
        others = [each for each in staged if Path(each.file) not in ready and each.spans > surplus[each.file]]
        added = _move_in(database, folder, ready + _split_by_hour(database, folder / "staging", others))
        return surplus, tuple(_merge_small_parts(database, folder, [*stored.parts, *added]))


def _split_by_hour(database: duckdb.DuckDBPyConnection, staging: Path, staged: Sequence[Staged]) -> list[Path]:
    """Sorts what is new in these files into one file for each hour."""
    if not staged:
        return []
    by_hour = staging / uuid4().hex
    with reading([Path(each.file) for each in staged]) as spans:
        hours = database.execute(f"SELECT count(DISTINCT start_ns // {HOUR_NS}) FROM {spans}").fetchall()[0][0]
        layout = layout_of(sum(each.spans for each in staged) // hours)
        database.execute("SET partitioned_write_flush_threshold = 65536")  # the default keeps too much in memory
        database.execute(f"""
            COPY (SELECT {", ".join(COLUMNS)}, start_ns // {HOUR_NS} AS hour
                  FROM {spans} AS staged ANTI JOIN surplus USING (filename, file_row_number)
                  ORDER BY hour, trace_id, start_ns)
            TO {quoted(by_hour)} (FORMAT parquet, PARTITION_BY (hour), FILENAME_PATTERN '{{uuid}}', {layout})
        """)
    return sorted(by_hour.glob("*/*.parquet"))


def _find_surplus(database: duckdb.DuckDBPyConnection, stored: SpanStore, staged: Sequence[Path]) -> Counter[str]:
    """Puts the staged spans that are stored already, or staged twice, into the table `surplus`; counts them by file.

    Almost all spans are new, and hashes say so for little: only spans whose hash is not unique are compared.
    """
    mark, identity = "hash(trace_id, span_id, kind)", ", ".join(_IDENTITY)
    told = "trace_id, span_id, kind, lower(service) AS service_name, start_ns // 1000 AS start_us"
    told += ", end_ns, filename, file_row_number"
    with reading(staged) as spans, reading(_rivals(database, stored, spans)) as rivals:
        database.execute(f"""
            CREATE TABLE marks AS SELECT {mark} AS mark, count(*) AS spans FROM {spans} GROUP BY mark;
            CREATE TABLE suspects AS
                SELECT mark FROM marks WHERE spans > 1
                UNION SELECT mark FROM (SELECT {mark} AS mark FROM {rivals}) SEMI JOIN marks USING (mark);
            CREATE TABLE surplus AS SELECT filename, file_row_number FROM (
                SELECT filename, file_row_number, stored, row_number() OVER (
                    PARTITION BY {identity} ORDER BY stored DESC, end_ns DESC, filename, file_row_number
                ) AS copy
                FROM (SELECT {told}, false AS stored FROM {spans} UNION ALL SELECT {told}, true FROM {rivals})
                WHERE {mark} IN (SELECT mark FROM suspects)
            ) WHERE copy > 1 AND NOT stored;
            DROP TABLE marks;
        """)
    return Counter(dict(database.execute("SELECT filename, count(*) FROM surplus GROUP BY filename").fetchall()))


def _rivals(database: duckdb.DuckDBPyConnection, stored: SpanStore, spans: str) -> list[Path]:
    """The parts that may hold some of these spans."""
    touched = database.execute(
        f"SELECT start_ns // {HOUR_NS} AS hour, min(trace_id), max(trace_id) FROM {spans} GROUP BY hour"
    ).fetchall()
    ids = {hour_name(hour): (first, last) for hour, first, last in touched}
    return [
        stored.folder / part.file
        for part in stored.parts
        if part.hour in ids and part.first_trace_id <= ids[part.hour][1] and part.last_trace_id >= ids[part.hour][0]
    ]


def _move_in(database: duckdb.DuckDBPyConnection, folder: Path, files: Sequence[Path]) -> list[SpanPart]:
    """Moves sorted files, each of one hour, to where the manifest may list them."""
    if not files:
        return []
    with reading(files) as spans:
        described = database.execute(f"""
            SELECT filename, count(*), min(start_ns) AS first, max(start_ns), min(trace_id), max(trace_id)
            FROM {spans} GROUP BY filename ORDER BY first, filename
        """).fetchall()
    parts = []
    for file, spans_in_it, first_ns, *facts in described:
        hour = hour_name(first_ns // HOUR_NS)
        part = SpanPart(f"{hour}/{Path(file).name}", hour, spans_in_it, first_ns, *facts)
        target = folder / part.file
        target.parent.mkdir(exist_ok=True)
        sync(Path(file))
        Path(file).rename(target)
        sync(target.parent)
        parts.append(part)
    return parts


def _merge_small_parts(
    database: duckdb.DuckDBPyConnection, folder: Path, parts: Sequence[SpanPart]
) -> Iterator[SpanPart]:
    small: defaultdict[str, list[SpanPart]] = defaultdict(list)
    for part in parts:
        if part.spans < _SMALL_PART_SPANS:
            small[part.hour].append(part)
    merged = {hour: found for hour, found in small.items() if len(found) > _SMALL_PARTS}
    yield from (part for part in parts if part not in merged.get(part.hour, ()))
    for found in merged.values():
        file = folder / "staging" / f"{uuid4()}.parquet"
        with reading([folder / part.file for part in found]) as spans:
            database.execute(f"""
                COPY (SELECT {", ".join(COLUMNS)} FROM {spans} ORDER BY trace_id, start_ns)
                TO {quoted(file)} (FORMAT parquet, {layout_of(sum(part.spans for part in found))})
            """)
        yield from _move_in(database, folder, [file])
