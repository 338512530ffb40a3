"""Before any experiment: is everything there, does the mesh obey us, do spans arrive, how soon, and who hands on what?

A wrong set-up is told in a second or two, with what to do, rather than by hundreds of outcomes that are unknown. How
long exporters hold spans back is measured: a few requests are spread over half of the time that the configuration
allows for it, so that some of them are sent right after an exporter has emptied its hands, whatever its rhythm.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from cutset.errors import TargetError
from cutset.experiment.agent_checks import agent_checks
from cutset.experiment.mesh_checks import MeshSituation, mesh_checks
from cutset.experiment.trial import SILENT_INTERVALS, Bench, send_probe
from cutset.judge.rules import Judgement, baseline_of
from cutset.lineage.agent_spans import own_calls
from cutset.lineage.calls import entry_span, is_mesh_span
from cutset.lineage.handing_on import HandedOn, Passage, is_refused, passage_of
from cutset.lineage.path import foreign_attempts
from cutset.lineage.proxies import without_proxies
from cutset.lineage.uncoverable import past_mesh
from cutset.model.checkup import Checkup, CheckupLine, note, well, wrong
from cutset.model.point import Point
from cutset.model.request import Request
from cutset.model.span import Span
from cutset.model.target import Receiver
from cutset.model.wording import count

PROBES = 10  # spread over half of the longest time that spans may take
LEAST_EXPORT_SECONDS = 0.25  # what a busy machine takes for spans that are exported at once
LATE_SECONDS = 1.0  # spans that come later than configured by more than this are told apart from those that do not come
STALE_PROBES = 10  # that may go to sidecars by connections from before the installation
STALE_SECONDS = 1.0  # after which the next one is sent
CLOCK_SECONDS = 5.0  # clocks of one network differ by milliseconds; plans bear some seconds
USUAL_ENVIRONMENTS = ("local", "demo", "test", "staging", "production")  # worth a try, to name what is wrong

_UNKNOWN = "a service whose tracer does not export to this collector"


@dataclass(frozen=True, slots=True)
class _Probe:
    request: Request
    root_id: str = ""
    problem: str = ""  # why the answer is no good one
    sent_at: float = 0.0  # Unix seconds
    answered_at: float = 0.0
    spans: tuple[Span, ...] = ()
    seconds: float = 0.0  # from the answer to the last span

    @property
    def passage(self) -> Passage:
        return passage_of(self.spans, self.root_id)


async def preflight(
    bench: Bench, requests: Sequence[Request], receiver: Receiver, mesh: MeshSituation | None = None
) -> Checkup:
    checks = [*await _servers(bench), *(mesh_checks(mesh, bench.target, receiver) if mesh else ())]
    configured = bench.export_interval
    if any(check.fatal for check in checks):
        return Checkup(tuple(checks), configured)
    # The longest that is worth waiting for: to tell spans that come late from those that never come.
    first = await _first_probe(bench, requests[0], 2 * configured + LATE_SECONDS)
    checks += _proof(first, bench) or await _refusal(bench, first, mesh)
    if any(check.fatal for check in checks):
        return Checkup((*checks, *_answers([first])), configured)
    with _calls_without_plan(bench) as strays:
        probes = await _spread(bench, requests)
    seconds = max([first.seconds, *(probe.seconds for probe in probes)])
    waited = _export_interval(seconds, configured)
    spans = f"spans arrive within {_rounded(seconds)} s of the answer; late ones are waited for {_rounded(waited)} s"
    checks += [well("spans", spans), *_handing_on(probes), *_strays(strays), *_past_mesh(probes)]
    checks += [*agent_checks([probe.spans for probe in (first, *probes)]), *_answers(probes)]
    failing = {probe.request.name for probe in probes if probe.problem}
    return Checkup(tuple(checks), waited, frozenset(probe.request.name for probe in probes) - failing)


async def _servers(bench: Bench) -> Iterator[CheckupLine]:
    servers, target = bench.servers, bench.target
    dead = await servers.dead()
    if not dead:
        number = f"{count(len(target.servers), 'address')} accept connections" if not bench.watched else "all are ready"
        return iter([well("servers", number)])
    return (
        wrong(
            "servers",
            f"{target.named(name)} {servers.problem}",
            "Start the mesh with `cutset mesh up`, or correct `target.url`" if name == target.entry else servers.remedy,
            fatal=servers.required,
        )
        for name in dead
    )


async def _first_probe(bench: Bench, request: Request, seconds: float) -> _Probe:
    """In Istio connections that were open when the filter was installed know nothing of it, until their next answer."""
    sent = [asyncio.ensure_future(_probe(bench, request, until_entry=True, seconds=seconds))]
    await asyncio.wait(sent, timeout=STALE_SECONDS if bench.watched else None)
    while bench.watched and len(sent) < STALE_PROBES and not any(map(_is_accepted, sent)):
        sent.append(asyncio.ensure_future(_probe(bench, request, until_entry=True, seconds=seconds)))
        await asyncio.wait([sent[-1]], timeout=STALE_SECONDS)
    if not any(map(_is_accepted, sent)):
        await asyncio.wait(sent)
    chosen = next(filter(_is_accepted, sent), sent[-1])
    for each in sent:
        each.cancel()
    await asyncio.gather(*sent, return_exceptions=True)
    return chosen.result()


def _is_accepted(probe: "asyncio.Future[_Probe]") -> bool:
    return probe.done() and probe.result().passage.accepted


async def _probe(bench: Bench, request: Request, *, seconds: float, until_entry: bool = False) -> _Probe:
    """Watches its trace for so long, or until the mesh has told of the request itself."""
    sent_at = time.time()
    try:
        trace_id, root_id, response = await send_probe(bench, request)
    except TargetError as error:
        return _Probe(request, problem=error.message, sent_at=sent_at)
    answered_at, answered = time.time(), asyncio.get_running_loop().time()
    spans: tuple[Span, ...] = ()
    received: tuple[Span, ...] = ()
    last = answered
    while response.sent and (left := answered + seconds - asyncio.get_running_loop().time()) > 0:
        more = partial(_longer_than, len(received))
        received, arrived = await bench.collector.trace(trace_id, more, timeout=left)
        spans = without_proxies(bench.named(received), root_id)
        if arrived:
            last = asyncio.get_running_loop().time()
        if until_entry and entry_span(spans, root_id) is not None:
            break
    bench.collector.forget(trace_id)
    judged = baseline_of([response], request.expect)
    problem = judged.reason if isinstance(judged, Judgement) else ""
    return _Probe(request, root_id, problem, sent_at, answered_at, spans, last - answered)


def _longer_than(length: int, spans: Sequence[Span]) -> bool:
    return len(spans) > length


async def _spread(bench: Bench, requests: Sequence[Request]) -> list[_Probe]:
    configured = bench.export_interval
    spacing = _spacing(configured)
    end = asyncio.get_running_loop().time() + SILENT_INTERVALS * configured

    async def one(number: int) -> _Probe:
        await asyncio.sleep(min(number, PROBES) * spacing)
        left = max(end - asyncio.get_running_loop().time(), configured)
        return await _probe(bench, requests[number % len(requests)], seconds=left)

    return await asyncio.gather(*(one(number) for number in range(max(PROBES, len(requests)))))


def _spacing(configured: float) -> float:
    return configured / 2 / PROBES


def _export_interval(measured: float, configured: float) -> float:
    """Exact to the spacing of the probes, if an exporter's rhythm fits into the time in which they were sent."""
    found = measured + _spacing(configured)
    return min(configured, max(found, LEAST_EXPORT_SECONDS)) if found < configured / 2 else configured


