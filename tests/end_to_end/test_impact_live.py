"""Users come in by the edge of a real mesh while a fault is measured on a share of their requests."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import aiohttp
from tests.samples.small_shop import Shop, cut, open_shop

from cutset.guards.brake import Brake
from cutset.impact.live import LocalEdge, marking_live
from cutset.impact.observe import observing
from cutset.impact.run import run_impact
from cutset.impact.settings import ImpactSettings
from cutset.inject.local.marking_switch import share_now
from cutset.judge.impact import impact_of
from cutset.model.fault import Cut
from cutset.model.impact import (
    ApiVerdict,
    Group,
    Impact,
    ImpactEvent,
    ImpactWindow,
    Mark,
    RequestsObserved,
    TrafficSource,
    WindowEnded,
)
from cutset.model.point import Point
from cutset.model.run import Loop, RunStarted
from cutset.store.ledger import open_ledger
from cutset.store.runs import impact_events, new_run

PATIENCE_SECONDS = 120
PATIENT_SECONDS = 1.0  # for an answer of the marker
USERS = 8  # at a time
PAGE = Point("web", "GET /quiet")  # calls the cart, which it needs, and ads, which it can do without
SETTINGS = ImpactSettings(share=25.0, before=2.0, during=60.0, after=1.0, margin=30.0)


@asynccontextmanager
async def users(shop: Shop) -> AsyncIterator[Counter[int]]:
    """Who come and go as long as the block lasts; what they were answered."""
    answered: Counter[int] = Counter()

    async def one() -> None:
        async with aiohttp.ClientSession(trust_env=False) as session:
            while True:
                async with session.get(f"{shop.mesh.edge_url}/quiet") as response:
                    await response.read()
                    answered[response.status] += 1

    tasks = [asyncio.ensure_future(one()) for _ in range(USERS)]
    try:
        yield answered
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended), ended


async def measure(shop: Shop, faults: Cut, store: Path) -> tuple[Impact, list[ImpactEvent], Counter[int], list[Mark]]:
    started, bench, marked = SETTINGS.started(faults, TrafficSource.LIVE), shop.bench(trace_timeout=5.0), []
    with open_ledger(store) as ledger, new_run(ledger, RunStarted(loop=Loop.IMPACT, command="impact")) as run:
        brake = Brake(store)
        edge = LocalEdge(shop.mesh.admin_url, run)
        async with (
            users(shop) as answered,
            observing(bench, faults) as observer,
            marking_live(
                bench,
                started,
                edge,
                address=shop.mesh.marking,
                salt=run,
                apis=lambda: observer.apis,
                may_mark=lambda: brake.pulled is None,
                on_mark=marked.append,
            ) as traffic,
            aclosing(run_impact(run, started, traffic, observer, ledger, brake)) as events,
        ):
            async for _ in events:
                pass
            assert await share_now(shop.mesh.admin_url) == 0
        recorded = impact_events(ledger, run)
        return impact_of(recorded), recorded, answered, marked


def within_patience(test: Coroutine[Any, Any, None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await test

    asyncio.run(limited())


def failures(recorded: list[ImpactEvent]) -> Counter[Group]:
    """Marked requests that failed, as their spans tell."""
    return Counter(
        request.group
        for event in recorded
        if isinstance(event, RequestsObserved)
        for request in event.requests
        for call in request.calls
        if call.api == PAGE and call.failed
    )


def test_a_call_that_a_page_needs_affects_marked_users_alone_and_one_that_it_can_do_without_nobody(
    tmp_path: Path,
) -> None:
    async def test() -> None:
        # Users, services, mesh and marker share a machine with other tests: a mark that comes too late would be missed.
        patient = patch("cutset.inject.local.marking.ANSWER_SECONDS", PATIENT_SECONDS)
        async with AsyncExitStack() as stack:
            with patient:
                shop = await stack.enter_async_context(open_shop(tmp_path / "mesh", entry="web"))
            impact, recorded, answered, marked = await measure(shop, cut("cart/GET /items"), tmp_path / "fatal")

            assert [(each.api, each.verdict) for each in impact.apis] == [(PAGE, ApiVerdict.AFFECTED)]
            assert impact.problems == ()
            assert impact.others_failed[0] == 0
            assert impact.others_failed[1] > 0
            # Whoever was answered badly was marked, with the fault.
            assert failures(recorded) == {Group.FAULT: answered[500]}
            assert answered.keys() == {200, 500}
            ended = {each.window: each for each in recorded if isinstance(each, WindowEnded)}
            assert sum(ended[ImpactWindow.DURING].marked.values()) + sum(
                ended[ImpactWindow.BEFORE].marked.values()
            ) == len(marked)
            assert ended[ImpactWindow.BEFORE].marked.keys() == {Group.CONTROL}
            assert ended[ImpactWindow.DURING].asked >= sum(ended[ImpactWindow.DURING].marked.values())

            impact, recorded, answered, _ = await measure(shop, cut("ad/GET /ads"), tmp_path / "tolerated")

            assert [(each.api, each.verdict) for each in impact.apis] == [(PAGE, ApiVerdict.RESILIENT)]
            assert impact.faulted > 0
            assert impact.others_failed[0] == 0
            assert answered.keys() == {200}

    within_patience(test())
