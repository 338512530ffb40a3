"""The configuration of a local mesh: one Envoy process that stands for all the sidecars.

    caller ──▶ outbound listener (one per service: balances, retries) ──▶ inbound listener (one per replica) ──▶ replica
    user   ──▶ edge listener (drops foreign plans, may ask for a mark) ──▶ inbound listeners of the entry service

Faults happen in inbound listeners (MicroFI §4.3.3 fails the call in the callee's proxy too), so that the caller's
retries are the real ones and each replica can fail on its own. Pure: builds a dictionary and nothing else.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import replace

from cutset.inject.filters import (
    CARRIERS,
    CONTEXT_HEADER,
    FILTERS,
    HELPER_HEADERS,
    HIDDEN_STATUS,
    HTTP_OPTIONS,
    RETRIED_STATUS,
    SHOWN_STATUS,
    TOLD,
    TYPE,
    blind_to_injected_failures,
    fault_filter,
    lua_filter,
    mark_injected_replies,
    own_span_filter,
    told_tag,
)
from cutset.inject.local.context import JOINING, NAMED_OTHERWISE, NAMING
from cutset.inject.local.edge import early_removal
from cutset.inject.local.marking import marked_cluster, marker_cluster, marking_filters, marking_routes, marking_runtime
from cutset.inject.local.stand_in import DIRECT_HEADER, FALLBACK_AT_HEADER, FALLBACK_HEADER, StandIn
from cutset.inject.sources import context_source, edge_source, filter_source
from cutset.model.expect import split_address
from cutset.model.mesh import Json, MeshService, MeshSpec

LOOPBACK = "127.0.0.1"
# Envoy's default of 3 parallel retries and 1,024 requests would fail experiments that the system would survive.
UNLIMITED = 1_000_000
# uvicorn closes idle connections after 5 s; a request sent at that moment would fail for no fault of ours.
UPSTREAM_IDLE_SECONDS = 3
# A span is exported at the latest after this, so an experiment need not wait for Envoy's default of 5 s.
FLUSH_MILLISECONDS = 20
FLUSH_SPANS = 256  # or as soon as so many wait: large enough that a busy mesh sends batches
FALLBACK_SUFFIX = "-fallback"
_STAND_IN = "stand-in"
_CAME_BACK = "x-cutset-came-back"
RESELECT_HOST = 50  # tries to find a replica that was not tried yet: with round robin a handful would do


def bootstrap(spec: MeshSpec, inbound_ports: Mapping[tuple[str, str], int], public_key: bytes = b"") -> Json:
    """`spec` with all its ports chosen; `inbound_ports` by (service, replica); for `public_key` see `filter_source`."""
    listeners: list[Json] = []
    clusters: list[Json] = []
    runtime: Json = {
        "tracing.opentelemetry.flush_interval_ms": FLUSH_MILLISECONDS,
        "tracing.opentelemetry.min_flush_spans": FLUSH_SPANS,
    }
    for service in spec.services:
        for replica, address in _replicas(service):
            port = inbound_ports[service.name, replica]
            listeners.append(_inbound_listener(spec, service, replica, port, public_key))
            clusters.append(_replica_cluster(service, replica, address))
        ports = [inbound_ports[service.name, replica] for replica, _ in _replicas(service)]
        listeners.append(_outbound_listener(spec, service))
        clusters.append(_service_cluster(service, ports))
        if service.name == spec.entry:
            listeners.append(_edge_listener(spec, service))
            if spec.filters:
                clusters += _marking_clusters(spec, service, ports)
                runtime |= marking_runtime(service.name, f"outbound:{service.name}", spec.users)
    if spec.stand_in:
        clusters.append(_cluster(_STAND_IN, [spec.stand_in], _http_options("grpc")))
    if spec.collector:
        clusters.append(_cluster("collector", [spec.collector], _http_options("grpc")))
    # The admin layer makes the kill switch work: POST /runtime_modify?cutset.enabled=0
    layers = [{"name": "cutset", "static_layer": runtime}, {"name": "admin", "admin_layer": {}}]
    return {
        "admin": {"address": _address(f"{LOOPBACK}:{spec.admin_port}")},
        "static_resources": {"listeners": listeners, "clusters": clusters},
        "layered_runtime": {"layers": layers},
    }


def _replicas(service: MeshService) -> list[tuple[str, str]]:
    return [(str(number), address) for number, address in enumerate(service.replicas, start=1)]


def _inbound_listener(spec: MeshSpec, service: MeshService, replica: str, port: int, public_key: bytes) -> Json:
    name = f"inbound:{service.name}#{replica}"
    route: Json = {"match": {"prefix": "/"}, "route": {"cluster": name, "timeout": "0s"}}
    routes = [route]
    options: Json = {}
    filters: list[Json] = []
    if spec.collector:
        options |= _tracing(service.name, replica)
        filters += _joining_filters()
        routes = [_switched_on(route, [{"name": CONTEXT_HEADER, "present_match": True}], filters), route]
    if spec.filters:
        filters += plan_filters(service.name, replica, spec.environment, public_key)
        routes = [_for_plans(route, carrier, filters) for carrier in CARRIERS] + routes
        options |= mark_injected_replies()
    first = [spec.first_filters[service.name]] if service.name in spec.first_filters else []
    listener = _listener(name, port, _connection_manager(name, {"routes": routes}, [*first, *filters], options))
    return listener | {"traffic_direction": "INBOUND"}


def _switched_on(route: Json, headers: list[Json], filters: list[Json]) -> Json:
    """The same route for requests with such headers: the only ones for which the filters are switched on.

    A composite filter could guard them too, but costs every other request more.
    """
    switched_on = {"@type": TYPE + "config.route.v3.FilterConfig", "config": {}}
    match = route["match"]
    assert isinstance(match, dict)
    before = match.get("headers", [])
    return {
        **route,
        "match": {**match, "headers": [*before, *headers]},
        "typed_per_filter_config": {str(each["name"]): switched_on for each in filters},
    }


def _holds(header: str, text: str) -> list[Json]:
    return [{"name": header, "string_match": {"contains": text}}]


def _for_plans(route: Json, carrier: str, filters: list[Json]) -> Json:
    marked = _switched_on(route, _holds(carrier, CARRIERS[carrier]), filters)
    marked["request_headers_to_remove"] = HELPER_HEADERS  # after all filters: the application never sees them
    assert isinstance(marked["match"], dict)
    marked["match"]["runtime_fraction"] = {"default_value": {"numerator": 100}, "runtime_key": "cutset.enabled"}
    return marked


def _joining_filters() -> list[Json]:
    joining = lua_filter(JOINING, context_source(inbound=True))
    return [own_span_filter() | {"disabled": True}, joining | {"disabled": True}]


def with_fallbacks(spec: MeshSpec, stand_in: StandIn) -> MeshSpec:
    """A fallback is a service of its own, so that traces show it and plans reach it."""
    fallbacks = tuple(
        MeshService(service.name + FALLBACK_SUFFIX, "grpc", (stand_in.answers,), retries=0)
        for service in spec.services
        if service.fallback
    )
    return replace(spec, services=(*spec.services, *fallbacks), stand_in=stand_in.proxy)


def _outbound_listener(spec: MeshSpec, service: MeshService) -> Json:
    name = f"outbound:{service.name}"
    routes = [*_stood_in(spec, service), _route_to(service)]
    filters: list[Json] = []
    if spec.collector:
        filters = [lua_filter(NAMING, context_source(inbound=False)) | {"disabled": True}]
        routes = [
            each
            for route in routes
            for each in (*(_switched_on(route, headers, filters) for headers in NAMED_OTHERWISE), route)
        ]
    listener = _listener(name, service.port, _connection_manager(name, _balanced(routes), filters, {}))
    return listener | {"traffic_direction": "OUTBOUND"}


def _stood_in(spec: MeshSpec, service: MeshService) -> list[Json]:
    """APIs with a fallback go by way of the stand-in, which comes back for the callee itself."""
    if not service.fallback:
        return []
    ports = {each.name: each.port for each in spec.services}
    direct = _route_to(service)
    direct["match"] = {"prefix": "/", "headers": [{"name": _CAME_BACK, "present_match": True}]}
    direct["request_headers_to_remove"] = [_CAME_BACK, DIRECT_HEADER, FALLBACK_HEADER, FALLBACK_AT_HEADER]
    routes = [direct]
    for api, kind in service.fallback.items():
        known = {
            _CAME_BACK: "1",
            DIRECT_HEADER: f"{LOOPBACK}:{service.port}",
            FALLBACK_HEADER: kind,
            FALLBACK_AT_HEADER: f"{LOOPBACK}:{ports[service.name + FALLBACK_SUFFIX]}",
        }
        added = [
            {"header": {"key": key, "value": value}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}
            for key, value in known.items()
        ]
        routes.append(
            {
                "match": {"safe_regex": {"regex": f"/.*/{re.escape(api)}"}},
                "route": {"cluster": _STAND_IN, "timeout": _timeout(service, calls=2)},
                "request_headers_to_add": added,
            }
        )
    return routes


def _route_to(service: MeshService) -> Json:
    route: Json = {"cluster": f"outbound:{service.name}", "timeout": _timeout(service)}
    retries = len(service.replicas) - 1 if service.retries is None else service.retries
    if retries:
        hedge_after = service.hedge_after_seconds
        hedging: Json = {"per_try_timeout": f"{hedge_after}s"} if hedge_after else {}
        route["retry_policy"] = _retry_policy(retries) | hedging
        if hedging:
            route["hedge_policy"] = {"hedge_on_per_try_timeout": True}
    return {"match": {"prefix": "/"}, "route": route, **_shown_status(service)}


def _timeout(service: MeshService, calls: int = 1) -> str:
    """Envoy's own default of 15 s would make findings of long delays that callers handle."""
    return f"{calls * (service.timeout_seconds or 0)}s"  # 0: none


