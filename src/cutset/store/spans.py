# ruff: noqa: S608 - of what is put into queries, only paths are not our own, and those are quoted
"""The span store: spans of any number of traces as Parquet under `.cutset/traces/`, one folder per hour of their start.

    traces/manifest.json                     the only truth: a part that it does not list does not exist
    traces/2026-11-16T03/<unique>.parquet    a part: spans that start in that hour, in order of trace id, then of start
    traces/staging/                          what an ingest is working on; the next one removes what a killed one left
    traces/lock                              held by the one process that writes

Whoever adds spans first *stages* them, in any number of processes. A *commit* then drops what is stored already, moves
the files of one hour to their place as they are, sorts the others in, and replaces the manifest in one step. Killed at
any instant, an ingest leaves the manifest of its last commit and some files that nobody reads.

Times that cannot be are moved to the nearest that can: a start before 1970 or after 2262 to that bound, an end before
its start to the start.
"""

import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from operator import attrgetter
from pathlib import Path
from uuid import uuid4

import duckdb
import numpy as np
from numpy.typing import NDArray

from cutset.errors import InputError, TargetError
from cutset.model.span import KEPT_ATTRIBUTES, Span
from cutset.store.manifest import IngestRecord, SpanPart, SpanStore, clear_errors, locked, sync, write_manifest

END_OF_TIME_NS = 2**63 - 1  # after the start of every span

# Spans with equal values in all of these are one span, however often it was exported. Not its end: of a span that was
# exported while it ran, and again when it was over, the first that is stored stays (within one commit: the longest).
# As far as every format tells it: Zipkin has names in lower case, and most have microseconds.
_IDENTITY = ("trace_id", "span_id", "kind", "service_name", "start_us")
COLUMNS = (
    *("trace_id", "span_id", "parent_id", "service", "name", "kind", "start_ns", "end_ns", "error"),
    *KEPT_ATTRIBUTES.values(),
)

_HOUR_NS = 3_600_000_000_000
_BUFFERED_SPANS = 200_000  # so many of one hour are a part of decent size, and about 150 MB of Python objects
_COMMIT_SPANS = 2_000_000  # what a killed ingest loses at most

# What queries read from: some files, or, where there are none, a table with the same columns.
_TYPES = {"start_ns": "BIGINT", "end_ns": "BIGINT", "error": "BOOLEAN", "file_row_number": "BIGINT"}
_NO_COLUMNS = (f"NULL::{_TYPES.get(name, 'VARCHAR')} AS {name}" for name in (*COLUMNS, "filename", "file_row_number"))
_NO_SPANS = f"(SELECT {', '.join(_NO_COLUMNS)} WHERE false)"
_READ_OPTIONS = "hive_partitioning = false, filename = true, file_row_number = true"

