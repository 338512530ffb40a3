"""The ledger: every event of every run, appended before it counts, in SQLite under `.cutset/`.

Nothing is ever changed or deleted. A process that is killed leaves a ledger that ends with the last complete event; who
resumes replays the events and goes on. The events of a run are chained by digests: each holds that of the one before,
so that a record that was changed, torn or taken out is found, and named, when the run is read. Whoever can write the
file can write another chain; with a key, the end of a run is sealed, which only who has the key can do again.
"""

import hashlib
import hmac
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from cutset.errors import InputError, TargetError, UsageError
from cutset.model.run import Loop, RunFinished, RunRecord, RunStarted
from cutset.store.codec import RecordedEvent, event_from_json, event_to_json

FORMAT_VERSION = 2
NAME = "ledger.sqlite"

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
        except sqlite3.OperationalError as error:
            raise TargetError(
                f"Cannot write to the ledger at `{self.path}`: {error}",
                hint="Everything recorded so far is kept; free the disk, then run the command again with `--resume`",
            ) from error

    def events(self, run: str) -> list[RecordedEvent]:
        return [event for _, event in self.dated_events(run)]

    def dated_events(self, run: str) -> list[tuple[float, RecordedEvent]]:
        """Each with its time in Unix seconds. A record that does not continue the chain is an error."""
        found: list[tuple[float, RecordedEvent]] = []
        before = ""
        for number, at, kind, fields, link in self._rows(
            "SELECT id, at, kind, fields, link FROM events WHERE run = ? ORDER BY id", (run,)
        ):
            if link != _link(before, run, at, kind, fields):
                raise InputError(
                    f"Record {number} of the ledger at `{self.path}` ({kind}, run `{run}`) is not as it was written,"
                    " or one before it is missing",
                    hint="What this run found cannot be trusted: restore the ledger from a copy, or run it again",
                )
            before = link
            found.append((at, event_from_json(kind, fields)))
        return found

    def runs(self, loop: Loop | None = None) -> list[RunRecord]:
        """All runs, or those of one loop, the latest last."""
        records: dict[str, RunRecord] = {}
        for run, at, kind, fields in self._rows(
            "SELECT run, at, kind, fields FROM events WHERE kind IN (?, ?) ORDER BY id",
            (RunStarted.__name__, RunFinished.__name__),
        ):
            match event_from_json(kind, fields):
                case RunStarted() as started:
                    records[run] = RunRecord(run, at, started, finished=False)
                case RunFinished(reason="") if run in records:
                    records[run] = RunRecord(run, records[run].started_at, records[run].started, finished=True)
        return [record for record in records.values() if loop in (None, record.started.loop)]

    def _rows(self, query: str, values: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
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
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name, text in (("README.md", _README), (".gitignore", "*\n")):
            if not (folder / name).exists():
                (folder / name).write_text(text)
        # Never opened where it exists: to close a file drops all locks on it that this process has, those of a ledger
        # that is open already included, and the next process to come would take away what SQLite still writes to.
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # SQLite gives its other files the same mode
        database = sqlite3.connect(path, timeout=10, isolation_level=None)
    except (OSError, sqlite3.OperationalError) as error:
        raise TargetError(
            f"Cannot open the ledger at `{path}`: {error}", hint="Choose a folder with `--store`"
        ) from error
    try:
        _prepare(database, path)
        yield Ledger(database, folder, key)
    finally:
        database.close()


@contextmanager
def open_existing_ledger(folder: Path) -> Iterator[Ledger]:
    """A ledger to read from: what is not there is not created."""
    if not (folder / NAME).exists():
        raise UsageError(f"There is no ledger in `{folder}`", hint="Run `cutset explore` or `cutset demo` first")
    with open_ledger(folder) as ledger:
        yield ledger


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
        with database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS events"
                " (id INTEGER PRIMARY KEY, run TEXT NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL,"
                " fields TEXT NOT NULL, link TEXT NOT NULL)"
            )
            database.execute("CREATE INDEX IF NOT EXISTS events_by_run ON events (run, id)")
            database.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
    except sqlite3.DatabaseError as error:
        raise InputError(
            f"`{path}` is not a readable ledger: {error}", hint="Move it away, or choose another folder with `--store`"
        ) from error
