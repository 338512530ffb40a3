"""`cutset ingest`: read traces of any source into the store."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from cutset.cli.moments import parse_duration_ns, parse_moment_ns
from cutset.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from cutset.cli.run import run_async
from cutset.errors import CutsetError, InputError, UsageError
from cutset.model.wording import count
from cutset.store.manifest import open_spans
from cutset.store.spans import Ingest, begin_ingest, forget_before
from cutset.survey.ingest import FileRead, ingest_files, ingest_server
from cutset.survey.workers import open_executor
from cutset.traces.files.reading import Format, find_files
from cutset.traces.files.tally import Tally
from cutset.traces.servers.reading import ServerQuery, is_server, server_of

LINE_SECONDS = 10  # between lines of progress where there is no terminal
SHOWN_PROBLEMS = 10


@dataclass(slots=True)
class _Reading:
    """What all sources together came to, with progress on standard error."""

    sources: int
    console: Console
    started: float = field(default_factory=time.monotonic)
    shown: float = field(default_factory=time.monotonic)
    done: int = 0
    tally: Tally = field(default_factory=Tally)
    problems: list[CutsetError] = field(default_factory=list)

    def show(self, unfinished: int = 0) -> None:
        interval = 0.2 if self.console.is_terminal else LINE_SECONDS
        if time.monotonic() - self.shown < interval:
            return
        self.shown = time.monotonic()
        spans = self.tally.spans + unfinished
        rate = spans / (self.shown - self.started)
        end = "\r" if self.console.is_terminal else "\n"
        line = f"{self.done} of {count(self.sources, 'source')} read, {count(spans, 'span')}, {rate:,.0f} a second"
        self.console.print(f"{line:<78}", end=end)

    def clear(self) -> None:
        if self.console.is_terminal:
            self.console.print(" " * 79, end="\r")

    def finished(self, tally: Tally, problem: CutsetError | None = None) -> None:
        self.done += 1
        self.tally.spans += tally.spans
        for reason, times in tally.skipped.items():
            self.tally.skip(reason, tally.first_at[reason], times)
        if problem is not None:
            self.problems.append(problem)
            if self.sources > 1 and len(self.problems) <= SHOWN_PROBLEMS:
                self.console.print(f"[yellow]skipped[/] {escape(problem.message)}")
        self.show()


def ingest_command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…",
            help="Files, folders, globs, `-` for standard input, or servers: `jaeger+http://host:16686`.",
        ),
    ],
    format: Annotated[  # noqa: A002
        Format | None, typer.Option("--format", help="What files are in; by default their content tells.")
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option("--mapping", help="For CSV files: which column is what, in YAML.")
    ] = None,
    since: Annotated[str, typer.Option("--since", help="From servers: traces since then, or so long ago.")] = "1h",
    until: Annotated[str, typer.Option("--until", help="From servers: traces until then.")] = "0s",
    service: Annotated[str, typer.Option("--service", help="From servers: traces that this service is part of.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=0, help="From servers: at most so many traces.")] = 0,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="How many files are read at once; by default one per core.")
    ] = None,
    keep: Annotated[str, typer.Option("--keep", help="Afterwards forget what is older, as in `30d`.")] = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Read traces into the store: OpenTelemetry, Jaeger, Zipkin, Tempo or CSV, from files or from servers.

    Spans that are stored already are not stored again. What cannot be read is skipped, counted and shown. When
    interrupted, nothing that was stored before is lost; the same command goes on.

    Credentials for servers come from the environment: `CUTSET_TRACES_TOKEN`, or `CUTSET_TRACES_USER` and
    `CUTSET_TRACES_PASSWORD`; `CUTSET_TRACES_TENANT` for Tempo, `CUTSET_TRACES_CA` for a certificate authority.

    Examples:

    - `cutset ingest traces/ spans.jsonl.gz "archive/*.json.zst"`: whatever these are in
    - `cutset ingest jaeger+http://localhost:16686 --since 6h`: the last six hours
    - `kubectl exec … -- cat spans.jsonl | cutset ingest -`: from a pipe
    - `cutset ingest calls.csv --mapping columns.yaml`: a table with columns of your own
    - `cutset ingest tempo+https://tempo:3200 --since 15m --keep 30d`: now and then, by a scheduler
    """
    now_ns = time.time_ns()
    keep_ns = parse_duration_ns(keep) if keep else None
    since_ns, until_ns = parse_moment_ns(since, now_ns), parse_moment_ns(until, now_ns)
    if since_ns >= until_ns:
        raise UsageError(f"`--since {since}` is not before `--until {until}`")
    servers = [source for source in sources if is_server(source)]
    for source in servers:
        server_of(source)  # an address with a mistake is told before anything is read
    stored_in = open_spans(store).folder
    files = [
        file
        for file in find_files([source for source in sources if not is_server(source)])
        if not file.absolute().is_relative_to(stored_in)
    ]
    reading = _Reading(len(files) + len(servers), Console(stderr=True, highlight=False, soft_wrap=True))
    with begin_ingest(store) as ingest:
        _read_files(files, ingest, reading, format, mapping, str(workers or min(len(files), os.cpu_count() or 1)))
        cursors = open_spans(store).cursors
        for source in servers:
            _read_server(ServerQuery(source, since_ns, until_ns, service, limit), ingest, reading, cursors)
    forgotten = forget_before(store, now_ns - keep_ns) if keep_ns is not None else 0
    reading.clear()
    if not reading.tally.spans and not servers:
        raise reading.problems[0] if reading.problems else _nothing_read(reading.tally)
    _conclude(reading, ingest.new_spans, forgotten, as_json=as_json)


