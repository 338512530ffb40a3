from typing import Any

import pytest
from tests.samples.cluster_resources import gateway_pod, namespace, pod, port, resource, service, shop

from cutset.inject.istio.discovery import view_of
from cutset.model.cluster import ClusterView


def changed(**kinds: Any) -> ClusterView:
    return view_of(shop() | kinds, ["shop"])


def test_services_are_seen_with_their_ports_and_pods() -> None:
    found = changed()
    cart, frontend = found.services
    assert (cart.host, cart.ports[0].protocol, cart.workloads) == ("cart.shop.svc.cluster.local", "grpc", ("cart",))
    assert [each.name for each in frontend.pods] == ["frontend-1", "frontend-2"]
    assert [each.name for each in found.pods] == ["cart-1", "frontend-1", "frontend-2"]
    assert found.replicas == {"cart": 1, "frontend": 2}
    assert not found.uncovered


def test_a_gateway_in_the_namespace_itself_is_no_service() -> None:
    listed = shop()
    listed["Pod"] = [*listed["Pod"][:3], gateway_pod(within="shop")]
    listed["Service"][2] = service("ingress", selector={"istio": "ingressgateway"})
    found = view_of(listed, ["shop"])
    assert [each.name for each in found.services] == ["cart", "frontend"]
    assert [each.name for each in found.gateways] == ["ingress"]
    assert "ingress" not in found.names_in("shop")


def test_the_version_is_that_of_istiod_else_of_sidecars() -> None:
    assert changed().istio_version == "1.31.0"
    istiod = pod("istiod-1", within="istio-system", proxy="")
    istiod["spec"]["containers"] = [{"name": "discovery", "image": "registry.example:5000/pilot:1.30.2-distroless"}]
    assert changed(Pod=[*shop()["Pod"], istiod]).istio_version == "1.30.2-distroless"
    assert changed(Pod=[]).istio_version == ""


@pytest.mark.parametrize(
    ("added", "pods", "what", "reason"),
    [
        (service("x"), [], "Service shop/x", "no pod serves it"),
        (service("x", selector={}), [], "Service shop/x", "no selector"),
        (service("x", type="ExternalName", externalName="db.example"), [], "Service shop/x", "`db.example`"),
        (service("x"), [pod("x-1", proxy="")], "Service shop/x", "no sidecar"),
        (service("x"), [pod("x-1"), pod("x-2", proxy="")], "Service shop/x, pod x-2", "no sidecar"),
        (service("x", port(6379, "redis")), [pod("x-1")], "Service shop/x, port 6379", "TCP"),
        (service("x", port(443, "https")), [pod("x-1")], "Service shop/x, port 443", "HTTPS"),
        (
            service("x"),
            [pod("x-1", annotations={"traffic.sidecar.istio.io/excludeInboundPorts": "8080"})],
            "Service shop/x, port 80",
            "past the sidecar",
        ),
    ],
)
def test_what_no_plan_reaches_is_told_with_the_reason(
    added: dict[str, Any], pods: list[dict[str, Any]], what: str, reason: str
) -> None:
    listed = shop()
    found = changed(Service=[*listed["Service"], added], Pod=[*listed["Pod"], *pods])
    (line,) = found.uncovered
    assert line[0] == what
    assert reason in line[1]


def test_headless_services_and_ports_that_istio_guesses_are_reached() -> None:
    listed = shop()
    headless = service("x", port(80, "web"), clusterIP="None")
    found = changed(Service=[*listed["Service"], headless], Pod=[*listed["Pod"], pod("x-1")])
    assert not found.uncovered


def test_an_ambient_namespace_is_not_reached() -> None:
    found = view_of(
        {
            "Namespace": [namespace(**{"istio.io/dataplane-mode": "ambient"})],
            "Service": [service("x")],
            "Pod": [pod("x-1", proxy="")],
        },
        ["shop"],
    )
    assert "ambient" in found.uncovered[0][1]
    assert found.services[0].pods[0].ambient


def test_what_is_in_other_namespaces_is_not_ours() -> None:
    other = resource("Service", "x", {"selector": {"app": "x"}, "ports": [port()]}, "other")
    found = changed(Service=[*shop()["Service"], other], Pod=[*shop()["Pod"], pod("x-1", within="other")])
    assert [each.name for each in found.services] == ["cart", "frontend"]
    assert found.names_in("other") == {}
