import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.errors import InputError
from cutset.harden.failure_rates import Calls, Source, calls_seen, estimated, failure_rates, rule_of_three
from cutset.model.call_tree import CallTree, Component
from cutset.model.point import Point

WEB, CART, REDIS = Point("web", "GET /"), Point("cart", "GetCart"), Point("redis", "GET")


def test_calls_are_counted_by_api_and_by_caller_and_the_request_itself_is_not() -> None:
    healthy = CallTree(WEB, calls=(CallTree(CART, calls=(CallTree(REDIS),)), CallTree(REDIS)))
    broken = CallTree(WEB, failed=True, calls=(CallTree(CART, failed=True),))

    seen = calls_seen({healthy: 90, broken: 10})

    assert seen[CART] == seen[Point("cart", "GetCart", caller="web")] == Calls(100, 10)
    assert seen[REDIS] == Calls(180, 0)
    assert seen[Point("redis", "GET", caller="cart")] == Calls(90, 0)
    assert WEB not in seen


def test_a_failure_inside_is_not_the_callers_failure() -> None:
    passed_on = CallTree(WEB, calls=(CallTree(CART, failed=True, calls=(CallTree(REDIS, failed=True),)),))
    tolerated = CallTree(WEB, calls=(CallTree(CART, calls=(CallTree(REDIS, failed=True),)),))

    seen = calls_seen({passed_on: 3, tolerated: 4})

    assert seen[REDIS] == Calls(7, 7)
    assert seen[CART] == Calls(4, 0)


def test_a_rate_is_jeffreys_with_its_interval() -> None:
    """Table 5 of Brown, Cai and DasGupta (2001), n = 7: 2 of them."""
    found = estimated(Calls(7, 2))

    assert found.rate == 2.5 / 8
    assert (found.low, found.high) == (pytest.approx(0.065, abs=5e-4), pytest.approx(0.648, abs=5e-4))
    assert found.source is Source.MEASURED


@given(st.integers(1, 10**7))
def test_no_failure_seen_does_not_mean_that_there_is_none(calls: int) -> None:
    found = estimated(Calls(calls))

    assert found.low == 0 < found.rate < found.high < rule_of_three(calls)
    assert rule_of_three(calls) <= 3 / calls


@given(st.integers(1, 1000), st.data())
def test_an_interval_is_around_its_rate_and_mirrors_that_of_successes(calls: int, data: st.DataObject) -> None:
    failed = data.draw(st.integers(0, calls))
    found, mirrored = estimated(Calls(calls, failed)), estimated(Calls(calls, calls - failed))

    assert 0 <= found.low < found.rate < found.high <= 1
    assert (found.low, found.high) == (pytest.approx(1 - mirrored.high), pytest.approx(1 - mirrored.low))


def test_the_nearest_known_rate_is_taken() -> None:
    site, replica, fallback = (
        Point("cart", "GetCart", caller="web"),
        Point("redis", "GET", replica="2"),
        Point("disk", "Read"),
    )
    seen = {CART: Calls(1000, 100), site: Calls(10, 5), REDIS: Calls(999, 0)}

    rates = failure_rates([CART, site, replica, fallback], seen, {"redis/GET": 0.25})

    assert rates[CART].rate == 100.5 / 1001
    assert rates[site].rate == 5.5 / 11
    assert (rates[replica].rate, rates[replica].source) == (0.25, Source.GIVEN)
    assert (rates[fallback].rate, rates[fallback].source) == (100.5 / 2000, Source.POOLED)


def test_given_rates_go_from_the_point_to_its_service() -> None:
    given = {"redis#2": 0.9, "redis/GET#2": 0.1, "redis/GET": 0.2, "redis": 0.3}
    points = [Point("redis", "GET", replica="2"), REDIS, Point("redis", "SET")]

    assert [each.rate for each in failure_rates(points, {}, given).values()] == [0.1, 0.2, 0.3]


def test_without_traces_and_given_rates_nothing_is_made_up() -> None:
    with pytest.raises(InputError, match="`redis/GET` is not known"):
        failure_rates([REDIS], {})


def test_what_traces_tell_of_a_store_is_found_for_the_endpoint_that_an_agent_names() -> None:
    got = CallTree(Point("redis(cart)", "GET"), component=Component.CACHE, framework="redis")
    tree = CallTree(WEB, calls=(CallTree(CART, calls=(got,)),))
    endpoint = Point.parse("cart>cache/redis/get sessions:6379%2F0")

    found = failure_rates([endpoint], calls_seen({tree: 40}))[endpoint]

    assert (found.source, found.calls) == (Source.MEASURED, Calls(40))


def test_a_call_of_an_unknown_caller_is_a_call_of_its_api() -> None:
    tree = CallTree(WEB, orphans=(CallTree(CART, failed=True), CallTree(Point("ad", "unknown"))))

    assert calls_seen({tree: 3}) == {CART: Calls(3, 3)}
