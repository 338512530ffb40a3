"""What an agent can do at an endpoint: the effects that a driver knows, as faults of the wire.

| effect | fault | possible |
|---|---|---|
| `abort(503)` | kind A; at gRPC clients the status that Envoy maps it to | at clients of HTTP and gRPC |
| `grpc(14)` | kind G | at clients of gRPC |
| `delay(2s)` | kind D | everywhere |
| `timeout` | `no-answer`: as long as the call site waits, at most as long as the plan lives | where somebody waits |
| `connection-refused` | the same, of a broker `broker-unavailable` | but for the handling of messages |
| `connection-reset` | the same | likewise |
| `empty` | `empty-body`, of a cache `cache-miss` | where an answer has a body |
| `truncated`, `garbled` | `truncated-body`, `garbled-body` | likewise |
| `library(deadlock)` | that one | where the hook has it |
"""

from __future__ import annotations

from cutset_agent import wire
from cutset_agent.hooks.library import answers_at, faults_at

_BY_NAME = {
    "timeout": ("no-answer",),
    "connection-refused": ("connection-refused", "broker-unavailable"),
    "connection-reset": ("connection-reset",),
    "empty": ("empty-body", "cache-miss"),
    "truncated": ("truncated-body",),
    "garbled": ("garbled-body",),
}
_STATUSES = {"abort": "A", "grpc": "G"}


def agent_effect(kind: str, value: int = 0, name: str = "", *, endpoint: str, text: str = "") -> wire.WireFault | None:
    """The fault for every call at the endpoint; None if it is not possible there, and `why_not` says why.

    `text` is the body of an `abort`, `name` that of a fault of the library.
    """
    if kind == "delay":
        return wire.WireFault("D", value)
    if kind in _STATUSES:
        possible = _STATUSES[kind] in answers_at(endpoint) or (kind == "abort" and _fault_of(kind, value, endpoint))
        return wire.WireFault(_STATUSES[kind], value, text=text) if possible else None
    found = _fault_of(name or kind, 0, endpoint)
    return wire.WireFault("L", wire.fault_code(found)) if found else None


def why_not(kind: str, value: int = 0, name: str = "", *, endpoint: str) -> str:
    """In a sentence's second half; empty if it is possible."""
    if agent_effect(kind, value, name, endpoint=endpoint) is not None:
        return ""
    what = name or kind
    if not faults_at(endpoint):
        return f"the agent has no faults for `{endpoint}`"
    if kind in _STATUSES:
        return f"`{endpoint}` is no call that is answered with {'an HTTP' if kind == 'abort' else 'a gRPC'} status"
    if kind == "timeout":
        return f"nobody waits for an answer at `{endpoint}`"
    return f"`{what}` is no fault of `{endpoint}`"


def reported_as(kind: str, value: int = 0, name: str = "", *, endpoint: str) -> str:
    """What `cutset.fault` says of the effect once it has fired, beside others that are joined to it by `+`."""
    if kind == "delay":
        return f"delay({value}ms)"
    if kind in _STATUSES:
        return f"status-{value}" if kind == "abort" else f"grpc-{value}"
    return _fault_of(name or kind, 0, endpoint)


def _fault_of(what: str, value: int, endpoint: str) -> str:
    known = faults_at(endpoint)
    wanted = (f"status-{value}",) if what == "abort" else _BY_NAME.get(what, (what,))
    return next((each for each in wanted if each in known), "")
