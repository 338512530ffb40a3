import pytest

from cutset.judge.upstream import is_faulted, upstream_of
from cutset.model.point import Point


def points(*texts: str) -> tuple[Point, ...]:
    return tuple(Point.parse(text) for text in texts)


FRONT, ORDER, CHARGE, CART, HOME = points(
    "frontend/POST /checkout", "checkout/PlaceOrder", "payment/Charge", "cart/GetCart", "frontend/GET /"
)
CALLERS = {(FRONT, ORDER), (ORDER, CHARGE), (ORDER, CART), (HOME, CART)}
APIS = {FRONT, ORDER, CHARGE, CART, HOME}


def upstream(*faulted: str) -> dict[str, int]:
    return {str(api): distance for api, distance in upstream_of(points(*faulted), CALLERS, APIS).items()}


def test_all_callers_up_to_the_entry_are_upstream_and_how_far() -> None:
    assert upstream("payment/Charge") == {"checkout/PlaceOrder": 1, "frontend/POST /checkout": 2}


def test_a_point_of_one_caller_leaves_others_who_call_it_alone() -> None:
    assert upstream("cart/GetCart") == {"checkout/PlaceOrder": 1, "frontend/GET /": 1, "frontend/POST /checkout": 2}
    assert upstream("frontend>cart/GetCart") == {"frontend/GET /": 1}


@pytest.mark.parametrize("point", ["checkout/*", "checkout/*#2", "frontend>checkout/PlaceOrder@2"])
def test_a_whole_service_a_replica_or_an_occurrence_is_faulted_at_its_apis(point: str) -> None:
    assert is_faulted(ORDER, points(point))
    assert not is_faulted(CART, points(point))
    assert upstream(point) == {"frontend/POST /checkout": 1}


def test_what_is_faulted_itself_is_not_upstream_of_another_fault() -> None:
    assert upstream("payment/Charge", "checkout/PlaceOrder") == {"frontend/POST /checkout": 1}


def test_an_endpoint_is_its_callers_own() -> None:
    mine, peer, other = points("cart>cache/redis/get", "cart>cache/redis/get sessions:6379/0", "ad>cache/redis/get")

    assert is_faulted(peer, [mine])
    assert is_faulted(mine, [peer])
    assert not is_faulted(other, [mine])
    assert upstream_of([mine], {*CALLERS, (CART, peer)}, APIS) == {CART: 1, ORDER: 2, HOME: 2, FRONT: 3}


def test_calls_that_nobody_tells_of_begin_at_the_apis_of_their_caller() -> None:
    assert upstream("payment>rpc/httpx/POST /charges") == {
        "payment/Charge": 1,
        "checkout/PlaceOrder": 2,
        "frontend/POST /checkout": 3,
    }


def test_a_cycle_of_calls_ends() -> None:
    assert upstream_of([CHARGE], {*CALLERS, (ORDER, FRONT)}, APIS) == {ORDER: 1, FRONT: 2}