def _nothing_read(tally: Tally) -> InputError:
    reasons = "; ".join(f"{times:,} × {reason}" for reason, times in tally.skipped.most_common())
    return InputError(
        f"No span could be read{f': {reasons}' if reasons else ''}", hint="Say with `--format` what the files are in"
    )


def _read_files(
    files: Sequence[Path],
    ingest: Ingest,
    reading: _Reading,
    format: Format | None,  # noqa: A002
    mapping: Path | None,
    workers: str,
) -> None:
    def done(read: FileRead) -> None:
        reading.finished(read.tally, read.problem)

    if not files:
        return
    with open_executor(workers) as executor:
        ingest_files(files, ingest, executor, format=format, mapping=mapping, on_file=done, on_batch=reading.show)


def _read_server(query: ServerQuery, ingest: Ingest, reading: _Reading, cursors: Mapping[str, int]) -> None:
    tally = Tally()
    run_async(ingest_server(query, ingest, tally, cursors, reading.show))
    reading.finished(tally)


def _conclude(reading: _Reading, new: int, forgotten: int, *, as_json: bool) -> None:
    tally = reading.tally
    seconds = time.monotonic() - reading.started
    if as_json:
        skipped = [
            {"reason": reason, "count": times, "first_at": tally.first_at[reason]}
            for reason, times in tally.skipped.most_common()
        ]
        document = {
            "sources": reading.done,
            "spans_read": tally.spans,
            "spans_new": new,
            "spans_forgotten": forgotten,
            "skipped": skipped,
            "problems": [problem.message for problem in reading.problems],
            "seconds": round(seconds, 3),
        }
        print(json.dumps(document, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    known = f", {count(tally.spans - new, 'span')} of them stored already" if new < tally.spans else ""
    console.print(f"Read {count(tally.spans, 'span')} of {count(reading.done, 'source')} in {seconds:.1f} s{known}")
    for reason, times in tally.skipped.most_common():
        console.print(f"  skipped {times:,} × {escape(reason)}  [dim]first at {escape(tally.first_at[reason])}[/]")
    if len(reading.problems) > SHOWN_PROBLEMS:
        console.print(f"  skipped {len(reading.problems) - SHOWN_PROBLEMS:,} more files")
    if forgotten:
        console.print(f"Forgot {count(forgotten, 'span')} that were too old")
    console.print("Next: `cutset classes` shows which requests these are", style="dim")
