"""The ledger: every event of every run, appended before it counts, in SQLite under `.cutset/`.

Nothing is ever changed or deleted. A process that is killed leaves a ledger that ends with the last complete event; who
resumes replays the events and goes on. The events of a run are chained by digests: each holds that of the one before,
so that a record that was changed, torn or taken out is found, and named, when the run is read. Whoever can write the
file can write another chain; with a key, the end of a run is sealed, which only who has the key can do again.
"""

import hashlib
import hmac
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO, cast

from cutset.errors import CutsetError, InputError, TargetError, UsageError
from cutset.model.run import Loop, RunFinished, RunRecord, RunStarted
from cutset.store.codec import RecordedEvent, event_from_json, event_to_json
from cutset.store.place import is_remote

FORMAT_VERSION = 3
NAME = "ledger.sqlite"

_OTHER_PLACE = "Choose another folder with `--store`"
# Codes of SQLite that say nothing of what is in the file.
_OF_THE_PLACE = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PERM,
)

_README = """\
This folder belongs to Cutset: `ledger.sqlite` is the record of all that was run here.
`cutset report` reads it; `cutset explore --resume` continues an interrupted campaign. Delete the folder to forget them.
"""


class Ledger:
    def __init__(self, database: sqlite3.Connection, folder: Path, key: bytes) -> None:
        self._database = database
        self._key = key
        self.folder = folder

    @property
    def path(self) -> Path:
        return self.folder / NAME

    def append(self, run: str, event: RecordedEvent, *, at: float | None = None) -> None:
        at = time.time() if at is None else at
        try:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                before = self._database.execute(
                    "SELECT link FROM events WHERE run = ? ORDER BY id DESC LIMIT 1", (run,)
                ).fetchone()
                last = before[0] if before else ""
                if isinstance(event, RunFinished) and self._key:
                    event = replace(event, seal=_seal(self._key, run, last, event.reason))
                kind, fields = event_to_json(event)
                link = _link(last, run, at, kind, fields)
                self._database.execute(
                    "INSERT INTO events (run, at, kind, fields, link) VALUES (?, ?, ?, ?, ?)",
                    (run, at, kind, fields, link),
                )
        except sqlite3.DatabaseError as error:
            raise _unusable(self.path, error, doing="write to") from error

    def events(self, run: str) -> list[RecordedEvent]:
        return [event for _, event in self.dated_events(run)]

    def dated_events(self, run: str) -> list[tuple[float, RecordedEvent]]:
        """Each with its time in Unix seconds. A record that does not continue the chain is an error."""
        found: list[tuple[float, RecordedEvent]] = []
        for _, at, kind, fields in self._chained("WHERE run = ?", (run,)):
            found.append((at, event_from_json(kind, fields)))
        return found

    def records(self, run: str, after: int = 0) -> list[tuple[float, str, str]]:
        """Time, kind and fields of each event as they were written, but for the first so many."""
        query = "SELECT at, kind, fields FROM events WHERE run = ? ORDER BY id LIMIT -1 OFFSET ?"
        return [(at, kind, fields) for at, kind, fields in self._rows(query, (run, after))]

    def runs(self, loop: Loop | None = None) -> list[RunRecord]:
        """All runs, or those of one loop, the latest last. A damaged one is an error, whichever is asked for."""
        records: dict[str, RunRecord] = {}
        for run, at, kind, fields in self._chained():
            if kind not in (RunStarted.__name__, RunFinished.__name__):
                continue
            match event_from_json(kind, fields):
                case RunStarted() as started:
                    records[run] = RunRecord(run, at, started, finished=False)
                case RunFinished(reason="") if run in records:
                    records[run] = RunRecord(run, records[run].started_at, records[run].started, finished=True)
        return [record for record in records.values() if loop in (None, record.started.loop)]

    def _chained(self, which: str = "", values: tuple[str, ...] = ()) -> Iterator[tuple[str, float, str, str]]:
        """Run, time, kind and fields of each record, once it is known to continue the chain of its run."""
        for _, run, at, kind, fields in self._held_against({}, which, values):
            yield run, at, kind, fields

    def verified(self, links: dict[str, str], *, after: int) -> Iterator[tuple[int, str, float, str, str]]:
        """Number, run, time, kind and fields of each record after that number, once it continues the chain of its run.

        `links` are the last ones, by run, of those before; they are brought up to date.
        """
        return self._held_against(links, "WHERE id > ?", (after,))

    def numbered(self, run: str, *, after: int) -> Iterator[tuple[int, float, str, str]]:
        """Number, time, kind and fields of each record of a run after that number, as they were written."""
        query = "SELECT id, at, kind, fields FROM events WHERE run = ? AND id > ? ORDER BY id"
        yield from cast("Iterator[tuple[int, float, str, str]]", self._rows(query, (run, after)))

    def _held_against(
        self, before: dict[str, str], which: str, values: tuple[str | int, ...]
    ) -> Iterator[tuple[int, str, float, str, str]]:
        query = f"SELECT id, run, at, kind, fields, link FROM events {which} ORDER BY id"  # noqa: S608 -- our own
        for number, run, at, kind, fields, link in self._rows(query, values):
            as_written = isinstance(at, float) and all(isinstance(each, str) for each in (run, kind, fields, link))
            if not as_written or link != _link(before.get(run, ""), run, at, kind, fields):
                raise InputError(
                    f"Record {number} of the ledger at `{self.path}` ({kind}, run `{run}`) is not as it was written,"
                    " or one before it is missing",
                    hint="What this run found cannot be trusted: restore the ledger from a copy, or run it again",
                )
            yield number, run, at, kind, fields
            before[run] = link

    def _rows(self, query: str, values: tuple[str | int, ...]) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._database.execute(query, values)
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"The ledger at `{self.path}` is damaged: {error}", hint="Restore it from a copy, or move it away"
            ) from error


