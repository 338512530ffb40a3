"""`cutset ingest`: read traces of any source into the store."""

import time
from pathlib import Path
from typing import Annotated

import typer

from cutset.app.ingest import IngestSettings, ingest_traces
from cutset.cli.follow import follow_command
from cutset.cli.ingest_progress import IngestProgress
from cutset.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from cutset.cli.output import notes, print_document, print_lines
from cutset.errors import UsageError
from cutset.model.moments import parse_duration_ns, parse_moment_ns
from cutset.model.steps import finished
from cutset.report.survey.ingest import to_document, to_lines
from cutset.survey.follow import FollowSettings
from cutset.traces.files.read import Format
from cutset.traces.kafka import is_kafka

NOT_ALL = 3  # the exit code if a source was refused, or not read to its end


def ingest_command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…",
            help="Files, folders, globs, `-` for standard input, servers: `jaeger+http://host:16686`, or topics.",
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
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is added to files and topics, until Ctrl-C.")
    ] = False,
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Read traces into the store: OpenTelemetry, Jaeger, Zipkin, Tempo or CSV, from files or from servers.

    Spans that are stored already are not stored again. What cannot be read is skipped, counted and shown; a source that
    is refused does not stop the others, and the exit code is 3 then. `cutset traces` says later what was refused and
    why. When interrupted, nothing that was stored before is lost; the same command goes on.

    Credentials for servers come from the environment: `CUTSET_TRACES_TOKEN`, or `CUTSET_TRACES_USER` and
    `CUTSET_TRACES_PASSWORD`; `CUTSET_TRACES_TENANT` for Tempo, `CUTSET_TRACES_CA` for a certificate authority.
    `CUTSET_KAFKA_PROPERTIES` names a file of settings for Kafka's client.

    With `--store s3://bucket/prefix`, traces are kept in an object store, which is reached as the environment says:
    `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`. All commands on traces read it.

    Examples:

    - `cutset ingest traces/ spans.jsonl.gz "archive/*.json.zst"`: whatever these are in
    - `cutset ingest jaeger+http://localhost:16686 --since 6h`: the last six hours
    - `kubectl exec … -- cat spans.jsonl | cutset ingest -`: from a pipe
    - `cutset ingest calls.csv --mapping columns.yaml`: a table with columns of your own
    - `cutset ingest tempo+https://tempo:3200 --since 15m --keep 30d`: now and then, by a scheduler
    - `cutset ingest kafka://localhost:9092/otlp_spans`: what a topic has that was not read before
    - `cutset ingest --follow /var/otel/traces.json --keep 7d`: what a collector writes, through its rotation
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
    topics = [source for source in sources if is_kafka(source)]
    if follow or topics:
        if mapping is not None:
            raise UsageError("A table cannot be followed", hint="Read it without `--follow` when it is whole")
        if len(topics) < len(sources) and not follow:
            raise UsageError("Topics are read by themselves", hint="Or `--follow` all of the sources")
        ingested = follow_command(store, sources, FollowSettings(format, settings.keep_ns, until_caught_up=not follow))
    else:
        progress = IngestProgress(notes())
        try:
            ingested = finished(ingest_traces(store, sources, settings), progress.tell)
        finally:
            progress.clear()
    if as_json:
        print_document(to_document(ingested))
    else:
        print_lines(to_lines(ingested))
    raise typer.Exit(NOT_ALL if ingested.problems else 0)
