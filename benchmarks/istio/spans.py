"""The spans that reach Cutset's collector in the cluster, read as a laptop reads them: by a port-forward."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.istio.ground import Ground
from benchmarks.istio.traffic import Answer, Asking, ask_all

from cutset.inject.istio.collector import RELAY_PORT
from cutset.inject.istio.marks import COLLECTOR_NAMESPACE
from cutset.kubernetes.client import connected
from cutset.model.span import Span
from cutset.traces.collector import Collector
from cutset.traces.relay import relayed

QUIET_SECONDS = 1.0  # sidecars hand on spans every 20 ms here
PATIENCE_SECONDS = 20.0


@asynccontextmanager
async def collecting(at: Ground) -> AsyncIterator[Collector]:
    labels = "labelSelector=app=cutset-collector"
    (pod, *_) = at.api.get(f"/api/v1/namespaces/{COLLECTOR_NAMESPACE}/pods?{labels}")["items"]
    async with connected() as cluster:

        @asynccontextmanager
        async def connect() -> AsyncIterator[str]:
            async with cluster.forwarded(pod["metadata"]["name"], COLLECTOR_NAMESPACE, RELAY_PORT) as port:
                yield f"http://127.0.0.1:{port}"

        async with relayed(connect) as collector:
            yield collector


def asked_with_spans(
    at: Ground, address: tuple[str, int], questions: list[Asking], least: int, connections: int = 1
) -> tuple[list[Answer], list[Span]]:
    """The answers, and all spans that came meanwhile: at least so many, and until no more come."""

    async def run() -> tuple[list[Answer], list[Span]]:
        found: list[Span] = []
        async with collecting(at) as collector:
            collector.subscribe(found.extend)
            answers = await ask_all(address, questions, connections)
            async with asyncio.timeout(PATIENCE_SECONDS):
                while len(found) < least:  # noqa: ASYNC110 -- they come by a subscription
                    await asyncio.sleep(0.05)
            seen = -1
            while len(found) > seen:
                seen = len(found)
                await asyncio.sleep(QUIET_SECONDS)
        return answers, found

    return asyncio.run(run())
