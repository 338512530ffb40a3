"""One request under one cut: send it with its plan, wait for its trace, read what happened."""

import asyncio
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial

import aiohttp

from cutset.experiment.agent_sites import AgentSites
from cutset.experiment.gate import Gate
from cutset.experiment.lifetimes import answer_seconds, longest_life
from cutset.experiment.liveness import Liveness, Servers
from cutset.experiment.replicas import ReplicaNumbers
from cutset.experiment.route_names import RouteNames
from cutset.inject.filters import ENTRY_HEADER
from cutset.inject.plan import plan_headers
from cutset.lineage.calls import attempt_number, entry_span, entry_spans
from cutset.lineage.completeness import Instrumentation, is_abandoned, is_closed, missing_part
from cutset.lineage.messages import without_messages
from cutset.lineage.path import Level, Lineage, read_lineage
from cutset.lineage.proxies import without_proxies
from cutset.model.effect import EffectChoice
from cutset.model.fault import BASELINE, Cut, format_cut
from cutset.model.point import Point
from cutset.model.request import Request, Response
from cutset.model.span import Span
from cutset.model.target import Target
from cutset.traces.collector import Collector
from cutset.workload.send import send

_LOST = "spans were lost on their way to us"
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
    disturbed: str = ""  # what happened meanwhile, so that nothing is proved
    dead: tuple[str, ...] = ()  # servers that died meanwhile


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
    watched: Servers | None = None  # none: those of the target, which can be connected to
    replicas: ReplicaNumbers | None = None  # where replicas have other names in plans and spans than in points
    routes: RouteNames = field(default_factory=RouteNames)  # APIs that services and sidecars call differently
    entrance: Callable[[], str] | None = None  # where experiments enter now, if that may change; else by the target
    sites: AgentSites = field(default_factory=AgentSites)  # what is known of agents' calls
    effects: EffectChoice = field(default_factory=EffectChoice)  # that are tried
    gate: Gate | None = None  # what every injection passes; none: there will be none, or nobody is to be asked

    @property
    def servers(self) -> Servers:
        return self.watched or Liveness(self.target.servers)

    def named(self, spans: Sequence[Span]) -> Sequence[Span]:
        """With services, replicas and data stores as points call them."""
        return self.sites.named(self.routes.seen(self.replicas.seen(spans) if self.replicas else spans))

    def lineage(self, spans: Sequence[Span], root_id: str, cut: Cut) -> Lineage:
        return read_lineage(spans, root_id, cut, self.level, sides=self.sites.sides, effects=self.effects)

    def at_present(self, instrumentation: Instrumentation) -> Instrumentation:
        """With what was learnt of agents since the audit."""
        return replace(instrumentation, beyond=self.sites.beyond)

    def missing_part(self, spans: Sequence[Span], root_id: str, instrumentation: Instrumentation) -> str:
        return missing_part(spans, root_id, self.at_present(instrumentation))

    @property
    def url(self) -> str:
        return self.entrance() if self.entrance else self.target.url


@dataclass(frozen=True, slots=True)
class TrialUnderWay:
    """The trial that the present task makes: a request that is a function may ask what fired so far."""

    bench: Bench
    trace_id: str
    root_id: str
    cut: Cut
    instrumentation: Instrumentation | None

    async def fired(self, exchanges: int) -> Cut:
        """By the word of the mesh, when all has arrived that so many requests leave behind."""
        spans = await self.evidence(exchanges)
        return self.bench.lineage(spans, self.root_id, self.cut).fired

    async def evidence(self, exchanges: int) -> tuple[Span, ...]:
        spans = await _trace(self, exchanges)
        if _may_have_fired_last(self.cut, self.bench.lineage(spans, self.root_id, self.cut)):
            spans = await _more_evidence(self.bench, self.trace_id, self.root_id, self.cut)
        return spans


UNDER_WAY: ContextVar[TrialUnderWay | None] = ContextVar("cutset_trial", default=None)


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
    trace_id, root_id = new_trace_id(), secrets.token_hex(8)
    seconds = life or longest_life(request, cut)
    plan = partial(plan_for, bench, cut, trace_id, root_id, seconds=seconds, catalogue=catalogue)
    setup_ids: list[str] = []
    losses, mark, servers = bench.collector.losses, bench.servers.mark(), bench.servers
    trial = TrialUnderWay(bench, trace_id, root_id, cut, instrumentation)
    token = UNDER_WAY.set(trial)
    try:
        response = await send_planned(bench, request, plan, setup_ids, cut)
    finally:
        UNDER_WAY.reset(token)
    spans = await trial.evidence(response.exchanges) if response.sent else ()
    if bench.collector.losses == losses:
        bench.routes.learn(spans)
        spans = bench.routes.seen(spans)
        bench.sites.learn(spans, root_id)
    lineage = bench.lineage(spans, root_id, cut)
    bench.collector.forget(trace_id)
    happened = await servers.since(mark)
    disturbed = happened.changed or (_LOST if bench.collector.losses != losses else "")
    if disturbed:  # what is there may be a part
        spans, lineage = (), bench.lineage((), root_id, cut)
    return Trial(
        trace_id,
        root_id,
        response,
        lineage,
        spans,
        traced=entry_span(spans, root_id) is not None,
        missing=bench.missing_part(spans, root_id, instrumentation) if instrumentation else "",
        abandoned=is_abandoned(spans),
        setup_ids=tuple(setup_ids),
        disturbed=disturbed,
        dead=happened.dead,
    )


