"""The answer key, held against the proto file and against the running shop."""

import importlib.resources
import itertools

import httpx
import pytest
import yaml

from cutset_demo.node import GRPC_SERVICES

PRODUCT = "6E92ZMYYFZ"
IN_CART = ("POST", "/cart", {"product_id": PRODUCT, "quantity": "1"})

# Request class -> what to send first, what to send, the status of success.
REQUESTS = {
    "GET /": ((), ("GET", "/", None), 200),
    "GET /product/{id}": ((), ("GET", f"/product/{PRODUCT}", None), 200),
    "GET /cart": ((IN_CART,), ("GET", "/cart", None), 200),
    "POST /cart": ((), IN_CART, 302),
    "POST /cart/checkout": ((IN_CART,), ("POST", "/cart/checkout", {}), 200),
    "GET /product-meta/{id}": (
        (("GET", f"/product-meta/{PRODUCT}", None),),
        ("GET", f"/product-meta/{PRODUCT}", None),
        200,
    ),
}
POINTS = {f"{service}/{method.name}" for service, methods in GRPC_SERVICES.items() for method in methods}


def _key() -> dict:
    return yaml.safe_load(importlib.resources.files("cutset_demo").joinpath("WEAKNESSES.yaml").read_text())["requests"]


def _succeeds(boutique, request_class: str, fail: set[str]) -> bool:
    setup, (method, path, form), expected = REQUESTS[request_class]
    session = {"cookie": f"shop_session={request_class}-{'-'.join(sorted(fail))}".replace(" ", "")}
    with boutique.client(**session) as client:
        for setup_method, setup_path, setup_form in setup:
            assert client.request(setup_method, setup_path, data=setup_form).status_code in (200, 302)
    boutique.calls.clear()
    with boutique.client(sorted(fail), **session) as client:
        response: httpx.Response = client.request(method, path, data=form)
        plan = client.headers["tracestate"]
    unreached = _key()[request_class].get("not_reached", ())
    calls = [call for call in boutique.calls if f"{call.service}/{call.method}" not in unreached]
    assert calls
    assert {call.metadata.get("tracestate") for call in calls} == {plan}  # else nothing was made to fail
    assert ("error" in response.text) == (response.status_code != expected)
    return response.status_code == expected


def test_the_key_speaks_of_every_request_class_and_only_of_calls_that_exist():
    assert set(_key()) == set(REQUESTS)
    for entry in _key().values():
        assert {point for cut in entry["cuts"] for point in cut} <= POINTS
        assert set(entry.get("not_reached", [])) <= POINTS


def test_no_cut_of_the_key_contains_another():
    for entry in _key().values():
        for one, other in itertools.permutations(entry["cuts"], 2):
            assert not set(one) <= set(other)


def test_what_more_there_is_speaks_of_calls_that_exist_and_of_effects_that_are_tried():
    key = yaml.safe_load(importlib.resources.files("cutset_demo").joinpath("WEAKNESSES.yaml").read_text())
    tried = {*key["effects"], *(effect for effects in key["effects_at"].values() for effect in effects)}
    for entry in key["requests"].values():
        for effects_at in entry["more"]:
            assert {point for point in effects_at if ">" not in point} <= POINTS
            assert {effect for effects in effects_at.values() for effect in effects} <= tried


@pytest.mark.parametrize("request_class", REQUESTS)
def test_every_cut_of_the_key_breaks_its_request(boutique, request_class):
    for cut in _key()[request_class]["cuts"]:
        assert not _succeeds(boutique, request_class, set(cut)), cut


@pytest.mark.parametrize("request_class", REQUESTS)
def test_a_request_survives_every_failure_that_contains_no_cut_of_the_key(boutique, request_class):
    # The largest such failures spare one point of each cut; what survives them survives all others.
    for spared in set(map(frozenset, itertools.product(*_key()[request_class]["cuts"]))):
        assert _succeeds(boutique, request_class, POINTS - spared), spared


def test_a_call_that_the_plan_cannot_reach_happens_outside_the_trace(boutique):
    assert _key()["POST /cart/checkout"]["not_reached"] == ["currency/Convert"]
    boutique.calls.clear()
    assert _succeeds(boutique, "POST /cart/checkout", {"currency/Convert"})
    conversions = [call.metadata for call in boutique.calls if call.method == "Convert"]
    assert conversions
    assert not any("tracestate" in metadata for metadata in conversions)
