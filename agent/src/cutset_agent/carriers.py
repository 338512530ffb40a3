"""The headers of a request that may hold a plan, and those that name its trace: WIRE.md's "Carriers" and "Trace"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cutset_agent import wire

TRACE_HEADERS = frozenset(
    {
        *("traceparent", "uber-trace-id", "b3", "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled"),
        *("x-datadog-trace-id", "x-datadog-parent-id", "x-datadog-sampling-priority", "x-datadog-origin"),
    }
)
JAEGER_PREFIX = "uberctx-"
MAX_TRIED = 64  # values and traces tried per request: twice the parts that 8 KiB of baggage can hold
MAX_REFUSED = 5  # wrong signatures per request: so many headers name a trace, and the first part is tried for each

_MEMBER = r"cutset[0-9]*\s*=\s*([A-Za-z0-9._~%-]+)\s*(?:;|$)"
_MEMBERS = {name: re.compile(r"\s*" + _MEMBER) for name in ("tracestate", "baggage")}
_MEMBERS["x-datadog-tags"] = re.compile(r"\s*_dd\.p\." + _MEMBER)
_TRACE = {
    "traceparent": re.compile(r"\s*[0-9a-f]{2}-([0-9a-f]{32})-", re.IGNORECASE),
    "uber-trace-id": re.compile(r"\s*([0-9a-f]{1,32})(?::|%3a)", re.IGNORECASE),
    "b3": re.compile(r"\s*([0-9a-f]{16}|[0-9a-f]{32})-", re.IGNORECASE),
    "x-b3-traceid": re.compile(r"\s*([0-9a-f]{1,32})\s*$", re.IGNORECASE),
}
_DECIMAL = re.compile(r"\s*([0-9]{1,20})\s*$")


def read_plan(
    headers: Iterable[tuple[str, str]],
    *,
    key: bytes | wire.WireVerifier,
    environment: str,
    now: float,
    trace_ids: Sequence[str] = (),
) -> tuple[wire.WirePart, ...]:
    """All valid parts in all carriers. Names of headers are in lower case; `trace_ids` are known besides theirs."""
    found = list(headers)
    values = _values_in(found)
    if not values:
        return ()
    ids = list(dict.fromkeys(each[-wire.TRACE_DIGITS :] for each in (*trace_ids, *traces_in(found))))
    parts: dict[wire.WirePart, None] = {}
    tried = refused = 0
    for value in values:
        for at, trace_id in enumerate(ids):
            if tried == MAX_TRIED or refused == MAX_REFUSED:
                return tuple(parts)
            tried += 1
            try:
                parts[wire.decode(value, key, environment, trace_id, now)] = None
            except wire.WireError as error:
                refused += isinstance(error, wire.WrongSignatureError)
                continue
            ids[0], ids[at] = trace_id, ids[0]  # the other parts are of the same trace
            break
    return tuple(parts)


def is_planned(headers: Iterable[tuple[str, str]]) -> bool:
    """Whether there is what may be a plan, accepted or not."""
    return bool(_values_in(list(headers)))


def traces_in(headers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The trace ids that a request's headers name, 32 digits each, W3C's first."""
    first: dict[str, str] = {}
    for name, value in headers:
        first.setdefault(name, value)
    found = [match[1].lower() for name, form in _TRACE.items() if (match := form.match(first.get(name, "")))]
    if match := _DECIMAL.match(first.get("x-datadog-trace-id", "")):
        found.append(f"{int(match[1]):x}" if int(match[1]) < 2**64 else "")
    traces: dict[str, str] = {}
    for each in found:
        if each[-wire.TRACE_DIGITS :].strip("0"):
            traces.setdefault(each[-wire.TRACE_DIGITS :].rjust(wire.TRACE_DIGITS, "0"), each.rjust(32, "0"))
    return tuple(traces.values())


def carried_in(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What must go on with outgoing calls, so that plan and trace arrive together."""
    carried: dict[str, str] = {}
    for name, value in headers:
        if name in _MEMBERS:
            carried[name] = f"{carried[name]},{value}" if name in carried else value
        elif name.startswith(JAEGER_PREFIX) or (name in TRACE_HEADERS and name != "traceparent"):
            carried[name] = value
    return carried


def without_plan(name: str, value: str) -> str:
    """What is left of a header, in lower case or not: others' members, or nothing."""
    name = name.lower()
    if name.startswith(JAEGER_PREFIX + "cutset"):
        return ""
    if name not in _MEMBERS or "cutset" not in value:
        return value
    return ",".join(member for member in value.split(",") if "cutset" not in member.partition("=")[0])


def _values_in(headers: Iterable[tuple[str, str]]) -> list[str]:
    values: list[str] = []
    for name, value in headers:
        if name in _MEMBERS and "cutset" in value:
            values += [match[1] for match in map(_MEMBERS[name].match, value.split(",")) if match]
        elif name.startswith(JAEGER_PREFIX + "cutset"):
            values.append(value)
    return [value.replace("%7E", "~").replace("%7e", "~") for value in values[:MAX_TRIED]]
