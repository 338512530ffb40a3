"""An EnvoyFilter in parts: which listener, cluster or route a patch is for, and what it does there."""

from collections.abc import Mapping, Sequence

from cutset.inject.filters import FILTERS
from cutset.model.cluster import Resource
from cutset.model.mesh import Json

_MANAGER = "envoy.filters.network.http_connection_manager"
_ROUTER = "envoy.filters.http.router"
INBOUND, OUTBOUND, GATEWAY = "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY"


def envoy_filter(
    name: str, namespace: str, patches: Sequence[Resource], selector: Mapping[str, str] | None = None
) -> Resource:
    """Without a selector: for all workloads of the namespace."""
    chosen = {"workloadSelector": {"labels": dict(selector)}} if selector else {}
    return {
        "apiVersion": "networking.istio.io/v1alpha3",
        "kind": "EnvoyFilter",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {**chosen, "configPatches": list(patches)},
    }


def before_router(context: str, filters: Sequence[Json]) -> list[Resource]:
    """One after the other, so that they come in this order."""
    at = _in_manager(context, {"subFilter": {"name": _ROUTER}})
    return [_patch("HTTP_FILTER", at, "INSERT_BEFORE", each) for each in filters]


def first(context: str, filters: Sequence[Json]) -> list[Resource]:
    """Before all other filters; the last of them is put in first, so that they come in this order."""
    return [_patch("HTTP_FILTER", _in_manager(context), "INSERT_FIRST", each) for each in reversed(filters)]


def merged_manager(context: str, options: Json) -> list[Resource]:
    """Options of the connection manager; its lists are appended to."""
    if not options:
        return []
    config = {"@type": FILTERS + "network.http_connection_manager.v3.HttpConnectionManager", **options}
    value: Json = {"name": _MANAGER, "typed_config": config}
    return [_patch("NETWORK_FILTER", _in_manager(context), "MERGE", value)]


def merged_cluster(context: str, host: str, port: int, subset: str, value: Json) -> Resource:
    """An empty subset means all of them."""
    chosen = {"service": host, "portNumber": port, **({"subset": subset} if subset else {})}
    return _patch("CLUSTER", {"context": context, "cluster": chosen}, "MERGE", value)


def merged_routes(context: str, virtual_host: str, value: Json) -> Resource:
    """All routes of a virtual host that lead somewhere."""
    at = {"routeConfiguration": {"vhost": {"name": virtual_host, "route": {"action": "ROUTE"}}}}
    return _patch("HTTP_ROUTE", {"context": context, **at}, "MERGE", value)


def merged_virtual_host(context: str, virtual_host: str, value: Json) -> Resource:
    at = {"routeConfiguration": {"vhost": {"name": virtual_host}}}
    return _patch("VIRTUAL_HOST", {"context": context, **at}, "MERGE", value)


def _in_manager(context: str, within: Json | None = None) -> Resource:
    chain = {"filterChain": {"filter": {"name": _MANAGER, **(within or {})}}}
    return {"context": context, "listener": chain}


def _patch(apply_to: str, match: Resource, operation: str, value: Json) -> Resource:
    return {"applyTo": apply_to, "match": match, "patch": {"operation": operation, "value": value}}
