"""The propagation audit: does an empty signed plan reach every call that a request makes?

Real Online Boutique converts prices with a fresh context: the call is in no trace of the checkout, no plan can reach
it, and a tool that trusts traces calls it safe. Here the request is sent a few times while everything else is quiet,
and every call that the mesh sees meanwhile without a plan is put down to it.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from cutset.experiment.trial import Bench, Trial, attempt
from cutset.lineage.calls import is_mesh_span
from cutset.lineage.completeness import instrumented_services
from cutset.lineage.path import foreign_calls
from cutset.model.fault import BASELINE
from cutset.model.outcome import Points
from cutset.model.point import Point
from cutset.model.request import Request
from cutset.model.span import Span

AUDIT_RUNS = 3  # enough to tell what varies from what is always there
IDLE_INTERVALS = 2  # export intervals for which to watch the system first, to know what goes on without us


@dataclass(frozen=True, slots=True)
class Audit:
    trials: tuple[Trial, ...]
    calls: Points
    not_reached: Points
    instrumented: frozenset[str]


async def audit(bench: Bench, request: Request, idle: Counter[Point]) -> Audit:
    """`idle` are the calls without a plan that the system makes by itself in `IDLE_INTERVALS`."""
    trials: list[Trial] = []
    instrumented: frozenset[str] = frozenset()
    with _foreign_spans(bench) as meanwhile:
        for _ in range(AUDIT_RUNS):
            trials.append(await attempt(bench, request, BASELINE, catalogue=(), instrumented=instrumented))
            # Now we know whose spans to wait for; until then only silence ends a trace.
            instrumented = instrumented_services([span for trial in trials for span in trial.spans])
        await asyncio.sleep(bench.export_interval)  # for calls outside the trace, which nothing announces
    stray = _calls_outside(meanwhile, {trial.trace_id for trial in trials})
    unplanned = frozenset().union(*(trial.lineage.unplanned for trial in trials))
    return Audit(
        trials=tuple(trials),
        calls=frozenset().union(*(trial.lineage.calls for trial in trials)),
        not_reached=unplanned | _always_there(stray, idle),
        instrumented=instrumented,
    )


async def idle_calls(bench: Bench) -> Counter[Point]:
    with _foreign_spans(bench) as spans:
        await asyncio.sleep(IDLE_INTERVALS * bench.export_interval)
    return _calls_outside(spans, set())


@contextmanager
def _foreign_spans(bench: Bench) -> Iterator[list[Span]]:
    spans: list[Span] = []
    unsubscribe = bench.collector.subscribe(lambda batch: spans.extend(filter(is_mesh_span, batch)))
    try:
        yield spans
    finally:
        unsubscribe()


def _calls_outside(spans: Sequence[Span], traces: Collection[str]) -> Counter[Point]:
    return Counter(foreign_calls([span for span in spans if span.trace_id not in traces]))


def _always_there(seen: Counter[Point], idle: Counter[Point]) -> Points:
    """Called at least once per request, and not merely because others call it all the time."""
    return frozenset(point for point, count in seen.items() if count >= AUDIT_RUNS and count > 3 * idle[point])
