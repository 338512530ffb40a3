"""With a real gateway in tests/istio/test_impact.py."""

import asyncio
from typing import Any

import pytest
from tests.samples.installations import installation
from tests.samples.small_api_server import SmallApiServer

from cutset.errors import TargetError, UsageError
from cutset.impact import istio
from cutset.impact.istio import NEAR_SECONDS, GatewayEdge, gateway_edge, refuse_distance
from cutset.inject.istio.install import install, prepare
from cutset.kubernetes.client import connected
from cutset.model.cluster import IstioPlace
from cutset.model.impact import Matching
from cutset.receive.tunnel import TunnelEnd


def opened(**options: bool) -> None:
    async def run() -> None:
        async with connected() as cluster:
            async for _ in install(cluster, await prepare(cluster, installation(**options))):
                pass
            place = IstioPlace(("shop",))
            edge = gateway_edge(cluster, place, "shop", Matching(), by="me", entrance=lambda: "http://127.0.0.1:1")
            async with edge:
                pass

    asyncio.run(run())


def test_without_what_install_marking_puts_there_it_is_refused(server: SmallApiServer) -> None:
    with pytest.raises(UsageError, match="has no provider") as refused:
        opened()
    assert "`cutset install --marking`" in refused.value.hint


def test_a_marker_that_does_not_run_is_told_of_and_no_gateway_asks(server: SmallApiServer) -> None:
    with pytest.raises(TargetError, match=r"cutset-marker-shop\) is not ready: it has no pod"):
        opened(marking=True)
    assert not [path for path in server.stored if "istio-ingress/authorizationpolicies" in path]


def test_users_do_not_wait_for_who_is_far_away() -> None:
    refuse_distance(NEAR_SECONDS)
    with pytest.raises(UsageError, match="The cluster is 80 ms away"):
        refuse_distance(0.08)


class Switch:
    """What a switch was told."""

    environment = "shop"

    def __init__(self) -> None:
        self.told: list[object] = []
        self.is_off = asyncio.Event()

    async def on(self, share: float, matching: Matching) -> None:
        self.told.append((share, matching.path))

    async def off(self) -> None:
        self.told.append("off")
        self.is_off.set()


def edge_of(switch: Any) -> GatewayEdge:
    return GatewayEdge(switch, Matching(path="/cart"), TunnelEnd(0.001), "127.0.0.1:1")


def test_between_windows_a_gateway_is_told_nothing_and_after_the_last_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        switch = Switch()
        edge = edge_of(switch)
        await edge.ask_about(0.05)
        await edge.ask_about(0.0)
        await edge.ask_about(0.05)  # the next window
        await edge.ask_about(0.1)  # the next step of a ramp
        assert switch.told == [(0.1, "/cart"), (0.2, "/cart")]
        monkeypatch.setattr(istio, "LINGER_SECONDS", 0.0)
        await edge.ask_about(0.0)
        await switch.is_off.wait()
        await edge.ask_about(0.1)
        assert switch.told[2:] == ["off", (0.2, "/cart")]

    asyncio.run(run())


def test_a_tunnel_that_broke_is_told_of_when_a_window_begins() -> None:
    async def run() -> None:
        edge = edge_of(Switch())
        assert await edge.is_asking()
        edge.end.lost.set_result(None)
        with pytest.raises(TargetError, match="cutset-marker-shop in the cluster broke"):
            await edge.is_asking()

    asyncio.run(run())
