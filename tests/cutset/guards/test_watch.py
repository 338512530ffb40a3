import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from cutset.errors import HaltedError
from cutset.guards import watch as watching
from cutset.guards.brake import Brake
from cutset.guards.halting import HaltOrder, give_order
from cutset.guards.settings import GuardSettings, PrometheusCondition, UrlCondition
from cutset.guards.vital_signs import VitalSigns
from cutset.guards.watch import watch, watched

SOON = 20.0  # seconds, of which none needs more than a few


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.01)


def tripped_by(store: Path, settings: GuardSettings, signs: VitalSigns) -> tuple[str, str]:
    """What a watch ends with."""

    async def run() -> Brake:
        brake = Brake(store)
        async with asyncio.timeout(SOON):
            await watch(brake, settings, signs)
        return brake

    pulled = asyncio.run(run()).pulled
    assert pulled is not None
    return pulled.guard, pulled.reason


def test_each_guard_pulls_the_brake_by_its_own_name(tmp_path: Path) -> None:
    failing, slow, marked = VitalSigns(), VitalSigns(latency=0.1), VitalSigns()
    failing.counted(100, 50)
    slow.counted(100, 0, 50)
    marked.mark()

    assert tripped_by(tmp_path, GuardSettings(error_rate=0.1), failing)[0] == "error-rate"
    assert tripped_by(tmp_path, GuardSettings(latency=0.1), slow)[0] == "latency"
    assert tripped_by(tmp_path, GuardSettings(max_marked=1), marked)[0] == "budget"
    assert tripped_by(tmp_path, GuardSettings(telemetry=0.01), marked)[0] == "telemetry"
    assert tripped_by(tmp_path, GuardSettings(urls=(UrlCondition("http://127.0.0.1:9/"),)), marked)[0] == "url"
    unreachable = GuardSettings(prometheus=(PrometheusCondition("http://127.0.0.1:9", "up", below=1),), patience=0)
    assert tripped_by(tmp_path, unreachable, marked)[0] == "prometheus"


def test_what_is_too_much_already_lets_nothing_begin(tmp_path: Path) -> None:
    async def begin(settings: GuardSettings) -> None:
        async with watched(Brake(tmp_path), settings, VitalSigns()):
            pytest.fail("it began")

    with pytest.raises(HaltedError, match=r"The guard `url` ended injection: http://127\.0\.0\.1:9/"):
        asyncio.run(begin(GuardSettings(urls=(UrlCondition("http://127.0.0.1:9/"),))))
    give_order(tmp_path, HaltOrder("anna@laptop"))
    with pytest.raises(HaltedError, match="anna@laptop"):
        asyncio.run(begin(GuardSettings()))


def test_out_of_hours_nothing_begins(tmp_path: Path) -> None:
    async def begin(hours: str) -> None:
        async with watched(Brake(tmp_path), GuardSettings(hours=hours), VitalSigns()):
            pass

    asyncio.run(begin("00:00-24:00"))
    # One of the two halves of the day is not now, whenever this runs, but for the minute in which they meet.
    outside = []
    for hours in ("00:00-12:00", "12:00-24:00"):
        try:
            asyncio.run(begin(hours))
        except HaltedError as error:
            outside.append(error.message)
    assert len(outside) == 1
    assert "The guard `hours` ended injection: it is " in outside[0]


def test_what_goes_wrong_meanwhile_is_seen_and_what_is_well_is_left_alone(tmp_path: Path) -> None:
    async def run() -> tuple[list[int], Brake, Brake]:
        statuses, asked = [200] * 5 + [500], []

        async def handle(_: web.Request) -> web.Response:
            asked.append(statuses[min(len(asked), 5)])
            return web.Response(status=asked[-1])

        async def good(_: web.Request) -> web.Response:
            return web.Response()

        application = web.Application()
        application.add_routes([web.get("/bad", handle), web.get("/good", good)])
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        bad, well = Brake(tmp_path), Brake(tmp_path)
        signs = VitalSigns()
        signs.counted(1000, 10)
        async with (
            asyncio.timeout(SOON),
            watched(well, GuardSettings(urls=(UrlCondition(f"{url}/good"),), error_rate=0.05), signs),
        ):
            await watch(bad, GuardSettings(urls=(UrlCondition(f"{url}/bad"),)), VitalSigns())
        await runner.cleanup()
        return asked, bad, well

    asked, bad, well = asyncio.run(run())
    assert asked == [200] * 5 + [500]
    assert bad.pulled is not None
    assert well.pulled is None


def test_a_guard_that_cannot_look_any_more_pulls_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> str:
        raise RuntimeError("out of files")

    monkeypatch.setattr(watching, "bad_answer", broken)

    guard, reason = tripped_by(tmp_path, GuardSettings(urls=(UrlCondition("http://127.0.0.1:9/"),)), VitalSigns())

    assert (guard, reason) == ("url", "it cannot look any more: RuntimeError: out of files")


def test_whoever_ends_the_block_ends_the_watch(tmp_path: Path) -> None:
    async def run() -> int:
        async with watched(Brake(tmp_path), GuardSettings(error_rate=0.1), VitalSigns()):
            inside = len(asyncio.all_tasks())
        assert len(asyncio.all_tasks()) == 1
        return inside

    assert asyncio.run(run()) > 1