def _proof(first: _Probe, bench: Bench) -> list[CheckupLine]:
    """Empty if the mesh told of the request, in time, but does not obey us."""
    configured = bench.export_interval
    if not first.passage.arrived:
        return [_no_span(first, bench)]
    if first.seconds > configured + LATE_SECONDS:
        return [
            wrong(
                "spans",
                f"spans take {_rounded(first.seconds)} s to arrive, and `collector.export_interval` says that they "
                f"take {configured:g} s at most",
                "Let services and sidecars export sooner, or raise `collector.export_interval`",
                fatal=True,
            )
        ]
    if not first.passage.accepted:
        return []
    return [well("plans", f"the mesh obeys our plans at {first.passage.entry}"), *_clocks(first)]


def _no_span(first: _Probe, bench: Bench) -> CheckupLine:
    if told := sorted({span.service for span in first.spans if span.parent_id == first.root_id}):
        return wrong(
            "spans",
            f"{', '.join(told)} told of the request, but no mesh did: `target.url` leads past it, or it tells others",
            "Set `target.url` to the mesh's own address of the service, and let the mesh export to this collector",
            fatal=True,
        )
    if first.spans:
        return wrong(
            "spans",
            f"spans of {first.request.name} arrived, but not the mesh's own of the request itself: it is lost, or late",
            "Let the mesh export sooner, or raise `collector.export_interval`; see whether it drops spans",
            fatal=True,
        )
    if first.problem:
        return wrong(
            "spans",
            f"{first.request.name} got no good answer, and no span of it arrived: {first.problem}",
            "See whether `target.url` and the request are right, and what the service says",
            fatal=True,
        )
    return wrong(
        "spans",
        f"{first.request.name} was answered, but no span of it arrived",
        "See `cutset status`: is all installed, and do sidecars reach the collector?"
        if bench.watched
        else "Let the mesh export by OTLP/gRPC to where `collector` in the configuration says, or 127.0.0.1:4317",
        fatal=True,
    )


