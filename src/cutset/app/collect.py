"""What `cutset collect` does: receive traces, append them to a file, hand them on to readers."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from cutset.app.relay import serve_relay
from cutset.app.ticks import ticks
from cutset.errors import CutsetError
from cutset.model.target import OtherPorts
from cutset.traces.collector import MAX_SPANS, NO_OTHERS, CollectorStats, collect
from cutset.traces.relaying import Relay
from cutset.traces.span_file import SpanFile

MAX_BYTES = 1_000_000_000
COUNTED_SPANS = 10_000  # held where spans are only handed on, to count traces
_HINT = (
    "Choose other ports with `--http-port`, `--grpc-port` and `--relay-port` (0 takes any free one), "
    "or an address with `--host`"
)


@dataclass(frozen=True, slots=True)
class CollectingAt:
    http_url: str
    grpc_address: str
    others: Mapping[str, str]  # what else is received, with its address
    not_received: Mapping[str, str]  # since its port is in use
    relay_url: str = ""  # where readers get what arrives; empty: nowhere


@dataclass(frozen=True, slots=True)
class Collected:
    stats: CollectorStats  # so far


@dataclass(frozen=True, slots=True)
class CollectingEnded:
    stats: CollectorStats
    full: bool  # because the file takes no more
    problem: CutsetError | None  # because it cannot be written to


CollectEvent = CollectingAt | Collected | CollectingEnded


async def collect_traces(
    out: Path | None,
    ended: asyncio.Event,
    *,
    host: str = "127.0.0.1",
    http_port: int = 4318,
    grpc_port: int = 4317,
    others: OtherPorts = NO_OTHERS,
    max_bytes: int = MAX_BYTES,
    relay_port: int | None = None,
) -> AsyncGenerator[CollectEvent]:
    """Until the event is set, or the file takes no more: it is set then, too. Port 0 takes any free one.

    Without a file, what arrives is handed on to readers at the relay's port, and not kept.
    """
    async with AsyncExitStack() as stack:
        file = stack.enter_context(SpanFile(out, max_bytes, ended.set)) if out else None
        relay = Relay() if relay_port is not None else None
        relay_url = await stack.enter_async_context(serve_relay(relay, relay_port or 0, _HINT)) if relay else ""

        def record(line: str) -> None:
            if file:
                file.append(line)
            if relay:
                relay.publish(line)

        async with collect(
            host=host,
            http_port=http_port,
            grpc_port=grpc_port,
            max_spans=MAX_SPANS if file else COUNTED_SPANS,
            others=others,
            record=record,
            hint=_HINT,
        ) as collector:
            at = CollectingAt(collector.http_url, collector.grpc_address, collector.others, collector.not_received)
            yield replace(at, relay_url=relay_url)
            async for _ in ticks(ended):
                yield Collected(collector.stats)
        yield CollectingEnded(collector.stats, bool(file and file.full), file.problem if file else None)
