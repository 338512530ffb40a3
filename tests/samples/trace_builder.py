"""Builds traces as the mesh and instrumented applications export them, from a tree of calls."""

from dataclasses import dataclass, field
from itertools import count

from cutset.model.span import Span, SpanKind

ROOT = "r" * 16


@dataclass
class Made:
    """One call: `api` as service/API, with what it calls in turn."""

    api: str
    children: list["Made"] = field(default_factory=list)
    replica: str = "1"
    status: int = 0  # gRPC
    flags: str = "-"
    failed_attempts: int = 0  # injected aborts on other replicas first
    planned: bool = True
    spoilt: str = ""


def _spoilt(call: Made) -> dict[str, object]:
    return {"cutset.spoilt": call.spoilt} if call.spoilt else {}


def trace(*calls: Made, entry_status: int = 200) -> list[Span]:
    """The spans of one request to `frontend` that made these calls."""
    ids = (f"{number:016x}" for number in count(1))
    spans: list[Span] = []

    def span(service: str, kind: SpanKind, parent: str, attributes: dict[str, object], error: bool = False) -> str:
        own = next(ids)
        spans.append(Span("t" * 32, own, parent, service, "name", kind, len(spans), len(spans) + 1, error, attributes))
        return own

    def mesh_attributes(call: Made, replica: str, attempt: int, status: int, flags: str) -> dict[str, object]:
        service, api = call.api.split("/", 1)
        attributes: dict[str, object] = {
            "cutset.service": service,
            "cutset.replica": replica,
            "cutset.attempt": str(attempt),
            "response_flags": flags,
            "grpc.status_code": str(status),
            "http.url": f"http://x/hipstershop.Some/{api}",
            "grpc.path": f"/hipstershop.Some/{api}",
            "http.method": "POST",
        }
        return attributes | ({"cutset.api": api} if call.planned else {}) | _spoilt(call)

    def add(call: Made, parent: str) -> None:
        service = call.api.split("/", 1)[0]
        client = span("caller", SpanKind.CLIENT, parent, {"rpc.system": "grpc"}, call.status != 0)
        for attempt in range(1, call.failed_attempts + 1):
            span("mesh", SpanKind.SERVER, client, mesh_attributes(call, f"{attempt + 1}", attempt, 14, "FI"))
        own = mesh_attributes(call, call.replica, call.failed_attempts + 1, call.status, call.flags)
        mesh = span("mesh", SpanKind.SERVER, client, own)
        if call.flags != "FI":
            server = span(service, SpanKind.SERVER, mesh, {"rpc.system": "grpc"})
            for child in call.children:
                add(child, server)

    entry_attributes: dict[str, object] = {
        "cutset.service": "frontend",
        "cutset.replica": "1",
        "cutset.api": "GET /",
        "http.status_code": str(entry_status),
        "http.method": "GET",
        "http.url": "http://x/product/0PUK6V6EV0?q=1",
    }
    entry = span("mesh", SpanKind.SERVER, ROOT, entry_attributes)
    server = span("frontend", SpanKind.SERVER, entry, {"http.request.method": "GET"})
    for call in calls:
        add(call, server)
    return spans
