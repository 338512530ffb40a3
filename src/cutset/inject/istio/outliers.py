"""Injected failures must not eject replicas that other users need: patches of what callers do with outlier detection.

HTTP: the detector is told not to count answers that have our mark. gRPC: it asks nobody, so an injected status comes to
the router under another name, which the retry policy knows, and the route gives it back its own.

A patch replaces the protocol options of a cluster as a whole, so all that Istio had put there is said again; and
the conditions of retries, so those of VirtualServices are read first. What cannot be said without a change is refused.
"""

from collections.abc import Sequence

from cutset.errors import UsageError
from cutset.inject.filters import HIDDEN_STATUS, HTTP_OPTIONS, SHOWN_STATUS, blind_to_injected_failures
from cutset.inject.istio.envoy_filter import GATEWAY, OUTBOUND, merged_cluster, merged_routes, merged_virtual_host
from cutset.inject.istio.traffic_policy import CallPolicy, CallRules, call_policies, full_host, host_matches
from cutset.model.cluster import ClusterPort, ClusterService, Resource
from cutset.model.mesh import Json
from cutset.model.wording import quoted

# Istio's own, where no VirtualService says otherwise.
DEFAULT_RETRY_ON = "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes"
# What a retry policy calls the statuses of gRPC that it may retry.
_STATUSES = {
    "cancelled": "1",
    "deadline-exceeded": "4",
    "resource-exhausted": "8",
    "internal": "13",
    "unavailable": "14",
}
_LEAVE_TO_THEM = "Take outlierDetection away from it while you experiment, or the service out of the installation"


def outlier_patches(
    caller_namespace: str,
    services: Sequence[ClusterService],
    rules: CallRules,
) -> list[Resource]:
    """For the sidecars of one namespace that calls these services."""
    patches = []
    for service in services:
        policies = [each for each in call_policies(caller_namespace, service, rules) if each.ejects]
        patches += [_cluster_patch(OUTBOUND, each) for each in policies if _port(each).reached]
        for port in sorted({each.port for each in policies if _is_grpc(each)}):
            patches += _route_patches(service, port, _retry_on(service, rules))
    return patches


def gateway_outlier_patches(
    gateway_namespace: str,
    services: Sequence[ClusterService],
    rules: CallRules,
) -> list[Resource]:
    """The same for gateways, whose virtual hosts are not those of services: so gRPC is refused there."""
    entered = entered_hosts(rules)
    patches = []
    for service in services:
        policies = [each for each in call_policies(gateway_namespace, service, rules) if each.ejects]
        if service.host in entered and any(map(_is_grpc, policies)):
            raise UsageError(
                f"Injected gRPC failures of {service.host} would eject its replicas at the gateways in "
                f"`{gateway_namespace}`, for all users: a DestinationRule says outlierDetection, and they lead there",
                hint=_LEAVE_TO_THEM,
            )
        patches += [_cluster_patch(GATEWAY, each) for each in policies if _port(each).reached and not _is_grpc(each)]
    return patches


def entered_hosts(rules: CallRules) -> frozenset[str]:
    """Where requests may go right from a gateway: by VirtualServices, or by routes of the Gateway API."""
    found = set()
    for route in rules.virtual_services:
        if any(each != "mesh" for each in route["spec"].get("gateways", ())):
            for http in route["spec"].get("http", ()):
                hosts = [each["destination"]["host"] for each in http.get("route", ())]
                found |= {full_host(host, route["metadata"]["namespace"]) for host in hosts}
    for route in rules.http_routes:
        namespace = route["metadata"]["namespace"]
        for rule in route["spec"].get("rules", ()):
            for each in rule.get("backendRefs", ()):
                found.add(f"{each['name']}.{each.get('namespace', namespace)}.svc.cluster.local")
    return frozenset(found)


def _port(policy: CallPolicy) -> ClusterPort:
    return next(each for each in policy.service.ports if each.number == policy.port)


def _is_grpc(policy: CallPolicy) -> bool:
    return _port(policy).protocol.startswith("grpc")


