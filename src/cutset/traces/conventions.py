"""What attributes, statuses and ids mean, whatever OpenTelemetry, OpenTracing, Zipkin, Envoy or Istio called them.

Every reader passes what it found through here, so that the rest of Cutset knows one set of names: the keys of
`KEPT_ATTRIBUTES`. Texts come from outside: what no store can hold is replaced, and all of it is bounded.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from cutset.model.span import GRPC_FAILURES, KEPT_ATTRIBUTES, AttributeValue, SpanKind

MAX_TEXT = 512  # characters of a name or value
MAX_ID = 64  # characters of an id that is not hexadecimal

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # NUL and unpaired surrogates
_TRACE_ID = re.compile("[0-9a-f]{32}")
_SPAN_ID = re.compile("[0-9a-f]{16}")
_ZEROS = frozenset({"0" * 16, "0" * 32})
_HEX = re.compile("[0-9a-f]+")
_HEX_DIGITS = b"0123456789abcdef"

_HOST = re.compile(r"(?=[^:]*[A-Za-z])([\w.-]+)(?::\d+)?")  # a letter before any colon: not an address of IPv4 or IPv6
_OUTBOUND = re.compile(r"outbound\|\d*\|[^|]*\|([^|]+)")  # Istio: `outbound|9080|v1|reviews.default.svc.cluster.local`
_VERB = re.compile(r"(?:\s|/\*.*?\*/|--[^\n]*\n|[({\"'])*+([A-Za-z]\w{0,63})", re.DOTALL)
_COLLECTION = re.compile(r"\b(?:FROM|INTO|UPDATE|TABLE)\s+[\"`\[]?([A-Za-z_][\w.$]*)", re.IGNORECASE)
# fmt: off
_SQL_VERBS = frozenset({
    "ALTER", "BEGIN", "CALL", "COMMIT", "CREATE", "DELETE", "DROP", "EXECUTE", "INSERT", "MERGE", "REPLACE",
    "ROLLBACK", "SELECT", "SET", "SHOW", "TRUNCATE", "UPDATE", "UPSERT", "WITH",
})
_GRPC_CODES = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
    "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)
# fmt: on
# By number, and by every spelling: `DeadlineExceeded` is Go's, `deadline_exceeded` Connect's.
_GRPC_NAMES = {str(number): name for number, name in enumerate(_GRPC_CODES)} | {
    name.replace("_", ""): name for name in _GRPC_CODES
}
_STORES_BY_COMPONENT = {
    **{name: name for name in ("cassandra", "elasticsearch", "memcached", "mongodb", "redis")},
    "mongo": "mongodb",
    "spymemcached": "memcached",
    "xmemcached": "memcached",
    "jedis": "redis",
    "lettuce": "redis",
}
_GRPC_FAILURE_NAMES = frozenset(GRPC_FAILURES.values())


def kept(attributes: Mapping[str, AttributeValue]) -> dict[str, AttributeValue]:
    """Those attributes that say what a span was about, by their present names and as text.

    A present name wins over an old one; among old ones the first. `peer.service` may come from the server's address,
    which on the server's own span is the server itself: only what a caller says of its peer means anything.
    """
    found: dict[str, AttributeValue] = {}
    for name, value in attributes.items():
        rules = _RULES.get(name)
        if rules is None:
            continue
        text = as_text(value)
        if len(text) > MAX_TEXT or not text.isprintable():
            text = bounded(text)
        for target, translate in rules:
            if name == target or target not in found:
                translated = text if translate is None else translate(text)
                if translated:
                    found[target] = translated
    if "rpc.service" in attributes and "rpc.method" in found:
        method, service = str(found["rpc.method"]), bounded(str(attributes["rpc.service"])).strip("/")
        if service and "/" not in method:
            found["rpc.method"] = f"{service}/{method}"[:MAX_TEXT]
    return found


def failed(error_flag: bool, kind: SpanKind, kept: Mapping[str, AttributeValue]) -> bool:  # noqa: FBT001
    """Whether a span failed, by OpenTelemetry's rules: to a caller the answers 4xx are failures, to a server not."""
    if error_flag:
        return True
    http = str(kept.get("http.response.status_code", ""))
    if len(http) == 3 and http.isdecimal() and (http >= "500" or (http >= "400" and kind is SpanKind.CLIENT)):
        return True
    grpc = kept.get("rpc.response.status_code", "OK")
    return grpc in _GRPC_FAILURE_NAMES or (kind is SpanKind.CLIENT and grpc != "OK" and grpc in _GRPC_CODES)