def _link(before: str, run: str, at: float, kind: str, fields: str) -> str:
    return hashlib.sha256("\n".join((before, run, repr(at), kind, fields)).encode()).hexdigest()


def _seal(key: bytes, run: str, last: str, reason: str) -> str:
    return hmac.new(key, "\n".join(("cutset ledger", run, last, reason)).encode(), hashlib.sha256).hexdigest()


@contextmanager
def open_ledger(folder: Path, *, key: bytes = b"") -> Iterator[Ledger]:
    """Opens the ledger in this folder, creating both if need be, readable by their owner alone.

    With a key, the ends of runs are sealed.
    """
    path = folder / NAME
    if is_remote(folder):
        raise UsageError("An object store holds traces alone", hint="Record runs in a folder, with another `--store`")
    if is_read_only(folder):
        raise TargetError(
            f"`{folder}` is read-only, so that nothing can be recorded there",
            hint=f"Give yourself write access (`chmod -R u+w {folder}`), or choose another folder with `--store`."
            " `cutset report` reads it as it is",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name, text in (("README.md", _README), (".gitignore", "*\n")):
            if not (folder / name).exists():
                with open_for_owner(folder / name) as file:
                    file.write(text)
        # Never opened where it exists: to close a file drops all locks on it that this process has, those of a ledger
        # that is open already included, and the next process to come would take away what SQLite still writes to.
        if not path.exists():
            open_for_owner(path).close()  # SQLite gives its other files the same mode
        database = sqlite3.connect(path, timeout=10, isolation_level=None)
    except (OSError, sqlite3.DatabaseError) as error:
        raise _unusable(path, error, doing="open") from error
    try:
        _prepare(database, path)
        yield Ledger(database, folder, key)
    finally:
        database.close()


@contextmanager
def open_existing_ledger(folder: Path) -> Iterator[Ledger]:
    """A ledger to read from: what is not there is not created, and a folder that is read-only will do."""
    if not (folder / NAME).exists():
        raise UsageError(f"There is no ledger in `{folder}`", hint="Run `cutset explore` or `cutset demo` first")
    if not is_read_only(folder):
        with open_ledger(folder) as ledger:
            yield ledger
        return
    # SQLite itself writes beside what it reads, and what was written last may still be there, in the second file.
    with tempfile.TemporaryDirectory(prefix="cutset-ledger-") as copy:
        try:
            for name in (NAME, f"{NAME}-wal"):
                if (folder / name).exists():
                    shutil.copyfile(folder / name, Path(copy, name))
        except OSError as error:
            raise _unusable(folder / NAME, error, doing="read") from error
        with open_ledger(Path(copy)) as ledger:
            ledger.folder = folder
            yield ledger


def is_read_only(folder: Path) -> bool:
    """Whether there is a ledger that we may not add to."""
    path = folder / NAME
    return path.exists() and not (os.access(folder, os.W_OK) and os.access(path, os.W_OK))


def open_for_owner(path: Path, mode: str = "w") -> TextIO:
    """A file to write to that nobody else may read."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    return cast("TextIO", open(path, mode, encoding="utf-8", opener=opener))


def _unusable(path: Path, error: Exception, *, doing: str) -> CutsetError:
    """What is wrong with the file itself, or with where it is."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if isinstance(error, OSError) or code in _OF_THE_PLACE:
        where = shutil.disk_usage(path.parent) if path.parent.is_dir() else None
        full = code == sqlite3.SQLITE_FULL or (where is not None and where.free == 0)
        return TargetError(
            f"Cannot {doing} the ledger at `{path}`: {'the disk is full' if full else error}",
            hint="Everything recorded so far is kept. "
            + ("Make room, then run the command again with `--resume`" if full else _OTHER_PLACE),
        )
    return InputError(f"`{path}` is not a readable ledger: {error}", hint=f"Restore it from a copy. {_OTHER_PLACE}")


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    try:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version not in (0, FORMAT_VERSION):
            raise InputError(
                f"The ledger at `{path}` has format {version}; this version of Cutset reads format {FORMAT_VERSION}",
                hint="Use the version of Cutset that wrote it, or another folder with `--store`",
            )
        # WAL: readers (a report) never block a run. NORMAL: a killed process loses nothing; only a power cut may lose
        # the last few events, and then what they tell of is simply done again.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        if database.execute("SELECT 1 FROM sqlite_master").fetchone():
            _require_sound(database, path)
            return
        with database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS events"
                " (id INTEGER PRIMARY KEY, run TEXT NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL,"
                " fields TEXT NOT NULL, link TEXT NOT NULL)"
            )
            database.execute("CREATE INDEX IF NOT EXISTS events_by_run ON events (run, id)")
            database.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise _unusable(path, error, doing="open") from error


def _require_sound(database: sqlite3.Connection, path: Path) -> None:
    """A page that lost its last records, or an index that does, would make a run shorter without breaking its chain."""
    database.execute("SELECT id, run, at, kind, fields, link FROM events LIMIT 1")
    found = [str(row[0]) for row in database.execute("PRAGMA integrity_check(3)")]
    if found != ["ok"]:
        raise InputError(
            f"The ledger at `{path}` is damaged: {found[0].splitlines()[-1]}",
            hint="Restore it from a copy, or move it away",
        )
