"""The span store: spans of any number of traces as Parquet under `.cutset/traces/`, one folder per hour.

    traces/manifest.json                     the only truth: a part that it does not list does not exist
    traces/2026-11-16T03/<unique>.parquet    a part: spans of a block, in order of trace id, then of start
    traces/staging/                          what an ingest is working on; the next one removes what a killed one left
    traces/lock                              held by the one process that writes

The parts of an hour are of one or more *blocks*, each of some traces that began in it, whole (`store/sort_in.py`).

Whoever adds spans first *stages* them, in any number of processes. A *commit* then drops what is stored already, moves
the files of one block to their place as they are, sorts the others in, and replaces the manifest in one step. Killed at
any instant, an ingest leaves the manifest of its last commit and some files that nobody reads.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

from cutset.model.span import Span
from cutset.store.manifest import IngestRecord, SpanStore, clear_errors, keep_parts, locked, write_manifest
from cutset.store.parquet import END_OF_TIME_NS, HOUR_NS, hour_name
from cutset.store.place import workroom
from cutset.store.sort_in import FIRST_REAL_HOUR, sort_in
from cutset.store.staging import Staged, stage_spans

_BUFFERED_SPANS = 200_000  # so many of one hour are a part of decent size, and about 150 MB of Python objects
_COMMIT_SPANS = 2_000_000  # what a killed ingest loses at most


class Ingest:
    """Adds spans to the store. What it was given since the last commit is lost if it fails."""

    def __init__(self, stored: SpanStore) -> None:
        self.staging = workroom(stored.folder) / "staging"
        self._stored = stored
        self._source = ""
        self._buffer: list[Span] = []
        self._staged: list[tuple[str, Staged]] = []  # with its source
        self._new: Counter[str] = Counter()  # spans stored of each source that is not in the log yet
        self._records: list[IngestRecord] = []
        self._cursors: dict[str, int] = {}
        self._positions: dict[str, str] = {}
        self._forgot = False
        self._kept_files = _files(stored)  # at the last tidying up
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

    def log(
        self,
        source: str,
        *,
        format: str,  # noqa: A002
        spans_read: int,
        skipped: Mapping[str, int],
        problem: str = "",
        at: float | None = None,
    ) -> None:
        """Records that this source was read, to its end or a problem. The next commit adds how many spans were new.

        A source that has no end is recorded again and again, `at` one moment: the last record counts.
        """
        at = time.time() if at is None else at
        self._records.append(IngestRecord(source, format, at, spans_read, 0, dict(skipped), problem))

    def set_cursor(self, server: str, start_ns: int) -> None:
        """All spans of this server that start before `start_ns` were added. Counts from the next commit on."""
        self._cursors[server] = start_ns

    def position(self, file: str) -> str:
        """How far a file was read that was not read to its end; "" for others."""
        return self._positions.get(file, self._stored.positions.get(file, ""))

    def set_position(self, file: str, position: str) -> None:
        """Up to there a file was added; "" if it needs no position any more. Counts from the next commit on."""
        self._positions[file] = position

    def forget_before(self, start_ns: int) -> int:
        """As `forget_before` below, from the next commit on."""
        before, self._stored = self._stored, _without(self._stored, start_ns)
        self._forgot |= len(self._stored.parts) < len(before.parts)
        return before.spans - self._stored.spans

    def tidy_up(self) -> None:
        """Removes what was out of use when this was last done: whoever was reading it then has ended, one hopes."""
        files = _files(self._stored)
        with clear_errors(self._stored.folder):
            keep_parts(self._stored.folder, files | self._kept_files)
        self._kept_files = files

    def commit(self) -> None:
        self._flush()
        if not (self._staged or self._records or self._cursors or self._positions or self._forgot):
            return
        with clear_errors(self._stored.folder):
            parts = self._stored.parts
            if self._staged:
                surplus, parts = sort_in(self._stored, [staged for _, staged in self._staged])
                for source, staged in self._staged:
                    self._new[source] += staged.spans - surplus[staged.file]
                    self.new_spans += staged.spans - surplus[staged.file]
            stored = replace(
                self._stored,
                parts=parts,
                log=self._whole_log(),
                cursors={**self._stored.cursors, **self._cursors},
                positions={
                    file: position
                    for file, position in {**self._stored.positions, **self._positions}.items()
                    if position
                },
            )
            self._stored = write_manifest(stored)
            for _, staged in self._staged:
                Path(staged.file).unlink(missing_ok=True)  # or it is a part now
        self._staged, self._records, self._cursors, self._positions, self._forgot = [], [], {}, {}, False

    def _whole_log(self) -> tuple[IngestRecord, ...]:
        records = {(record.source, record.at): record for record in self._stored.log}
        for record in self._records:
            before = records.get((record.source, record.at))
            new = self._new.pop(record.source, 0) + (before.spans_new if before else 0)
            records[record.source, record.at] = replace(record, spans_new=new)
        return tuple(records.values())

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
    """Forgets the traces of the hours that ended before then, and returns how many spans those were.

    Traces without a date, whose times count from some other moment than 1970, are never too old.
    """
    with locked(store) as stored:
        kept = _without(stored, start_ns)
        with clear_errors(stored.folder):
            write_manifest(kept)
    return stored.spans - kept.spans


def _without(stored: SpanStore, before_ns: int) -> SpanStore:
    first_kept = hour_name(max(0, min(before_ns, END_OF_TIME_NS)) // HOUR_NS)
    undated = hour_name(FIRST_REAL_HOUR)
    kept = tuple(part for part in stored.parts if part.hour >= first_kept or part.hour < undated)
    return replace(stored, parts=kept)


def _files(stored: SpanStore) -> frozenset[str]:
    return frozenset(part.file for part in stored.parts)
