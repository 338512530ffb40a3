"""One request under one cut: send it with its plan, wait for its trace, read what happened."""

import asyncio
import secrets
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

import httpx

from cutset.inject.plan import plan_headers
from cutset.lineage.calls import entry_span
from cutset.lineage.completeness import is_closed
from cutset.lineage.path import Level, Lineage, read_lineage
from cutset.model.fault import BASELINE, Cut
from cutset.model.point import Point
from cutset.model.request import Request, Response
from cutset.model.span import Span
from cutset.traces.collector import Collector
from cutset.workload.send import send

PLAN_SECONDS = 60  # a plan's life: longer than any experiment, short enough that a leaked one is soon worthless


@dataclass(frozen=True, slots=True)
class Target:
    """The system under test."""

    url: str  # where experiments enter: inside the mesh, behind the edge that strips plans
    environment: str = "local"  # part of every signature
    carriers: tuple[str, ...] = ("tracestate", "baggage")
    health: tuple[str, ...] = ()  # servers that must still accept connections after each failure


@dataclass(frozen=True, slots=True)
class Trial:
    trace_id: str
    response: Response
    lineage: Lineage
    spans: tuple[Span, ...]
    traced: bool  # the mesh's span of the request itself arrived, so there is a trace to speak of


@dataclass(frozen=True, slots=True)
class Bench:
    """What every trial needs."""

    target: Target
    key: bytes  # signs the plans
    collector: Collector
    client: httpx.AsyncClient
    level: Level
    trace_timeout: float  # seconds
    export_interval: float  # seconds: what is quiet for longer than this has nothing more to say


async def attempt(
    bench: Bench, request: Request, cut: Cut, *, catalogue: Collection[Point], instrumented: Collection[str]
) -> Trial:
    trace_id, root_id = secrets.token_hex(16), secrets.token_hex(8)
    response = await _send(bench, request, _headers(bench, cut, trace_id, root_id, catalogue))
    spans = await _trace(bench, trace_id, root_id, instrumented)
    lineage = read_lineage(spans, root_id, cut, bench.level)
    if _may_have_fired_last(cut, lineage):
        spans = await _more_evidence(bench, trace_id, root_id, cut)
        lineage = read_lineage(spans, root_id, cut, bench.level)
    bench.collector.forget(trace_id)
    return Trial(trace_id, response, lineage, spans, entry_span(spans, root_id) is not None)


async def send_unfaulted(bench: Bench, request: Request) -> Response:
    """Without waiting for its trace. Carries an empty plan, so that it is not mistaken for somebody else's."""
    return await _send(bench, request, _unfaulted(bench))


async def _send(bench: Bench, request: Request, plan: dict[str, str]) -> Response:
    return await send(
        bench.client,
        request,
        base_url=bench.target.url,
        plan=plan,
        setup_headers=partial(_unfaulted, bench),
        timeout=request.expect.max_seconds + 1,
    )


def _unfaulted(bench: Bench) -> dict[str, str]:
    return _headers(bench, BASELINE, secrets.token_hex(16), secrets.token_hex(8), ())


def _headers(bench: Bench, cut: Cut, trace_id: str, root_id: str, catalogue: Collection[Point]) -> dict[str, str]:
    return plan_headers(
        cut,
        trace_id=trace_id,
        span_id=root_id,
        key=bench.key,
        environment=bench.target.environment,
        expires=int(time.time()) + PLAN_SECONDS,
        catalogue=catalogue,
        carriers=bench.target.carriers,
    )


async def _trace(bench: Bench, trace_id: str, root_id: str, instrumented: Collection[str]) -> tuple[Span, ...]:
    """All spans of the trace: until it closes by its shape, or nothing more arrives for longer than exports take."""
    closed = partial(is_closed, root_id=root_id, instrumented=instrumented) if instrumented else _never
    deadline = asyncio.get_running_loop().time() + bench.trace_timeout
    spans: tuple[Span, ...] = ()
    while (left := deadline - asyncio.get_running_loop().time()) > 0:
        before = len(spans)
        spans, complete = await bench.collector.trace(trace_id, closed, timeout=min(left, 1.5 * bench.export_interval))
        if complete or (len(spans) == before and entry_span(spans, root_id) is not None):
            break
    return spans


def _may_have_fired_last(cut: Cut, lineage: Lineage) -> bool:
    """A closed trace may still lack the last attempt of a call that failed on every replica."""
    failed = {point.of_api for point in lineage.failed}
    return any(fault.point.of_api in failed for fault in cut - lineage.fired)


async def _more_evidence(bench: Bench, trace_id: str, root_id: str, cut: Cut) -> tuple[Span, ...]:
    def all_fired(spans: Sequence[Span]) -> bool:
        return read_lineage(spans, root_id, cut, bench.level).fired == cut

    spans, _ = await bench.collector.trace(trace_id, all_fired, timeout=bench.export_interval)
    return spans


def _never(_: Sequence[Span]) -> bool:
    return False
