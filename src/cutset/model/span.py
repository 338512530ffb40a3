"""A span as OpenTelemetry means it, reduced to what Cutset reasons about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

AttributeValue = str | int | float | bool

UNKNOWN_SERVICE = "unknown_service"  # what the OpenTelemetry specification has SDKs say

# The attributes that say what a span was about, by their present names in OpenTelemetry's semantic conventions, and the
# field of `SpanLabel` (and column of the store) that holds each. Readers translate older names into these.
KEPT_ATTRIBUTES: Mapping[str, str] = {
    "http.request.method": "http_method",
    "http.route": "http_route",
    "url.path": "url_path",
    "http.response.status_code": "http_status",
    "rpc.system.name": "rpc_system",
    "rpc.method": "rpc_method",  # `package.Service/Method`
    "rpc.response.status_code": "rpc_status",  # as text: OK, UNAVAILABLE, …
    "db.system.name": "db_system",
    "db.operation.name": "db_operation",  # SELECT, GET, find, …: of statements only the verb is kept
    "db.collection.name": "db_collection",
    "messaging.system": "messaging_system",
    "messaging.operation.name": "messaging_operation",
    "messaging.destination.name": "messaging_destination",
    "peer.service": "peer",
    "cutset.sidecar": "sidecar",  # `true`, of a proxy beside a service, whose name it may give otherwise than itself
}

# The codes by which a server says that it failed, after OpenTelemetry's semantic conventions for server spans. The
# others are answers (NOT_FOUND, …).
GRPC_FAILURES: Mapping[int, str] = {
    2: "UNKNOWN",
    4: "DEADLINE_EXCEEDED",
    12: "UNIMPLEMENTED",
    13: "INTERNAL",
    14: "UNAVAILABLE",
    15: "DATA_LOSS",
}


class SpanKind(StrEnum):
    INTERNAL = "internal"
    SERVER = "server"
    CLIENT = "client"
    PRODUCER = "producer"
    CONSUMER = "consumer"


@dataclass(frozen=True, slots=True)
class Span:
    trace_id: str  # 32 lower-case hex digits, or whatever a source without such ids has
    span_id: str  # 16 lower-case hex digits, likewise; the two halves of one call may share it, as in Zipkin
    parent_id: str  # "" for a root
    service: str
    name: str
    kind: SpanKind
    start_ns: int
    end_ns: int
    error: bool = False
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict, hash=False)


# What is read and written by the million, as cheap as Python has it: the values of a `SpanLabel`, which readers share
# among the spans that have the same, and a span as ids of trace, span and parent, start, end, and its label.
LabelValues = tuple[str, str, str, bool, *tuple[str, ...]]
SpanRow = tuple[str, str, str, int, int, LabelValues]


@dataclass(frozen=True, slots=True, order=True)
class SpanLabel:
    """All of a span but its ids, its times and its parent: what it has in common with many others."""

    service: str
    name: str
    kind: SpanKind = SpanKind.INTERNAL
    error: bool = False
    http_method: str = ""
    http_route: str = ""
    url_path: str = ""
    http_status: str = ""
    rpc_system: str = ""
    rpc_method: str = ""
    rpc_status: str = ""
    db_system: str = ""
    db_operation: str = ""
    db_collection: str = ""
    messaging_system: str = ""
    messaging_operation: str = ""
    messaging_destination: str = ""
    peer: str = ""  # whom a client calls; on a server's span, who called or under which name
    sidecar: str = ""


def label_values(
    service: str,
    name: str,
    kind: SpanKind,
    error: bool,  # noqa: FBT001 -- as in a span
    attributes: Mapping[str, AttributeValue],
) -> LabelValues:
    return (service, name, kind.value, error, *[str(attributes.get(key, "")) for key in KEPT_ATTRIBUTES])


def row_of(span: Span) -> SpanRow:
    label = label_values(span.service, span.name, span.kind, span.error, span.attributes)
    return span.trace_id, span.span_id, span.parent_id, span.start_ns, span.end_ns, label


def span_of_row(row: SpanRow) -> Span:
    trace_id, span_id, parent_id, start_ns, end_ns, (service, name, kind, error, *values) = row
    attributes = {key: value for key, value in zip(KEPT_ATTRIBUTES, values, strict=True) if value}
    return Span(trace_id, span_id, parent_id, service, name, SpanKind(kind), start_ns, end_ns, error, attributes)