# Readers of a range of trace ids read whole row groups: they must be small, and several in each part.
_LARGEST_ROW_GROUP, _SMALLEST_ROW_GROUP, _ROW_GROUPS_PER_PART = 20_480, 2_048, 32
# Many small ingests would leave many parts to open: the small ones of an hour are merged once they are more than this.
_SMALL_PART_SPANS, _SMALL_PARTS = 100_000, 16


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
    of_one_hour = len(np.unique(columns["start_ns"] // _HOUR_NS)) == 1
    order, layout = ("ORDER BY trace_id, start_ns", _layout(len(spans))) if of_one_hour else ("", "COMPRESSION lz4")
    copy = f"COPY (SELECT {values} FROM spans {order}) TO {_quoted(file)} (FORMAT parquet, {layout})"
    with clear_errors(staging.parent), connect(staging) as database:
        try:
            database.register("spans", columns).execute(copy)
        except duckdb.InvalidInputException:  # half of a surrogate pair, which has no UTF-8
            database.register("spans", {name: _valid_text(values) for name, values in columns.items()}).execute(copy)
    return Staged(str(file), len(spans), of_one_hour)


class Ingest:
    """Adds spans to the store. What it was given since the last commit is lost if it fails."""

    def __init__(self, stored: SpanStore) -> None:
        self.staging = stored.folder / "staging"
        self._stored = stored
        self._source = ""
        self._buffer: list[Span] = []
        self._staged: list[tuple[str, Staged]] = []  # with its source
        self._new: Counter[str] = Counter()  # spans stored of each source that is not in the log yet
        self._records: list[IngestRecord] = []
        self._cursors: dict[str, int] = {}
        self.new_spans = 0  # in all commits so far

    def add(self, source: str, spans: Iterable[Span]) -> None:
        if source != self._source:
            self._flush()
            self._source = source
        pending = iter(spans)
        while batch := list(islice(pending, _BUFFERED_SPANS - len(self._buffer))):
            self._buffer += batch
            if len(self._buffer) == _BUFFERED_SPANS:
                self._flush()

    def adopt(self, source: str, staged: Staged) -> None:
        """Adds what `stage_spans` has written to `self.staging`, in this process or another."""
        if staged.spans:
            self._staged.append((source, staged))
        if sum(staged.spans for _, staged in self._staged) >= _COMMIT_SPANS:
            self.commit()

    def log(self, source: str, *, format: str, spans_read: int, skipped: Mapping[str, int]) -> None:  # noqa: A002
        """Records that this source was read to its end. How many of its spans were new, the next commit adds."""
        self._records.append(IngestRecord(source, format, time.time(), spans_read, 0, dict(skipped)))

    def set_cursor(self, server: str, start_ns: int) -> None:
        """All spans of this server that start before `start_ns` were added. Counts from the next commit on."""
        self._cursors[server] = start_ns

    def commit(self) -> None:
        self._flush()
        if not (self._staged or self._records or self._cursors):
            return
        with clear_errors(self._stored.folder):
            parts = self._stored.parts
            if self._staged:
                surplus, parts = _sort_in(self._stored, [staged for _, staged in self._staged])
                for source, staged in self._staged:
                    self._new[source] += staged.spans - surplus[staged.file]
                    self.new_spans += staged.spans - surplus[staged.file]
            records = [replace(record, spans_new=self._new.pop(record.source, 0)) for record in self._records]
            stored = replace(
                self._stored,
                parts=parts,
                log=(*self._stored.log, *records),
                cursors={**self._stored.cursors, **self._cursors},
            )
            write_manifest(stored)
            self._stored = stored
            for _, staged in self._staged:
                Path(staged.file).unlink(missing_ok=True)  # or it is a part now
        self._staged, self._records, self._cursors = [], [], {}

    def _flush(self) -> None:
        if self._buffer:
            batch, self._buffer = self._buffer, []
            self.adopt(self._source, stage_spans(self.staging, batch))


@contextmanager
def begin_ingest(store: Path) -> Iterator[Ingest]:
    """Commits at the end, and whenever two million spans have come together; not if the block raises."""
    with locked(store) as stored:
        ingest = Ingest(stored)
        yield ingest
        ingest.commit()


def forget_before(store: Path, start_ns: int) -> int:
    """Forgets the hours that ended before then, and returns how many spans those were. That hour itself is kept."""
    with locked(store) as stored:
        first_kept = _hour_name(max(0, min(start_ns, END_OF_TIME_NS)) // _HOUR_NS)
        kept = tuple(part for part in stored.parts if part.hour >= first_kept)
        with clear_errors(stored.folder):
            write_manifest(replace(stored, parts=kept))
    return stored.spans - sum(part.spans for part in kept)


@contextmanager
def connect(scratch: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in little memory: what does not fit goes to a folder in `scratch` while it is open."""
    overflow = scratch / f"cutset-overflow-{uuid4().hex}"
    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,  # who wants more speed runs more processes
        "memory_limit": "512MB",
        "temp_directory": str(overflow),
        "autoinstall_known_extensions": False,  # never look for anything in the network
    }
    try:
        with duckdb.connect(config=settings) as database:
            database.execute("SET enable_progress_bar = false")  # it would stand in the middle of our output
            yield database
    except RuntimeError as error:
        if "interrupted" not in str(error).lower():
            raise
        raise KeyboardInterrupt from None  # what DuckDB was interrupted by
    finally:
        shutil.rmtree(overflow, ignore_errors=True)


@contextmanager
def reading(files: Sequence[Path]) -> Iterator[str]:
    """These files as a table expression; while it is used, a missing or damaged one is named in the error."""
    names = ", ".join(map(_quoted, files))
    try:
        yield f"read_parquet([{names}], {_READ_OPTIONS})" if files else _NO_SPANS
    except duckdb.Error as error:
        for file in files:  # DuckDB does not always say which it was
            _raise_if_unreadable(file)
        if not isinstance(error, duckdb.IOException | duckdb.OutOfMemoryException):
            raise
        raise TargetError(
            f"Cannot work on traces: {str(error).splitlines()[0]}", hint="Make room on the disk; what is stored is kept"
        ) from error


def _raise_if_unreadable(file: Path) -> None:
    if not file.exists():
        raise InputError(
            f"`{file}` is missing from the stored traces",
            hint="Try again if an ingest ran meanwhile; else `cutset ingest` the traces of that hour again",
        )
    try:
        duckdb.execute(f"SELECT max(hash(COLUMNS(*))) FROM read_parquet({_quoted(file)})").fetchall()
    except duckdb.Error as error:
        raise InputError(
            f"`{file}` is damaged: {str(error).splitlines()[0]}",
            hint="Delete it, then `cutset ingest` the traces of that hour again: what is stored already is skipped",
        ) from error


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


def _sort_in(stored: SpanStore, staged: Sequence[Staged]) -> tuple[Counter[str], tuple[SpanPart, ...]]:
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
        hours = database.execute(f"SELECT count(DISTINCT start_ns // {_HOUR_NS}) FROM {spans}").fetchall()[0][0]
        layout = _layout(sum(each.spans for each in staged) // hours)
        database.execute("SET partitioned_write_flush_threshold = 65536")  # the default keeps too much in memory
        database.execute(f"""
            COPY (SELECT {", ".join(COLUMNS)}, start_ns // {_HOUR_NS} AS hour
                  FROM {spans} AS staged ANTI JOIN surplus USING (filename, file_row_number)
                  ORDER BY hour, trace_id, start_ns)
            TO {_quoted(by_hour)} (FORMAT parquet, PARTITION_BY (hour), FILENAME_PATTERN '{{uuid}}', {layout})
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
        f"SELECT start_ns // {_HOUR_NS} AS hour, min(trace_id), max(trace_id) FROM {spans} GROUP BY hour"
    ).fetchall()
    ids = {_hour_name(hour): (first, last) for hour, first, last in touched}
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
        hour = _hour_name(first_ns // _HOUR_NS)
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
                TO {_quoted(file)} (FORMAT parquet, {_layout(sum(part.spans for part in found))})
            """)
        yield from _move_in(database, folder, [file])


def _layout(spans_per_part: int) -> str:
    rows = max(_SMALLEST_ROW_GROUP, min(_LARGEST_ROW_GROUP, spans_per_part // _ROW_GROUPS_PER_PART))
    return f"COMPRESSION zstd, ROW_GROUP_SIZE {rows}"


def _hour_name(hour: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(hours=hour)).strftime("%Y-%m-%dT%H")


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
