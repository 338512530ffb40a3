"""What `cutset ingest` and `cutset traces` do: read traces of any source into the store, see and forget them."""

import os
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from cutset.app.in_turn import in_turn
from cutset.errors import CutsetError, InputError
from cutset.model.survey import Ingested, Unread
from cutset.store.manifest import SpanStore, open_spans
from cutset.store.shapes import Totals, totals
from cutset.store.spans import Ingest, begin_ingest, forget_before
from cutset.survey.ingest import SourceRead, SpansRead, ingest_files, ingest_server
from cutset.survey.workers import open_executor
from cutset.traces.files.find import find_files, size_of
from cutset.traces.files.read import Format
from cutset.traces.servers.address import is_server, server_of
from cutset.traces.servers.read import ServerQuery
from cutset.traces.tally import ReadTally

HOUR_NS = 3_600_000_000_000


@dataclass(frozen=True, slots=True)
class IngestSettings:
    format: Format | None = None  # of files; else their content tells
    mapping: Path | None = None  # of CSV files: which column is what
    since_ns: int | None = None  # from servers; by default an hour ago
    until_ns: int | None = None  # by default now
    service: str = ""  # from servers: traces that this service is part of
    limit: int = 0  # traces of each server; 0 for all
    workers: int | None = None  # files that are read at once; by default one per core
    keep_ns: int | None = None  # afterwards what is older is forgotten


@dataclass(frozen=True, slots=True)
class SourcesFound:
    number: int
    bytes: int = 0  # of all files together, as they lie on the disk; pipes and servers have none that are known


IngestEvent = SourcesFound | SpansRead | SourceRead


def ingest_traces(
    store: Path,
    sources: Sequence[str],
    settings: IngestSettings = IngestSettings(),  # noqa: B008 -- it is frozen
) -> Generator[IngestEvent, None, Ingested]:
    """Sources are files, folders, globs, `-`, or servers as `jaeger+http://host:16686`."""
    started, now_ns = time.monotonic(), time.time_ns()
    servers = [source for source in sources if is_server(source)]
    for source in servers:
        server_of(source)  # an address with a mistake is told before anything is read
    files = _files(store, [source for source in sources if not is_server(source)])
    yield SourcesFound(len(files) + len(servers), sum(map(size_of, files)))
    tally, problems = ReadTally(), list[CutsetError]()
    with begin_ingest(store) as ingest:
        cursors = open_spans(store).cursors
        queries = [_query(source, settings, now_ns) for source in servers]
        from_servers = (in_turn(ingest_server(query, ingest, cursors)) for query in queries)
        for event in chain(_read_files(files, ingest, settings), chain.from_iterable(from_servers)):
            if isinstance(event, SourceRead):
                tally.add(event.tally)
                problems += [event.problem] if event.problem is not None else []
            yield event
    forgotten = forget_before(store, now_ns - settings.keep_ns) if settings.keep_ns is not None else 0
    if not tally.spans and not servers:
        raise problems[0] if problems else _nothing_read(tally)
    return Ingested(
        len(files) + len(servers),
        tally.spans,
        ingest.new_spans,
        forgotten,
        tuple(Unread(reason, times, tally.first_at[reason]) for reason, times in tally.skipped.most_common()),
        tuple(problem.message for problem in problems),
        time.monotonic() - started,
    )


def stored_traces(store: Path) -> tuple[SpanStore, Totals]:
    stored = open_spans(store)
    return stored, totals(stored)


def forget_older(store: Path, than_ns: int) -> int:
    """Forgets whole hours; returns how many spans those were."""
    return forget_before(store, time.time_ns() - than_ns)


def _files(store: Path, sources: Sequence[str]) -> list[Path]:
    stored_in = open_spans(store).folder
    return [file for file in find_files(sources) if not file.absolute().is_relative_to(stored_in)]


def _read_files(files: Sequence[Path], ingest: Ingest, settings: IngestSettings) -> Iterator[SpansRead | SourceRead]:
    if files:
        with open_executor(str(settings.workers or min(len(files), os.cpu_count() or 1))) as executor:
            yield from ingest_files(files, ingest, executor, format=settings.format, mapping=settings.mapping)


def _query(source: str, settings: IngestSettings, now_ns: int) -> ServerQuery:
    since_ns = now_ns - HOUR_NS if settings.since_ns is None else settings.since_ns
    until_ns = now_ns if settings.until_ns is None else settings.until_ns
    return ServerQuery(source, since_ns, until_ns, settings.service, settings.limit)


def _nothing_read(tally: ReadTally) -> InputError:
    reasons = "; ".join(f"{times:,} × {reason}" for reason, times in tally.skipped.most_common())
    return InputError(
        f"No span could be read{f': {reasons}' if reasons else ''}", hint="Name the files that have traces in them"
    )
