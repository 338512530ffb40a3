"""What became of marked requests, from the spans that they leave behind; all others are counted and forgotten.

A marked request is waited for as an experiment is: until the mesh has told of the request itself, and nothing more
arrives for longer than exports take. Spans of requests that nobody marked are added up per API as they arrive, so that
memory stays flat however busy a system is.
"""

import asyncio
from collections import Counter, OrderedDict, defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import inf

from cutset.errors import CutsetError
from cutset.experiment.trial import SILENT_INTERVALS, Bench
from cutset.lineage.agent_calls import agent_calls_of
from cutset.lineage.agent_spans import is_agent_call
from cutset.lineage.calls import (
    AttemptedCall,
    attempt_number,
    attempts_with_callers,
    calls_of,
    entry_span,
    is_mesh_span,
)
from cutset.lineage.completeness import is_abandoned
from cutset.lineage.messages import without_messages
from cutset.lineage.proxies import without_proxies
from cutset.model.effect import EffectKind
from cutset.model.fault import Cut, points_of
from cutset.model.impact import ApiCall, Group, ImpactWindow, Mark, ObservedRequest, RequestsObserved, Tally
from cutset.model.point import Point
from cutset.model.span import Span

MOST_REMEMBERED = 50_000  # traces of marked requests: what a plan held back may be told of a minute later
_PLANNED = "cutset.api"  # on the span of a call that came with a valid plan: not one of the others
_OF_SIDECARS = ("cutset.service", "cutset.replica", "cutset.pod")  # most spans are not: to name them takes time
_ITSELF = "none"  # no span has this for a parent, so that the request counts as a call like any other


@dataclass(slots=True)
class _Count:
    requests: int = 0
    failed: int = 0
    slow: int = 0
    seconds: float = 0.0


