"""`cutset ingest`: read traces of any source into the store."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cutset.app.ingest import IngestEvent, IngestSettings, SourcesFound, ingest_traces
from cutset.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from cutset.cli.output import Console, notes, print_document, print_lines
from cutset.errors import UsageError
from cutset.model.moments import parse_duration_ns, parse_moment_ns
from cutset.model.steps import finished
from cutset.model.wording import count
from cutset.report.survey.ingest import SHOWN_PROBLEMS, to_document, to_lines
from cutset.survey.ingest import SourceRead
from cutset.traces.files.read import Format

LINE_SECONDS = 10  # between lines of progress where there is no terminal


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
    settings = IngestSettings(
        format,
        mapping,
        parse_moment_ns(since, now_ns),
        parse_moment_ns(until, now_ns),
        service,
        limit,
        workers,
        parse_duration_ns(keep) if keep else None,
    )
    if parse_moment_ns(since, now_ns) >= parse_moment_ns(until, now_ns):
        raise UsageError(f"`--since {since}` is not before `--until {until}`")
    progress = _Progress(notes())
    try:
        ingested = finished(ingest_traces(store, sources, settings), progress.tell)
    finally:
        progress.clear()
    if as_json:
        print_document(to_document(ingested))
    else:
        print_lines(to_lines(ingested))


@dataclass(slots=True)
class _Progress:
    """How far all sources together are, on standard error."""

    console: Console
    started: float = field(default_factory=time.monotonic)
    shown: float = field(default_factory=time.monotonic)
    sources: int = 0
    done: int = 0
    spans: int = 0  # of the sources that are done
    problems: int = 0

    def tell(self, event: IngestEvent) -> None:
        if isinstance(event, SourcesFound):
            self.sources = event.number
        elif isinstance(event, SourceRead):
            self.done += 1
            self.spans += event.tally.spans
            if event.problem is not None:
                self.problems += 1
                if self.sources > 1 and self.problems <= SHOWN_PROBLEMS:
                    self.console.print(f"[yellow]skipped[/] {escape(event.problem.message)}")
            self._show(self.spans)
        else:
            self._show(self.spans + event.spans)

    def _show(self, spans: int) -> None:
        interval = 0.2 if self.console.is_terminal else LINE_SECONDS
        if time.monotonic() - self.shown < interval:
            return
        self.shown = time.monotonic()
        rate = spans / (self.shown - self.started)
        end = "\r" if self.console.is_terminal else "\n"
        line = f"{self.done} of {count(self.sources, 'source')} read, {count(spans, 'span')}, {rate:,.0f} a second"
        self.console.print(f"{line:<78}", end=end)

    def clear(self) -> None:
        if self.console.is_terminal:
            self.console.print(" " * 79, end="\r")
