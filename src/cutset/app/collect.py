"""What `cutset collect` does: receive traces and append them to a file."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cutset.app.ticks import ticks
from cutset.errors import CutsetError
from cutset.model.target import OtherPorts
from cutset.traces.collector import NO_OTHERS, CollectorStats, collect
from cutset.traces.span_file import SpanFile

MAX_BYTES = 1_000_000_000
_HINT = "Choose other ports with `--http-port` and `--grpc-port` (0 takes any free one), or an address with `--host`"


@dataclass(frozen=True, slots=True)
class CollectingAt:
    http_url: str
    grpc_address: str
    others: Mapping[str, str]  # what else is received, with its address
    not_received: Mapping[str, str]  # since its port is in use


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
    out: Path,
    ended: asyncio.Event,
    *,
    host: str = "127.0.0.1",
    http_port: int = 4318,
    grpc_port: int = 4317,
    others: OtherPorts = NO_OTHERS,
    max_bytes: int = MAX_BYTES,
) -> AsyncGenerator[CollectEvent]:
    """Until the event is set, or the file takes no more: it is set then, too. Port 0 takes any free one."""
    with SpanFile(out, max_bytes, ended.set) as file:
        async with collect(
            host=host, http_port=http_port, grpc_port=grpc_port, others=others, record=file.append, hint=_HINT
        ) as collector:
            yield CollectingAt(collector.http_url, collector.grpc_address, collector.others, collector.not_received)
            async for _ in ticks(ended):
                yield Collected(collector.stats)
        yield CollectingEnded(collector.stats, file.full, file.problem)
