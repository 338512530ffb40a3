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
IDLE_SECONDS = 0.5  # how long to watch the system before, to know what goes on without the request


@dataclass(frozen=True, slots=True)
class Audit:
    trials: tuple[Trial, ...]
    calls: Points
    not_reached: Points
    instrumented: frozenset[str]


async def audit(bench: Bench, request: Request) -> Audit:
    with _foreign_spans(bench) as idle:
        await asyncio.sleep(IDLE_SECONDS)
    with _foreign_spans(bench) as meanwhile:
        trials = tuple(
            [await attempt(bench, request, BASELINE, catalogue=(), instrumented=()) for _ in range(AUDIT_RUNS)]
        )
    spans = [span for trial in trials for span in trial.spans]
    return Audit(
        trials=trials,
        calls=frozenset().union(*(trial.lineage.calls for trial in trials)),
        not_reached=frozenset().union(*(trial.lineage.unplanned for trial in trials))
        | _always_there(_stray_calls(meanwhile, trials), Counter(foreign_calls(idle))),
        instrumented=instrumented_services(spans),
    )


@contextmanager
def _foreign_spans(bench: Bench) -> Iterator[list[Span]]:
    spans: list[Span] = []
    unsubscribe = bench.collector.subscribe(lambda batch: spans.extend(filter(is_mesh_span, batch)))
    try:
        yield spans
    finally:
        unsubscribe()


def _stray_calls(spans: Sequence[Span], trials: Collection[Trial]) -> Counter[Point]:
    own = {trial.trace_id for trial in trials}
    return Counter(foreign_calls([span for span in spans if span.trace_id not in own]))


def _always_there(seen: Counter[Point], idle: Counter[Point]) -> Points:
    """Called at least once per request, and not merely because others call it too."""
    return frozenset(point for point, count in seen.items() if count >= AUDIT_RUNS and count > 3 * idle[point])
