"""Fills the store from sources that have no end, and commits what came every few seconds.

A commit holds spans and, in the same manifest, how far each source was read: killed at any instant, the next run goes
on where that commit was, and leaves nothing out. In memory are one piece of a source and the spans of at most one part
of the store, however much waits.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Protocol

from cutset.errors import InputError
from cutset.model.span import SpanRow
from cutset.store.spans import Ingest
from cutset.store.staging import stage_rows
from cutset.survey.ingest import BATCH_SPANS
from cutset.survey.workers import without_collector
from cutset.traces.files.growing import Piece
from cutset.traces.files.read import Format, read_records
from cutset.traces.tally import ReadTally

LOOK_SECONDS = 0.5  # between two looks at what is new
COMMIT_SECONDS = 5  # what a killed run has to read again
COMMIT_SHARE = 0.1  # of the time, at most, is for commits: the more is stored of a day, the longer each takes
TIDY_SECONDS = 600  # files that are merged or forgotten stay so long: an analysis may be reading them


class Endless(Protocol):
    """Sources of one kind, to which something is added all the time. How far each was read is known by its cursor."""

    behind: int  # bytes that are there and not read yet, as far as it knows

    def __len__(self) -> int: ...  # how many there are now

    def look(self, position_of: Callable[[str], int], /) -> Sequence[str]:
        """Finds out what there is now; returns the cursors that nobody needs any more."""

    def pieces(self, position_of: Callable[[str], int], /) -> Iterator[Piece]:
        """What is new, up to the last whole record of each."""


@dataclass(frozen=True, slots=True)
class Followed:
    """How far it is."""

    sources: int
    spans: int  # read since it began
    new: int  # of those that are committed, the ones that were not stored before
    forgotten: int  # since they were too old
    behind: int  # bytes that wait


@dataclass(frozen=True, slots=True)
class FollowSettings:
    format: Format | None = None
    keep_ns: int | None = None  # what is older is forgotten, always
    until_caught_up: bool = False  # end when nothing waits


def follow(
    sources: Sequence[Endless],
    ingest: Ingest,
    tally: ReadTally,
    ended: Event,
    settings: FollowSettings,
    *,
    name: str,
) -> Iterator[Followed]:
    """Until the event is set, and what was read by then is committed. The log calls the sources `name`, together."""
    under_way = _Following(ingest, tally, settings, name)

    def position_of(cursor: str) -> int:
        return int(ingest.position(cursor) or 0)

    while not ended.is_set():
        for source in sources:
            for gone in source.look(position_of):
                ingest.set_position(gone, "")
        for piece in (piece for source in sources for piece in source.pieces(position_of)):
            under_way.add(piece)
            if under_way.is_due():
                under_way.commit()
                yield under_way.state(sources)
            if ended.is_set():
                break
        if under_way.is_due():
            under_way.commit()
        yield under_way.state(sources)
        if settings.until_caught_up and not any(source.behind for source in sources):
            break
        ended.wait(LOOK_SECONDS)
    under_way.commit()
    yield under_way.state(sources)


@dataclass(slots=True)
class _Following:
    ingest: Ingest
    tally: ReadTally
    settings: FollowSettings
    name: str
    rows: list[SpanRow] = field(default_factory=list)  # not staged yet
    began: float = field(default_factory=time.time)
    committed: float = field(default_factory=time.monotonic)
    commit_took: float = 0
    tidied: float = field(default_factory=time.monotonic)
    logged: int = 0  # spans and what was skipped, by the last record
    forgotten: int = 0

    def add(self, piece: Piece) -> None:
        with without_collector():
            try:
                self.rows += read_records(piece.content, piece.name, self.tally, self.settings.format)
            except InputError as error:  # nobody knows what it is, now or the next time
                self.tally.skip("records whose format is not known", f"{piece.name}: {error.message}")
            self.ingest.set_position(piece.cursor, str(piece.position))
            if len(self.rows) >= BATCH_SPANS:
                self._stage()

    def is_due(self) -> bool:
        return time.monotonic() - self.committed > max(COMMIT_SECONDS, self.commit_took / COMMIT_SHARE)

    def commit(self) -> None:
        began = time.monotonic()
        self._stage()
        if self.settings.keep_ns is not None:
            self.forgotten += self.ingest.forget_before(time.time_ns() - self.settings.keep_ns)
        if self.logged < (so_far := self.tally.spans + self.tally.skipped.total()):
            self.logged = so_far
            read, skipped = self.tally.spans, self.tally.skipped
            self.ingest.log(self.name, format="", spans_read=read, skipped=skipped, at=self.began)
        self.ingest.commit()
        self.committed = time.monotonic()
        self.commit_took = self.committed - began
        if self.committed - self.tidied > TIDY_SECONDS:
            self.ingest.tidy_up()
            self.tidied = self.committed

    def state(self, sources: Sequence[Endless]) -> Followed:
        behind = sum(source.behind for source in sources)
        return Followed(sum(map(len, sources)), self.tally.spans, self.ingest.new_spans, self.forgotten, behind)

    def _stage(self) -> None:
        if self.rows:
            rows, self.rows = self.rows, []
            self.ingest.adopt(self.name, stage_rows(self.ingest.staging, rows))
