from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cutset.model.call_tree import UNKNOWN, CallTree
from cutset.model.point import Point
from cutset.report.survey.kinds import MOST_NAMES, kinds_in_words


def call(name: str, *calls: CallTree, failed: bool = False) -> CallTree:
    service, _, api = name.partition("/")
    return CallTree(Point(service, api), failed, calls=tuple(sorted(calls)))


ADS, CART, CACHE = call("ads/Get"), call("cart/Get"), call("redis/GET")
PAGE = call("web/GET /", ADS, CART, CACHE)


def told(*kinds: CallTree) -> list[str]:
    """Without number and traces."""
    return [line.partition("× ")[2] for line in kinds_in_words([(tree, 9) for tree in kinds])]


def test_kinds_come_with_their_traces_and_the_first_with_its_calls() -> None:
    assert list(kinds_in_words([(PAGE, 1200), (call("web/GET /"), 7)])) == [
        "1,200 × 3 calls: web>ads/Get, web>cart/Get, web>redis/GET",
        "    7 × 0 calls",
    ]


def test_a_kind_is_told_by_what_differs_from_the_nearest_above_it() -> None:
    without_ads, twice = call("web/GET /", CART, CACHE), call("web/GET /", ADS, CART, CACHE, CACHE, CACHE)
    assert told(PAGE, without_ads, twice, call("web/GET /", CART, CACHE, CACHE, CACHE)) == [
        "3 calls: web>ads/Get, web>cart/Get, web>redis/GET",
        "2 calls: as 1, without web>ads/Get",
        "5 calls: as 1, with 2 × web>redis/GET",
        "4 calls: as 2, with 2 × web>redis/GET",
    ]


def test_what_fails_in_one_and_not_in_the_other_is_said_to() -> None:
    degraded = call("web/GET /", ADS, CART, replace(CACHE, failed=True))
    assert told(PAGE, degraded, replace(degraded, failed=True))[1:] == [
        "3 calls: as 1, but web>redis/GET fails",
        "3 calls: as 2, but the request fails",
    ]
    assert told(degraded, PAGE)[1] == "3 calls: as 1, but web>redis/GET does not fail"
    assert told(call("web/GET /", failed=True)) == ["0 calls: the request fails"]


def test_the_same_calls_by_other_apis_are_told_with_those() -> None:
    read, listed = call("cart/Read", CACHE), call("cart/List")
    other_way = call("web/GET /", call("cart/Read"), call("cart/List", CACHE))
    assert told(call("web/GET /", read, listed), other_way)[1] == (
        "3 calls: as 1, with cart>redis/GET to answer List, without cart>redis/GET to answer Read"
    )


def test_the_same_calls_inside_others_are_not_said_to_be_equal() -> None:
    one = call("web/GET /", call("cart/Get", CACHE, CACHE), call("cart/Get"))
    other = call("web/GET /", call("cart/Get", CACHE), call("cart/Get", CACHE))
    assert told(one, other)[1] == "4 calls: the calls of 1, inside others"


def test_calls_of_unknown_callers_are_said_to_be_so() -> None:
    lost = replace(PAGE, orphans=(call("stock/Reserve"), call(f"audit/{UNKNOWN}", call("log/Write"))))
    assert told(PAGE, lost)[1] == "5 calls: as 1, with stock/Reserve by an unknown caller, audit>log/Write"


def test_of_many_calls_some_are_named_and_the_rest_is_counted() -> None:
    many = call("web/GET /", *(call(f"s{number}/Get") for number in range(MOST_NAMES + 3)))
    assert told(many)[0].endswith("and 3 more")


trees = st.recursive(
    st.builds(call, st.sampled_from(["a/x", "a/y", "b/x"]), failed=st.booleans()),
    lambda inner: st.builds(
        lambda name, calls, failed: call(name, *calls, failed=failed),
        st.sampled_from(["a/x", "a/y", "b/x"]),
        st.lists(inner, max_size=3),
        st.booleans(),
    ),
    max_leaves=6,
)


@given(st.sets(trees, max_size=12))
def test_any_kinds_can_be_told_apart(kinds: set[CallTree]) -> None:
    rooted = {call("web/GET /", tree) for tree in kinds}
    assert len({*told(*sorted(rooted))}) == len(rooted)