def _cluster_patch(context: str, policy: CallPolicy) -> Resource:
    blind = blind_to_injected_failures("grpc" if _is_grpc(policy) else "http")
    options: Json = {"@type": f"type.googleapis.com/{HTTP_OPTIONS}", **_protocol(context, policy), **blind}
    value: Json = {"typed_extension_protocol_options": {HTTP_OPTIONS: options}}
    return merged_cluster(context, policy.service.host, policy.port, policy.subset, value)


def _protocol(context: str, policy: CallPolicy) -> Json:
    """What Istio would have said, of `connectionPool` and the port's protocol."""
    http, tcp = policy.pool.get("http", {}), policy.pool.get("tcp", {})
    common = {
        "idle_timeout": http.get("idleTimeout") or tcp.get("idleTimeout"),
        "max_connection_duration": tcp.get("maxConnectionDuration"),
        "max_requests_per_connection": http.get("maxRequestsPerConnection"),
    }
    said = {name: value for name, value in common.items() if value}
    more: Json = {"common_http_protocol_options": said} if said else {}
    port = _port(policy)
    if http.get("useClientProtocol") or (not port.protocol and context == OUTBOUND):
        both: Json = {"http_protocol_options": {}, "http2_protocol_options": {}}
        return {**more, "use_downstream_protocol_config": both}
    if port.http2 or http.get("h2UpgradePolicy") == "UPGRADE":
        streams, alive = http.get("maxConcurrentStreams"), http.get("http2KeepAlive")
        second: Json = {"max_concurrent_streams": streams} if streams else {}
        second |= {"connection_keepalive": alive} if alive else {}
        return {**more, "explicit_http_config": {"http2_protocol_options": second}}
    return {**more, "explicit_http_config": {"http_protocol_options": {}}}


def _route_patches(service: ClusterService, port: int, retry_on: str) -> list[Resource]:
    """An empty `retry_on` says that nothing is retried, which then stays so."""
    virtual_host = f"{service.host}:{port}"
    route: Json = {"response_headers_to_add": [SHOWN_STATUS]}
    retried = [_STATUSES[each] for each in retry_on.split(",") if each in _STATUSES]
    if retried:
        hidden = [{"name": HIDDEN_STATUS, "string_match": {"exact": status}} for status in retried]
        route["route"] = {"retry_policy": {"retry_on": f"{retry_on},retriable-headers", "retriable_headers": hidden}}
    removed: Json = {"response_headers_to_remove": [HIDDEN_STATUS]}
    return [merged_routes(OUTBOUND, virtual_host, route), merged_virtual_host(OUTBOUND, virtual_host, removed)]


def _retry_on(service: ClusterService, rules: CallRules) -> str:
    default = _condition(rules.mesh.get("defaultHttpRetryPolicy"))
    leading = [
        (route, http)
        for route in rules.virtual_services
        if "mesh" in route["spec"].get("gateways", ["mesh"])
        and any(
            host_matches(full_host(host, route["metadata"]["namespace"]), service.host)
            for host in route["spec"].get("hosts", ())
        )
        for http in route["spec"].get("http", ())
    ]
    found = {_condition(http["retries"]) if http.get("retries") else default for _, http in leading} or {default}
    if len(found) > 1:
        named = quoted(sorted({f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each, _ in leading}))
        raise UsageError(
            f"{service.host} has outlierDetection, speaks gRPC, and its routes (VirtualService {named}) retry on "
            "different conditions: no patch can keep them apart",
            hint=_LEAVE_TO_THEM,
        )
    return found.pop()


def _condition(retries: Resource | None) -> str:
    """As istiod writes it for Envoy: codes apart, and their condition added."""
    if retries is None:
        return DEFAULT_RETRY_ON
    if int(retries.get("attempts", 0)) <= 0:
        return ""
    said = [each.strip() for each in str(retries.get("retryOn", "")).split(",") if each.strip()]
    if not said:
        return DEFAULT_RETRY_ON
    words = [each for each in said if not each.isdigit()]
    if len(words) < len(said) and "retriable-status-codes" not in words:
        words.append("retriable-status-codes")
    return ",".join(words)