class RequestObserver:
    """Opened by `observing`."""

    def __init__(self, bench: Bench, cut: Cut, *, slow_seconds: float, lookups: int) -> None:
        self.problem = ""  # why nothing more becomes known, if that is so
        self.late_marks = 0  # that the edge did not wait for
        self.apis: set[Point] = set()  # that were called so far, by whomsoever
        self._bench = bench
        self._points = points_of(cut)
        # What nobody waits for is told of when its delay is over; of the control as late, so that no group is ahead.
        self._silence = SILENT_INTERVALS * bench.export_interval + longest_delay(cut)
        self._slow_seconds = slow_seconds
        self._looking_up = asyncio.Semaphore(lookups) if lookups else None
        self._under_way: dict[tuple[str, str], asyncio.Task[None]] = {}  # by trace and parent
        self._traces: Counter[str] = Counter()  # of those: users' requests may share one
        self._marked: OrderedDict[str, None] = OrderedDict()  # traces, longest ago first
        self._observed: dict[ImpactWindow, list[ObservedRequest]] = defaultdict(list)
        self._others: dict[Point, _Count] = defaultdict(_Count)
        # Calls of others that failed so far, by caller and API: since which look, and how long they took.
        self._failed: dict[tuple[str, Point], tuple[int, float]] = {}
        self._looks = 0

    @property
    def waiting(self) -> int:
        """Marked requests of which nothing is known yet."""
        return len(self._under_way)

    def expect(self, mark: Mark, window: ImpactWindow) -> None:
        """As soon as it is marked: before its spans can arrive."""
        key = (mark.trace_id, mark.span_id)
        if key in self._under_way:  # one span of a user's made two requests, which their spans do not tell apart
            return
        self._traces[mark.trace_id] += 1
        self._marked[mark.trace_id] = None
        if len(self._marked) > MOST_REMEMBERED:
            self._marked.popitem(last=False)
        task = self._under_way[key] = asyncio.ensure_future(self._observe(mark, window, self._losses))
        task.add_done_callback(lambda _: self._forget(mark))  # one that is cancelled at once never begins

    def news(self, window: ImpactWindow, at: float) -> list[RequestsObserved]:
        """What has become known since the last time: requests by the window that they were marked in, others by now."""
        observed, self._observed = self._observed, defaultdict(list)
        others = self._tallies()
        told = {each: others if each is window else () for each in ImpactWindow}
        return [
            RequestsObserved(window=each, at=at, requests=tuple(observed[each]), others=told[each])
            for each in ImpactWindow
            if observed[each] or told[each]
        ]

    async def settle(self) -> None:
        """Until something is known of every marked request, or nothing will be: no longer than traces may take."""
        while self._under_way:
            await asyncio.wait(list(self._under_way.values()))

    async def close(self) -> None:
        under_way = list(self._under_way.values())
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    def arrived(self, spans: Sequence[Span]) -> None:
        others = [span for span in spans if span.trace_id not in self._traces]
        for trace_id in {span.trace_id for span in others}:
            self._bench.collector.forget(trace_id)
        # Whatever came with a plan is no user's: it is late, or somebody else's experiment.
        unmarked = [
            span
            for span in others
            if _PLANNED not in span.attributes
            and span.trace_id not in self._marked
            and any(name in span.attributes for name in _OF_SIDECARS)
        ]
        if unmarked:
            for call in calls_of(self._bench.named(unmarked), _ITSELF):
                self._count(call)

    def _count(self, call: AttemptedCall) -> None:
        """A failed attempt is a failed request, unless another one follows until the next look but one."""
        api, first = _api_of(call), call.attempts[0].span
        key = (first.parent_id, api)
        before = self._failed.pop(key, None)
        if before and attempt_number(first) == 1:
            self._add(api, before[1], failed=True)
        if call.failed:
            self._failed[key] = (self._looks, _seconds(call))
        else:
            self._add(api, _seconds(call), failed=False)

    def _add(self, api: Point, seconds: float, *, failed: bool) -> None:
        self.apis.add(api)
        count = self._others[api]
        count.requests += 1
        count.failed += failed
        count.slow += not failed and seconds > self._slow_seconds
        count.seconds += seconds

    def _tallies(self) -> tuple[Tally, ...]:
        for key, (since, seconds) in list(self._failed.items()):
            if since < self._looks:
                self._add(key[1], seconds, failed=True)
                del self._failed[key]
        self._looks += 1
        counts, self._others = self._others, defaultdict(_Count)
        return tuple(
            Tally(api, each.requests, each.failed, each.slow, each.seconds) for api, each in sorted(counts.items())
        )

    @property
    def _losses(self) -> tuple[int, int]:
        return self._bench.collector.losses, self._bench.collector.stats.dropped

    async def _observe(self, mark: Mark, window: ImpactWindow, losses: tuple[int, int]) -> None:
        request = ObservedRequest(mark.trace_id, mark.group, mark.user, mark.at)
        try:
            spans = await self._trace(mark)
            if _was_not_given(mark, spans):
                self.late_marks += 1
                return
            if losses == self._losses:  # else what is there may be a part
                request = self._read(request, spans, mark.span_id)
        except CutsetError as error:
            self.problem = error.message
        self._observed[window].append(request)

    def _forget(self, mark: Mark) -> None:
        del self._under_way[mark.trace_id, mark.span_id]
        self._traces[mark.trace_id] -= 1
        if not self._traces[mark.trace_id]:
            del self._traces[mark.trace_id]
            self._bench.collector.forget(mark.trace_id)

    async def _trace(self, mark: Mark) -> Sequence[Span]:
        clock = asyncio.get_running_loop().time
        deadline, silence = clock() + self._bench.trace_timeout, self._silence
        received: Sequence[Span] = ()
        while (left := deadline - clock()) > 0:
            received, arrived = await self._more(mark.trace_id, received, min(left, silence))
            if not arrived and not self._more_is_due(mark, self._known(received, mark.span_id)):
                break
        return self._known(received, mark.span_id)

    async def _more(self, trace_id: str, known: Sequence[Span], seconds: float) -> tuple[Sequence[Span], bool]:
        """All spans, and whether there are more than these, as soon as there are or after so many seconds."""
        more = partial(_longer_than, len(known))
        if self._looking_up is None:
            return await self._bench.collector.trace(trace_id, more, timeout=seconds)
        await asyncio.sleep(seconds)  # each trace is asked for as rarely as it takes
        async with self._looking_up:
            return await self._bench.collector.trace(trace_id, more, timeout=0)

    def _more_is_due(self, mark: Mark, spans: Sequence[Span]) -> bool:
        """Although nothing came for a while."""
        if entry_span(spans, mark.span_id) is None:
            return True
        # The mesh tells of a call when it ends: one that is held back by a fault may outlive the request.
        return (
            mark.group is Group.FAULT
            and is_abandoned(spans)
            and not any(attempt.injected for call in calls_of(spans, _ITSELF) for attempt in call.attempts)
        )

    def _known(self, spans: Sequence[Span], root_id: str) -> Sequence[Span]:
        """As points call them, without hops that are no calls, and up to the answer."""
        return without_messages(without_proxies(self._bench.named(spans), root_id))

    def _read(self, request: ObservedRequest, spans: Sequence[Span], root_id: str) -> ObservedRequest:
        """Without the mesh's own span of the request nothing is known of it."""
        entry = entry_span(spans, root_id)
        if entry is None:
            return request
        spans = _without_others(spans, entry, root_id)
        self._bench.routes.learn(spans)
        spans = self._bench.routes.seen(spans)
        calls = [*calls_of(spans, _ITSELF), *self._at_agents(spans, root_id)]
        by_api: dict[Point, list[AttemptedCall]] = defaultdict(list)
        for call in calls:
            by_api[_api_of(call)].append(call)
        self.apis.update(by_api)
        callers = {
            (caller, replace(attempt.point, replica=""))
            for attempt, caller in attempts_with_callers(calls, spans)
            if caller
        }
        return replace(
            request,
            entry=next(_api_of(call) for call in calls if call.attempts[-1].span.span_id == entry.span_id),
            calls=tuple(_api_call(api, made) for api, made in by_api.items()),
            callers=tuple(sorted(callers)),
        )

    def _at_agents(self, spans: Sequence[Span], root_id: str) -> list[AttemptedCall]:
        """Of data stores and third parties; of a call that the mesh tells of, if the fault is at its caller."""
        if not any(map(is_agent_call, spans)):
            return []
        self._bench.sites.learn(spans, root_id)
        calls = agent_calls_of(spans, root_id, self._bench.sites.sides)
        return [call for call in calls if _api_of(call).is_endpoint or _api_of(call) in self._points]


