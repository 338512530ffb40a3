import asyncio
from typing import Any

from tests.samples.cluster_resources import pod, service
from tests.samples.installations import installation
from tests.samples.small_api_server import SmallApiServer

from cutset.inject.istio.install import install, prepare
from cutset.inject.istio.marking import BY, SINCE, marking_policy
from cutset.inject.istio.marks import VERSION
from cutset.inject.istio.status import ClusterStatus, cluster_status
from cutset.kubernetes.client import connected
from cutset.model.cluster import ClusterGateway

FILTER = "/apis/networking.istio.io/v1alpha3/namespaces/shop/envoyfilters/cutset-shop"


def installed(**options: Any) -> None:
    async def run() -> None:
        async with connected() as cluster:
            async for _ in install(cluster, await prepare(cluster, installation(**options))):
                pass

    asyncio.run(run())


def status(*namespaces: str) -> ClusterStatus:
    async def run() -> ClusterStatus:
        async with connected() as cluster:
            return await cluster_status(cluster, namespaces)

    return asyncio.run(run())


def states(found: ClusterStatus) -> dict[str, str]:
    return {resource.name: resource.state for each in found.environments for resource in each.resources}


def test_nothing_is_installed_at_first(server: SmallApiServer) -> None:
    assert status() == ClusterStatus((), "absent", False, ())


def test_what_was_just_installed_is_current(server: SmallApiServer) -> None:
    installed()
    found = status("shop")
    assert set(states(found).values()) == {"current"}
    assert (found.collector, found.provider, found.is_current) == ("not ready", True, True)
    assert status("other").environments == ()


def test_who_marks_live_requests_is_shown_and_nothing_is_wrong_with_that(server: SmallApiServer) -> None:
    installed(marking=True)
    gateway = ClusterGateway("istio-ingress", "ingress", (), (), (("istio", "ingressgateway"),))
    server.put(marking_policy("shop", gateway, [{}], **{BY: "me@here", SINCE: "1790000000"}))
    found = status("shop")
    assert found.is_current
    (policy,) = [
        each for (environment,) in [found.environments] for each in environment.resources if each.state == "marking"
    ]
    assert policy.name == "AuthorizationPolicy istio-ingress/cutset-shop-marking-ingress"
    assert policy.version == "by me@here since 2026-09-21 14:13:20 UTC"


def test_a_service_that_came_makes_it_stale(server: SmallApiServer) -> None:
    installed()
    for each in (service("price", selector={"app": "price-v1"}), pod("price-v1-1", "price-v1")):
        server.put({"apiVersion": "v1", **each})
    found = status()
    assert states(found)["EnvoyFilter shop/cutset-shop"] == "stale"
    assert not found.is_current


def test_what_is_missing_or_left_over_is_named(server: SmallApiServer) -> None:
    installed()
    telemetry = next(path for path in server.stored if "telemetries" in path)
    former = {**server.stored[telemetry]["metadata"], "name": "cutset-shop-former"}
    server.put({**server.stored[telemetry], "metadata": former})
    del server.stored[telemetry]
    found = states(status())
    assert found["Telemetry shop/cutset-shop"] == "missing"
    assert found["Telemetry shop/cutset-shop-former"] == "left over"


def test_what_no_environment_needs_is_left_over(server: SmallApiServer) -> None:
    installed()
    for path in [each for each in server.stored if "envoyfilters/cutset" in each or "telemetries" in each]:
        del server.stored[path]
    found = status()
    assert found.left_over == ("provider `cutset` in MeshConfig", "namespace `cutset` with the collector")


def test_a_filter_that_does_not_say_what_was_asked_for_is_left_over(server: SmallApiServer) -> None:
    installed()
    server.stored[FILTER]["metadata"]["annotations"] = {VERSION: "x"}
    assert set(states(status()).values()) == {"left over"}


def test_an_environment_that_cannot_be_compared_says_why(server: SmallApiServer) -> None:
    installed()
    del server.stored["/api/v1/namespaces/shop"]
    (found,) = status().environments
    assert "no namespace `shop`" in found.problem
    assert {each.state for each in found.resources} == {"unknown"}
