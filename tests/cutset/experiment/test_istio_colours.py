import json
from typing import Any

import pytest
from tests.samples.cluster_resources import pod, resource, route, shop, virtual_service

from cutset.experiment.istio_colours import colour_checks
from cutset.inject.istio.planning import FLUSH_SETTING
from cutset.model.checkup import CheckupLine, LineState


def checks(**changes: Any) -> dict[str, CheckupLine]:
    return {check.name: check for check in colour_checks(["shop"], shop() | changes)}


def test_faults_of_virtual_services_are_wrong() -> None:
    faulty = virtual_service("cart", [route("cart", fault={"abort": {"httpStatus": 500}})])
    found = checks(VirtualService=[faulty])["faults"]
    assert found.state is LineState.WRONG
    assert "VirtualService shop/cart" in found.text
    assert "faults" not in checks()


def test_timeouts_of_the_mesh_are_noted() -> None:
    limited = virtual_service("cart", [route("cart", timeout="2s"), route("cart", timeout="0s")])
    assert "VirtualService shop/cart after 2s." in checks(VirtualService=[limited])["timeouts"].text
    spec = {"rules": [{"backendRefs": [{"name": "cart"}], "timeouts": {"request": "3s"}}]}
    assert "HTTPRoute shop/r after 3s." in checks(HTTPRoute=[resource("HTTPRoute", "r", spec)])["timeouts"].text
    assert "timeouts" not in checks()


def test_retries_of_the_mesh_are_noted_the_default_too() -> None:
    retried = virtual_service("cart", [route("cart", retries={"attempts": 5})])
    text = checks(VirtualService=[retried])["retries"].text
    assert "VirtualService shop/cart (5), those of which nothing else is said (2)" in text
    off = [{"data": {"mesh": "defaultHttpRetryPolicy: {attempts: 0}"}}]
    assert "retries" not in checks(ConfigMap=off)


@pytest.mark.parametrize(
    ("operation", "state"),
    [("INSERT_BEFORE", LineState.NOTE), ("REMOVE", LineState.WRONG), ("REPLACE", LineState.WRONG)],
)
def test_other_filters_of_the_same_listeners_are_told(operation: str, state: LineState) -> None:
    patch = {"applyTo": "HTTP_FILTER", "match": {"context": "SIDECAR_INBOUND"}, "patch": {"operation": operation}}
    other = resource("EnvoyFilter", "theirs", {"configPatches": [patch]}, "istio-system")
    assert checks(EnvoyFilter=[other])["filters"].state is state


def test_filters_elsewhere_and_our_own_are_none_of_these() -> None:
    outbound = {"applyTo": "HTTP_FILTER", "match": {"context": "SIDECAR_OUTBOUND"}, "patch": {"operation": "REMOVE"}}
    inbound = {"applyTo": "HTTP_FILTER", "patch": {"operation": "REMOVE"}}
    filters = [
        resource("EnvoyFilter", "out", {"configPatches": [outbound]}),
        resource("EnvoyFilter", "far", {"configPatches": [inbound]}, "elsewhere"),
        resource(
            "EnvoyFilter", "ours", {"configPatches": [inbound]}, labels={"app.kubernetes.io/managed-by": "cutset"}
        ),
    ]
    assert "filters" not in checks(EnvoyFilter=filters)


def test_tracing_of_others_is_noted_with_provider_and_rate() -> None:
    spec = {"tracing": [{"providers": [{"name": "jaeger"}], "randomSamplingPercentage": 1.5}]}
    found = checks(Telemetry=[resource("Telemetry", "theirs", spec)])["tracing"]
    assert "sends spans to jaeger, 1.5 % of them" in found.text
    assert "--keep-tracing" in found.remedy


def test_spans_that_are_held_back_are_noted_unless_the_sidecars_were_told_otherwise() -> None:
    assert "3 pods hold spans back" in checks()["speed"].text
    quick = [pod("cart-1")]
    config = {"runtimeValues": {FLUSH_SETTING: "20"}}
    quick[0]["spec"]["containers"][-1]["env"].append({"name": "PROXY_CONFIG", "value": json.dumps(config)})
    assert "speed" not in checks(Pod=quick)
