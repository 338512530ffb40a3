# ruff: noqa: S608 - of what is put into queries, only paths are not our own, and those are quoted
"""Parquet files of spans: their columns and layout, and the database that reads and writes them."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import duckdb

from cutset.errors import InputError, TargetError
from cutset.model.span import KEPT_ATTRIBUTES
from cutset.store.place import is_there, make_readable

END_OF_TIME_NS = 2**63 - 1  # after the start of every span
HOUR_NS = 3_600_000_000_000
COLUMNS = (
    *("trace_id", "span_id", "parent_id", "service", "name", "kind", "start_ns", "end_ns", "error"),
    *KEPT_ATTRIBUTES.values(),
)

# What queries read from: some files, or, where there are none, a table with the same columns.
_TYPES = {"start_ns": "BIGINT", "end_ns": "BIGINT", "error": "BOOLEAN", "file_row_number": "BIGINT"}
_NO_COLUMNS = (f"NULL::{_TYPES.get(name, 'VARCHAR')} AS {name}" for name in (*COLUMNS, "filename", "file_row_number"))
_NO_SPANS = f"(SELECT {', '.join(_NO_COLUMNS)} WHERE false)"
_READ_OPTIONS = "hive_partitioning = false, filename = true, file_row_number = true"

# Readers of a range of trace ids read whole row groups: they must be small, and several in each part.
_LARGEST_ROW_GROUP, _SMALLEST_ROW_GROUP, _ROW_GROUPS_PER_PART = 20_480, 2_048, 32


@contextmanager
def connect(scratch: Path, files: Sequence[str] = ()) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in little memory: what does not fit goes to a folder in `scratch` while it is open.

    It can read these files, wherever they are; for those of this machine, nobody has to say so.
    """
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
            make_readable(database, files)
            yield database
    except RuntimeError as error:
        if "interrupted" not in str(error).lower():
            raise
        raise KeyboardInterrupt from None  # what DuckDB was interrupted by
    finally:
        shutil.rmtree(overflow, ignore_errors=True)


@contextmanager
def reading(files: Sequence[str]) -> Iterator[str]:
    """These files as a table expression; while it is used, a missing or damaged one is named in the error."""
    names = ", ".join(map(quoted, files))
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


def _raise_if_unreadable(file: str) -> None:
    if not is_there(file):
        raise InputError(
            f"`{file}` is missing from the stored traces",
            hint="Try again if an ingest ran meanwhile; else `cutset ingest` the traces of that hour again",
        )
    try:
        with duckdb.connect() as database:
            make_readable(database, [file])
            database.execute(f"SELECT max(hash(COLUMNS(*))) FROM read_parquet({quoted(file)})").fetchall()
    except duckdb.Error as error:
        raise InputError(
            f"`{file}` is damaged: {str(error).splitlines()[0]}",
            hint="Delete it, then `cutset ingest` the traces of that hour again: what is stored already is skipped",
        ) from error


def layout_of(spans_per_part: int) -> str:
    rows = max(_SMALLEST_ROW_GROUP, min(_LARGEST_ROW_GROUP, spans_per_part // _ROW_GROUPS_PER_PART))
    return f"COMPRESSION zstd, ROW_GROUP_SIZE {rows}"


def hour_name(hour: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(hours=hour)).strftime("%Y-%m-%dT%H")


def hour_number(name: str) -> int:
    return int(datetime.strptime(name, "%Y-%m-%dT%H").replace(tzinfo=UTC).timestamp()) // 3600


def quoted(path: str | Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
