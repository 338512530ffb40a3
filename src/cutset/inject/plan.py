"""A cut, or faults inside a process, as the headers of one request."""

import time
from collections.abc import Collection, Mapping, Sequence

from cutset.errors import PlanError
from cutset.model.fault import Cut, EffectKind, Fault
from cutset.model.point import Point
from cutset_agent import wire

ANY_API = "*"  # `cart/*#2`: all that replica 2 serves
# gRPC servers refuse requests at random once their metadata exceed 8 KiB: one is left to others.
MAX_HEADER_BYTES = 7168
HEADER_OVERHEAD_BYTES = 32  # what HTTP/2 counts for each header beyond its text

_WIRE_KINDS = {EffectKind.ABORT: "A", EffectKind.GRPC: "G", EffectKind.DELAY: "D"}
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
    carriers: Sequence[str] = ("tracestate", "baggage"),
) -> dict[str, str]:
    """The headers that make one request an experiment. The empty cut gives a signed empty plan: the mark of the audit.

    `catalogue` are all the points known; the plan is written so that none of them is mistaken for one of the cut.
    """
    return signed_headers(
        [(_target(fault), _wire_fault(fault)) for fault in sorted(cut)],
        trace_id=trace_id,
        span_id=span_id,
        key=key,
        environment=environment,
        expires=expires,
        catalogue=frozenset(target for point in catalogue for target in _looked_up(point)),
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
            key=key,
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


def _wire_fault(fault: Fault) -> wire.WireFault:
    return wire.WireFault(_WIRE_KINDS[fault.effect.kind], fault.effect.value, fault.percent, fault.attempts)


def _target(fault: Fault) -> wire.WireTarget:
    point = fault.point
    if point.caller:
        raise PlanError(
            f"`{point}` names a caller, which the callee's sidecar does not know",
            hint=f"Use `{point.of_api}`, which fails the call whoever makes it",
        )
    if point.occurrence:
        raise PlanError(
            f"`{point}` names an occurrence, but sidecars keep no count of a request's calls",
            hint=f"Use `{point.of_api}`, which fails every call, or `attempts=1` for the first attempt of each",
        )
    return wire.WireTarget(point.service, "" if point.api == ANY_API else point.api, point.replica)


def _looked_up(point: Point) -> list[wire.WireTarget]:
    """What the sidecar of a point looks up in a plan, from the particular to the general."""
    api = "" if point.api == ANY_API else point.api
    return [wire.WireTarget(point.service, *rest) for rest in ((api, point.replica), (api,), ("", point.replica), ())]
