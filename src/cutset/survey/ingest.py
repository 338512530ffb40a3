"""Fills the store: from files, several at a time, and from trace servers, window by window."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

from cutset.errors import CutsetError
from cutset.model.span import Span
from cutset.store.spans import Ingest, Staged, stage_spans
from cutset.survey.workers import each, without_collector
from cutset.traces.files.reading import Format, read_file
from cutset.traces.files.tally import Tally
from cutset.traces.servers.reading import ServerQuery, read_server

BATCH_SPANS = 200_000  # a part of decent size in the store
COMMIT_SECONDS = 30  # what is lost at most of a reading from a server, which may take hours


@dataclass(frozen=True, slots=True)
class FileRead:
    """What became of one file."""

    path: Path
    tally: Tally
    problem: CutsetError | None = None  # it was not read to its end
    staged: list[Staged] = field(default_factory=list)


def ingest_files(
    files: Sequence[Path],
    ingest: Ingest,
    executor: Executor | None,
    *,
    format: Format | None,  # noqa: A002 -- as everywhere
    mapping: Path | None,
    on_file: Callable[[FileRead], None],
    on_batch: Callable[[int], None],
) -> None:
    """A problem with one file does not stop the others. `on_batch` is told how many spans of a file are read."""
    read = partial(_stage_file, staging=ingest.staging, format=format, mapping=mapping, on_batch=None)
    if executor is None:
        read = partial(read, on_batch=on_batch)
    for result in each(executor, read, files):
        for staged in result.staged:
            ingest.adopt(str(result.path), staged)
        ingest.log(str(result.path), format=format or "", spans_read=result.tally.spans, skipped=result.tally.skipped)
        on_file(result)


async def ingest_server(
    query: ServerQuery, ingest: Ingest, tally: Tally, cursors: Mapping[str, int], on_batch: Callable[[int], None]
) -> None:
    """Every window is stored before the cursor moves past it, so that an interrupted reading goes on where it was."""
    name = f"{query.url} {query.service}".rstrip()
    since, until = f"{name} since", f"{name} until"
    # Only if what was read before leaves no gap: all of it, from then until the cursor.
    resumes = cursors.get(since, query.until_ns) <= query.since_ns <= cursors.get(until, 0)
    ingest.set_cursor(since, cursors[since] if resumes else query.since_ns)
    ingest.set_cursor(until, cursors[until] if resumes else query.since_ns)
    async with aclosing(read_server(query, tally, cursors[until] if resumes else 0)) as batches:
        committed = time.monotonic()
        while True:
            try:
                spans, cursor_ns = await anext(batches)
            except StopAsyncIteration:
                break
            except BaseException:
                ingest.commit()  # what was read so far, with the cursor to go on from
                raise
            ingest.add(name, spans)
            ingest.set_cursor(until, cursor_ns)
            if time.monotonic() - committed > COMMIT_SECONDS:
                ingest.commit()
                committed = time.monotonic()
            on_batch(tally.spans)
    ingest.log(name, format="", spans_read=tally.spans, skipped=tally.skipped)


def _stage_file(
    path: Path,
    staging: Path,
    format: Format | None,  # noqa: A002
    mapping: Path | None,
    on_batch: Callable[[int], None] | None,
) -> FileRead:
    result = FileRead(path, Tally())
    spans = read_file(path, result.tally, format, mapping)
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
            result.staged.append(stage_spans(staging, batch))
        if on_batch is not None:
            on_batch(result.tally.spans)
    return replace(result, problem=problem)
