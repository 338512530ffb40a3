from pathlib import Path
from typing import Any

import pytest
from tests.samples.cluster_resources import resource, route, virtual_service
from tests.samples.istiod_patches import patched, refused_by_envoy

from cutset.errors import UsageError
from cutset.inject.istio.envoy_filter import envoy_filter
from cutset.inject.istio.outliers import DEFAULT_RETRY_ON, entered_hosts, gateway_outlier_patches, outlier_patches
from cutset.inject.istio.traffic_policy import CallRules
from cutset.model.cluster import ClusterPort, ClusterService, Resource

WEB = ClusterService("shop", "web", (ClusterPort(80, 8080, "http"),), ())
CART = ClusterService("shop", "cart", (ClusterPort(7070, 7070, "grpc"),), ())
OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"


def rules(*routes: Resource, http_routes: tuple[Resource, ...] = (), **policy: Any) -> CallRules:
    spec = {"host": "*.shop.svc.cluster.local", "trafficPolicy": {"outlierDetection": {}, **policy}}
    return CallRules([resource("DestinationRule", "all", spec)], routes, http_routes, {}, "istio-system")


def options(patches: list[Resource]) -> Resource:
    (cluster,) = (each for each in patches if each["applyTo"] == "CLUSTER")
    found: Resource = cluster["patch"]["value"]["typed_extension_protocol_options"][OPTIONS]
    return found


def retry_policy(patches: list[Resource]) -> Resource | None:
    (found,) = (each["patch"]["value"] for each in patches if each["applyTo"] == "HTTP_ROUTE")
    policy: Resource | None = found.get("route", {}).get("retry_policy")
    return policy


def test_nothing_is_touched_where_nobody_ejects() -> None:
    assert outlier_patches("shop", [WEB, CART], CallRules((), (), (), {}, "istio-system")) == []


def test_envoy_takes_what_callers_are_given(tmp_path: Path) -> None:
    found = envoy_filter("x", "shop", outlier_patches("shop", [WEB, CART], rules()))
    at_gateway = envoy_filter("y", "ingress", gateway_outlier_patches("ingress", [WEB, CART], rules()))
    hosts = [f"{WEB.host}:80", f"{CART.host}:7070"]
    bootstrap = patched([found, at_gateway], hosts)
    assert refused_by_envoy(bootstrap, tmp_path) == ""


def test_the_protocol_and_the_limits_of_connections_are_said_again() -> None:
    pool = {
        "http": {"idleTimeout": "3s", "maxRequestsPerConnection": 9, "maxConcurrentStreams": 5},
        "tcp": {"maxConnectionDuration": "60s"},
    }
    said = options(outlier_patches("shop", [CART], rules(connectionPool=pool)))
    assert said["explicit_http_config"] == {"http2_protocol_options": {"max_concurrent_streams": 5}}
    assert said["common_http_protocol_options"] == {
        "idle_timeout": "3s",
        "max_connection_duration": "60s",
        "max_requests_per_connection": 9,
    }
    assert options(outlier_patches("shop", [WEB], rules()))["explicit_http_config"] == {"http_protocol_options": {}}
    upgraded = options(outlier_patches("shop", [WEB], rules(connectionPool={"http": {"h2UpgradePolicy": "UPGRADE"}})))
    assert "http2_protocol_options" in upgraded["explicit_http_config"]


def test_a_port_whose_protocol_istio_guesses_stays_guessed() -> None:
    unnamed = ClusterService("shop", "web", (ClusterPort(80, 8080, ""),), ())
    assert "use_downstream_protocol_config" in options(outlier_patches("shop", [unnamed], rules()))


def test_ports_without_requests_are_left_alone() -> None:
    store = ClusterService("shop", "store", (ClusterPort(6379, 6379, "tcp"),), ())
    assert outlier_patches("shop", [store], rules()) == []


@pytest.mark.parametrize(
    ("retries", "condition", "statuses"),
    [
        (None, DEFAULT_RETRY_ON, ["14", "1"]),
        ({"attempts": 3, "retryOn": "deadline-exceeded,503"}, "deadline-exceeded,retriable-status-codes", ["4"]),
        ({"attempts": 3}, DEFAULT_RETRY_ON, ["14", "1"]),
    ],
)
def test_conditions_of_retries_stay_and_hidden_statuses_count_as_what_they_were(
    retries: Resource | None, condition: str, statuses: list[str]
) -> None:
    http = route("cart", **({"retries": retries} if retries else {}))
    found = outlier_patches("shop", [CART], rules(virtual_service("cart", [http], hosts=["cart"])))
    policy = retry_policy(found)
    assert policy is not None
    assert policy["retry_on"] == f"{condition},retriable-headers"
    assert [each["string_match"]["exact"] for each in policy["retriable_headers"]] == statuses


@pytest.mark.parametrize("retries", [{"attempts": 0}, {"attempts": 2, "retryOn": "5xx"}])
def test_what_is_not_retried_is_not_retried_because_of_us(retries: Resource) -> None:
    routes = virtual_service("cart", [route("cart", retries=retries)], hosts=["cart"])
    assert retry_policy(outlier_patches("shop", [CART], rules(routes))) is None


def test_routes_that_differ_in_their_retries_are_refused() -> None:
    routes = virtual_service("cart", [route("cart", retries={"attempts": 0}), route("cart")], hosts=["cart"])
    with pytest.raises(UsageError, match="VirtualService `shop/cart`"):
        outlier_patches("shop", [CART], rules(routes))


def test_a_grpc_service_that_ejects_right_behind_a_gateway_is_refused() -> None:
    at_gateway = virtual_service("cart", [route("cart")], hosts=["*"], gateways=["front"])
    with pytest.raises(UsageError, match=r"cart\.shop\.svc\.cluster\.local would eject"):
        gateway_outlier_patches("ingress", [CART], rules(at_gateway))
    assert gateway_outlier_patches("ingress", [CART], rules()) == []
    assert len(gateway_outlier_patches("ingress", [WEB], rules())) == 1


def test_gateways_lead_to_what_either_kind_of_route_names() -> None:
    of_api = resource("HTTPRoute", "web", {"rules": [{"backendRefs": [{"name": "web"}]}]})
    at_gateway = virtual_service("cart", [route("cart")], gateways=["front"])
    inside = virtual_service("other", [route("other")])
    found = entered_hosts(CallRules((), (at_gateway, inside), (of_api,), {}, ""))
    assert found == {WEB.host, CART.host}
