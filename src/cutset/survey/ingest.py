"""Fills the store: from files, several at a time, and from trace servers, window by window."""

import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path

from cutset.errors import CutsetError
from cutset.model.span import Span
from cutset.store.spans import Ingest
from cutset.store.staging import Staged, stage_spans
from cutset.survey.workers import results_of, without_collector
from cutset.traces.files.find import size_of
from cutset.traces.files.read import Format, read_file
from cutset.traces.servers.read import ServerQuery, read_server
from cutset.traces.tally import ReadTally

BATCH_SPANS = 200_000  # a part of decent size in the store
COMMIT_SECONDS = 30  # what is lost at most of a reading from a server, which may take hours


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


_Staging = tuple[SpansRead | SourceRead, list[Staged]]  # what is told, and where the spans are


def ingest_files(
    files: Sequence[Path],
    ingest: Ingest,
    executor: Executor | None,
    *,
    format: Format | None,  # noqa: A002 -- as everywhere
    mapping: Path | None,
) -> Iterator[SpansRead | SourceRead]:
    """A problem with one file does not stop the others."""
    stage = partial(_stage, staging=ingest.staging, format=format, mapping=mapping)
    here = executor is None
    for read, staged in (
        chain.from_iterable(map(stage, files)) if here else results_of(executor, partial(_last, stage), files)
    ):
        if isinstance(read, SourceRead):
            for part in staged:
                ingest.adopt(read.name, part)
            ingest.log(read.name, format=format or "", spans_read=read.tally.spans, skipped=read.tally.skipped)
        yield read


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
    path: Path,
    staging: Path,
    format: Format | None,  # noqa: A002
    mapping: Path | None,
) -> Iterator[_Staging]:
    """Ends with what became of the file, and where its spans are."""
    tally, staged = ReadTally(), list[Staged]()
    spans = read_file(path, tally, format, mapping)
    problem: CutsetError | None = None
    while problem is None:
        batch: list[Span] = []
        with without_collector():
            try:
                for span in islice(spans, BATCH_SPANS):
                    batch.append(span)  # noqa: PERF402 -- what came before a problem is kept
            except CutsetError as error:
                problem = error
            if not batch:
                break
            staged.append(stage_spans(staging, batch))
        yield SpansRead(tally.spans, str(path)), []
    yield SourceRead(str(path), tally, problem, size_of(path)), staged


def _last(stage: Callable[[Path], Iterator[_Staging]], path: Path) -> _Staging:
    """What other processes are asked for: nobody sees how far they are."""
    return list(stage(path))[-1]