def trace_id(text: str) -> str:
    """32 lower-case hex digits for anything hexadecimal, "" for zeros and nothing, other texts as they are."""
    return text if _TRACE_ID.fullmatch(text) and text not in _ZEROS else _identifier(text, 32)


def span_id(text: str) -> str:
    """Likewise, with 16 digits."""
    return text if _SPAN_ID.fullmatch(text) and text not in _ZEROS else _identifier(text, 16)


def are_ids(texts: Sequence[str], digits: int) -> bool:
    """Whether `trace_id` (32 digits) or `span_id` (16) would leave all of these as they are, told for little."""
    return (
        set(map(len, texts)) <= {digits}
        and not "".join(texts).encode("ascii", "replace").translate(None, _HEX_DIGITS)  # what else there is
        and "0" * digits not in texts
    )


def bounded(text: str, limit: int = MAX_TEXT) -> str:
    """The text in a form that can be stored: not too long, no NUL, no half of a surrogate pair."""
    text = text[:limit]
    return text if text.isprintable() else _UNSTORABLE.sub("\ufffd", text)


def _identifier(text: str, digits: int) -> str:
    lowered = text.strip().lower()
    if len(lowered) <= digits and (not lowered or _HEX.fullmatch(lowered)):
        return lowered.zfill(digits) if lowered.strip("0") else ""
    return bounded(text.strip(), MAX_ID)


