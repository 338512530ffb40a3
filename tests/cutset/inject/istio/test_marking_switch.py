"""What a gateway then does is in tests/istio/test_impact.py."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from tests.samples.cluster_resources import gateway_pod, gateway_service, resource, route, virtual_service
from tests.samples.installations import installation
from tests.samples.small_api_server import SmallApiServer

from cutset.errors import TargetError, UsageError
from cutset.inject.istio import marking_switch as switching
from cutset.inject.istio.install import install, prepare
from cutset.inject.istio.marking_switch import MarkingSwitch, marking_switch
from cutset.kubernetes.client import connected
from cutset.kubernetes.kinds import KINDS
from cutset.model.cluster import IstioPlace
from cutset.model.impact import Matching

POLICY = "/apis/security.istio.io/v1/namespaces/istio-ingress/authorizationpolicies/cutset-shop-marking-ingress"
SERVICE = "/api/v1/namespaces/cutset/services/cutset-marker-shop"
MESH = "/api/v1/namespaces/istio-system/configmaps/istio"
Result = TypeVar("Result")


@pytest.fixture(autouse=True)
def _installed(server: SmallApiServer) -> None:
    async def run() -> None:
        async with connected() as cluster:
            async for _ in install(cluster, await prepare(cluster, installation(marking=True))):
                pass

    asyncio.run(run())


def switched(do: Callable[[MarkingSwitch], Awaitable[Result]], gateway: str = "", environment: str = "shop") -> Result:
    async def run() -> Result:
        async with connected() as cluster:
            place = IstioPlace(("shop",), gateway=gateway)
            return await do(await marking_switch(cluster, place, environment, "me@here"))

    return asyncio.run(run())


def test_a_policy_is_there_from_on_to_off(server: SmallApiServer) -> None:
    before = server.snapshot()

    async def on(switch: MarkingSwitch) -> None:
        await switch.on(0.25, Matching(path="/cart"))
        (rule,) = server.stored[POLICY]["spec"]["rules"]
        assert rule["to"] == [{"operation": {"paths": ["/cart"]}}]
        assert rule["when"][0]["values"] == ["*0", "*1", "*2", "*3"]
        await switch.on(0.5, Matching())
        (rule,) = server.stored[POLICY]["spec"]["rules"]
        assert len(rule["when"][0]["values"]) == 8
        await switch.off()
        await switch.off()

    switched(on)
    assert server.snapshot() == before


def without_provider(server: SmallApiServer) -> None:
    server.stored[MESH]["data"]["mesh"] = "trustDomain: cluster.local\n"


def with_a_provider_that_fails_closed(server: SmallApiServer) -> None:
    text = server.stored[MESH]["data"]["mesh"]
    server.stored[MESH]["data"]["mesh"] = text.replace("failOpen: true", "failOpen: false")


def without_service(server: SmallApiServer) -> None:
    del server.stored[SERVICE]


def with_another_policy(server: SmallApiServer) -> None:
    made = resource("AuthorizationPolicy", "oauth", {"action": "CUSTOM"}, "istio-ingress")
    server.put({"apiVersion": KINDS["AuthorizationPolicy"].version, **made})


def test_a_gateway_that_traces_is_refused(server: SmallApiServer) -> None:
    made = resource("Telemetry", "theirs", {"tracing": [{}]}, "istio-ingress")
    server.put({"apiVersion": KINDS["Telemetry"].version, **made})
    with pytest.raises(UsageError, match="lets the gateway istio-ingress/ingress trace") as refused:
        switched(lambda switch: switch.off())
    assert "`--load`" in refused.value.hint


UNSAFE = {
    without_provider: "has no provider `cutset-marker-shop`",
    with_a_provider_that_fails_closed: "has no provider `cutset-marker-shop` as Cutset needs it",
    without_service: "no Service cutset/cutset-marker-shop",
    with_another_policy: r"asks somebody else already \(AuthorizationPolicy istio-ingress/oauth\)",
}


@pytest.mark.parametrize(("make", "said"), UNSAFE.items())
def test_what_would_make_istio_deny_requests_is_refused(
    server: SmallApiServer, make: Callable[[SmallApiServer], None], said: str
) -> None:
    make(server)
    with pytest.raises(UsageError, match=said):
        switched(lambda switch: switch.off())


@pytest.mark.parametrize(("make", "said"), UNSAFE.items())
def test_also_if_it_came_after_the_first_look(
    server: SmallApiServer, make: Callable[[SmallApiServer], None], said: str
) -> None:
    async def on(switch: MarkingSwitch) -> None:
        make(server)
        await switch.on(0.1, Matching())

    with pytest.raises(UsageError, match=said):
        switched(on)
    assert POLICY not in server.stored


def test_requests_for_other_hosts_are_not_asked_about(server: SmallApiServer) -> None:
    leading = virtual_service("front", [route("frontend")], gateways=["front"])
    leading["spec"]["hosts"] = ["shop.example"]
    server.put({"apiVersion": KINDS["VirtualService"].version, **leading})

    async def on(switch: MarkingSwitch) -> None:
        await switch.on(1.0, Matching())

    switched(on)
    assert server.stored[POLICY]["spec"]["rules"] == [
        {"to": [{"operation": {"hosts": ["shop.example", "shop.example:*"]}}]}
    ]


def test_of_several_gateways_one_has_to_be_chosen(server: SmallApiServer) -> None:
    server.put({"apiVersion": "v1", **gateway_service("other")})
    server.put({"apiVersion": "v1", **gateway_pod("other-1")})

    async def name(switch: MarkingSwitch) -> str:
        return switch.gateway.name

    with pytest.raises(UsageError, match="Several gateways") as refused:
        switched(name)
    assert "`istio-ingress/ingress`, `istio-ingress/other`" in refused.value.hint
    with pytest.raises(UsageError, match="`shop/none` is no gateway"):
        switched(name, gateway="shop/none")
    assert switched(name, gateway="istio-ingress/other") == "other"


def test_a_gateway_that_does_not_ask_is_told_of_and_no_policy_stays(
    server: SmallApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switching, "PROOF_SECONDS", 0.1)

    async def prove(switch: MarkingSwitch) -> None:
        await switch.prove(lambda: server.url, lambda: 0)

    with pytest.raises(TargetError, match="does not ask about requests: it answered 404"):
        switched(prove)
    assert POLICY not in server.stored


def test_one_that_asks_about_the_probe_keeps_a_policy_that_concerns_nobody(server: SmallApiServer) -> None:
    asked: list[object] = []

    def entrance() -> str:
        asked.append(server.stored[POLICY]["spec"]["rules"])
        return server.url

    switched(lambda switch: switch.prove(entrance, lambda: len(asked)))
    (rules,) = asked
    assert rules == server.stored[POLICY]["spec"]["rules"]
    assert "x-cutset-marking-probe" in str(rules)