def _balanced(routes: list[Json]) -> Json:
    return {
        "routes": routes,
        "include_request_attempt_count": True,
        "response_headers_to_remove": [HIDDEN_STATUS],  # runs after the route's own additions
    }


def _shown_status(service: MeshService) -> Json:
    if not (service.outlier_detection and service.protocol == "grpc"):
        return {}
    return {"response_headers_to_add": [SHOWN_STATUS]}


def _edge_listener(spec: MeshSpec, service: MeshService) -> Json:
    options: Json = {"early_header_mutation_extensions": [early_removal()]}
    filters, routes = [lua_filter("cutset.strip", edge_source())], [_route_to(service)]
    if spec.filters:
        filters += marking_filters(spec.users)
        routes = marking_routes(routes[0], service.name, spec.users)
    manager = _connection_manager("edge", _balanced(routes), filters, options)
    return _listener("edge", spec.edge_port, manager) | {"traffic_direction": "OUTBOUND"}


def _marking_clusters(spec: MeshSpec, service: MeshService, ports: list[int]) -> list[Json]:
    marker = marker_cluster(f"{LOOPBACK}:{spec.marking_port}")
    marked = marked_cluster(service.name, spec.users)
    return [marker, _service_cluster(service, ports, marked)] if marked else [marker]


