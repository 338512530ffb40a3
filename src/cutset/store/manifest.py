"""What the span store holds, who may write to it, and what becomes of the files of those who were killed.

The manifest is the only truth, and is only ever replaced as a whole: a part that it does not list does not exist.
"""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TextIO

import duckdb

from cutset.errors import InputError, TargetError
from cutset.store.ledger import open_for_owner
from cutset.store.place import (
    address_of,
    folder_of,
    is_remote,
    keep_files,
    names_in,
    read_version,
    replace_version,
    workroom,
)

FORMAT_VERSION = 2
MANIFEST = "manifest.json"  # in the folder of the store
PARTS = "*T*/*.parquet"


@dataclass(frozen=True, slots=True)
class SpanPart:
    file: str  # relative to the folder of the store
    hour: str  # of UTC, as in 2026-11-16T03, in which its traces began
    spans: int
    first_ns: int  # the earliest start in it
    last_ns: int  # the latest start
    first_trace_id: str
    last_trace_id: str
    block: int = 0  # of that hour: all that is stored of a trace is in the parts of one block


@dataclass(frozen=True, slots=True)
class IngestRecord:
    source: str
    format: str
    at: float  # unix seconds
    spans_read: int
    spans_new: int
    skipped: Mapping[str, int]  # by reason
    problem: str = ""  # why it was not read to its end


@dataclass(frozen=True, slots=True)
class SpanStore:
    """What was stored at one moment. Parts never change, so it stays readable while an ingest goes on."""

    folder: Path
    parts: tuple[SpanPart, ...] = ()
    log: tuple[IngestRecord, ...] = ()
    cursors: Mapping[str, int] = field(default_factory=dict)  # of each server, up to which start it was read
    positions: Mapping[str, str] = field(
        default_factory=dict
    )  # of each file that was not read to its end, how far it was
    written: str = ""  # the version of its manifest, where others may write, too

    @property
    def spans(self) -> int:
        return sum(part.spans for part in self.parts)

    @property
    def first_ns(self) -> int:
        return min((part.first_ns for part in self.parts), default=0)

    @property
    def last_ns(self) -> int:
        return max((part.last_ns for part in self.parts), default=0)


def open_spans(store: Path) -> SpanStore:
    """What is stored now; nothing if there was no ingest yet."""
    folder = folder_of(store)
    where, manifest = address_of(folder), address_of(folder, MANIFEST)
    try:
        content, written = read_version(folder, MANIFEST)
        fields = json.loads(content)
        version = fields["version"]
        if version == FORMAT_VERSION:
            return SpanStore(
                folder,
                tuple(SpanPart(**part) for part in fields["parts"]),
                tuple(IngestRecord(**record) for record in fields["log"]),
                fields["cursors"],
                fields.get("positions", {}),
                written,
            )
    except FileNotFoundError:
        return SpanStore(folder)
    except OSError as error:
        raise TargetError(
            f"Cannot read `{manifest}`: {error.strerror or error}", hint="Give access to it, or use another `--store`"
        ) from error
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"`{manifest}` is damaged: {error}", hint=f"Delete `{where}`, then `cutset ingest` your traces again"
        ) from error
    raise InputError(
        f"The traces in `{where}` have format {version}; this Cutset reads format {FORMAT_VERSION}",
        hint=f"Delete `{where}`, then `cutset ingest` your traces again, or use another `--store`",
    )


def write_manifest(stored: SpanStore) -> SpanStore:
    """What is stored from now on, unless somebody else wrote meanwhile."""
    fields = {"version": FORMAT_VERSION, **asdict(replace(stored, folder=Path()))}
    del fields["folder"], fields["written"]
    content = json.dumps(fields, indent=1).encode()
    return replace(stored, written=replace_version(stored.folder, MANIFEST, content, stored.written))


@contextmanager
def locked(store: Path) -> Iterator[SpanStore]:
    """The store for the one process that may write to it, without the leftovers of those that were killed."""
    folder = open_spans(store).folder
    with clear_errors(folder):
        here = workroom(folder)
        here.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # as the ledger does, which may come later
        here.mkdir(exist_ok=True, mode=0o700)
        with open_for_owner(here / ".gitignore") as ignored:
            ignored.write("*\n")
        lock = open_for_owner(here / "lock", "a+")
    with lock:
        with clear_errors(folder):
            _take(lock, folder)
        try:
            with clear_errors(folder):
                stored = open_spans(store)
                present = names_in(folder, PARTS)
                # A part that the user deleted, because it was damaged, is gone; ingesting its traces brings them back.
                stored = replace(stored, parts=tuple(part for part in stored.parts if part.file in present))
                _sweep(stored)
                (here / "staging").mkdir(exist_ok=True)  # a worker of a killed ingest may still write to it
            yield stored
        finally:
            with contextlib.suppress(OSError):
                _sweep(open_spans(store))


def _take(lock: TextIO, folder: Path) -> None:
    try:
        # A lock of this process alone. One of `flock` would pass on to worker processes, which may outlive it.
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        lock.seek(0)
        raise TargetError(
            f"Process {lock.read().strip() or '?'} is writing to the traces in `{address_of(folder)}`",
            hint="Wait until it is done, or end it: what it has committed is kept",
        ) from error
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()


def _sweep(stored: SpanStore) -> None:
    """Removes the files that the manifest does not list."""
    shutil.rmtree(workroom(stored.folder) / "staging", ignore_errors=True)
    keep_parts(stored.folder, {part.file for part in stored.parts})
    if is_remote(stored.folder):
        return
    for left in (*stored.folder.glob("*.new"), *stored.folder.glob("*/*.new")):
        left.unlink(missing_ok=True)


def keep_parts(folder: Path, files: Collection[str]) -> None:
    keep_files(folder, PARTS, files)


@contextmanager
def clear_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, duckdb.IOException, duckdb.OutOfMemoryException) as error:
        raise TargetError(
            f"Cannot write traces to `{address_of(folder)}`: {str(error).splitlines()[0]}",
            hint="What was stored before is kept; make room or give access, then `cutset ingest` again",
        ) from error
