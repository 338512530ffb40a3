"""The spans by which callers tell of their calls: of services or of data stores, and where they went.

Libraries are built on others, so that one call may show as several client spans inside each other. The innermost is the
call itself, but for data stores that speak HTTP: there the outermost knows what it is about.
"""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from cutset.lineage.agent_spans import call_site_of, is_agent_span, own_calls
from cutset.lineage.calls import is_mesh_span
from cutset.model.span import Span, SpanKind
from cutset_agent.wire import normalise_api

_REMOTE_CALL_ATTRIBUTES = ("rpc.system", "rpc.system.name", "http.request.method", "http.method")
_STORES = ("db.system.name", "db.system", "db.type", "messaging.system")
_CALLING = frozenset({SpanKind.CLIENT, SpanKind.PRODUCER})
_METHODS = ("http.request.method", "http.method")
_URLS = ("url.full", "http.url")
_NAMED_BY_PATH = re.compile(r"(?:HTTP )?([A-Z]+) (/\S*)")
# Where a call went, host and port, by the names of OpenTelemetry's conventions new and old, and of OpenTracing's.
_HOSTS = (
    ("server.address", "server.port"),
    ("net.peer.name", "net.peer.port"),
    ("net.peer.ip", "net.peer.port"),
    ("network.peer.address", "network.peer.port"),
    ("net.sock.peer.addr", "net.sock.peer.port"),
    ("peer.hostname", "peer.port"),
    ("peer.ipv4", "peer.port"),
)
_VAGUE = ("peer.address", "http.host", "peer.service")  # that say less than a URL


def remote_calls(spans: Sequence[Span]) -> list[Span]:
    """The spans by which services tell of their calls to other services."""
    stores, outer = _data_store_spans(spans), _outer(spans)
    return [span for span in spans if _is_remote(span) and span.span_id not in stores and span.span_id not in outer]


def store_calls(spans: Sequence[Span]) -> list[Span]:
    """Likewise of data stores and brokers."""
    return [span for span in spans if span.kind in _CALLING and store_of(span) and not is_mesh_span(span)]


def unseen_by_mesh(calls: Sequence[Span], spans: Sequence[Span]) -> list[Span]:
    """Those calls that no sidecar tells of."""
    by_id = {span.span_id: span for span in spans}
    seen = {each.span_id for span in spans if is_mesh_span(span) for each in _enclosing(span, by_id)}
    return [call for call in calls if call.span_id not in seen]


def with_agent(spans: Sequence[Span]) -> frozenset[str]:
    """The ids of client spans whose calls an agent tells of as well: inside of them, or around them."""
    by_id = {span.span_id: span for span in spans}
    told = own_calls(spans)
    inside = {each.span_id for span in told for each in _enclosing(span, by_id)}
    around: dict[str, list[Span]] = {}
    for span in told:
        around.setdefault(span.parent_id, []).append(span)
    beside = {
        span.span_id
        for span in spans
        if span.kind in _CALLING and not is_agent_span(span)
        if any(_contains(agent, span) for agent in around.get(span.parent_id, ()))
    }
    return frozenset(inside | beside)


def store_of(span: Span) -> str:
    return next((str(span.attributes[name]) for name in _STORES if span.attributes.get(name)), "")


def call_of(span: Span) -> str:
    """What the caller's own span calls it, without the identifiers in its path."""
    attributes = span.attributes
    method = next((str(attributes[name]) for name in _METHODS if name in attributes), "")
    path = next((urlsplit(str(attributes[name])).path for name in _URLS if name in attributes), "")
    if method and path:
        return normalise_api(method, path, grpc=False)
    named = _NAMED_BY_PATH.fullmatch(span.name)
    return normalise_api(named[1], urlsplit(named[2]).path, grpc=False) if named else span.name


def address_of(span: Span) -> str:
    """Where a client's span says that its call went; empty if it does not."""
    attributes = span.attributes
    for host, port in _HOSTS:
        if attributes.get(host):
            number = attributes.get(port)
            return f"{attributes[host]}:{number}" if number else str(attributes[host])
    for name in _URLS:
        if netloc := urlsplit(str(attributes.get(name, ""))).netloc:
            return netloc.rpartition("@")[2]  # never a password
    return next((str(attributes[name]) for name in _VAGUE if attributes.get(name)), "")


def _contains(agent: Span, client: Span) -> bool:
    """Both are of one process; they must be of one kind, else the one call only happens to take longer."""
    alike = call_site_of(agent).is_remote != bool(store_of(client))
    return alike and agent.start_ns <= client.start_ns and client.end_ns <= agent.end_ns


def _is_remote(span: Span) -> bool:
    if span.kind is not SpanKind.CLIENT or is_mesh_span(span):
        return False
    return any(name in span.attributes for name in _REMOTE_CALL_ATTRIBUTES)


def _outer(spans: Sequence[Span]) -> set[str]:
    """Client spans with another one inside."""
    by_id = {span.span_id: span for span in spans}
    return {each.span_id for span in spans if _is_remote(span) for each in _enclosing(span, by_id)}


def _data_store_spans(spans: Sequence[Span]) -> set[str]:
    """Those that tell of a data store, and those inside of them."""
    by_id = {span.span_id: span for span in spans}
    return {
        span.span_id
        for span in spans
        if span.kind in _CALLING and any(store_of(each) for each in (span, *_enclosing(span, by_id)))
    }


def _enclosing(span: Span, by_id: dict[str, Span]) -> list[Span]:
    """The spans around this one that the same work of the same service made: not beyond the request that it served."""
    found: list[Span] = []
    seen = {span.span_id}
    enclosing = by_id.get(span.parent_id)
    while enclosing is not None and enclosing.span_id not in seen and not is_mesh_span(enclosing):
        if enclosing.kind not in (SpanKind.CLIENT, SpanKind.PRODUCER, SpanKind.INTERNAL):
            break
        found.append(enclosing)
        seen.add(enclosing.span_id)  # malformed traces may hold a cycle of parents
        enclosing = by_id.get(enclosing.parent_id)
    return found
