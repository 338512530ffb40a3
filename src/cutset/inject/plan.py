"""A cut, or faults inside a process, as the headers of one request."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from cutset.errors import PlanError
from cutset.inject.signing import signer_of
from cutset.model.call_site import AgentCallSite, call_site_at
from cutset.model.effect import BREAKS_CONNECTION, REFUSED, EffectKind
from cutset.model.fault import Cut, Fault
from cutset.model.point import Point
from cutset_agent import wire
from cutset_agent.effects import agent_effect, why_not

ANY_API = "*"  # `cart/*#2`: all that replica 2 serves
# gRPC servers refuse requests at random once their metadata exceed 8 KiB: one is left to others.
MAX_HEADER_BYTES = 7168
HEADER_OVERHEAD_BYTES = 32  # what HTTP/2 counts for each header beyond its text

_WIRE_KINDS = {EffectKind.ABORT: "A", EffectKind.GRPC: "G", EffectKind.DELAY: "D"}
_SPOILT = {EffectKind(name): number for number, name in enumerate(wire.SPOILT, start=1)}
_CARRIERS = ("tracestate", "baggage", "jaeger", "datadog")
_CONTEXTS = ("b3",)  # name the trace and hold no plan


def plan_headers(
    cut: Cut,
    *,
    trace_id: str,
    span_id: str,
    key: bytes | wire.WireSigner,
    environment: str,
    expires: float,
    catalogue: Collection[Point] = (),
    call_sites: Mapping[Point, Sequence[AgentCallSite]] = MappingProxyType({}),
    carriers: Sequence[str] = ("tracestate", "baggage"),
) -> dict[str, str]:
    """The headers that make one request an experiment. The empty cut gives a signed empty plan: the mark of the audit.

    `catalogue` are all the points known; the plan is written so that none of them is mistaken for one of the cut.
    A plan lives longer than anybody waits for the request's answer: a timeout holds a call back for as long as that.
    `call_sites` are where the agents of points with a caller act; an endpoint's point tells that by itself.
    """
    life = expires - time.time()
    return signed_headers(
        [planned for fault in sorted(cut) for planned in _planned(fault, life, call_sites)],
        trace_id=trace_id,
        span_id=span_id,
        key=key,
        environment=environment,
        expires=expires,
        catalogue=frozenset(target for point in catalogue for target in _looked_up(point, call_sites)),
        carriers=carriers,
    )


def signed_headers(
    faults: Sequence[tuple[wire.WireTarget, wire.WireFault]],
    *,
    trace_id: str,
    span_id: str,
    key: bytes | wire.WireSigner,
    environment: str,
    expires: float,
    catalogue: frozenset[wire.WireTarget] = frozenset(),
    carriers: Sequence[str] = ("tracestate", "baggage"),
) -> dict[str, str]:
    """As `plan_headers`, for what a cut cannot say: faults of libraries, which the agent causes inside a process."""
    if not set(_CARRIERS) & set(carriers) or not set(carriers) <= {*_CARRIERS, *_CONTEXTS}:
        raise PlanError(
            f"expected carriers out of {', '.join(_CARRIERS)}, besides {', '.join(_CONTEXTS)}, found {list(carriers)}"
        )
    try:
        parts = wire.encode(
            faults,
            key=signer_of(key) if isinstance(key, bytes) else key,
            environment=environment,
            trace_id=trace_id,
            expires=expires,
            now=time.time(),
            catalogue=catalogue,
        )
        return _trace_context(trace_id, span_id, carriers) | _carried(parts, carriers, trace_id)
    except wire.PlanTooLargeError as error:
        raise PlanError(f"A plan of {len(faults)} faults does not fit: {error}", hint="Use a smaller cut") from error
    except wire.WireError as error:
        is_short = isinstance(key, bytes) and len(key) < wire.MIN_KEY_BYTES
        hint = "Set CUTSET_KEY to the key of the mesh" if is_short else ""
        raise PlanError(f"The cut cannot be written as a plan: {error}", hint=hint) from error


def _trace_context(trace_id: str, span_id: str, carriers: Sequence[str]) -> dict[str, str]:
    headers = {"traceparent": f"00-{trace_id}-{span_id}-01"}  # without it tracers erase tracestate
    short = trace_id.removeprefix("0" * 16)  # some tracers of 64 bits take no more digits
    if "jaeger" in carriers:
        headers["uber-trace-id"] = f"{short}:{span_id}:0:1"
    if "b3" in carriers:
        headers |= {"b3": f"{short}-{span_id}-1"}
        headers |= {"x-b3-traceid": short, "x-b3-spanid": span_id, "x-b3-sampled": "1"}
    if "datadog" in carriers:
        ids = {"trace": int(trace_id[16:], 16), "parent": int(span_id, 16)}
        headers |= {f"x-datadog-{name}-id": str(number) for name, number in ids.items()}
        headers["x-datadog-sampling-priority"] = "1"
    return headers


def _carried(parts: tuple[str, ...], carriers: Sequence[str], trace_id: str) -> dict[str, str]:
    headers: dict[str, str] = {}
    if "tracestate" in carriers:
        headers["tracestate"] = wire.to_tracestate(parts)
    if "datadog" in carriers:
        high = trace_id[:16]
        headers["x-datadog-tags"] = wire.to_datadog(parts, before=f"_dd.p.tid={high}" if high.strip("0") else "")
    if "baggage" in carriers:
        headers["baggage"] = wire.to_baggage(parts)
    if "jaeger" in carriers:
        headers |= wire.to_jaeger(parts)
    size = _size(headers)
    if size > MAX_HEADER_BYTES and {"baggage", "jaeger"} <= set(carriers):
        return _carried(parts, [each for each in carriers if each != "jaeger"], trace_id)  # one that holds all will do
    if size > MAX_HEADER_BYTES:
        raise wire.PlanTooLargeError(f"its headers take {size} bytes of {MAX_HEADER_BYTES}")
    _refuse_a_part_of_a_plan(parts, headers)
    return headers


def _size(headers: Mapping[str, str]) -> int:
    return sum(len(name) + len(value) + HEADER_OVERHEAD_BYTES for name, value in headers.items())


def _refuse_a_part_of_a_plan(parts: tuple[str, ...], headers: Mapping[str, str]) -> None:
    """Some carrier must hold all parts: a service may hand on that one alone."""
    text = ",".join(headers.values())
    held = sum(part in text for part in parts)
    if held < len(parts):
        raise wire.PlanTooLargeError(
            f"{' and '.join(headers)} hold {wire.MAX_TRACESTATE_CHARACTERS} characters at most, that is {held} of its "
            f"{len(parts)} parts"
        )


def _planned(
    fault: Fault, life: float, call_sites: Mapping[Point, Sequence[AgentCallSite]]
) -> Iterator[tuple[wire.WireTarget, wire.WireFault]]:
    """Where it happens, and what: at a caller's own side its agent does it, else the callee's sidecar."""
    if not fault.point.caller:
        yield _target(fault), _wire_fault(fault, life)
        return
    sites = _sites(fault.point, call_sites)
    if not sites:
        caller, api = fault.point.caller, fault.point.of_api
        raise PlanError(
            f"`{fault.point}` is the own side of {caller} of a call, and no agent in it was seen to make it",
            hint=f"Use `{api}`, which fails the call whoever makes it, or start {caller} with `cutset agent run`",
        )
    for site in sites:
        yield _agent_target(site), _agent_fault(fault, site)


def _wire_fault(fault: Fault, life: float) -> wire.WireFault:
    """As the sidecar of the callee executes it."""
    effect, counts = fault.effect, (fault.percent, fault.effect.attempts)
    _refuse_what_only_an_agent_can(fault)
    if effect.kind in _SPOILT:
        return wire.WireFault("B", _SPOILT[effect.kind], *counts)
    if effect.kind is EffectKind.TIMEOUT:
        return wire.WireFault("D", max(1, round(life * 1000)), *counts)
    if len(effect.body.encode()) > wire.MAX_TEXT_BYTES:
        raise PlanError(
            f"`{fault}`: the body takes {len(effect.body.encode())} bytes of {wire.MAX_TEXT_BYTES}",
            hint="Use a shorter one: it travels in every call of the request",
        )
    return wire.WireFault(_WIRE_KINDS[effect.kind], effect.value, *counts, text=effect.body)


def _refuse_what_only_an_agent_can(fault: Fault) -> None:
    effect, api = fault.effect, fault.point.of_api
    if effect.kind in BREAKS_CONNECTION:
        raise PlanError(
            f"`{fault}`: a sidecar cannot do that: its caller would be answered 503 in place of a broken connection",
            hint=f"Use `{api}:abort(503)`, or name a caller whose agent does it: `caller>{api}:{effect}`",
        )
    if effect.kind is EffectKind.LIBRARY:
        raise PlanError(
            f"`{fault}` is a fault of a library, which the caller's agent alone can cause",
            hint="Name the caller and its endpoint, as in `cart>cache/redis/get:library(cache-miss)`",
        )
    if effect.call:
        raise PlanError(
            f"`{fault}` is for one call of the request alone, but sidecars keep no count of a request's calls",
            hint=f"Use `attempts=1` for the first attempt of each, or name a caller: `caller>{api}:{effect}`",
        )


def _agent_fault(fault: Fault, site: AgentCallSite) -> wire.WireFault:
    effect = fault.effect
    if fault.point.is_store and effect.kind in (EffectKind.ABORT, EffectKind.GRPC):
        effect = replace(REFUSED, attempts=effect.attempts, call=effect.call)  # one that answers a status is gone
    known = (str(effect.kind), effect.value, effect.name)
    found = agent_effect(*known, endpoint=site.endpoint, text=effect.body)
    if found is None:
        why = why_not(*known, endpoint=site.endpoint)
        raise PlanError(f"`{fault}` cannot be done: {why}", hint="`cutset faults` lists what agents can do")
    return replace(found, percent=fault.percent, attempts=effect.attempts, occurrence=effect.call)


def _target(fault: Fault) -> wire.WireTarget:
    point = fault.point
    if point.occurrence:
        raise PlanError(
            f"`{point}` names an occurrence, but sidecars keep no count of a request's calls",
            hint=f"Use `{point.of_api}`, which fails every call, or `attempts=1` for the first attempt of each",
        )
    return wire.WireTarget(point.service, "" if point.api == ANY_API else point.api, point.replica)


def _sites(point: Point, call_sites: Mapping[Point, Sequence[AgentCallSite]]) -> Sequence[AgentCallSite]:
    return call_sites.get(point) or ([call_site_at(point)] if point.is_endpoint else [])


def _agent_target(site: AgentCallSite) -> wire.WireTarget:
    return wire.WireTarget(site.service, site.endpoint, site.peer)


def _looked_up(point: Point, call_sites: Mapping[Point, Sequence[AgentCallSite]]) -> list[wire.WireTarget]:
    """What the sidecar or the agent of a point looks up in a plan, from the particular to the general."""
    if point.caller:
        sites = _sites(point, call_sites)
        return [_agent_target(each) for site in sites for each in (site, replace(site, peer=""))]
    api = "" if point.api == ANY_API else point.api
    return [wire.WireTarget(point.service, *rest) for rest in ((api, point.replica), (api,), ("", point.replica), ())]
