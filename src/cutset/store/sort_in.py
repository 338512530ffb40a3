# ruff: noqa: S608 - of what is put into queries, only paths are not our own, and those are quoted
"""Sorts staged spans into the store: each span once, each trace into one block, and not too many parts.

A block holds some traces of one hour, whole: a span goes where others of its trace are, whenever it comes, and a new
trace into the latest block of the hour in which it began. So a block is read without any other, what was found out
about it stays true until spans are added to it, and to forget an hour tears no trace.

Most staged files are parts as they are. To sort all spans into partitions by hash of their trace, instead, takes about
as long as to analyse them (2.6 to 5.6 CPU seconds per million), and every ingest would change every partition.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from uuid import uuid4

import duckdb
import numpy as np

from cutset.store.manifest import SpanPart, SpanStore
from cutset.store.parquet import COLUMNS, HOUR_NS, connect, hour_name, hour_number, layout_of, quoted, reading
from cutset.store.place import address_of, is_remote, move_in, workroom
from cutset.store.staging import Staged

# Nobody traced anything earlier: such times count from somewhere else, or are missing.
FIRST_REAL_HOUR = 87_648  # 1980-01-01T00
# Spans with equal values in all of these are one span, however often it was exported. Not its end: of a span that was
# exported while it ran, and again when it was over, the first that is stored stays (within one commit: the longest).
# As far as every format tells it: Zipkin has names in lower case, and most have microseconds.
_IDENTITY = ("trace_id", "span_id", "kind", "service_name", "start_us")
# Many small ingests would leave many parts to open: the small ones of a block are merged once they are more than this.
_SMALL_PART_SPANS, _SMALL_PARTS = 100_000, 16
_BLOCK_SPANS = 1_000_000  # to a block with so many, no new traces are added: what is cached of it stays true

_Block = tuple[int, int]  # hour, since 1970, and number


def sort_in(stored: SpanStore, staged: Sequence[Staged]) -> tuple[Counter[str], tuple[SpanPart, ...]]:
    """How many spans of each staged file are not new, and the parts of the store with the new ones."""
    folder, staging = stored.folder, workroom(stored.folder) / "staging"
    with connect(staging, [address_of(folder)]) as database:
        rivals = _find_blocks(database, stored, [each.file for each in staged])
        surplus = _find_surplus(database, [each.file for each in staged], rivals)
        blocks = _blocks_of_files(database, staged)
        ready = {
            each.file: blocks[each.file][0]
            for each in staged
            if each.of_one_hour and not surplus[each.file] and len(blocks[each.file]) == 1
        }
        others = [each for each in staged if each.file not in ready and each.spans > surplus[each.file]]
        added = _move_in(database, folder, ready | _split_by_block(database, staging, others))
        return surplus, tuple(_merge_small_parts(database, folder, [*stored.parts, *added]))


def _find_blocks(database: duckdb.DuckDBPyConnection, stored: SpanStore, staged: Sequence[str]) -> list[str]:
    """Puts the block of each staged trace into the table `homes`; returns the parts that have spans of these traces."""
    files = _files_of_trace_ids(database, stored)
    parts = {
        "filename": np.array(files, dtype=object),
        "hour": np.array([hour_number(part.hour) for part in stored.parts], dtype=np.int64),
        "block": np.array([part.block for part in stored.parts], dtype=np.int64),
    }
    latest = _latest_blocks(stored.parts)
    growing = {
        "hour": np.array([hour for hour, _ in latest], dtype=np.int64),
        "block": np.array([block for _, block in latest], dtype=np.int64),
    }
    database.register("parts", parts).register("growing", growing)
    with reading(staged) as spans, reading(files) as known:
        database.execute(f"""
            CREATE TABLE traces AS
                SELECT trace_id, coalesce(min(hour) FILTER (hour >= {FIRST_REAL_HOUR}), min(hour)) AS hour
                FROM (SELECT trace_id, start_ns // {HOUR_NS} AS hour FROM {spans}) GROUP BY trace_id;
            CREATE TABLE known AS SELECT DISTINCT trace_id, filename FROM {known} SEMI JOIN traces USING (trace_id);
            CREATE TABLE homes AS
                SELECT trace_id, coalesce(theirs.hour, traces.hour) AS hour,
                       coalesce(theirs.block, growing.block, 0) AS block
                FROM traces LEFT JOIN growing USING (hour) LEFT JOIN (
                    SELECT trace_id, any_value(hour) AS hour, any_value(block) AS block
                    FROM known JOIN parts USING (filename) GROUP BY trace_id
                ) AS theirs USING (trace_id);
        """)
    address = dict(zip(files, (address_of(stored.folder, part.file) for part in stored.parts), strict=True))
    return [
        address[file] for (file,) in database.execute("SELECT DISTINCT filename FROM known ORDER BY ALL").fetchall()
    ]


def _files_of_trace_ids(database: duckdb.DuckDBPyConnection, stored: SpanStore) -> list[str]:
    """For each part, a file of this machine with its trace ids: every commit asks which traces are stored already.

    The part itself; or, of an object store, a copy of these ids alone: to fetch all that is stored, each time, would
    take longer than anything else.
    """
    if not is_remote(stored.folder):
        return [address_of(stored.folder, part.file) for part in stored.parts]
    here = workroom(stored.folder) / "ids"
    here.mkdir(exist_ok=True)
    files = {here / Path(part.file).name: address_of(stored.folder, part.file) for part in stored.parts}
    for file in set(here.iterdir()) - files.keys():
        file.unlink()
    for file, part in files.items():
        if not file.exists():
            written = file.with_suffix(".new")
            with reading([part]) as spans:
                ids = f"SELECT DISTINCT trace_id FROM {spans} ORDER BY ALL"
                database.execute(f"COPY ({ids}) TO {quoted(written)} (FORMAT parquet, COMPRESSION zstd)")
            written.rename(file)
    return list(map(str, files))


def _latest_blocks(parts: Sequence[SpanPart]) -> list[_Block]:
    """Of each hour, the block that new traces are added to."""
    sizes: Counter[_Block] = Counter()
    for part in parts:
        sizes[hour_number(part.hour), part.block] += part.spans
    latest = {hour: (block, sizes[hour, block]) for hour, block in sorted(sizes)}
    return [(hour, block + (spans >= _BLOCK_SPANS)) for hour, (block, spans) in latest.items()]


def _find_surplus(database: duckdb.DuckDBPyConnection, staged: Sequence[str], rivals: Sequence[str]) -> Counter[str]:
    """Puts the staged spans that are stored already, or staged twice, into the table `surplus`; counts them by file.

    Almost all spans are new, and hashes say so for little: only spans whose hash is not unique are compared.
    """
    mark, identity = "hash(trace_id, span_id, kind)", ", ".join(_IDENTITY)
    told = "trace_id, span_id, kind, lower(service) AS service_name, start_ns // 1000 AS start_us"
    told += ", end_ns, filename, file_row_number"
    with reading(staged) as spans, reading(rivals) as known:
        database.execute(f"""
            CREATE TABLE marks AS SELECT {mark} AS mark, count(*) AS spans FROM {spans} GROUP BY mark;
            CREATE TABLE suspects AS
                SELECT mark FROM marks WHERE spans > 1
                UNION SELECT mark FROM (SELECT {mark} AS mark FROM {known}) SEMI JOIN marks USING (mark);
            CREATE TABLE surplus AS SELECT filename, file_row_number FROM (
                SELECT filename, file_row_number, stored, row_number() OVER (
                    PARTITION BY {identity} ORDER BY stored DESC, end_ns DESC, filename, file_row_number
                ) AS copy
                FROM (SELECT {told}, false AS stored FROM {spans} UNION ALL SELECT {told}, true FROM {known})
                WHERE {mark} IN (SELECT mark FROM suspects)
            ) WHERE copy > 1 AND NOT stored;
            DROP TABLE marks;
        """)
    return Counter(dict(database.execute("SELECT filename, count(*) FROM surplus GROUP BY filename").fetchall()))


def _blocks_of_files(database: duckdb.DuckDBPyConnection, staged: Sequence[Staged]) -> dict[str, list[_Block]]:
    blocks: dict[str, list[_Block]] = {}
    with reading([each.file for each in staged]) as spans:
        for file, *block in database.execute(f"""
            SELECT DISTINCT filename, hour, block FROM {spans} JOIN homes USING (trace_id) ORDER BY ALL
        """).fetchall():
            blocks.setdefault(file, []).append((block[0], block[1]))
    return blocks


def _split_by_block(database: duckdb.DuckDBPyConnection, staging: Path, staged: Sequence[Staged]) -> dict[str, _Block]:
    """Sorts what is new in these files into a file for each block."""
    if not staged:
        return {}
    split = staging / uuid4().hex
    with reading([each.file for each in staged]) as spans:
        found = database.execute(f"SELECT count(DISTINCT (hour, block)) FROM {spans} JOIN homes USING (trace_id)")
        layout = layout_of(sum(each.spans for each in staged) // found.fetchall()[0][0])
        database.execute("SET partitioned_write_flush_threshold = 65536")  # the default keeps too much in memory
        database.execute(f"""
            COPY (SELECT {", ".join(COLUMNS)}, hour, block
                  FROM {spans} AS staged JOIN homes USING (trace_id)
                  ANTI JOIN surplus USING (filename, file_row_number)
                  ORDER BY hour, block, trace_id, start_ns)
            TO {quoted(split)} (FORMAT parquet, PARTITION_BY (hour, block), FILENAME_PATTERN '{{uuid}}', {layout})
        """)
    return {str(file): _named_block(file) for file in sorted(split.glob("*/*/*.parquet"))}


def _named_block(file: Path) -> _Block:
    """As DuckDB names folders: `hour=495036/block=0`."""
    return int(file.parent.parent.name.partition("=")[2]), int(file.parent.name.partition("=")[2])


def _move_in(database: duckdb.DuckDBPyConnection, folder: Path, files: Mapping[str, _Block]) -> list[SpanPart]:
    """Moves sorted files, each of one block, to where the manifest may list them."""
    if not files:
        return []
    with reading(list(files)) as spans:
        described = database.execute(f"""
            SELECT filename, count(*), min(start_ns) AS first, max(start_ns), min(trace_id), max(trace_id)
            FROM {spans} GROUP BY filename ORDER BY first, filename
        """).fetchall()
    parts = []
    for file, number, first_ns, last_ns, first_id, last_id in described:
        hour, block = files[file]
        name = f"{hour_name(hour)}/{Path(file).name}"
        part = SpanPart(name, hour_name(hour), number, first_ns, last_ns, first_id, last_id, block)
        move_in(Path(file), folder, part.file)
        parts.append(part)
    return parts


def _merge_small_parts(
    database: duckdb.DuckDBPyConnection, folder: Path, parts: Sequence[SpanPart]
) -> Iterator[SpanPart]:
    small: defaultdict[_Block, list[SpanPart]] = defaultdict(list)
    for part in parts:
        if part.spans < _SMALL_PART_SPANS:
            small[hour_number(part.hour), part.block].append(part)
    merged = {block: found for block, found in small.items() if len(found) > _SMALL_PARTS}
    gone = {part.file for found in merged.values() for part in found}
    yield from (part for part in parts if part.file not in gone)
    for block, found in merged.items():
        file = workroom(folder) / "staging" / f"{uuid4()}.parquet"
        with reading([address_of(folder, part.file) for part in found]) as spans:
            database.execute(f"""
                COPY (SELECT {", ".join(COLUMNS)} FROM {spans} ORDER BY trace_id, start_ns)
                TO {quoted(file)} (FORMAT parquet, {layout_of(sum(part.spans for part in found))})
            """)
        yield from _move_in(database, folder, {str(file): block})