async def send_probe(bench: Bench, request: Request) -> tuple[str, str, Response]:
    """An empty plan, with the ids of its trace and of the driver's span, for whoever waits for the trace."""
    trace_id, root_id = new_trace_id(), secrets.token_hex(8)
    plan = partial(plan_for, bench, BASELINE, trace_id, root_id, seconds=longest_life(request))
    return trace_id, root_id, await send_planned(bench, request, plan, [])


async def send_unfaulted(bench: Bench, request: Request) -> Response:
    """Without waiting for its trace. Carries an empty plan, so that it is not mistaken for somebody else's."""
    return await send_planned(bench, request, partial(_unfaulted, bench, request, []), [])


async def send_planned(
    bench: Bench, request: Request, plan: Callable[[], Mapping[str, str]], setup_ids: list[str], cut: Cut = BASELINE
) -> Response:
    """`plan` is asked for the headers when the request itself is sent; what is sent before it carries no faults."""
    response = await send(
        bench.client,
        request,
        base_url=bench.url,
        plan=plan,
        setup_headers=partial(_unfaulted, bench, request, setup_ids),
        timeout=answer_seconds(request, cut),
    )
    if bench.gate:
        bench.gate.answered(response, with_fault=bool(cut))
    return response


def _unfaulted(bench: Bench, request: Request, trace_ids: list[str]) -> dict[str, str]:
    trace_ids.append(new_trace_id())
    return plan_for(bench, BASELINE, trace_ids[-1], secrets.token_hex(8), seconds=longest_life(request))


def new_trace_id() -> str:
    """Of 64 bits: tracers that know no more would cut a longer one off, and their spans would be of another trace."""
    return "0" * 16 + secrets.token_hex(8)


def plan_for(
    bench: Bench, cut: Cut, trace_id: str, root_id: str, *, seconds: float, catalogue: Collection[Point] = ()
) -> dict[str, str]:
    """The headers of one request that carry the cut, as services, replicas and routes are known by now."""
    replicas, known = bench.replicas, bench.routes.known(catalogue)
    cut = bench.routes.planned(cut)
    headers = plan_headers(
        replicas.planned(cut) if replicas else cut,
        trace_id=trace_id,
        span_id=root_id,
        key=bench.key,
        environment=bench.target.environment,
        expires=time.time() + seconds,
        catalogue=replicas.known(known) if replicas else known,
        call_sites=bench.sites.targets(cut, catalogue),
        carriers=bench.target.carriers,
    )
    if cut and bench.gate:
        bench.gate.permit(format_cut(cut), trace_id)
    # A gateway may put a span of its own between ours and that of the first sidecar, which then tells this one.
    return headers | ({ENTRY_HEADER: root_id} if bench.entrance else {})


async def _trace(trial: TrialUnderWay, exchanges: int) -> tuple[Span, ...]:
    """All spans of the trace: until it closes by its shape, or nothing more arrives for longer than exports take."""
    bench, root_id, instrumentation = trial.bench, trial.root_id, trial.instrumentation
    deadline = asyncio.get_running_loop().time() + bench.trace_timeout
    silence = SILENT_INTERVALS * bench.export_interval
    spans: tuple[Span, ...] = ()
    received: tuple[Span, ...] = ()
    while (left := deadline - asyncio.get_running_loop().time()) > 0:
        more = partial(_longer_than, len(received))
        received, arrived = await bench.collector.trace(trial.trace_id, more, timeout=min(left, silence))
        spans = _as_known(bench, received, root_id)
        if arrived:
            is_all = 0 < exchanges <= sum(attempt_number(span) == 1 for span in entry_spans(spans, root_id))
            if is_all and instrumentation and is_closed(spans, root_id, bench.at_present(instrumentation)):
                break
        elif not _more_is_due(bench, spans, root_id, trial.cut, instrumentation):
            break
    return spans


def _longer_than(length: int, spans: Sequence[Span]) -> bool:
    return len(spans) > length


def _more_is_due(
    bench: Bench, spans: tuple[Span, ...], root_id: str, cut: Cut, instrumentation: Instrumentation | None
) -> bool:
    """Whether spans must still come although none came for a while."""
    if entry_span(spans, root_id) is None or (instrumentation and bench.missing_part(spans, root_id, instrumentation)):
        return True
    # The mesh tells of a call when it ends: one that is held back by a fault may outlive the request.
    return bool(cut) and is_abandoned(spans) and not bench.lineage(spans, root_id, cut).fired


def _may_have_fired_last(cut: Cut, lineage: Lineage) -> bool:
    """A closed trace may still lack the last attempt of a call that failed on every replica."""
    failed = {point.of_api for point in lineage.failed}
    return any(fault.point.of_api in failed for fault in cut - lineage.fired)


async def _more_evidence(bench: Bench, trace_id: str, root_id: str, cut: Cut) -> tuple[Span, ...]:
    def all_fired(spans: Sequence[Span]) -> bool:
        return bench.lineage(_as_known(bench, spans, root_id), root_id, cut).fired == cut

    spans, _ = await bench.collector.trace(trace_id, all_fired, timeout=bench.export_interval)
    return _as_known(bench, spans, root_id)


def _as_known(bench: Bench, spans: Sequence[Span], root_id: str) -> tuple[Span, ...]:
    """With services and replicas as points call them, without hops that are no calls, and up to the answer."""
    return without_messages(without_proxies(bench.named(spans), root_id))
