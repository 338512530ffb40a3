"""What requests call, before a fault is named: the points that there are, and where agents make which call.

Only spans tell: of requests that we send for that purpose, without any fault, or of those that users send anyway.
"""

import asyncio
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cutset.errors import TargetError
from cutset.experiment.lifetimes import GRACE_SECONDS
from cutset.experiment.trial import SILENT_INTERVALS, Bench, Trial, attempt, new_trace_id, plan_for
from cutset.impact.driven import FLOW_STEP_SECONDS
from cutset.lineage.calls import calls_of, is_mesh_span, served_by
from cutset.lineage.messages import without_messages
from cutset.lineage.proxies import without_proxies
from cutset.model.fault import BASELINE
from cutset.model.outcome import Points
from cutset.model.point import Point
from cutset.model.request import Request
from cutset.model.span import Span
from cutset.workload.replay import send_flow
from cutset.workload.templates.template import Template

TIMES_SENT = 2  # each request: one trace does not tell whether a call goes past the mesh
MOST_FLOWS = 20  # of a recording: others call hardly anything that these do not
LEAST_WATCHED_SECONDS = 3.0  # of users' requests, to know how many there are
MOST_WATCHED_SECONDS = 20.0
LOOK_SECONDS = 0.5

_ITSELF = "none"  # no span has this for a parent
_DOCTOR = "`cutset doctor` says what is wrong"


@dataclass(frozen=True, slots=True)
class KnownCalls:
    calls: Points = frozenset()  # of services and data stores
    entries: Points = frozenset()  # what users call
    per_second: float = 0.0  # requests of users, where these are watched

    @property
    def all(self) -> Points:
        return self.calls | self.entries

    def __or__(self, other: "KnownCalls") -> "KnownCalls":
        return KnownCalls(self.calls | other.calls, self.entries | other.entries, self.per_second)


async def calls_of_requests(bench: Bench, requests: Sequence[Request]) -> KnownCalls:
    """Each is sent a few times. One that cannot be made is left out, unless that is so of all."""
    found, problem = KnownCalls(), ""
    for _ in range(TIMES_SENT):
        trials = await asyncio.gather(
            *(attempt(bench, each, BASELINE, catalogue=(), instrumentation=None) for each in requests),
            return_exceptions=True,
        )
        for trial in trials:
            if isinstance(trial, Trial):
                calls = frozenset(point.of_api for point in trial.lineage.calls)
                found |= KnownCalls(calls, _entries(trial.spans, trial.root_id))
            elif isinstance(trial, TargetError):
                problem = trial.message
            else:
                raise trial
    if not found.entries:
        raise TargetError(problem or "No span of any request arrived", hint=_DOCTOR)
    return found


async def calls_of_flows(bench: Bench, flows: Sequence[Template], values: Mapping[str, str]) -> KnownCalls:
    sent: list[tuple[str, str]] = []

    def unfaulted(_: int) -> dict[str, str]:
        sent.append((new_trace_id(), secrets.token_hex(8)))
        return plan_for(bench, BASELINE, *sent[-1], seconds=FLOW_STEP_SECONDS + GRACE_SECONDS)

    for flow in flows[:MOST_FLOWS]:
        await send_flow(bench.client, flow, base_url=bench.url, headers=unfaulted, values=values)
    silence = SILENT_INTERVALS * bench.export_interval
    traces = await asyncio.gather(
        *(bench.collector.trace(trace_id, lambda _: False, timeout=silence) for trace_id, _ in sent)
    )
    found = KnownCalls()
    for (trace_id, root_id), (spans, _) in zip(sent, traces, strict=True):
        found |= _learnt(bench, spans, root_id)
        bench.collector.forget(trace_id)
    if not found.entries:
        raise TargetError("No span of any recorded request arrived", hint=_DOCTOR)
    return found


async def calls_of_users(bench: Bench, is_enough: Callable[[KnownCalls], bool]) -> KnownCalls:
    """Nothing is sent: what users do is watched, until it is enough or nothing more is to be expected."""
    now = asyncio.get_running_loop().time
    traces: dict[str, dict[str, Span]] = defaultdict(dict)
    arrived: dict[str, float] = {}

    def take(spans: Sequence[Span]) -> None:
        for span in spans:
            traces[span.trace_id][span.span_id] = span
            arrived[span.trace_id] = now()
            bench.collector.forget(span.trace_id)

    def whole() -> list[Mapping[str, Span]]:
        """What is under way looks as if inner calls were users' own: the request itself is told of last."""
        quiet = now() - SILENT_INTERVALS * bench.export_interval
        return [trace for trace_id, trace in traces.items() if arrived[trace_id] < quiet]

    found, begin, most = KnownCalls(), now(), max(MOST_WATCHED_SECONDS, 3 * bench.export_interval)
    unsubscribe = bench.collector.subscribe(take)
    try:
        while now() - begin < most:
            await asyncio.sleep(LOOK_SECONDS)
            if (seconds := now() - begin) >= LEAST_WATCHED_SECONDS:
                found = _seen_of_users(bench, whole(), seconds)
                if is_enough(found):
                    break
    finally:
        unsubscribe()
    if not found.entries:
        raise TargetError(
            f"No request of a user was seen within {most:g} s",
            hint="Send requests to the edge of the mesh, or let Cutset send them: `--load 20`",
        )
    return found


def _seen_of_users(bench: Bench, traces: Iterable[Mapping[str, Span]], seconds: float) -> KnownCalls:
    found, requests = KnownCalls(), 0
    for trace in traces:
        spans = tuple(trace.values())
        roots = _roots(spans)
        requests += len(roots)
        for root in roots:
            found |= _learnt(bench, spans, root)
    return KnownCalls(found.calls, found.entries, requests / seconds)


def _roots(spans: Sequence[Span]) -> list[str]:
    """Parents of the requests themselves: of mesh spans within no other, at the service that was called first.

    What a service calls whose own spans go elsewhere is within no other either.
    """
    by_id = {span.span_id: span for span in spans}
    outermost = [span for span in spans if is_mesh_span(span) and served_by(span, by_id) is None]
    first = min(outermost, key=lambda span: span.start_ns, default=None)
    service = first and first.attributes["cutset.service"]
    return list(dict.fromkeys(span.parent_id for span in outermost if span.attributes["cutset.service"] == service))


def _learnt(bench: Bench, spans: Sequence[Span], root_id: str) -> KnownCalls:
    named = without_messages(without_proxies(bench.named(spans), root_id))
    bench.routes.learn(named)
    named = bench.routes.seen(named)
    bench.sites.learn(named, root_id)
    calls = frozenset(point.of_api for point in bench.lineage(named, root_id, BASELINE).calls)
    return KnownCalls(calls, _entries(named, root_id))


def _entries(spans: Iterable[Span], root_id: str) -> frozenset[Point]:
    requests = [span for span in spans if span.parent_id == root_id]
    return frozenset(call.attempts[0].point.of_api for call in calls_of(requests, _ITSELF))
