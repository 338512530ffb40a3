"""Fills the store: from files, several at a time, and from trace servers, window by window."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from cutset.errors import CutsetError
from cutset.store.spans import Ingest, Staged, stage_spans
from cutset.survey.workers import each
from cutset.traces.files import Format, read_file
from cutset.traces.servers import ServerQuery, read_server
from cutset.traces.tally import Tally

BATCH_SPANS = 200_000  # a part of decent size in the store


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
    """A problem with one file does not stop the others. `on_batch` is told how many spans of a file were read so far."""
    read = partial(_stage_file, staging=ingest.staging, format=format, mapping=mapping, on_batch=None)
    if executor is None:
        read = partial(read, on_batch=on_batch)
    for result in each(executor, read, files):
        for staged in result.staged:
            ingest.adopt(str(result.path), staged)
        ingest.log(str(result.path), format=format or "", spans_read=result.tally.spans, skipped=result.tally.skipped)
        on_file(result)


async def ingest_server(
    query: ServerQuery, ingest: Ingest, tally: Tally, *, resume_from_ns: int, on_batch: Callable[[int], None]
) -> None:
    """Every window is stored before the cursor moves past it, so that an interrupted reading goes on where it was."""
    async for spans, cursor_ns in read_server(query, tally, resume_from_ns):
        ingest.add(query.url, spans)
        ingest.set_cursor(query.url, cursor_ns)
        on_batch(tally.spans)
    ingest.log(query.url, format="", spans_read=tally.spans, skipped=tally.skipped)


def _stage_file(
    path: Path,
    staging: Path,
    format: Format | None,  # noqa: A002
    mapping: Path | None,
    on_batch: Callable[[int], None] | None,
) -> FileRead:
    result = FileRead(path, Tally())
    spans = read_file(path, result.tally, format, mapping)
    try:
        while batch := list(islice(spans, BATCH_SPANS)):
            result.staged.append(stage_spans(staging, batch))
            if on_batch is not None:
                on_batch(result.tally.spans)
    except CutsetError as problem:
        return FileRead(path, result.tally, problem, result.staged)
    return result
