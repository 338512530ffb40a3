import pytest

from cutset.lineage.classes import class_of_request, is_named_by_span, request_class
from cutset.model.call_tree import CallTree
from cutset.model.point import Point
from cutset.model.span import SpanKind, SpanLabel

ALONE = CallTree(Point("frontend", "any"))


def tree(*calls: CallTree) -> CallTree:
    return CallTree(Point("gateway", "any"), calls=calls)


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        (SpanLabel("shop", "GET", http_method="GET", http_route="/product/{id}", url_path="/p/7"), "GET /product/{id}"),
        (SpanLabel("shop", "GET /product/{id}", http_method="GET", url_path="/product/7"), "GET /product/{id}"),
        (SpanLabel("shop", "GET", http_method="GET", url_path="/product/*"), "GET /product/*"),
        (SpanLabel("shop", "handle", http_route="/product/{id}"), "/product/{id}"),
        (SpanLabel("shop", "x", rpc_method="shop.Cart/GetCart"), "shop.Cart/GetCart"),
        (SpanLabel("worker", "consume orders", SpanKind.CONSUMER), "consume orders"),
        (SpanLabel("worker", ""), "unknown"),
    ],
)
def test_a_request_is_named_by_the_best_that_its_entry_tells(entry: SpanLabel, name: str) -> None:
    assert request_class(entry, ALONE) == name


@pytest.mark.parametrize("route", ["/*", "/**", "*", "/{path:.*}", "/{proxy*}"])
def test_what_a_gateway_passes_on_is_named_after_whom_it_was_passed_on_to(route: str) -> None:
    order = CallTree(Point("orders", "GET /orders/{id}"), calls=(CallTree(Point("users", "GetUser")),))
    passed_on = tree(CallTree(Point("inner-gateway", f"GET {route}"), calls=(order,)))

    assert (
        request_class(SpanLabel("gateway", "GET", http_method="GET", http_route=route), passed_on) == "GET /orders/{id}"
    )


def test_a_catch_all_that_calls_several_keeps_the_name_of_its_span() -> None:
    several = tree(CallTree(Point("a", "A")), CallTree(Point("b", "B")))

    assert request_class(SpanLabel("gateway", "proxy", http_route="/*"), several) == "proxy"


def test_requests_of_one_name_are_told_apart_by_their_calls_if_so_wished() -> None:
    entry = SpanLabel("frontend", "Recv.")
    page = tree(CallTree(Point("ad", "GetAds")), CallTree(Point("cart", "GetCart"), failed=True))

    assert request_class(entry, page, by_calls=True) == "Recv. (calls GetAds, GetCart)"
    assert request_class(entry, tree(), by_calls=True) == "Recv. (no calls)"


def test_only_names_of_spans_may_stand_for_several_requests() -> None:
    assert is_named_by_span(SpanLabel("frontend", "Recv."))
    assert not is_named_by_span(SpanLabel("frontend", "GET", url_path="/"))


@pytest.mark.parametrize(
    ("request_name", "found"),
    [
        ("GET /users/{name}", "GET /users/{name}"),
        ("GET /users/*", "GET /users/{name}"),
        ("GET /users/alice", "GET /users/{name}"),
        ("GET /users/me", "GET /users/me"),
        ("GET /product/OLJCESPC7Z", "GET /product/*"),
        ("GetCart", "shop.Cart/GetCart"),
        ("/shop.Cart/GetCart", "shop.Cart/GetCart"),
        ("GET /users", ""),
        ("POST /users/alice", ""),
        ("GET /either/way", ""),
    ],
)
def test_a_request_is_of_the_class_that_it_fits_best_whatever_it_is_called(request_name: str, found: str) -> None:
    classes = [
        "GET /users/{name}",
        "GET /users/me",
        "GET /product/*",
        "shop.Cart/GetCart",
        "GET /{a}/way",
        "GET /either/*",
    ]

    assert class_of_request(request_name, classes) == found
