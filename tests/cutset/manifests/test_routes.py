"""Merging is held against a small reader of VirtualServices: the first route that matches a call takes it."""

import re
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as for_examples
from hypothesis import strategies as st

from cutset.manifests.istio import istio_problems
from cutset.manifests.routes import merge_routes
from cutset.manifests.wanted import RETRY_ON, Manifest, WantedRoute
from cutset.model.point import Point

RETRIES = {"attempts": 2, "retryOn": RETRY_ON}
PATHS = ["/", "/a", "/a/b", "/a/7/b", "/a/8/b", "/shop.Cart/Get", "/shop.Cart/Put", "/x.Y/Get"]
APIS = ["GET /", "GET /a", "POST /a", "GET /a/*/b", "GET /a/b", "Get", "Put"]


def fits(match: dict[str, str], text: str) -> bool:
    (kind, wanted), *_ = match.items()
    tests = {"exact": text == wanted, "prefix": text.startswith(wanted), "regex": bool(re.fullmatch(wanted, text))}
    return tests[kind]


def matches(match: Manifest, call: Manifest) -> bool:
    return (
        call["gateway"] in match.get("gateways", [call["gateway"]])
        and all(fits(match[name], call[name]) for name in ("method", "uri") if name in match)
        and all(call["headers"].get(name) == value["exact"] for name, value in match.get("headers", {}).items())
        and match.get("sourceLabels", {}).items() <= call["labels"].items()
    )


def taken_by(routes: list[Manifest], call: Manifest) -> Manifest | None:
    return next(
        (route for route in routes if any(matches(each, call) for each in route.get("match") or [{}])),
        None,
    )


def is_of(site: Point, call: Manifest) -> bool:
    method, _, path = site.api.partition(" ")
    if call["gateway"] != "mesh":
        return False
    if not path:
        return call["uri"].count("/") == 2 and call["uri"].endswith(f"/{site.api}")  # gRPC knows one method
    return call["method"] == method and bool(re.fullmatch(path.replace("*", "[^/]+"), call["uri"]))


string_match = st.one_of(
    st.sampled_from(PATHS).map(lambda path: {"exact": path}),
    st.sampled_from(["/", "/a", "/a/", "/shop.Cart/", "/sh"]).map(lambda path: {"prefix": path}),
    st.sampled_from(["/a.*", ".*", "/[a-z]+"]).map(lambda path: {"regex": path}),
)
match = st.fixed_dictionaries(
    {},
    optional={
        "uri": string_match,
        "method": st.sampled_from(["GET", "POST"]).map(lambda method: {"exact": method}),
        "headers": st.just({"x-beta": {"exact": "1"}}),
        "sourceLabels": st.just({"app": "web"}),
        "gateways": st.sampled_from([["mesh"], ["ingress"], ["mesh", "ingress"]]),
    },
)
action = st.one_of(
    st.sampled_from(["v1", "v2"]).map(lambda name: {"route": [{"destination": {"host": "cart", "subset": name}}]}),
    st.just({"directResponse": {"status": 204}}),
    st.just({"route": [{"destination": {"host": "cart"}}], "rewrite": {"uri": "/z"}}),
)
settings = st.fixed_dictionaries(
    {},
    optional={
        "timeout": st.sampled_from(["1s", "3s"]),
        "retries": st.sampled_from([{"attempts": 0}, {"attempts": 3}, {"attempts": 5, "retryOn": "5xx"}, RETRIES]),
        "match": st.lists(match, min_size=1, max_size=2),
        "fault": st.just({"delay": {"percentage": {"value": 1}, "fixedDelay": "5s"}}),
    },
)
routes = st.builds(lambda *parts: parts[0] | parts[1], action, settings)
specs = st.builds(
    lambda http, gateways: {"hosts": ["cart"], "http": http} | ({"gateways": gateways} if gateways else {}),
    st.lists(routes, min_size=1, max_size=4),
    st.sampled_from([None, ["mesh"], ["mesh", "ingress"]]),
)
wanted_settings = st.sampled_from([{"timeout": "1s"}, {"retries": RETRIES}, {"timeout": "1s", "retries": RETRIES}])
wanted_routes = st.lists(
    st.builds(lambda api, own: WantedRoute(Point("cart", api), own), st.sampled_from(APIS), wanted_settings),
    min_size=1,
    max_size=3,
    unique_by=lambda each: each.site,
)
CALLS = [
    {"method": method, "uri": path, "headers": headers, "labels": labels, "gateway": gateway}
    for method in ("GET", "POST")
    for path in PATHS
    for headers in ({}, {"x-beta": "1"})
    for labels in ({"app": "web"}, {"app": "other"})
    for gateway in ("mesh", "ingress")
]


def calls_through(spec: Manifest) -> list[Manifest]:
    return [call for call in CALLS if call["gateway"] in spec.get("gateways", ["mesh"])]


def without(route: Manifest | None, *names: str) -> Manifest | None:
    return route and {name: value for name, value in route.items() if name not in names}