def plan_filters(service: str, replica: str, environment: str, public_key: bytes) -> list[Json]:
    """Lua decides, Envoy's fault filter executes. Off, but for routes that switch them on."""
    lua = lua_filter("cutset.lua", filter_source(service, replica, environment, public_key))
    return [lua | {"disabled": True}, fault_filter() | {"disabled": True}]


def _tracing(service: str, replica: str) -> Json:
    """Identity is in tags: with one provider for all listeners Envoy keeps one exporter and sends batches."""
    provider: Json = {
        "@type": TYPE + "config.trace.v3.OpenTelemetryConfig",
        "service_name": "cutset-mesh",
        "grpc_service": {"envoy_grpc": {"cluster_name": "collector"}, "timeout": "5s"},
    }
    tags: list[Json] = [
        {"tag": "cutset.service", "literal": {"value": service}},
        {"tag": "cutset.replica", "literal": {"value": replica}},
        {"tag": "cutset.attempt", "request_header": {"name": "x-envoy-attempt-count", "default_value": "1"}},
    ]
    tags += [told_tag(name) for name in TOLD]
    return {
        "generate_request_id": True,  # without one Envoy samples nothing
        "tracing": {
            "provider": {"name": "envoy.tracers.opentelemetry", "typed_config": provider},
            "random_sampling": {"value": 100},
            "custom_tags": tags,
        },
    }


