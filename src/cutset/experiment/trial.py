"""One request under one cut: send it with its plan, wait for its trace, read what happened."""

import asyncio
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import aiohttp

from cutset.experiment.lifetimes import answer_seconds, longest_life
from cutset.inject.plan import plan_headers
from cutset.lineage.calls import entry_span
from cutset.lineage.completeness import Instrumentation, is_abandoned, is_closed, missing_part
from cutset.lineage.path import Level, Lineage, read_lineage
from cutset.model.fault import BASELINE, Cut
from cutset.model.point import Point
from cutset.model.request import Request, Response
from cutset.model.span import Span
from cutset.model.target import Target
from cutset.traces.collector import Collector
from cutset.workload.send import send

SILENT_INTERVALS = 1.5  # export intervals without a span after which none is expected any more


@dataclass(frozen=True, slots=True)
class Trial:
    trace_id: str
    root_id: str  # the driver's own span, which encloses the request
    response: Response
    lineage: Lineage
    spans: tuple[Span, ...]
    traced: bool  # the mesh's span of the request itself arrived, so there is a trace to speak of
    missing: str  # the span without which the path may be too short; empty when it is whole, or when none can tell
    abandoned: bool  # a service that its caller gave up on may still be at work
    setup_ids: tuple[str, ...] = ()  # the traces of its set-up steps


@dataclass(frozen=True, slots=True)
class Bench:
    """What every trial needs."""

    target: Target
    key: bytes  # signs the plans
    collector: Collector
    client: aiohttp.ClientSession
    level: Level
    trace_timeout: float  # seconds
    export_interval: float  # seconds: what is quiet for longer than this has nothing more to say


async def attempt(
    bench: Bench,
    request: Request,
    cut: Cut,
    *,
    catalogue: Collection[Point],
    instrumentation: Instrumentation | None,
    life: float = 0.0,
) -> Trial:
    """Without `instrumentation` the shape of the trace proves nothing, so that only silence ends it.

    `life` is that of the plan, in seconds from when the request is sent; by default as long as the request may take.
    """
    trace_id, root_id = _new_trace_id(), secrets.token_hex(8)
    seconds = life or longest_life(request)
    plan = partial(_plan, bench, cut, trace_id, root_id, seconds=seconds, catalogue=catalogue)
    setup_ids: list[str] = []
    response = await _send(bench, request, plan, setup_ids)
    spans = await _trace(bench, trace_id, root_id, cut, instrumentation) if response.sent else ()
    lineage = read_lineage(spans, root_id, cut, bench.level)
    if _may_have_fired_last(cut, lineage):
        spans = await _more_evidence(bench, trace_id, root_id, cut)
        lineage = read_lineage(spans, root_id, cut, bench.level)
    bench.collector.forget(trace_id)
    return Trial(
        trace_id,
        root_id,
        response,
        lineage,
        spans,
        traced=entry_span(spans, root_id) is not None,
        missing=missing_part(spans, root_id, instrumentation) if instrumentation else "",
        abandoned=is_abandoned(spans),
        setup_ids=tuple(setup_ids),
    )


async def send_probe(bench: Bench, request: Request) -> tuple[str, str, Response]:
    """An empty plan, with the ids of its trace and of the driver's span, for whoever waits for the trace."""
    trace_id, root_id = _new_trace_id(), secrets.token_hex(8)
    plan = partial(_plan, bench, BASELINE, trace_id, root_id, seconds=longest_life(request))
    return trace_id, root_id, await _send(bench, request, plan, [])


async def send_unfaulted(bench: Bench, request: Request) -> Response:
    """Without waiting for its trace. Carries an empty plan, so that it is not mistaken for somebody else's."""
    return await _send(bench, request, partial(_unfaulted, bench, request, []), [])


async def _send(
    bench: Bench, request: Request, plan: Callable[[], Mapping[str, str]], setup_ids: list[str]
) -> Response:
    return await send(
        bench.client,
        request,
        base_url=bench.target.url,
        plan=plan,
        setup_headers=partial(_unfaulted, bench, request, setup_ids),
        timeout=answer_seconds(request),
    )


def _unfaulted(bench: Bench, request: Request, trace_ids: list[str]) -> dict[str, str]:
    trace_ids.append(_new_trace_id())
    return _plan(bench, BASELINE, trace_ids[-1], secrets.token_hex(8), seconds=longest_life(request))


def _new_trace_id() -> str:
    """Of 64 bits: tracers that know no more would cut a longer one off, and their spans would be of another trace."""
    return "0" * 16 + secrets.token_hex(8)


def _plan(
    bench: Bench, cut: Cut, trace_id: str, root_id: str, *, seconds: float, catalogue: Collection[Point] = ()
) -> dict[str, str]:
    return plan_headers(
        cut,
        trace_id=trace_id,
        span_id=root_id,
        key=bench.key,
        environment=bench.target.environment,
        expires=time.time() + seconds,
        catalogue=catalogue,
        carriers=bench.target.carriers,
    )


async def _trace(
    bench: Bench, trace_id: str, root_id: str, cut: Cut, instrumentation: Instrumentation | None
) -> tuple[Span, ...]:
    """All spans of the trace: until it closes by its shape, or nothing more arrives for longer than exports take."""
    deadline = asyncio.get_running_loop().time() + bench.trace_timeout
    silence = SILENT_INTERVALS * bench.export_interval
    spans: tuple[Span, ...] = ()
    while (left := deadline - asyncio.get_running_loop().time()) > 0:
        more = partial(_longer_than, len(spans))
        spans, arrived = await bench.collector.trace(trace_id, more, timeout=min(left, silence))
        if arrived:
            if instrumentation and is_closed(spans, root_id, instrumentation):
                break
        elif not _more_is_due(bench, spans, root_id, cut, instrumentation):
            break
    return spans


def _longer_than(length: int, spans: Sequence[Span]) -> bool:
    return len(spans) > length


def _more_is_due(
    bench: Bench, spans: tuple[Span, ...], root_id: str, cut: Cut, instrumentation: Instrumentation | None
) -> bool:
    """Whether spans must still come although none came for a while."""
    if entry_span(spans, root_id) is None or (instrumentation and missing_part(spans, root_id, instrumentation)):
        return True
    # The mesh tells of a call when it ends: one that is held back by a fault may outlive the request.
    return bool(cut) and is_abandoned(spans) and not read_lineage(spans, root_id, cut, bench.level).fired


def _may_have_fired_last(cut: Cut, lineage: Lineage) -> bool:
    """A closed trace may still lack the last attempt of a call that failed on every replica."""
    failed = {point.of_api for point in lineage.failed}
    return any(fault.point.of_api in failed for fault in cut - lineage.fired)


async def _more_evidence(bench: Bench, trace_id: str, root_id: str, cut: Cut) -> tuple[Span, ...]:
    def all_fired(spans: Sequence[Span]) -> bool:
        return read_lineage(spans, root_id, cut, bench.level).fired == cut

    spans, _ = await bench.collector.trace(trace_id, all_fired, timeout=bench.export_interval)
    return spans
