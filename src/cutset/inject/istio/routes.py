"""Which requests get from gateways to some namespaces, as far as routes say it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cutset.inject.istio.gateways import Listed, leading_routes
from cutset.model.cluster import Resource


@dataclass(frozen=True, slots=True)
class RoutedRequest:
    path: str
    method: str = "GET"
    host: str = ""  # that the route is for; empty: any
    source: str = ""  # the resource that says so
    exact: bool = True  # whether the path is a whole one, or what paths begin with


def routed_requests(listed: Listed, namespaces: Sequence[str]) -> tuple[RoutedRequest, ...]:
    """Each once, in the order of the routes. Paths that are patterns cannot be guessed and are left out."""
    found: dict[tuple[str, str, str], RoutedRequest] = {}
    for each in (*_of_virtual_services(listed, namespaces), *_of_http_routes(listed, namespaces)):
        found.setdefault((each.method, each.path, each.host), each)
    return tuple(found.values())


def _of_virtual_services(listed: Listed, namespaces: Sequence[str]) -> Iterator[RoutedRequest]:
    for route in leading_routes(listed, "VirtualService", namespaces):
        if set(route["spec"].get("gateways", ("mesh",))) <= {"mesh"}:
            continue  # how callers inside the mesh get there, not how users do
        for rule in route["spec"].get("http", ()):
            for match in rule.get("match") or [{}]:
                for path, exact in _paths(match.get("uri", {"prefix": "/"}), "exact", "prefix"):
                    method = match.get("method", {}).get("exact", "GET")
                    yield RoutedRequest(path, method, _host(route["spec"].get("hosts")), _named(route), exact)


def _of_http_routes(listed: Listed, namespaces: Sequence[str]) -> Iterator[RoutedRequest]:
    for route in leading_routes(listed, "HTTPRoute", namespaces):
        for rule in route["spec"].get("rules", ()):
            for match in rule.get("matches") or [{}]:
                said = match.get("path", {})
                told = {said.get("type", "PathPrefix"): said.get("value", "/")}
                for path, exact in _paths(told, "Exact", "PathPrefix"):
                    host = _host(route["spec"].get("hostnames"))
                    yield RoutedRequest(path, match.get("method", "GET"), host, _named(route), exact)


def _paths(match: Resource, exact: str, prefix: str) -> Iterator[tuple[str, bool]]:
    for kind, whole in ((exact, True), (prefix, False)):
        path = str(match.get(kind, ""))
        if path.startswith("/") and not any(letter.isspace() for letter in path):
            yield path, whole


def _host(hosts: Sequence[str] | None) -> str:
    """The first that is a whole name."""
    return next((host for host in hosts or () if "*" not in host), "")


def _named(route: Resource) -> str:
    return f"{route['kind']} {route['metadata']['namespace']}/{route['metadata']['name']}"
