import pytest
from tests.samples.cluster_resources import (
    gateway,
    gateway_pod,
    gateway_service,
    pod,
    resource,
    route,
    service,
    shop,
    virtual_service,
)

from cutset.inject.istio.gateways import GATEWAY_NAME, gateways_of, leading_routes, takes


def test_a_gateway_is_the_service_before_its_pods_wherever_they_are() -> None:
    (found,) = gateways_of(shop(), ["shop"])
    assert (found.namespace, found.name, found.selector) == ("istio-ingress", "ingress", (("istio", "ingressgateway"),))
    assert [each.name for each in found.pods] == ["ingress-1"]
    assert [(each.number, each.target, each.protocol) for each in found.ports] == [(80, 8080, "http2")]


@pytest.mark.parametrize("host", ["frontend.shop", "frontend.shop.svc.cluster.local"])
def test_a_route_elsewhere_may_lead_here(host: str) -> None:
    listed = shop() | {
        "Gateway": [gateway(within="istio-ingress")],
        "VirtualService": [virtual_service("all", [route(host)], "istio-ingress", gateways=["front"])],
    }
    assert len(gateways_of(listed, ["shop"])) == 1
    assert not gateways_of(listed, ["other"])


def test_a_gateway_that_leads_elsewhere_is_none_of_ours() -> None:
    listed = shop() | {
        "Gateway": [gateway(within="other")],
        "VirtualService": [virtual_service("all", [route("web")], "other", gateways=["other/front"])],
    }
    assert not gateways_of(listed, ["shop"])


def test_a_delegate_leads_to_its_namespace() -> None:
    root = virtual_service("root", [{"delegate": {"name": "x", "namespace": "shop"}}], "istio-ingress")
    assert leading_routes({"VirtualService": [root]}, "VirtualService", ["shop"]) == [root]


def test_a_gateway_of_the_gateway_api_is_known_by_the_label_of_its_pods() -> None:
    labels = {GATEWAY_NAME: "front"}
    listed = {
        "KubernetesGateway": [resource("Gateway", "front", {"gatewayClassName": "istio"}, "edge")],
        "HTTPRoute": [
            resource(
                "HTTPRoute",
                "front",
                {"parentRefs": [{"name": "front", "namespace": "edge"}], "rules": [{"backendRefs": [{"name": "web"}]}]},
            )
        ],
        "Pod": [
            pod("front-istio-1", "front-istio", within="edge", labels=labels, proxy="router"),
            pod("front-istio-1", "front-istio", within="elsewhere", labels=labels, proxy="router"),
        ],
        "Service": [service("front-istio", within="edge", selector=labels)],
    }
    (found,) = gateways_of(listed, ["shop"])
    assert (found.namespace, found.name, len(found.pods)) == ("edge", "front-istio", 1)


def test_waypoints_are_no_gateways() -> None:
    listed = {
        "KubernetesGateway": [resource("Gateway", "w", {"gatewayClassName": "istio-waypoint"})],
        "Pod": [pod("w-1", labels={GATEWAY_NAME: "w"}, proxy="waypoint")],
    }
    assert not gateways_of(listed, ["shop"])


def test_a_gateway_without_a_service_is_called_by_its_workload() -> None:
    listed = shop() | {"Service": []}
    (found,) = gateways_of(listed, ["shop"])
    assert (found.name, found.ports, found.selector) == ("ingress", (), (("istio", "ingressgateway"),))


def test_a_service_takes_pods_of_its_own_namespace_that_have_all_its_labels() -> None:
    assert takes(gateway_service(), gateway_pod())
    assert not takes(gateway_service(), gateway_pod(within="shop"))
    assert not takes(service("x", selector={}), pod("x-1"))
    assert not takes(service("x", selector={"app": "x", "version": "1"}), pod("x-1"))
