"""`cutset collect`: receive traces, into a file or for readers."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from cutset.app.collect import Collected, CollectEvent, CollectingAt, CollectingEnded, collect_traces
from cutset.cli.output import Console
from cutset.cli.run import stopped_by_signals
from cutset.errors import UsageError
from cutset.model.target import Receiver
from cutset.model.wording import count
from cutset.traces.collector import NO_OTHERS, CollectorStats, not_received

MEGABYTE = 1_000_000  # bytes, as disks are sold


def collect_command(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to append to, one OTLP/JSON payload a line")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    http_port: Annotated[int, typer.Option(min=0, max=65535, help="Port for OTLP/HTTP; 0 takes any free one")] = 4318,
    grpc_port: Annotated[int, typer.Option(min=0, max=65535, help="Port for OTLP/gRPC; 0 takes any free one")] = 4317,
    others: Annotated[
        bool, typer.Option("--others/--no-others", help="Listen where clients of Jaeger and Zipkin send to, as well")
    ] = True,
    max_megabytes: Annotated[int, typer.Option(min=1, help="Stop before the file grows beyond this")] = 1000,
    relay_port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Hand on what arrives to readers at this port of 127.0.0.1"),
    ] = None,
) -> None:
    """Receive traces until Ctrl-C, and append them to a file or hand them on.

    A payload is acknowledged only after it was written. Clients of Jaeger (Thrift, to ports 6831 and 6832 over UDP, or
    to 14268) and Zipkin (JSON, to 9411) need no other address than their default; what they say is written as OTLP.

    Example: `cutset collect --out spans.jsonl`, then start the services with
    `OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318` in their environment.

    With `--relay-port`, as in the pod that `cutset install` creates, `GET /spans` there is a stream of what arrives,
    which `cutset explore` reads through a port-forward; `GET /ready` says that it is there. Plans are never in it.
    """
    if out is None and relay_port is None:
        raise UsageError("Nowhere to put spans", hint="Name a file with `--out`, or a port with `--relay-port`")
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    started = time.monotonic()

    async def collect() -> CollectingEnded:
        ended = stopped_by_signals()
        events = collect_traces(
            out,
            ended,
            host=host,
            http_port=http_port,
            grpc_port=grpc_port,
            others=Receiver().others if others else NO_OTHERS,
            max_bytes=max_megabytes * MEGABYTE,
            relay_port=relay_port,
        )
        async with aclosing(events):
            return await _show(events, console)

    last = asyncio.run(collect())
    refused = f"; refused {count(last.stats.refused, 'payload')}" if last.stats.refused else ""
    console.print(f"Received {_amount(last.stats)} in {time.monotonic() - started:.1f}s{refused}")
    if last.problem is not None:
        raise last.problem
    if last.full:
        console.print(f"warning: `{out}` would have exceeded {max_megabytes:,} MB; raise it with `--max-megabytes`")


async def _show(events: AsyncIterator[CollectEvent], console: Console) -> CollectingEnded:
    status = console.status("")
    with status if console.is_terminal else nullcontext():
        async for event in events:
            match event:
                case CollectingAt():
                    _show_addresses(event, console)
                case Collected(stats):
                    status.update(f"Received {_amount(stats)}; stop with Ctrl-C")
                case CollectingEnded():
                    return event
    raise AssertionError("it ends with its end")


def _show_addresses(at: CollectingAt, console: Console) -> None:
    console.print(f"Receiving OTLP on {at.http_url} and, with gRPC, on {at.grpc_address}")
    for name, address in at.others.items():
        console.print(f"Receiving {name}, on {address}")
    if at.relay_url:
        console.print(f"Handing on spans at {at.relay_url}/spans")
    if at.not_received:
        console.print(not_received(at.not_received))


def _amount(stats: CollectorStats) -> str:
    return f"{count(stats.traces, 'trace')} ({count(stats.spans, 'span')})"