async def _refusal(bench: Bench, first: _Probe, mesh: MeshSituation | None) -> list[CheckupLine]:
    """Why the mesh does not obey a plan that it was sent."""
    if not is_refused(_entry(first)):
        return [
            wrong(
                "entry",
                f"no plan came with {first.request.name} to {first.passage.entry}: `{bench.url}` is the edge of "
                "the mesh, which drops all plans, or a proxy before it",
                "Enter by a gateway that `cutset install` found; see `cutset status`"
                if bench.watched
                else "Set `target.url` to the mesh's own address of the service that users call",
                fatal=True,
            )
        ]
    if clocks := [replace(check, fatal=True) for check in _clocks(first)]:
        return clocks
    known = {mesh.spec.environment} if mesh else set()
    names = sorted((known | set(USUAL_ENVIRONMENTS)) - {bench.target.environment})
    tried = await asyncio.gather(*(_obeyed_as(bench, first.request, name) for name in names))
    if obeyed := [name for name, accepted in zip(names, tried, strict=True) if accepted]:
        return [
            wrong(
                "environment",
                f"the mesh runs as `{obeyed[0]}`, and `target.environment` is `{bench.target.environment}`",
                f"Set `target.environment: {obeyed[0]}`",
                fatal=True,
            )
        ]
    return [
        wrong(
            "key",
            f"the mesh refused the plan that came with {first.request.name}: it has another key, or none",
            "Sign with the key that it was installed with, or let `cutset install` give it yours"
            if bench.watched
            else "Give the mesh and this command the same `CUTSET_KEY`, and start the mesh anew",
            fatal=True,
        )
    ]


async def _obeyed_as(bench: Bench, request: Request, environment: str) -> bool:
    elsewhere = replace(bench, target=replace(bench.target, environment=environment))
    probe = await _probe(elsewhere, request, until_entry=True, seconds=bench.export_interval + LATE_SECONDS)
    return probe.passage.accepted


def _clocks(first: _Probe) -> list[CheckupLine]:
    began = _entry(first).start_ns / 1e9
    ahead = began - first.sent_at
    if first.sent_at - CLOCK_SECONDS <= began <= first.answered_at + CLOCK_SECONDS:
        return []
    return [
        wrong(
            "clock",
            f"the clock of the mesh is {_rounded(abs(ahead))} s {'ahead of' if ahead > 0 else 'behind'} ours, so that "
            "it takes plans for expired or for too long-lived",
            "Set the clocks of both machines, by NTP",
        )
    ]


