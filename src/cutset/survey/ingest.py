"""Fills the store: from files, several at a time, and from trace servers, window by window."""

import json
import pickle
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from uuid import uuid4

from cutset.errors import CutsetError
from cutset.model.span import SpanRow
from cutset.store.spans import Ingest
from cutset.store.staging import Staged, stage_rows
from cutset.survey.workers import submitted, without_collector
from cutset.traces.files.find import size_of
from cutset.traces.files.in_order import Position
from cutset.traces.files.read import Format, identity, read_rows
from cutset.traces.servers.read import ServerQuery, read_server
from cutset.traces.tally import ReadTally

BATCH_SPANS = 200_000  # a part of decent size in the store
COMMIT_SECONDS = 30  # what is lost at most of a reading from a server, which may take hours
POLL_SECONDS = 0.2  # between looks at how far workers are


@dataclass(frozen=True, slots=True)
class SpansRead:
    """So much of a source, which has more. Several sources may be read at once: each tells of itself."""

    spans: int
    source: str = ""
    bytes_read: int = 0  # of the file as it lies on the disk, of `SourcesFound.bytes`; servers tell none


@dataclass(frozen=True, slots=True)
class SourceRead:
    """What became of one source."""

    name: str
    tally: ReadTally
    problem: CutsetError | None = None  # it was not read to its end
    bytes_read: int = 0  # as in `SpansRead`; all of it, also if it was refused


@dataclass(frozen=True, slots=True)
class _Part:
    """Some spans of a file that are staged, and how far that file is behind them."""

    file: str
    staged: Staged
    position: str
    told: SpansRead


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    identity: str  # "" if it cannot be read again
    position: str  # from where to go on; "" for the beginning


_Stage = Callable[[_File], Iterator[_Part | SourceRead]]


def ingest_files(
    files: Sequence[Path],
    ingest: Ingest,
    executor: Executor | None,
    *,
    format: Format | None,  # noqa: A002 -- as everywhere
    mapping: Path | None,
) -> Iterator[SpansRead | SourceRead]:
    """A problem with one file does not stop the others; one whose reading was interrupted goes on where it was."""
    known = [(path, identity(path, format, mapping and mapping.read_bytes())) for path in files]
    todo = [_File(path, name, ingest.position(name)) for path, name in known]
    stage = partial(_stage, staging=ingest.staging, format=format, mapping=mapping, spans_of_part=BATCH_SPANS)
    try:
        for told in (
            chain.from_iterable(map(stage, todo))
            if executor is None
            else _told_by_workers(executor, stage, todo, ingest.staging)
        ):
            yield _take(ingest, told, {str(each.path): each.identity for each in todo}, format)
    except (KeyboardInterrupt, GeneratorExit):
        ingest.commit()  # what was read so far, with the positions to go on from
        raise


def _take(
    ingest: Ingest,
    told: _Part | SourceRead,
    identities: Mapping[str, str],
    format: Format | None,  # noqa: A002
) -> SpansRead | SourceRead:
    if isinstance(told, _Part):
        if told.file:
            ingest.set_position(told.file, told.position)  # first: to adopt may commit, and both belong together
        ingest.adopt(told.told.source, told.staged)
        return told.told
    if identities[told.name] and told.problem is None:
        ingest.set_position(identities[told.name], "")
    tally, problem = told.tally, told.problem.message if told.problem else ""
    ingest.log(told.name, format=format or "", spans_read=tally.spans, skipped=tally.skipped, problem=problem)
    return told


async def ingest_server(
    query: ServerQuery, ingest: Ingest, cursors: Mapping[str, int]
) -> AsyncGenerator[SpansRead | SourceRead]:
    """Every window is stored before the cursor moves past it, so that an interrupted reading goes on where it was."""
    tally = ReadTally()
    name = f"{query.url} {query.service}".rstrip()
    since, until = f"{name} since", f"{name} until"
    # Only if what was read before leaves no gap: all of it, from then until the cursor.
    resumes = cursors.get(since, query.until_ns) <= query.since_ns <= cursors.get(until, 0)
    ingest.set_cursor(since, cursors[since] if resumes else query.since_ns)
    ingest.set_cursor(until, cursors[until] if resumes else query.since_ns)
    async with aclosing(read_server(query, tally, cursors[until] if resumes else 0)) as batches:
        committed = time.monotonic()
        try:
            async for spans, cursor_ns in batches:
                ingest.add(name, spans)
                ingest.set_cursor(until, cursor_ns)
                if time.monotonic() - committed > COMMIT_SECONDS:
                    ingest.commit()
                    committed = time.monotonic()
                yield SpansRead(tally.spans, name)
        except BaseException:
            ingest.commit()  # what was read so far, with the cursor to go on from
            raise
    ingest.log(name, format="", spans_read=tally.spans, skipped=tally.skipped)
    yield SourceRead(name, tally)


def _stage(
    file: _File,
    staging: Path,
    format: Format | None,  # noqa: A002
    mapping: Path | None,
    spans_of_part: int,
) -> Iterator[_Part | SourceRead]:
    """Parts of a file, one by one, and what became of it."""
    name, size = str(file.path), size_of(file.path)
    tally, position = _from_text(file.position)
    problem: CutsetError | None = None
    batches = read_rows(file.path, tally, format, mapping, position)
    while problem is None:
        rows: list[SpanRow] = []
        bytes_read = 0
        with without_collector():
            try:
                for batch in batches:
                    rows += batch.rows
                    position, bytes_read = batch.position, batch.bytes_read
                    if len(rows) >= spans_of_part:
                        break
            except CutsetError as error:
                problem = error  # what came before it is kept
            if not rows:
                break
            staged = stage_rows(staging, rows)
        told = SpansRead(tally.spans, name, bytes_read)
        yield _Part(file.identity, staged, _as_text(tally, position), told)
    yield SourceRead(name, tally, problem, size)


def _as_text(tally: ReadTally, position: Position) -> str:
    """How far a file is, as the store keeps it."""
    return json.dumps([list(position), tally.spans, tally.skipped, tally.first_at])


def _from_text(text: str) -> tuple[ReadTally, Position]:
    if not text:
        return ReadTally(), ()
    position, spans, skipped, first_at = json.loads(text)
    return ReadTally(spans, Counter(skipped), first_at), position


def _told_by_workers(
    executor: Executor, stage: _Stage, files: Sequence[_File], staging: Path
) -> Iterator[_Part | SourceRead]:
    """What workers tell while they work, they leave beside what they stage: a future tells nothing before its end."""
    with submitted(executor, partial(_tell, stage, staging), files) as futures:
        waiting: set[Future[None]] = futures
        while waiting:
            done, waiting = wait(waiting, POLL_SECONDS, FIRST_COMPLETED)
            for note in sorted(staging.glob("*.told")):
                yield pickle.loads(note.read_bytes())  # noqa: S301 -- our own worker's
                note.unlink()
            for future in done:
                future.result()


def _tell(stage: _Stage, staging: Path, file: _File) -> None:
    worker = uuid4().hex
    for number, told in enumerate(stage(file)):
        written = staging / f"{worker}.telling"
        written.write_bytes(pickle.dumps(told))
        written.rename(staging / f"{worker}-{number:09}.told")
