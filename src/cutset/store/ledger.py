"""The ledger: every event of every campaign, appended before it counts, in SQLite under `.cutset/`.

Nothing is ever changed or deleted. A process that is killed leaves a ledger that ends with the last complete event; who
resumes replays the events and goes on.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from cutset.errors import InputError, TargetError
from cutset.model.event import CampaignFinished, CampaignStarted, Event
from cutset.store.codec import event_from_json, event_to_json

FORMAT_VERSION = 1

_README = """\
This folder belongs to Cutset: `ledger.sqlite` is the record of all campaigns run here.
`cutset report` reads it; `cutset explore --resume` continues an interrupted campaign. Delete the folder to forget them.
"""


@dataclass(frozen=True, slots=True)
class CampaignRecord:
    id: str
    started_at: float  # unix seconds
    finished: bool  # it ended by itself, with every request decided
    settings: str


class Ledger:
    def __init__(self, database: sqlite3.Connection, path: Path) -> None:
        self._database = database
        self._path = path

    def append(self, campaign: str, at: float, event: Event) -> None:
        kind, fields = event_to_json(event)
        try:
            with self._database:
                self._database.execute(
                    "INSERT INTO events (campaign, at, kind, fields) VALUES (?, ?, ?, ?)", (campaign, at, kind, fields)
                )
        except sqlite3.OperationalError as error:
            raise TargetError(
                f"Cannot write to the ledger at `{self._path}`: {error}",
                hint="Everything recorded so far is kept; free the disk, then run `cutset explore --resume`",
            ) from error

    def events(self, campaign: str) -> list[Event]:
        rows = self._database.execute("SELECT kind, fields FROM events WHERE campaign = ? ORDER BY id", (campaign,))
        return [event_from_json(kind, fields) for kind, fields in rows]

    def campaigns(self) -> list[CampaignRecord]:
        """All campaigns, the latest last."""
        rows = self._database.execute(
            "SELECT campaign, at, kind, fields FROM events WHERE kind IN (?, ?) ORDER BY id",
            (CampaignStarted.__name__, CampaignFinished.__name__),
        )
        records: dict[str, CampaignRecord] = {}
        for campaign, at, kind, fields in rows:
            match event_from_json(kind, fields):
                case CampaignStarted(settings=settings):
                    begun = records[campaign].started_at if campaign in records else at  # then this is a resumption
                    records[campaign] = CampaignRecord(campaign, begun, finished=False, settings=settings)
                case CampaignFinished(reason=""):
                    records[campaign] = replace(records[campaign], finished=True)
        return list(records.values())


@contextmanager
def open_ledger(folder: Path) -> Iterator[Ledger]:
    """Opens the ledger in this folder, creating both if need be."""
    path = folder / "ledger.sqlite"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in (("README.md", _README), (".gitignore", "*\n")):
            if not (folder / name).exists():
                (folder / name).write_text(text)
        database = sqlite3.connect(path, timeout=10)
    except (OSError, sqlite3.OperationalError) as error:
        raise TargetError(
            f"Cannot open the ledger at `{path}`: {error}", hint="Choose a folder with `--store`"
        ) from error
    try:
        _prepare(database, path)
        yield Ledger(database, path)
    finally:
        database.close()


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    try:
        # WAL: readers (a report) never block the campaign. NORMAL: a killed process loses nothing; only a power cut
        # may lose the last few events, and then the experiments are simply run again.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version not in (0, FORMAT_VERSION):
            raise InputError(
                f"The ledger at `{path}` has format {version}; this version of Cutset reads format {FORMAT_VERSION}",
                hint="Use the version of Cutset that wrote it, or another folder with `--store`",
            )
        with database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS events"
                " (id INTEGER PRIMARY KEY, campaign TEXT NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL,"
                " fields TEXT NOT NULL)"
            )
            database.execute("CREATE INDEX IF NOT EXISTS events_by_campaign ON events (campaign, id)")
            database.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
    except sqlite3.DatabaseError as error:
        raise InputError(
            f"`{path}` is not a readable ledger: {error}", hint="Move it away, or choose another folder with `--store`"
        ) from error