def as_text(value: AttributeValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a status that went through JavaScript or Lua
    return str(value)


def _path(url: str) -> str:
    """The path of a URL of any form: `https://host/a?b#c`, `host:80/a`, `/a?b`."""
    path = url.partition("?")[0].partition("#")[0]
    if path.startswith("/"):
        return path
    _, slash, below_host = path.partition("://")[2].partition("/") if "://" in path else path.partition("/")
    return slash + below_host or "/"


def _path_alone(path: str) -> str:
    """Where no host can be: `a/b?c` is the path `/a/b`. Some write the whole URL all the same."""
    if "://" in path.partition("?")[0]:
        return _path(path)
    return ("/" + path.partition("?")[0].partition("#")[0].removeprefix("/"))[:MAX_TEXT]


def _host(address: str) -> str:
    match = _HOST.fullmatch(address)
    name = match[1].partition(".svc.")[0] if match else ""
    return "" if name == "localhost" else name


def _host_of_url(url: str) -> str:
    """`mongodb://user:password@users-db:27017,…/users`: of several hosts the first stands for all of them."""
    _, has_host, rest = url.partition("://")
    return _host(re.split("[/?,;]", rest, maxsplit=1)[0].rpartition("@")[2]) if has_host else ""


def _outbound_host(cluster: str) -> str:
    match = _OUTBOUND.fullmatch(cluster)
    return _host(match[1]) if match else ""


def _verb(statement: str) -> str:
    match = _VERB.match(statement)
    if match is None:
        return ""
    return match[1].upper() if match[1].upper() in _SQL_VERBS else match[1]


def _collection(statement: str) -> str:
    match = _COLLECTION.search(statement) if _verb(statement) in _SQL_VERBS else None
    return match[1] if match else ""


def _grpc_status(code: str) -> str:
    return _GRPC_NAMES.get(code) or _GRPC_NAMES.get(code.replace("_", "").upper(), code)


def _grpc_component(component: str) -> str:
    return "grpc" if component.lower() == "grpc" else ""


def _store_component(component: str) -> str:
    """OpenTracing's instrumentation of clients: `java-mongo`, `java-redis`, `java-memcached`, `go-mongodb`."""
    words = component.lower().replace("_", "-").split("-")
    return next((_STORES_BY_COMPONENT[word] for word in words if word in _STORES_BY_COMPONENT), "")


def _sidecar_node(node: str) -> str:
    """Istio's proxies say what they are: `sidecar~10.0.0.7~cart-5f~shop.svc`; gateways are `router~…`."""
    return "true" if node.startswith("sidecar~") else ""


def _always(text: str) -> Callable[[str], str]:
    return lambda _value: text


def _without_slash(method: str) -> str:
    return method.strip("/")


_Rule = tuple[str, Callable[[str], str] | None]  # the present name, and how its value follows
_STATEMENT: tuple[_Rule, ...] = (("db.operation.name", _verb), ("db.collection.name", _collection))
_RULES: dict[str, tuple[_Rule, ...]] = {
    **{name: ((name, None),) for name in KEPT_ATTRIBUTES},
    "http.method": (("http.request.method", None),),
    "http.status_code": (("http.response.status_code", None),),
    "url.path": (("url.path", _path_alone),),
    "url.full": (("url.path", _path),),
    "http.url": (("url.path", _path),),
    "http.target": (("url.path", _path_alone),),
    "http.path": (("url.path", _path_alone),),
    "rpc.system": (("rpc.system.name", None),),
    "rpc.method": (("rpc.method", _without_slash),),
    "rpc.response.status_code": (("rpc.response.status_code", _grpc_status),),
    "rpc.grpc.status_code": (("rpc.response.status_code", _grpc_status), ("rpc.system.name", _always("grpc"))),
    "rpc.connect_rpc.error_code": (("rpc.response.status_code", _grpc_status),),
    "grpc.status_code": (("rpc.response.status_code", _grpc_status), ("rpc.system.name", _always("grpc"))),
    "grpc.path": (("rpc.method", _without_slash), ("rpc.system.name", _always("grpc"))),
    "component": (("rpc.system.name", _grpc_component), ("db.system.name", _store_component)),
    "db.system": (("db.system.name", None),),
    "db.type": (("db.system.name", str.lower),),
    "db.operation": (("db.operation.name", None),),
    "db.statement": _STATEMENT,
    "db.query.text": _STATEMENT,
    "sql.query": (*_STATEMENT, ("db.system.name", _always("sql"))),
    "redis.command": (("db.operation.name", _verb), ("db.system.name", _always("redis"))),
    "db.sql.table": (("db.collection.name", None),),
    "db.mongodb.collection": (("db.collection.name", None),),
    "mongodb.collection": (("db.collection.name", None), ("db.system.name", _always("mongodb"))),
    "db.cassandra.table": (("db.collection.name", None),),
    "messaging.operation": (("messaging.operation.name", None),),
    "messaging.operation.type": (("messaging.operation.name", None),),
    "messaging.destination": (("messaging.destination.name", None),),
    "message_bus.destination": (("messaging.destination.name", None),),
    "kafka.topic": (("messaging.destination.name", None), ("messaging.system", _always("kafka"))),
    "server.address": (("peer.service", _host),),
    "net.peer.name": (("peer.service", _host),),
    "net.sock.peer.name": (("peer.service", _host),),
    "peer.hostname": (("peer.service", _host),),
    "peer.address": (("peer.service", _host),),
    "db.connection_string": (("peer.service", _host_of_url),),
    "cutset.attempt": (("cutset.sidecar", _always("true")),),  # as all sidecars of ours say
    "node_id": (("cutset.sidecar", _sidecar_node),),
    "upstream_cluster": (("peer.service", _outbound_host),),
    "upstream_cluster.name": (("peer.service", _outbound_host),),
}
# A sidecar of Cutset's speaks for the service that it is in front of, whatever all sidecars are called together.
SIDECAR_OF = "cutset.service"
# All that is read of what a span and its resource say of themselves; readers may leave out the rest.
READ_ATTRIBUTES = frozenset({*_RULES, "rpc.service", "service.name", SIDECAR_OF})
