"""That a narrowed match takes what both take is a property, in `test_routes.py`."""

import pytest

from cutset.manifests.matching import IncomparableError, is_wide, match_of, narrowed, without_names
from cutset.model.point import Point

GET_CART = Point("cart", "GET /carts/*/items")
GRPC = Point("cart", "GetCart")
LIST = Point("cart", "GET /carts")


@pytest.mark.parametrize(
    ("site", "theirs", "both"),
    [
        (LIST, {}, {"method": {"exact": "GET"}, "uri": {"exact": "/carts"}}),
        (LIST, {"uri": {"prefix": "/"}}, {"method": {"exact": "GET"}, "uri": {"exact": "/carts"}}),
        (LIST, {"uri": {"prefix": "/carts/"}}, None),
        (LIST, {"uri": {"exact": "/other"}}, None),
        (LIST, {"uri": {"regex": "/ca.+"}}, {"method": {"exact": "GET"}, "uri": {"exact": "/carts"}}),
        (LIST, {"method": {"exact": "POST"}}, None),
        (LIST, {"gateways": ["ingress"]}, None),
        (
            LIST,
            {"headers": {"x": {"exact": "1"}}, "method": {"regex": "GET|PUT"}},
            {"headers": {"x": {"exact": "1"}}, "method": {"exact": "GET"}, "uri": {"exact": "/carts"}},
        ),
        (GRPC, {"uri": {"prefix": "/shop.Cart/"}}, {"uri": {"exact": "/shop.Cart/GetCart"}}),
        (GRPC, {"uri": {"exact": "/shop.Cart/GetCart"}}, {"uri": {"exact": "/shop.Cart/GetCart"}}),
        (GRPC, {"uri": {"exact": "/shop.Cart/AddItem"}}, None),
        (GRPC, {"method": {"exact": "GET"}}, None),
        (
            GET_CART,
            {"uri": {"prefix": "/carts/"}},
            {"method": {"exact": "GET"}, "uri": {"regex": r"/carts/[^/]+/items(\?.*)?"}},
        ),
        (
            GET_CART,
            {"uri": {"exact": "/carts/7/items"}},
            {"method": {"exact": "GET"}, "uri": {"exact": "/carts/7/items"}},
        ),
        (GET_CART, {"uri": {"exact": "/carts//items"}}, None),
    ],
)
def test_a_match_is_narrowed_to_the_calls_of_one_api(site: Point, theirs: dict, both: dict | None) -> None:
    assert narrowed(theirs, site) == both


@pytest.mark.parametrize(
    ("site", "theirs"),
    [
        (LIST, {"ignoreUriCase": True}),
        (LIST, {"uri": {"regex": "(?i)/CARTS"}}),
        (LIST, {"uri": {"regex": "/carts("}}),
        (GET_CART, {"uri": {"prefix": "/carts/7"}}),
        (GET_CART, {"uri": {"regex": "/carts/[0-9]+/items"}}),
    ],
)
def test_what_cannot_be_told_for_certain_is_not_guessed(site: Point, theirs: dict) -> None:
    with pytest.raises(IncomparableError):
        narrowed(theirs, site)


def test_callers_are_told_by_their_labels() -> None:
    web = {"app": "web"}
    assert match_of(GRPC, web) == {"uri": {"regex": "/[^/]+/GetCart"}, "sourceLabels": web}
    assert narrowed({"sourceLabels": {"app": "admin"}}, GRPC, web) is None
    assert narrowed({"sourceLabels": {"tier": "1"}}, GRPC, web) == {
        "uri": {"regex": "/[^/]+/GetCart"},
        "sourceLabels": {"app": "web", "tier": "1"},
    }


def test_only_calls_between_sidecars_are_meant_where_a_route_serves_gateways_too() -> None:
    assert narrowed({"gateways": ["mesh", "ingress"]}, LIST, mesh_only=True) == match_of(LIST) | {"gateways": ["mesh"]}


def test_names_decide_nothing_and_one_path_is_not_wide() -> None:
    assert without_names({"name": "x", "uri": {"exact": "/"}}) == {"uri": {"exact": "/"}}
    assert not is_wide({"match": [match_of(LIST)]})
    assert is_wide({"match": [match_of(GRPC)]})
