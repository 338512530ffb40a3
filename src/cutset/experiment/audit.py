"""The propagation audit: does an empty signed plan reach every call that a request makes?

Real Online Boutique converts prices with a fresh context: the call is in no trace of the checkout, no plan can reach
it, and a tool that trusts traces calls it safe. Here the request is sent a few times while everything else is quiet,
and calls in other traces that the mesh sees during each of them, more often than before and after, are put down to it.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from cutset.errors import TargetError
from cutset.experiment.trial import Bench, Trial, attempt
from cutset.experiment.wellbeing import POLL_SECONDS
from cutset.lineage.calls import entry_spans
from cutset.lineage.completeness import Instrumentation, instrumentation_of, missing_part, without_agent, without_entry
from cutset.lineage.culprits import culprits_of
from cutset.lineage.path import foreign_attempts
from cutset.lineage.uncoverable import in_other_traces, past_agents, past_mesh, untold, without_plan
from cutset.model.call_site import AgentCallSite
from cutset.model.coverage import Uncoverable, with_agent_advice, with_name
from cutset.model.fault import BASELINE
from cutset.model.outcome import Points
from cutset.model.point import Point
from cutset.model.request import Request
from cutset.model.span import Span

DISTURBED_AUDITS = 2  # are made again; what fails in one of three runs more often than that may as well be usual
AUDIT_RUNS = 3  # enough to tell what varies from what is always there
IDLE_INTERVALS = 1.5  # export intervals for which to watch afterwards: for late spans, and for what goes on without us
AFTERMATH_SECONDS = 0.1  # calls that a request leaves behind begin within this time after its answer
MORE_THAN_USUAL = 3  # times as many calls as chance would have put into the time of the requests

Window = tuple[int, int]  # nanoseconds since 1970 by the mesh's clock


@dataclass(frozen=True, slots=True)
class Audit:
    trials: tuple[Trial, ...]
    calls: Points
    not_reached: Points
    uncoverable: tuple[Uncoverable, ...]  # those, and what no sidecar sees
    instrumentation: Instrumentation | None  # none when the shape of this request's traces proves nothing
    seen_all: bool = True  # no span was missed that might have told of a call, and servers stayed the same


async def undisturbed_audit(bench: Bench, request: Request) -> Audit:
    """One in which no call failed by itself in some runs and not in others, if there is one.

    What is called because something was down for a moment is not what the request calls.
    """
    found = await audit(bench, request)
    for _ in range(DISTURBED_AUDITS):
        if found.seen_all and len({culprits_of(trial.spans, trial.root_id) for trial in found.trials}) == 1:
            break
        await asyncio.sleep(POLL_SECONDS)
        found = await audit(bench, request)
    if not found.seen_all:
        why = next((trial.disturbed for trial in found.trials if trial.disturbed), "spans were lost on their way to us")
        raise TargetError(f"{why} each time, so nothing could be proved")
    return found


async def audit(bench: Bench, request: Request) -> Audit:
    trials: list[Trial] = []
    instrumentation: Instrumentation | None = None
    begin, losses = asyncio.get_running_loop().time(), bench.collector.losses
    with _all_spans(bench) as meanwhile:
        for _ in range(AUDIT_RUNS):
            trials.append(await attempt(bench, request, BASELINE, catalogue=(), instrumentation=instrumentation))
            # Now we know whose spans to wait for; until then only silence ends a trace.
            instrumentation = _usable_instrumentation(trials, bench.sites.beyond)
        windows = [window for trial in trials for window in _window(trial)]
        await asyncio.sleep(max(IDLE_INTERVALS * bench.export_interval, _seconds(windows)))
        await bench.collector.up_to_date()
    seconds = asyncio.get_running_loop().time() - begin
    trials = [replace(each, lineage=bench.lineage(each.spans, each.root_id, BASELINE)) for each in trials]
    own_traces = {trace_id for trial in trials for trace_id in (trial.trace_id, *trial.setup_ids)}
    strays = [span for span in meanwhile if span.trace_id not in own_traces]
    unplanned = frozenset().union(*(trial.lineage.unplanned for trial in trials))
    elsewhere = _made_by_each(windows, strays, seconds)
    traces = [trial.spans for trial in trials if trial.traced]
    calls = frozenset().union(*(trial.lineage.calls for trial in trials)) - unplanned
    lacking = without_agent(traces)
    unsure = frozenset(point for point in calls if point.caller in lacking)
    agents = instrumentation.agents if instrumentation else frozenset()
    uncoverable = {
        *(each for trial in trials for each in without_plan(trial.spans, trial.root_id)),
        *in_other_traces(elsewhere, strays, traces),
        *(with_agent_advice(with_name(each, bench.target.names), agents) for each in past_mesh(traces)),
        *past_agents(lacking, unsure),
        *untold(traces),
    }
    if instrumentation:
        unsaid = without_entry(traces)
        instrumentation = replace(
            instrumentation, agents=agents - lacking.keys(), silent=instrumentation.silent | unsaid
        )
    return Audit(
        trials=tuple(trials),
        calls=calls - unsure,
        not_reached=unplanned | elsewhere | unsure,
        uncoverable=tuple(sorted(uncoverable)),
        instrumentation=instrumentation,
        seen_all=bench.collector.losses == losses and not any(trial.disturbed or trial.dead for trial in trials),
    )


def _usable_instrumentation(
    trials: Sequence[Trial], beyond: frozenset[AgentCallSite] = frozenset()
) -> Instrumentation | None:
    """Of the trace that tells most: spans may be lost while an exporter finds its collector, but none are invented.

    None when no trace is whole by its shape even after silence: then some calls go where the mesh does not see.
    """
    found = [(trial, instrumentation_of(trial.spans, beyond)) for trial in trials if trial.traced]
    whole = [each for trial, each in found if not missing_part(trial.spans, trial.root_id, each)]
    telling = [each for each in whole if each.telling or each.agents]
    return max(telling, key=lambda each: (len(each.agents), len(each.telling)), default=None)


@contextmanager
def _all_spans(bench: Bench) -> Iterator[list[Span]]:
    spans: list[Span] = []
    unsubscribe = bench.collector.subscribe(lambda batch: spans.extend(bench.named(batch)))
    try:
        yield spans
    finally:
        unsubscribe()


def _window(trial: Trial) -> Iterator[Window]:
    """The time in which the request may have made calls. Set-up steps come before it."""
    if entries := entry_spans(trial.spans, trial.root_id):
        end = max(entry.end_ns for entry in entries)
        yield min(entry.start_ns for entry in entries), end + int(AFTERMATH_SECONDS * 1e9)


def _seconds(windows: Sequence[Window]) -> float:
    return sum(end - begin for begin, end in windows) / 1e9


def _made_by_each(windows: Sequence[Window], strays: Sequence[Span], watched_seconds: float) -> Points:
    """Calls in other traces during every request, and not merely because others make them all the time."""
    if len(windows) < AUDIT_RUNS:
        return frozenset()
    during = [_counted([span for span in strays if begin <= span.start_ns <= end]) for begin, end in windows]
    total: Counter[Point] = sum(during, Counter())
    elsewhere = _counted(strays) - total
    share = _seconds(windows) / max(watched_seconds - _seconds(windows), 1e-3)
    return frozenset(
        point
        for point, count in total.items()
        if all(point in calls for calls in during) and count > MORE_THAN_USUAL * elsewhere[point] * share
    )


def _counted(spans: Sequence[Span]) -> Counter[Point]:
    return Counter(point for point, _ in foreign_attempts(spans))
