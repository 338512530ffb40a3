"""What was called, by the spans of a call: the one place where calls in traces get their names.

An API is `GET /users/*` or the bare method of a gRPC service, as in experiments (`lineage.routes`), whichever half of
the call tells and whether a route says so or a path. Callees that export nothing are called after what their caller
says of them. Where that is no address, they are their caller's own: `redis(cart)` and `redis(web)` may be one store or
two, and who takes them for one connects services that have nothing to do with each other.
"""

import re
from collections.abc import Iterable

from cutset.lineage.routes import starred
from cutset.model.call_tree import UNKNOWN, Component
from cutset.model.point import Point
from cutset.model.span import SpanKind, SpanLabel

# Names of systems that spans of older tracers have in their own name or their peer's, and nowhere else.
_STORES: dict[str, tuple[Component, str]] = {
    name: (component, system)
    for component, systems in {
        Component.CACHE: "memcached=memcache,mmc redis valkey hazelcast aerospike",
        Component.DATABASE: "mongodb=mongo mysql mariadb postgresql=postgres,psql cassandra elasticsearch opensearch "
        "dynamodb couchbase couchdb clickhouse cockroachdb hbase neo4j influxdb sqlite mssql oracle",
        Component.QUEUE: "kafka rabbitmq activemq nats pulsar rocketmq",
    }.items()
    for each in systems.split()
    for system, _, others in (each.partition("="),)
    for name in (system, *filter(None, others.split(",")))
}
_CACHES = frozenset({*(name for name, (kind, _) in _STORES.items() if kind is Component.CACHE), "mc"})
# As agents name their spans: `cache/redis/get`, `rpc/httpx/POST /v1/charges`.
_ENDPOINT = re.compile(r"(cache|db|mq|rpc)/([a-z0-9_]+)/(\S.*)")
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")
_GRPC_NAME = re.compile(r"^/?(?:(?:\w+\.)+\w+|[A-Z]\w*)/([A-Z]\w*)$")
_CALLING = frozenset({SpanKind.CLIENT, SpanKind.PRODUCER})


def api_of(*halves: SpanLabel) -> str:
    """What the spans of one call say was called: the server's own first, its sidecar's, its caller's."""
    if rpc_method := _first(half.rpc_method for half in halves):
        return rpc_method.rpartition("/")[2] or rpc_method
    if path := _first(half.http_route for half in halves) or _first(half.url_path for half in halves):
        return f"{_first(half.http_method for half in halves)} {starred(path)}".lstrip()
    if halves[0].kind is SpanKind.CONSUMER and (destination := halves[0].messaging_destination):
        return f"{halves[0].messaging_operation or 'process'} {destination}"
    return bare_method(_first(map(_named, halves))) or UNKNOWN


def bare_method(name: str) -> str:
    """Jaeger's clients tell of gRPC by the span's name alone: `/user.User/CheckUser` is `CheckUser`, as everywhere."""
    return _GRPC_NAME.sub(r"\1", name)


def component_of(label: SpanLabel) -> tuple[Component, str]:
    """What kind of thing was called, and by or on what (CAST §3.4.2's component and framework)."""
    if system := label.db_system.lower():
        return (Component.CACHE if system in _CACHES else Component.DATABASE), system
    if label.messaging_system:
        return Component.QUEUE, label.messaging_system.lower()
    if label.rpc_system or label.rpc_method:
        return Component.RPC, label.rpc_system.lower()
    if label.http_method or label.http_route or label.url_path:
        return Component.HTTP, "http"
    return _component_named(label) if label.kind in _CALLING else (Component.UNKNOWN, "")


def _component_named(client: SpanLabel) -> tuple[Component, str]:
    """What only names tell."""
    if endpoint := _ENDPOINT.fullmatch(client.name):
        return Component(endpoint[1]), endpoint[2]
    told = (client.peer, client.name.partition(" ")[0])  # what comes later in a name may be anything
    words = (word.lower() for text in told for word in _WORD.findall(text))
    return next((_STORES[word] for word in words if word in _STORES), (Component.UNKNOWN, ""))


def remote_point(client: SpanLabel, caller: str) -> Point:
    """Whom a client's span speaks of: a data store, a queue, or a service that exports nothing."""
    component, system = component_of(client)
    if component is Component.QUEUE:
        operation = " ".join(filter(None, (client.messaging_operation or "publish", client.messaging_destination)))
        # A broker is known by its topics, which connect those who send with those who receive.
        return Point(client.peer or system, operation if client.messaging_system else _named(client) or operation)
    if component in (Component.DATABASE, Component.CACHE):
        operation = " ".join(filter(None, (client.db_operation, client.db_collection)))
        return Point(client.peer or f"{system}({caller})", operation or _named(client) or UNKNOWN)
    return Point(client.peer or f"{UNKNOWN}({caller})", api_of(client))


def _named(label: SpanLabel) -> str:
    return _ENDPOINT.sub(r"\3", label.name)


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")
