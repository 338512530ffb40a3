"""Calls that only agents see, searched together with calls between services."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from tests.samples.cached_shop import KEY, CachedShop, open_cached_shop

from cutset.app.explore import explore, open_laboratory, replay_finding
from cutset.config.explore import Config, load_config, request_named
from cutset.model.event import CampaignEvent, RequestAudited
from cutset.model.fault import Fault, format_cut, points_of
from cutset.model.finding import findings_of
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point

PAGES = ("tolerant", "fragile", "unhurried", "fallback", "charge")
CACHE = Point.parse("web>cache/redis/get sessions/0")
CATALOGUE = Point.parse("catalogue/GET /products")
BANK = Point.parse("web>rpc/httpx/POST /v1/charges bank")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CachedShop]:
    with open_cached_shop(tmp_path_factory.mktemp("shop"), PAGES, effects=["abort(503)", "timeout"]) as shop:
        yield shop


async def explored(config: Config, store: Path) -> list[CampaignEvent]:
    async with aclosing(explore(config, key=KEY, store=store)) as events:
        return [event async for event in events]


async def tried(shop: CachedShop, cuts: list[tuple[str, list[str]]]) -> list[Outcome]:
    config = load_config(shop.config_file)
    async with open_laboratory(config, KEY) as laboratory:
        for name in dict.fromkeys(page for page, _ in cuts):
            assert (await laboratory.audit(request_named(f"GET /{name}", config.requests))).healthy
        return [
            await laboratory.run(request_named(f"GET /{page}", config.requests), frozenset(map(Fault.parse, faults)))
            for page, faults in cuts
        ]


def test_stores_and_third_parties_are_searched_together_with_services(shop: CachedShop, tmp_path: Path) -> None:
    config = load_config(shop.config_file)
    events = asyncio.run(explored(config, tmp_path))
    cuts: dict[str, set[str]] = {}
    for finding in findings_of(events):
        cuts.setdefault(finding.request.removeprefix("GET /"), set()).add(format_cut(finding.cut))
    mixed = next(each for each in findings_of(events) if points_of(each.cut) == {CATALOGUE, CACHE})
    again = asyncio.run(replay_finding(config, mixed.id, key=KEY, store=tmp_path))

    catalogue = {f"{CATALOGUE}:abort(503)", f"{CATALOGUE}:timeout"}
    cache = {f"{CACHE}:connection-refused", f"{CACHE}:timeout"}
    assert cuts == {
        "tolerant": catalogue,
        "fragile": catalogue | cache,
        "unhurried": {f"{CACHE}:timeout"},  # errors are tolerated, but nothing ends the wait
        "fallback": {f"{one} + {other}" for one in cache for other in catalogue},
        "charge": {f"{BANK}:abort(503)", f"{BANK}:timeout"},
    }
    audited = {each.request: each for each in events if isinstance(each, RequestAudited)}
    assert audited["GET /tolerant"].calls == {CATALOGUE, CACHE}
    assert audited["GET /charge"].calls == {BANK}
    assert not any(each.uncoverable for each in audited.values())
    assert (again.outcome.verdict, again.outcome.fired) == (Verdict.FAILED, {CATALOGUE, CACHE})
    assert again.faulted is not None
    assert again.healthy is not None
    assert {span.fault for span in again.faulted.spans if span.fault} == {str(fault) for fault in mixed.cut}
    assert not any(span.fault for span in again.healthy.spans)


def test_one_call_of_a_request_and_the_callers_side_of_a_call_can_be_failed(shop: CachedShop) -> None:
    once, never, side = asyncio.run(
        tried(
            shop,
            [
                ("charge", [f"{BANK}:abort(503),call=1"]),
                ("charge", [f"{BANK}:abort(503),call=3"]),
                ("fallback", ["web>catalogue/GET /products:connection-refused"]),
            ],
        )
    )

    assert (once.verdict, once.path, once.failed) == (Verdict.SURVIVED, {BANK}, {BANK})
    assert (never.verdict, never.reason) == (Verdict.UNKNOWN, f"never fired: {BANK} was not called")
    assert (side.verdict, side.path) == (Verdict.SURVIVED, {CACHE})


def test_where_only_some_replicas_have_an_agent_its_calls_are_not_coverable(tmp_path: Path) -> None:
    with open_cached_shop(tmp_path, ("unhurried",), agents=("web#1",), replicas=2, limits={"trace_timeout": 2}) as shop:
        events = asyncio.run(explored(load_config(shop.config_file), tmp_path))

    (audited,) = (each for each in events if isinstance(each, RequestAudited))
    assert not audited.calls
    assert audited.not_reached == {CACHE}
    (lost,) = (each for each in audited.uncoverable if each.call == str(CACHE))
    assert lost.reason == "called by web, where only some replicas have an agent: web#2 without one"
