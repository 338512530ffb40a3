from typing import Any

from tests.samples.cluster_resources import resource, route, virtual_service

from cutset.inject.istio.routes import RoutedRequest, routed_requests

SOURCE = "VirtualService shop/front"


def routed(http: list[dict[str, Any]], **spec: Any) -> list[RoutedRequest]:
    listed = {"VirtualService": [virtual_service("front", http, **({"gateways": ["front"]} | spec))]}
    return list(routed_requests(listed, ["shop"]))


def test_paths_and_methods_of_virtual_services_are_requests() -> None:
    matches = [
        {"uri": {"exact": "/cart"}, "method": {"exact": "POST"}},
        {"uri": {"prefix": "/product"}},
        {"uri": {"regex": "/a.*"}},
        {"uri": {"exact": "/with space"}},
    ]
    assert routed([route("frontend", match=matches)], hosts=["*.example", "shop.example"]) == [
        RoutedRequest("/cart", "POST", "shop.example", SOURCE),
        RoutedRequest("/product", "GET", "shop.example", SOURCE, exact=False),
    ]


def test_a_route_without_a_match_takes_all_paths() -> None:
    assert routed([route("frontend"), route("frontend")]) == [RoutedRequest("/", source=SOURCE, exact=False)]


def test_routes_inside_the_mesh_are_no_requests_of_users() -> None:
    assert not routed([route("cart")], gateways=["mesh"])
    listed = {"VirtualService": [virtual_service("cart", [route("cart")])]}
    assert not routed_requests(listed, ["shop"])


def test_paths_of_http_routes_are_requests() -> None:
    matches = [{"path": {"type": "Exact", "value": "/cart"}, "method": "DELETE"}, {"path": {"value": "/p"}}]
    spec = {"hostnames": ["shop.example"], "rules": [{"backendRefs": [{"name": "frontend"}], "matches": matches}]}
    assert list(routed_requests({"HTTPRoute": [resource("HTTPRoute", "r", spec)]}, ["shop"])) == [
        RoutedRequest("/cart", "DELETE", "shop.example", "HTTPRoute shop/r"),
        RoutedRequest("/p", "GET", "shop.example", "HTTPRoute shop/r", exact=False),
    ]
