"""The trace that a client has begun itself, so that a plan is bound to it and its spans stay connected."""

import re
from collections.abc import Mapping

from cutset_agent.carriers import traces_in

_HEX = r"[0-9a-f]{1,16}"
_SPAN = {  # in the order in which headers name the trace
    "traceparent": re.compile(rf"\s*[0-9a-f]{{2}}-[0-9a-f]{{32}}-({_HEX})(?:-|$)", re.IGNORECASE),
    "uber-trace-id": re.compile(rf"\s*[0-9a-f]{{1,32}}(?::|%3a)({_HEX})(?::|%3a)", re.IGNORECASE),
    "b3": re.compile(rf"\s*[0-9a-f]+-({_HEX})(?:-|\s*$)", re.IGNORECASE),
    "x-b3-spanid": re.compile(rf"\s*({_HEX})\s*$", re.IGNORECASE),
}
_NAMES_TRACE = {"x-b3-spanid": "x-b3-traceid", "x-datadog-parent-id": "x-datadog-trace-id"}
_DECIMAL = re.compile(r"\s*([0-9]{1,20})\s*$")


def trace_of(headers: Mapping[str, str]) -> tuple[str, str] | None:
    """Trace id (32 digits) and span id (16; empty if it names none); None without a trace."""
    for name in (*_SPAN, "x-datadog-parent-id"):
        naming = _NAMES_TRACE.get(name, name)
        if found := traces_in([(naming, headers.get(naming, ""))]):
            return found[0], _span_in(name, headers.get(name, ""))
    return None


def _span_in(name: str, text: str) -> str:
    if name in _SPAN:
        match = _SPAN[name].match(text)
        digits = match[1].lower() if match else ""
    else:
        match = _DECIMAL.match(text)
        digits = f"{int(match[1]):x}" if match and int(match[1]) < 2**64 else ""
    return digits.rjust(16, "0") if digits.strip("0") else ""
