"""A question to a sidecar: do you obey this key, and which version of our filter are you? WIRE.md has the rule.

It is a plan for a target that no service is called, at a path that none serves; the filter answers it by itself.
"""

from cutset.inject.plan import signed_headers
from cutset_agent.wire import WireFault, WireTarget

PROBE_PATH = "/cutset-probe"
PROBE_HEADER = "x-cutset-probe"  # of the answer: `service/replica/version`
_TARGET = WireTarget("cutset.probe")
_ANSWER = WireFault("A", 204)


def probe_headers(*, trace_id: str, span_id: str, key: bytes, environment: str, expires: float) -> dict[str, str]:
    return signed_headers(
        [(_TARGET, _ANSWER)],
        trace_id=trace_id,
        span_id=span_id,
        key=key,
        environment=environment,
        expires=expires,
        carriers=("tracestate",),
    )
