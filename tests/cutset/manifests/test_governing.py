from typing import Any

import pytest

from cutset.manifests.governing import Governing, destination_rule_of, resolved, virtual_service_of
from cutset.model.cluster import Resource

HOST = "cart.shop.svc.cluster.local"
HTTP = [{"route": [{"destination": {"host": "cart"}}]}]


def service(*hosts: str, name: str = "theirs", namespace: str = "shop", **spec: Any) -> Resource:
    whole = {"hosts": list(hosts), "http": HTTP} | spec
    return {"kind": "VirtualService", "metadata": {"name": name, "namespace": namespace}, "spec": whole}


def rule(host: str, namespace: str = "shop", **spec: Any) -> Resource:
    metadata = {"name": "theirs", "namespace": namespace}
    return {"kind": "DestinationRule", "metadata": metadata, "spec": {"host": host} | spec}


def found(*resources: Resource, seen_from: tuple[str, ...] = ("shop",)) -> Governing:
    of = virtual_service_of if all(each["kind"] == "VirtualService" for each in resources) else destination_rule_of
    return of(HOST, resources, seen_from)


@pytest.mark.parametrize(
    "resource",
    [
        service("cart"),
        service(HOST),
        service("cart", HOST),
        service(HOST, namespace="other"),
        service("cart", gateways=["mesh", "ingress"]),
        service("cart", exportTo=["."]),
        service("cart", exportTo=["shop", "x"]),
        rule("cart"),
        rule(HOST),
        rule("cart", exportTo=["."]),
    ],
)
def test_one_for_the_host_and_all_its_callers_is_added_to(resource: Resource) -> None:
    assert found(resource) == Governing(resource)


@pytest.mark.parametrize(
    "resource",
    [
        service("catalogue"),
        service("cart", namespace="other"),  # a short name is that of its own namespace
        service("cart", gateways=["ingress"]),  # for who comes from outside
        service(HOST, namespace="other", exportTo=["."]),
        rule("cart", namespace="other"),
        rule("catalogue"),
    ],
)
def test_what_is_for_other_hosts_gateways_or_callers_does_not_count(resource: Resource) -> None:
    assert found(resource) == Governing()


@pytest.mark.parametrize(
    ("resource", "reason"),
    [
        (service("cart", "catalogue"), "is for `catalogue.shop.svc.cluster.local` too"),
        (service("*.shop.svc.cluster.local"), "is for `*.shop.svc.cluster.local`: ours would replace it"),
        (service("cart.shop"), "is for `cart.shop`: ours would replace it"),
        (service("cart", http=[], tcp=[{}]), "has no HTTP routes"),
        (rule("*.local", namespace="istio-system"), "is for `*.local`"),
        (rule(HOST, namespace="istio-system"), "is for callers in `istio-system`, or for all namespaces"),
        (rule("cart", workloadSelector={"matchLabels": {"app": "web"}}), "is for some callers only"),
    ],
)
def test_what_decides_for_others_too_is_refused(resource: Resource, reason: str) -> None:
    assert reason in found(resource).refused


def test_of_two_istio_takes_one_so_that_both_are_refused() -> None:
    reason = found(service("cart"), service(HOST, name="second")).refused
    assert (
        reason == "VirtualService shop/second and VirtualService shop/theirs are both for it, of which Istio takes one"
    )


def test_what_only_some_callers_see_is_refused() -> None:
    assert "is seen from shop only" in found(service("cart", exportTo=["."]), seen_from=("shop", "admin")).refused


def test_a_route_of_the_gateway_api_for_the_service_is_refused() -> None:
    spec = {"parentRefs": [{"kind": "Service", "name": "cart"}]}
    route = {"kind": "HTTPRoute", "metadata": {"name": "x", "namespace": "shop"}, "spec": spec}
    assert virtual_service_of(HOST, (), ("shop",), [route]).refused == "HTTPRoute shop/x routes it"


def test_only_names_without_a_dot_are_completed() -> None:
    assert resolved("cart", "shop") == HOST
    assert resolved("cart.shop", "x") == "cart.shop"
    assert resolved("*", "x") == "*"
