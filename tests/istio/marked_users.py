"""Users of the shop, who send requests through the gateway at a steady rate; and marking of them, also as a process."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from tests.istio.conftest import Laboratory

from cutset.app.impact_istio import gateway_traffic
from cutset.app.impact_learning import KnownCalls
from cutset.app.istio_bench import open_istio_bench
from cutset.config.explore import load_config
from cutset.impact.live import LiveTraffic
from cutset.impact.settings import ImpactSettings
from cutset.model.fault import Fault
from cutset.model.impact import ImpactWindow, TrafficSource

RATE = 15.0  # requests per second: few enough for one machine to be all of a cluster


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    marked: bool  # whether the first service saw a plan


async def asked_by_users(laboratory: Laboratory, number: int, host: str = "shop.example") -> list[Answer]:
    """In the order in which they were sent."""
    url = laboratory.gateway
    async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
        asking = []
        for _ in range(number):
            asking.append(asyncio.ensure_future(client.get(f"{url}/", headers={"host": host})))
            await asyncio.sleep(1 / RATE)
        answers = await asyncio.gather(*asking)
    return [Answer(each.status_code, "cutset=" in each.json()["saw"].get("tracestate", "")) for each in answers]


@asynccontextmanager
async def marking(folder: Path, *faults: str) -> AsyncIterator[LiveTraffic]:
    """As `cutset impact` does it, with the configuration and the key of a folder."""
    config = load_config(folder / "cutset.yaml")
    assert config.istio is not None
    started = ImpactSettings().started(frozenset(map(Fault.parse, faults)), TrafficSource.LIVE, by="somebody@here")
    key = (folder / "cutset/keys/shop.pem").read_bytes()
    async with (
        open_istio_bench(config, config.istio, key) as bench,
        gateway_traffic(
            config.istio, bench, started, KnownCalls(), "a run", may_mark=lambda: True, on_mark=lambda _: None
        ) as traffic,
    ):
        yield traffic


async def _mark(folder: str, fault: str, share: str) -> None:
    async with marking(Path(folder), fault) as traffic:
        await traffic.start(ImpactWindow.DURING, float(share))
        sys.stdout.write("marking\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_mark(*sys.argv[1:]))
