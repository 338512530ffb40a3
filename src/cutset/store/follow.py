"""All that a ledger holds, for whoever looks again and again: each record is read once, and what was added since.

A dashboard asks every few moments what has happened, and a ledger of ten thousand experiments takes a second to verify.
So the chain's last links are remembered, and only new records are held against them.
"""

import os
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from cutset.errors import TargetError
from cutset.model.run import Loop, RunFinished, RunRecord, RunStarted
from cutset.store.codec import RecordedEvent, event_from_json
from cutset.store.ledger import NAME, Ledger, is_read_only, open_existing_ledger

MOST_RUNS_DECODED = 8  # of which the events are kept in memory: those that were looked at last


@dataclass(slots=True)
class _Decoded:
    number: int = 0  # of the last record that was read
    events: list[tuple[float, RecordedEvent]] = field(default_factory=list)


class FollowedLedger:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._number = 0  # of the last record that was verified
        self._links: dict[str, str] = {}
        self._runs: dict[str, RunRecord] = {}
        self._last_of: dict[str, int] = {}
        self._last_at: dict[str, float] = {}
        self._kinds: Counter[tuple[str, str]] = Counter()
        self._decoded: OrderedDict[str, _Decoded] = OrderedDict()

    @property
    def folder(self) -> Path:
        return self._ledger.folder

    def refresh(self) -> None:
        """Reads what was added. Raises InputError where a record does not continue the chain of its run."""
        for number, run, at, kind, fields in self._ledger.verified(self._links, after=self._number):
            if kind == RunStarted.__name__:
                started = event_from_json(kind, fields)
                assert isinstance(started, RunStarted)
                self._runs[run] = RunRecord(run, at, started, finished=False)
            elif kind == RunFinished.__name__ and run in self._runs:
                ended = event_from_json(kind, fields)
                if isinstance(ended, RunFinished) and not ended.reason:
                    self._runs[run] = replace(self._runs[run], finished=True)
            self._number = number
            self._last_of[run], self._last_at[run] = number, at
            self._kinds[run, kind] += 1

    def runs(self, loop: Loop | None = None) -> list[RunRecord]:
        """The latest last."""
        return [run for run in self._runs.values() if loop in (None, run.started.loop)]

    def last_record(self, run: str = "") -> int:
        """A number that changes when the run goes on, by default when any does; 0: there is no such run."""
        return self._last_of.get(run, 0) if run else self._number

    def last_at(self, run: str) -> float:
        """When its last record was written, in Unix seconds."""
        return self._last_at.get(run, 0.0)

    def number_of(self, run: str, kind: type) -> int:
        """How many events of this kind it has."""
        return self._kinds[run, kind.__name__]

    def dated_events(self, run: str) -> list[tuple[float, RecordedEvent]]:
        """As far as they are verified. The list is ours: do not change it."""
        known = self._decoded.setdefault(run, _Decoded())
        self._decoded.move_to_end(run)
        while len(self._decoded) > MOST_RUNS_DECODED:
            self._decoded.popitem(last=False)
        if known.number < self.last_record(run):
            for number, at, kind, fields in self._ledger.numbered(run, after=known.number):
                if number > self._number:
                    break
                known.events.append((at, event_from_json(kind, fields)))
                known.number = number
        return known.events

    def events(self, run: str) -> list[RecordedEvent]:
        return [event for _, event in self.dated_events(run)]


def ledger_mark(folder: Path) -> object:
    """Changes when what is open is no longer what is there; None: there is none.

    That is so of another file of the same name and, where we may not write and read a copy, of all that was added.
    """
    ledger = _status(folder / NAME)
    if ledger is None:
        return None
    if not is_read_only(folder):
        return ledger.st_dev, ledger.st_ino
    files = (ledger, _status(folder / f"{NAME}-wal"))
    return tuple(each and (each.st_ino, each.st_size, each.st_mtime_ns) for each in files)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise TargetError(
            f"Cannot read `{path}`: {error.strerror}", hint="Choose another folder with `--store`"
        ) from None


@contextmanager
def followed_ledger(folder: Path) -> Iterator[FollowedLedger]:
    """Raises UsageError if there is none yet."""
    with open_existing_ledger(folder) as ledger:
        followed = FollowedLedger(ledger)
        followed.refresh()
        yield followed
