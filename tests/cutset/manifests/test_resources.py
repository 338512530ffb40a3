import json
from typing import Any

import pytest

from cutset.manifests.istio import istio_problems
from cutset.manifests.resources import ResourcePlan, resource_plan
from cutset.manifests.wanted import EJECTION, RETRY_ON, WantedRoute, WantedService
from cutset.model.cluster import Resource
from cutset.model.point import Point

HOST = "cart.shop.svc.cluster.local"
SITE = Point("cart", "GET /a")
RETRIES = {"attempts": 1, "retryOn": RETRY_ON}
WANTED = WantedService((WantedRoute(SITE, {"timeout": "1s", "retries": RETRIES}),), {"outlierDetection": EJECTION})
LABELS = {"app.kubernetes.io/managed-by": "cutset"}


def resource(kind: str, spec: dict[str, Any], name: str = "theirs") -> Resource:
    fields = {"f:spec": {"f:http": {}, "f:trafficPolicy": {"f:outlierDetection": {}}}}
    metadata = {"name": name, "namespace": "shop", "managedFields": [{"manager": "argocd", "fieldsV1": fields}]}
    return {"apiVersion": "networking.istio.io/v1", "kind": kind, "metadata": metadata, "spec": spec}


def plan(*there: Resource) -> ResourcePlan:
    listed = {kind: [each for each in there if each["kind"] == kind] for kind in ("VirtualService", "DestinationRule")}
    return resource_plan({"cart": WANTED}, {"cart": HOST}, listed, ("shop",), {"labels": LABELS})


def test_where_there_is_nothing_both_are_made_policies_first() -> None:
    found = plan()
    (none, rule), (also_none, service) = found.changes
    assert (none, also_none) == (None, None)
    assert [each["kind"] for each in (rule, service)] == ["DestinationRule", "VirtualService"]
    for each in (rule, service):
        assert each["metadata"] == {"name": "cutset-cart", "namespace": "shop", "labels": LABELS}
        assert not list(istio_problems(each))
    assert service["spec"]["hosts"] == [HOST]
    assert [(each.site, each.setting, each.new) for each in found.holding] == [
        (None, "outlierDetection", True),
        (SITE, "timeout", True),
        (SITE, "retries", True),
    ]
    assert found.added[1] == 'VirtualService shop/cutset-cart: timeout "1s" for cart/GET /a'


def test_what_is_there_is_added_to_and_what_differs_is_kept_with_its_writer() -> None:
    route = {"route": [{"destination": {"host": "cart"}}], "timeout": "7s"}
    service = resource("VirtualService", {"hosts": ["cart"], "http": [route]})
    rule = resource("DestinationRule", {"host": "cart", "trafficPolicy": {"outlierDetection": {"interval": "9s"}}})
    found = plan(service, rule)
    ((before, after),) = found.changes
    assert before == service
    assert after["spec"]["http"][1] == route
    assert after["spec"]["http"][0]["retries"] == RETRIES
    assert [each.setting for each in found.holding] == ["retries"]
    policy = 'spec.trafficPolicy.outlierDetection is {"interval": "9s"}, and would be'
    assert found.kept == [
        f"DestinationRule shop/theirs: {policy} {json.dumps(EJECTION)}; written by argocd",
        'VirtualService shop/theirs: spec.http[0].timeout is "7s", and would be "1s"; written by argocd',
    ]


def test_what_is_there_as_it_should_be_holds_and_is_not_written() -> None:
    made = [after for _, after in plan().changes]
    found = plan(*made)
    assert (found.changes, found.added, found.kept) == ([], [], [])
    assert {(each.setting, each.new) for each in found.holding} == {
        ("outlierDetection", False),
        ("timeout", False),
        ("retries", False),
    }


@pytest.mark.parametrize(
    ("there", "kept"),
    [
        (
            resource("VirtualService", {"hosts": ["*.local"], "http": [{}]}),
            "VirtualService shop/theirs is for `*.local`: ours would replace it",
        ),
        (
            resource("VirtualService", {"hosts": ["other"], "http": [{}]}, name="cutset-cart"),
            "VirtualService shop/cutset-cart is there, for another host",
        ),
    ],
)
def test_what_decides_for_others_is_left_alone_and_named(there: Resource, kept: str) -> None:
    found = plan(there)
    assert found.kept == [f"{kept}: retries, timeout of {HOST} would compete with it"]
    assert [after["kind"] for _, after in found.changes] == ["DestinationRule"]


def test_routes_that_cannot_be_compared_keep_all_settings_of_the_api_out() -> None:
    route = {"route": [{"destination": {"host": "cart"}}], "rewrite": {"uri": "/"}}
    found = plan(resource("VirtualService", {"hosts": ["cart"], "http": [route]}))
    assert [each.setting for each in found.holding] == ["outlierDetection"]
    assert "rewrites paths" in found.kept[0]