@asynccontextmanager
async def observing(
    bench: Bench, cut: Cut, *, slow_seconds: float = inf, lookups: int = 0
) -> AsyncIterator[RequestObserver]:
    """Watches all that arrives at the collector of the bench, which nobody else may wait for meanwhile.

    Others that were answered well but took longer than `slow_seconds` are counted as slow. Where traces are looked up
    in a server, `lookups` is how many may be under way; 0: spans are sent to us.
    """
    observer = RequestObserver(bench, cut, slow_seconds=slow_seconds, lookups=lookups)
    unsubscribe = bench.collector.subscribe(observer.arrived)
    try:
        yield observer
    finally:
        unsubscribe()
        await observer.close()


def _without_others(spans: Sequence[Span], entry: Span, root_id: str) -> Sequence[Span]:
    """Of a trace that several requests of a user share: what is known to be inside of another one is not ours."""
    service = entry.attributes["cutset.service"]
    by_id = {span.span_id: span for span in spans}

    def is_of_another(span: Span) -> bool:
        around, passed = span, set[str]()
        inside_another = False
        while around.parent_id != root_id:
            inside_another = inside_another or (is_mesh_span(around) and around.attributes["cutset.service"] == service)
            passed.add(around.span_id)  # malformed traces may hold a cycle of parents
            enclosing = by_id.get(around.parent_id)
            if enclosing is None or enclosing.span_id in passed:
                return inside_another
            around = enclosing
        return False

    return [span for span in spans if not is_of_another(span)]


def longest_delay(cut: Cut) -> float:
    """In seconds."""
    return max((fault.effect.value / 1000 for fault in cut if fault.effect.kind is EffectKind.DELAY), default=0.0)


def _was_not_given(mark: Mark, spans: Sequence[Span]) -> bool:
    """A busy edge goes on before our answer is there. That knows no group, and such a request tells of neither."""
    entry = entry_span(spans, mark.span_id)
    return entry is not None and _PLANNED not in entry.attributes


def _api_of(call: AttemptedCall) -> Point:
    return replace(call.attempts[-1].point, replica="")


def _api_call(api: Point, made: Sequence[AttemptedCall]) -> ApiCall:
    attempts = [attempt for call in made for attempt in call.attempts]
    return ApiCall(
        api,
        failed=any(call.failed for call in made),
        seconds=max(map(_seconds, made)),
        calls=len(made),
        attempts=len(attempts),
        faulted=sum(attempt.injected for attempt in attempts),
    )


def _seconds(call: AttemptedCall) -> float:
    """From the first attempt to the end of the last; clocks of other machines may be anything."""
    return max(0, call.attempts[-1].span.end_ns - call.attempts[0].span.start_ns) / 1e9


def _longer_than(length: int, spans: Sequence[Span]) -> bool:
    return len(spans) > length