@for_examples(deadline=None)
@given(specs, wanted_routes)
def test_every_call_goes_where_it_went_and_no_setting_of_others_is_changed(
    spec: Manifest, wanted: list[WantedRoute]
) -> None:
    original = deepcopy(spec)
    merging = merge_routes(spec, wanted)
    assert spec == original
    for call in calls_through(spec):
        before, after = taken_by(spec["http"], call), taken_by(merging.spec["http"], call)
        changeable = ("name", "match", "timeout", "retries")
        assert without(before, *changeable) == without(after, *changeable)
        if before is None or after is None:
            continue
        assert before.get("timeout") in (None, after.get("timeout"))
        assert before.get("retries", {}).items() <= after.get("retries", {}).items()
        if not any(is_of(each.site, call) for each in wanted):
            assert without(before, "name", "match") == without(after, "name", "match")


@for_examples(deadline=None)
@given(specs, wanted_routes)
def test_calls_of_the_api_have_the_setting_unless_a_clash_is_named(spec: Manifest, wanted: list[WantedRoute]) -> None:
    merging = merge_routes(spec, wanted)
    for each in wanted[:1]:
        clashing = {clash.path.rpartition(".")[2] for clash in merging.clashes if clash.site == each.site}
        if "http" in clashing or any(other.site != each.site for other in wanted):
            continue
        for call in calls_through(spec):
            route = taken_by(merging.spec["http"], call)
            if is_of(each.site, call) and route is not None and "route" in route:
                assert all(name in route for name in each.settings if name not in clashing)


@for_examples(deadline=None)
@given(specs, wanted_routes)
def test_what_comes_of_it_is_valid_and_a_second_time_adds_nothing(spec: Manifest, wanted: list[WantedRoute]) -> None:
    merging = merge_routes(spec, wanted)
    assert not list(istio_problems({"kind": "VirtualService", "spec": merging.spec}))
    again = merge_routes(merging.spec, wanted)
    if not merging.clashes:
        assert (again.spec, again.added, again.clashes) == (merging.spec, (), ())
    if not merging.added:
        assert merging.spec == spec


def merged(route: Manifest, **wanted: Any) -> tuple[list[Manifest], list[str]]:
    spec = {"hosts": ["cart"], "http": [route]}
    merging = merge_routes(spec, [WantedRoute(Point("cart", "GET /a"), wanted)])
    return merging.spec["http"], [str(clash) for clash in merging.clashes]


OWN = {"name": "cutset-cart-get-a", "match": [{"method": {"exact": "GET"}, "uri": {"exact": "/a"}}]}
TO_V1 = {"route": [{"destination": {"host": "cart", "subset": "v1"}}], "headers": {"request": {"set": {"a": "b"}}}}


def test_in_front_of_a_route_goes_a_copy_of_it_for_the_calls_of_the_api() -> None:
    assert merged(TO_V1, timeout="1s") == ([TO_V1 | OWN | {"timeout": "1s"}, TO_V1], [])


def test_a_route_that_takes_the_calls_of_the_api_alone_gets_the_setting_itself() -> None:
    alone = TO_V1 | {"match": OWN["match"], "name": "theirs"}
    assert merged(alone, timeout="1s") == ([alone | {"timeout": "1s"}], [])


@pytest.mark.parametrize(
    ("there", "clash"),
    [
        ({"timeout": "3s"}, 'spec.http[0].timeout is "3s", and would be "1s"'),
        ({"timeout": "1s"}, ""),
        ({"rewrite": {"uri": "/b"}}, "`spec.http[0]` rewrites paths, so that their API cannot be told"),
        ({"delegate": {"name": "x"}}, "`spec.http[0]` leaves it to another VirtualService"),
    ],
)
def test_what_differs_stays_and_is_named(there: Manifest, clash: str) -> None:
    found, clashes = merged(TO_V1 | there, timeout="1s")
    assert found == [TO_V1 | there]
    assert bool(clashes) == bool(clash)
    assert not clash or clash in clashes[0]


@pytest.mark.parametrize(
    ("there", "result"),
    [
        ({"attempts": 3}, {"attempts": 3, "retryOn": RETRY_ON}),  # Istio's default does not repeat a 503
        ({"attempts": 3, "retryOn": "gateway-error"}, {"attempts": 3, "retryOn": "gateway-error"}),
        ({"attempts": 3, "retryOn": "connect-failure"}, None),
        ({"attempts": 1}, None),
        ({"attempts": 0}, None),
    ],
)
def test_retries_that_are_there_are_completed_only_where_they_say_nothing(there: Manifest, result: Any) -> None:
    found, clashes = merged(TO_V1 | {"retries": there}, retries=RETRIES)
    assert found[0]["retries"] == (result or there)
    assert found[-1]["retries"] == there
    assert bool(clashes) == (result is None)


def test_routes_of_a_gateway_too_are_copied_for_sidecars_alone() -> None:
    spec = {"hosts": ["cart"], "gateways": ["mesh", "ingress"], "http": [TO_V1]}
    merging = merge_routes(spec, [WantedRoute(Point("cart", "GET /a"), {"timeout": "1s"})])
    assert merging.spec["http"][0]["match"] == [OWN["match"][0] | {"gateways": ["mesh"]}]