def _connection_manager(name: str, virtual_host: Json, filters: list[Json], options: Json) -> Json:
    router: Json = {"name": "envoy.filters.http.router", "typed_config": {"@type": FILTERS + "http.router.v3.Router"}}
    return {
        "@type": FILTERS + "network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": name.replace(":", "."),
        "route_config": {"name": name, "virtual_hosts": [{"name": name, "domains": ["*"], **virtual_host}]},
        "http_filters": [*filters, router],
        "generate_request_id": False,
        "server_header_transformation": "PASS_THROUGH",
        "stream_idle_timeout": "0s",  # an injected delay is an idle stream
        "upgrade_configs": [{"upgrade_type": "websocket"}],
        **options,
    }


def _listener(name: str, port: int, connection_manager: Json) -> Json:
    return {
        "name": name,
        "address": _address(f"{LOOPBACK}:{port}"),
        "enable_reuse_port": False,  # else two meshes could silently share a port
        "filter_chains": [{"filters": [{"name": "http", "typed_config": connection_manager}]}],
    }


def _retry_policy(retries: int) -> Json:
    """Only what the callee cannot have processed: repeating a failed POST would be a fault of our own making."""
    other_hosts = {"@type": TYPE + "extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"}
    return {
        "retry_on": "connect-failure,refused-stream,unavailable,retriable-status-codes,retriable-headers",
        "retriable_status_codes": [503],
        "retriable_headers": [RETRIED_STATUS],
        "num_retries": retries,
        "retry_host_predicate": [{"name": "envoy.retry_host_predicates.previous_hosts", "typed_config": other_hosts}],
        "host_selection_retry_max_attempts": RESELECT_HOST,
        "retry_back_off": {"base_interval": "0.001s", "max_interval": "0.01s"},
    }


def _replica_cluster(service: MeshService, replica: str, address: str) -> Json:
    options = _http_options(service.protocol)
    if service.protocol == "http":
        options["common_http_protocol_options"] = {"idle_timeout": f"{UPSTREAM_IDLE_SECONDS}s"}
    return _cluster(f"inbound:{service.name}#{replica}", [address], options)


def _service_cluster(service: MeshService, inbound_ports: list[int], name: str = "") -> Json:
    options = _http_options(service.protocol)
    detection: Json = {}
    if service.outlier_detection:
        options |= blind_to_injected_failures(service.protocol)
        detection["outlier_detection"] = {
            "consecutive_5xx": 5,
            "interval": "1s",
            "base_ejection_time": "10s",
            "max_ejection_percent": 100,
        }
    addresses = [f"{LOOPBACK}:{port}" for port in inbound_ports]
    return _cluster(name or f"outbound:{service.name}", addresses, options, **_limits(service)) | detection


def _limits(service: MeshService) -> Json:
    limits: Json = {}
    if service.max_parallel:
        limits |= {"max_requests": service.max_parallel, "max_pending_requests": service.max_parallel}
    if service.retry_budget_percent:
        # Few callers must not be left without any retry.
        budget = {"budget_percent": {"value": service.retry_budget_percent}, "min_retry_concurrency": 3}
        limits["retry_budget"] = budget
    return limits


def _http_options(protocol: str) -> Json:
    chosen = "http2_protocol_options" if protocol == "grpc" else "http_protocol_options"
    return {"@type": f"type.googleapis.com/{HTTP_OPTIONS}", "explicit_http_config": {chosen: {}}}


def _cluster(name: str, addresses: list[str], options: Json, **thresholds: object) -> Json:
    names = [host for host, _ in map(split_address, addresses) if not _is_ip(host)]
    limits = ("max_connections", "max_pending_requests", "max_requests", "max_retries")
    return {
        "name": name,
        "type": "STRICT_DNS" if names else "STATIC",
        "connect_timeout": "1s",
        "lb_policy": "ROUND_ROBIN",
        "circuit_breakers": {"thresholds": [dict.fromkeys(limits, UNLIMITED) | thresholds]},
        "typed_extension_protocol_options": {HTTP_OPTIONS: options},
        "load_assignment": {
            "cluster_name": name,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": _address(text)}} for text in addresses]}],
        },
    }


def _address(text: str) -> Json:
    host, port = split_address(text)
    return {"socket_address": {"address": host, "port_value": port}}


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