def _entry(probe: _Probe) -> Span:
    entry = entry_span(probe.spans, probe.root_id)
    assert entry is not None
    return entry


def _handing_on(probes: Sequence[_Probe]) -> Iterator[CheckupLine]:
    passages = [probe.passage for probe in probes if probe.passage.arrived and not probe.problem]
    handed = [each for passage in passages for each in passage.services]
    entries = sorted({passage.entry for passage in passages})
    # What agents see needs nobody to hand anything on.
    if passages and not handed and not any(own_calls(probe.spans) for probe in probes):
        yield wrong(
            "trace",
            f"no call that {', '.join(entries)} made is in the trace of its request, so that nothing can be injected",
            "Let it hand on `traceparent` with `tracestate` or `baggage`, as OpenTelemetry's SDKs do, and let it call "
            "others at the addresses of the mesh",
        )
    for service in sorted({each.service for each in handed}):
        yield _handed_on(service or _UNKNOWN, [each for each in handed if each.service == service])


def _handed_on(service: str, seen: Sequence[HandedOn]) -> CheckupLine:
    service = service or "a service that exports no span"
    refused = frozenset[Point]().union(*(each.refused for each in seen))
    lost = frozenset[Point]().union(*(each.without_plan for each in seen))
    if refused:
        return wrong(
            "trace",
            f"the sidecar of {_listed(refused)} refuses plans that {service} hands on",
            "Give all sidecars the same key and environment, and set their clocks",
        )
    if lost:
        return wrong(
            "trace",
            f"{service} hands on the trace, but not the plan, to {_listed(lost)}",
            "Let it hand on `tracestate` or `baggage`, or add a carrier that it knows to `target.carriers`",
        )
    names = sorted({name for each in seen for name in (*each.contexts, *each.carriers)})
    return well("trace", f"{service} hands on {', '.join(names)}")


@contextmanager
def _calls_without_plan(bench: Bench) -> Iterator[list[Point]]:
    """Those that the mesh tells of meanwhile, in whatever trace."""
    calls: list[Point] = []

    def note_calls(batch: Sequence[Span]) -> None:
        strays = foreign_attempts(filter(is_mesh_span, bench.named(batch)))
        calls.extend(point for point, attempt in strays if not attempt.planned)

    unsubscribe = bench.collector.subscribe(note_calls)
    try:
        yield calls
    finally:
        unsubscribe()


def _strays(calls: Sequence[Point]) -> Iterator[CheckupLine]:
    if calls:
        yield note(
            "trace",
            f"meanwhile there were calls without a plan: {_listed(frozenset(calls))}",
            "They are other people's, or made without the context of the request: `cutset explore` tells these apart",
        )


def _past_mesh(probes: Sequence[_Probe]) -> Iterator[CheckupLine]:
    calls = {call for call in past_mesh([probe.spans for probe in probes]) if call.is_service}
    if calls:
        told = ", ".join(f"{each.call} ({each.reason})" for each in sorted(calls))
        yield note(
            "trace",
            f"nothing can be injected into {told}",
            "Let services call each other at the addresses of the mesh",
        )


def _answers(probes: Sequence[_Probe]) -> Iterator[CheckupLine]:
    failing = {probe.request.name: probe.problem for probe in probes if probe.problem}
    names = dict.fromkeys(probe.request.name for probe in probes)
    for name, problem in failing.items():
        remedy = "See what the service says; what cannot be answered without faults cannot be explored"
        if len(failing) == len(names):
            yield wrong("answers", f"{name}: {problem}", remedy)
        else:
            yield note("answers", f"{name}: {problem}", remedy)
    if not failing:
        yield well("answers", f"{count(len(names), 'request')} answered without faults")


def _listed(points: frozenset[Point]) -> str:
    return ", ".join(sorted(map(str, points)))


def _rounded(seconds: float) -> str:
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"
