"""That istiod takes these resources, and what gateways make of them, is in tests/istio/test_impact.py."""

import random
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.cluster_resources import gateway_pod, pod, resource
from tests.samples.installations import installation

from cutset.inject.istio.marking import (
    marker_name,
    marking_entry,
    marking_policy,
    marking_resources,
    policies_in_the_way,
    probe_rule,
    request_id_endings,
    share_of,
    share_rule,
)
from cutset.inject.istio.marks import ENVIRONMENT, is_ours, label
from cutset.kubernetes.kinds import named
from cutset.model.cluster import ClusterGateway, Resource
from cutset.model.impact import Matching

GATEWAY = ClusterGateway("istio-ingress", "ingress", (), (), (("istio", "ingressgateway"),))


def test_all_that_is_installed_is_in_our_namespace_and_makes_no_gateway_ask() -> None:
    found = marking_resources(installation(), [GATEWAY])
    assert [named(each) for each in found] == [
        f"{kind} cutset/cutset-marker-shop"
        for kind in ("ServiceAccount", "AuthorizationPolicy", "Service", "DestinationRule", "Deployment")
    ]
    assert {label(each, ENVIRONMENT) for each in found} == {"shop"}
    assert "CUSTOM" not in str(found)


def test_the_provider_lets_requests_pass_if_nobody_answers_soon_and_names_the_service() -> None:
    entry = marking_entry("shop")
    asked = entry["envoyExtAuthzGrpc"]
    assert (entry["name"], asked["failOpen"], asked["timeout"]) == (marker_name("shop"), True, "0.05s")
    (service,) = [each for each in marking_resources(installation(), [GATEWAY]) if each["kind"] == "Service"]
    metadata, (port,) = service["metadata"], service["spec"]["ports"]
    assert asked["service"] == f"{metadata['name']}.{metadata['namespace']}.svc.cluster.local"
    assert (asked["port"], port["appProtocol"]) == (port["port"], "grpc")


def test_only_the_namespaces_of_gateways_may_ask() -> None:
    inner = ClusterGateway("shop", "kubernetes", (), (), ())
    found = marking_resources(installation(), [GATEWAY, inner])
    (guard,) = [each["spec"] for each in found if each["kind"] == "AuthorizationPolicy"]
    assert guard["action"] == "DENY"
    assert guard["rules"] == [{"from": [{"source": {"notNamespaces": ["istio-ingress", "shop"]}}]}]


def test_a_policy_is_ours_and_for_one_gateway() -> None:
    found = marking_policy("shop", GATEWAY, [share_rule(0.1, Matching())], by="me")
    assert named(found) == "AuthorizationPolicy istio-ingress/cutset-shop-marking-ingress"
    assert is_ours(found)
    spec = found["spec"]
    assert (spec["action"], spec["provider"]) == ("CUSTOM", {"name": "cutset-marker-shop"})
    assert spec["selector"] == {"matchLabels": {"istio": "ingressgateway"}}


def test_a_policy_is_for_the_hosts_of_the_environment() -> None:
    rules = [share_rule(1.0, Matching(method="GET")), probe_rule("secret")]
    first, second = marking_policy("shop", GATEWAY, rules, ["shop.example"])["spec"]["rules"]
    hosts = ["shop.example", "shop.example:*"]
    assert first == {"to": [{"operation": {"methods": ["GET"], "hosts": hosts}}]}
    assert second["to"] == [{"operation": {"hosts": hosts}}]
    assert second["when"] == [{"key": "request.headers[x-cutset-marking-probe]", "values": ["secret"]}]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/cart", "/cart"),
        ("/product/*", "/product*"),
        ("/product/{id}/reviews", "/product*"),
        ("/api/**", "/api*"),
        ("/**", "/*"),
        ("/*", "/*"),
    ],
)
def test_of_paths_the_gateway_is_told_what_all_that_match_have_in_common(path: str, said: str) -> None:
    assert share_rule(1.0, Matching(path=path)) == {"to": [{"operation": {"paths": [said]}}]}


def test_everything_is_asked_about_without_a_condition() -> None:
    assert share_rule(1.0, Matching()) == {}


@given(st.floats(0.0001, 1.0))
def test_endings_are_few_and_make_the_share(share: float) -> None:
    endings = request_id_endings(share)
    assert abs(share_of(endings) - share) <= max(1 / 8192, 1 / 4096 - share) + 1e-9
    assert len(endings) <= 45


@given(st.integers(1, 4096), st.randoms(use_true_random=False))
def test_no_id_ends_in_two_of_them_so_that_the_share_is_exact(units: int, chance: random.Random) -> None:
    endings = [each.removeprefix("*") for each in request_id_endings(units / 4096)]
    for _ in range(50):
        text = str(uuid.UUID(int=chance.getrandbits(128)))
        assert sum(text.endswith(each) for each in endings) <= 1
    every = [f"{number:03x}" for number in range(4096)]
    assert sum(any(text.endswith(each) for each in endings) for text in every) == units


def test_a_smaller_share_is_part_of_a_larger_one() -> None:
    every = [f"{number:03x}" for number in range(4096)]

    def chosen(share: float) -> set[str]:
        endings = [each.removeprefix("*") for each in request_id_endings(share)]
        return {text for text in every if any(text.endswith(each) for each in endings)}

    assert chosen(0.002) < chosen(0.02) < chosen(0.1) < chosen(0.5) < chosen(1.0)


def custom(name: str = "oauth", within: str = "istio-ingress", **spec: object) -> Resource:
    return resource("AuthorizationPolicy", name, {"action": "CUSTOM", **spec}, within)


@pytest.mark.parametrize(
    "theirs",
    [
        custom(),
        custom(selector={"matchLabels": {"istio": "ingressgateway"}}),
        custom(within="istio-system"),
        custom(targetRefs=[{"kind": "Gateway", "name": "web"}]),
        custom(targetRef={"kind": "Gateway", "name": "web"}),
        custom(within="istio-system", targetRefs=[{"kind": "GatewayClass", "name": "istio"}]),
    ],
)
def test_another_policy_that_asks_for_the_same_gateway_is_in_the_way(theirs: Resource) -> None:
    labels = {"istio": "ingressgateway", "gateway.networking.k8s.io/gateway-name": "web"}
    pods = [pod("ingress-1", "ingress", within="istio-ingress", labels=labels, proxy="router")]
    assert policies_in_the_way([theirs], GATEWAY, pods, "istio-system", "shop") == [theirs]


@pytest.mark.parametrize(
    "theirs",
    [
        custom(within="shop"),
        custom(selector={"matchLabels": {"istio": "other"}}),
        custom(targetRefs=[{"kind": "Gateway", "name": "other"}]),
        custom(targetRefs=[{"kind": "Service", "name": "ingress"}]),
        resource("AuthorizationPolicy", "x", {"action": "DENY"}, "istio-ingress"),
        resource("AuthorizationPolicy", "x", {}, "istio-ingress"),
        marking_policy("shop", GATEWAY, []),
    ],
)
def test_others_are_not(theirs: Resource) -> None:
    assert policies_in_the_way([theirs], GATEWAY, [gateway_pod()], "istio-system", "shop") == []


def test_that_of_another_environment_of_ours_is_in_the_way_too() -> None:
    other = marking_policy("inn", GATEWAY, [])
    assert policies_in_the_way([other], GATEWAY, [gateway_pod()], "istio-system", "shop") == [other]
