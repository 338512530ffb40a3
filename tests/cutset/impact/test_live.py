"""With an edge that is asked by these tests; a real one is in `tests/end_to_end/test_impact_live.py`."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest

from cutset.app.demo import free_ports
from cutset.errors import HaltedError, TargetError
from cutset.experiment.trial import Bench
from cutset.impact import live
from cutset.impact.live import LiveTraffic, life_of, marking_live
from cutset.inject.marking.check_pb2 import CheckRequest, CheckResponse, HealthCheckResponse
from cutset.inject.marking.service import AUTHORIZATION, HEALTH
from cutset.lineage.path import Level
from cutset.model.fault import Fault
from cutset.model.impact import Group, ImpactStarted, ImpactWindow, Mark, Matching, TrafficSource
from cutset.model.point import Point
from cutset.model.span import Span, SpanKind
from cutset.model.target import Target
from cutset.traces.collector import Collector

KEY = b"a key for tests that nobody guesses"
PATIENCE_SECONDS = 20
CUT = frozenset({Fault.parse("payment/Charge:abort(503)")})
STARTED = ImpactStarted(
    cut=CUT, traffic=TrafficSource.LIVE, shares=(0.05,), seconds={}, matching=Matching(path="/cart")
)


@dataclass
class AskedEdge:
    """Asks when it is told to, as Envoy would."""

    channel: grpc.aio.Channel
    shares: list[float] = field(default_factory=list)
    gone: bool = False

    async def ask_about(self, share: float) -> None:
        if self.gone:
            raise TargetError("The edge is gone")
        self.shares.append(share)

    async def is_asking(self) -> bool:
        answer = await self.channel.unary_unary(f"/{HEALTH}/Check")(b"", timeout=PATIENCE_SECONDS)
        return HealthCheckResponse.FromString(answer).status == HealthCheckResponse.SERVING

    async def request(self, path: str = "/cart") -> bool:
        """Whether it was marked."""
        asked = CheckRequest()
        asked.attributes.request.http.method = "GET"
        asked.attributes.request.http.path = path
        ask = self.channel.unary_unary(f"/{AUTHORIZATION}/Check")
        answer = CheckResponse.FromString(await ask(asked.SerializeToString(), timeout=PATIENCE_SECONDS))
        return bool(answer.ok_response.headers)


@asynccontextmanager
async def marking(
    *, may_mark: Callable[[], bool] = lambda: True, on_mark: Callable[[Mark], None] = lambda _: None
) -> AsyncIterator[tuple[LiveTraffic, AskedEdge]]:
    bench = Bench(Target("http://x"), KEY, Collector(), None, Level.API, trace_timeout=1.0, export_interval=0.1)
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    async with grpc.aio.insecure_channel(address, [("grpc.enable_http_proxy", 0)]) as channel:
        edge = AskedEdge(channel)
        async with marking_live(
            bench, STARTED, edge, address=address, salt="run", apis=set, may_mark=may_mark, on_mark=on_mark
        ) as traffic:
            yield traffic, edge


def within_patience(test: Any) -> None:
    async def limited() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await test

    asyncio.run(limited())


def taken(traffic: LiveTraffic) -> list[Mark]:
    return [traffic.marks.get_nowait() for _ in range(traffic.marks.qsize())]


def test_nothing_is_marked_before_it_starts_nor_after_it_stops() -> None:
    async def test() -> None:
        async with marking() as (traffic, edge):
            assert not await edge.request()
            await traffic.start(ImpactWindow.DURING, 0.05)
            assert await edge.request()
            assert not await edge.request("/other")
            assert await traffic.stop() == 3
            assert not await edge.request()
            assert len(taken(traffic)) == 1
            assert edge.shares == [0.05, 0.0]
            assert await traffic.stop() == 1

    within_patience(test())


def test_before_the_fault_all_are_control_and_during_it_both_groups_are_there() -> None:
    async def test() -> None:
        async with marking() as (traffic, edge):
            await traffic.start(ImpactWindow.BEFORE, 0.05)
            for _ in range(30):
                await edge.request()
            assert {mark.group for mark in taken(traffic)} == {Group.CONTROL}
            await traffic.start(ImpactWindow.DURING, 0.05)
            for _ in range(30):
                await edge.request()
            assert {mark.group for mark in taken(traffic)} == {Group.CONTROL, Group.FAULT}

    within_patience(test())


def test_once_the_brake_is_pulled_nothing_is_marked_and_nobody_waits_for_the_edge() -> None:
    async def test() -> None:
        braked = False
        async with marking(may_mark=lambda: not braked) as (traffic, edge):
            await traffic.start(ImpactWindow.DURING, 0.05)
            braked = True
            assert not await edge.request()
            await traffic.start(ImpactWindow.DURING, 0.1)
            assert not await edge.is_asking()

    within_patience(test())


def test_a_mark_that_cannot_be_written_down_is_not_made() -> None:
    def refuse(_: Mark) -> None:
        raise HaltedError("The audit log is full")

    async def test() -> None:
        async with marking(on_mark=refuse) as (traffic, edge):
            await traffic.start(ImpactWindow.DURING, 0.05)
            assert not await edge.request()
            assert taken(traffic) == []

    within_patience(test())


def test_an_edge_that_is_gone_does_not_keep_marking_from_ending() -> None:
    async def test() -> None:
        async with marking() as (traffic, edge):
            await traffic.start(ImpactWindow.DURING, 0.05)
            edge.gone = True
            await traffic.stop()
            assert not await edge.request()

    within_patience(test())


def test_an_edge_that_never_asks_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "HEARD_SECONDS", 0.1)

    async def never() -> bool:
        return False

    async def test() -> None:
        async with marking() as (traffic, edge):
            monkeypatch.setattr(edge, "is_asking", never)
            with pytest.raises(TargetError, match="did not find us"):
                await traffic.start(ImpactWindow.DURING, 0.05)

    within_patience(test())


def test_whoever_leaves_ends_marking() -> None:
    async def test() -> None:
        async with marking() as (traffic, edge):
            await traffic.start(ImpactWindow.DURING, 0.05)
        assert traffic.marker.order is None
        assert edge.shares[-1] == 0.0

    within_patience(test())


def test_names_of_a_route_that_become_known_are_planned_from_then_on() -> None:
    def span(path: str, kind: SpanKind, span_id: str, parent: str, **told: str) -> Span:
        attributes = {"http.method": "GET", "http.url": f"http://x{path}", "http.route": "/charges/{name}"} | told
        return Span("t", span_id, parent, "payment", path, kind, 0, 1, attributes=attributes)

    async def test() -> None:
        async with marking() as (traffic, _):
            traffic.started = ImpactStarted(
                cut=frozenset({Fault(Point("payment", "GET /charges/*"))}),
                traffic=TrafficSource.LIVE,
                shares=(0.05,),
                seconds={},
            )
            await traffic.start(ImpactWindow.DURING, 0.05)
            mesh = {"cutset.service": "payment", "cutset.api": "GET /charges/alice"}
            traffic.bench.routes.learn(
                [
                    span("/charges/alice", SpanKind.SERVER, "1", "r", **mesh),
                    span("/charges/alice", SpanKind.SERVER, "2", "1"),
                ]
            )
            traffic.renew()
            assert traffic.marker.order.with_fault
            assert {str(fault.point) for fault in traffic.marker.order.cut} == {"payment/GET /charges/alice"}

    within_patience(test())


def test_a_plan_lives_as_long_as_a_request_takes_and_what_it_is_delayed() -> None:
    assert life_of(CUT) == 5.0
    assert life_of(frozenset({Fault.parse("payment/Charge:delay(3s)")})) == 11.0
    assert life_of(frozenset({Fault.parse("payment/Charge:delay(3600s)")})) == 120.0
