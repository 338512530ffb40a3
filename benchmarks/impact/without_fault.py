"""Runs without any fault, on live traffic through the real mesh: whoever is called affected is a false alarm.

    python -m benchmarks.impact without_fault [--quick]

Both groups are given empty plans. The weather is bad: some requests of several services fail, and half of those of some
users, who thereby fail together. All APIs are judged, and the look is three times a second.

    aa_runs           of them; `aa_verdicts` are the APIs that were judged in all of them together
    aa_false_alarms   runs in which any API is called affected, at a promised chance of 1 % for each run
    aa_failed         requests that failed in both groups: without any there is nothing to be wrong about
    aa_halted         runs that a guard ended: the control got worse by chance
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

from benchmarks.impact.live_runs import SETTINGS
from benchmarks.impact.place import Place, run_place
from benchmarks.impact.planted_system import ENTRY, GRPC
from benchmarks.impact.users import UsersOrder

from cutset.app.bench import open_bench
from cutset.app.explore import mesh_beside
from cutset.app.impact_learning import KnownCalls
from cutset.app.impact_live import live_traffic
from cutset.config.explore import load_config
from cutset.errors import HaltedError
from cutset.guards.brake import Brake
from cutset.impact.observe import observing
from cutset.impact.run import run_impact
from cutset.judge.impact import ImpactTally
from cutset.model.fault import BASELINE
from cutset.model.impact import ApiVerdict, Impact, TrafficSource
from cutset.model.run import Loop, RunStarted
from cutset.store.ledger import open_ledger
from cutset.store.runs import new_run

RUNS = 200
RATE = 250.0
PATHS = ("/pay", "/order", "/home", "/stock")
WEATHER = {
    "shop": {"failing": 0.03, "unlucky": 0.02},
    "warehouse": {"failing": 0.03},
    "ads": {"failing": 0.05},
    "payment": {"failing": 0.02},
}
WINDOWS = replace(SETTINGS, before=0.2, during=0.7, after=0.0, stop_when_decided=False)
LOOK_SECONDS = 0.3


def measure(*, quick: bool) -> dict[str, object]:
    runs = 3 if quick else RUNS
    with run_place(
        "benchmarks.impact.planted_system:services", entry=ENTRY, grpc=GRPC, requests=PATHS, sections={}
    ) as place:
        place.weather(**WEATHER)
        place.users.order(UsersOrder(place.mesh.edge_url, PATHS, RATE))
        try:
            found = asyncio.run(_all(place, runs))
        finally:
            place.users.rest()
    judged = [each for impact in found for each in impact.apis]
    alarmed = [impact for impact in found if any(each.verdict is ApiVerdict.AFFECTED for each in impact.apis)]
    for impact in alarmed:
        for each in impact.apis:
            if each.verdict is ApiVerdict.AFFECTED:
                print(f"false alarm in {impact.run}: {each.api}: {each.reason}", file=sys.stderr)
    return {
        "aa_runs": len(found),
        "aa_false_alarms": len(alarmed),
        "aa_verdicts": len(judged),
        "aa_requests": sum(sum(impact.marked.values()) for impact in found),
        "aa_failed": sum(each.fault.failed + each.control.failed for each in judged),
        "aa_halted": sum(impact.guard is not None for impact in found),
        "aa_problems": sum(bool(impact.problems) for impact in found),
    }


async def _all(place: Place, runs: int) -> list[Impact]:
    found = []
    async with aclosing(_impacts(place, runs)) as impacts:
        async for impact in impacts:
            found.append(impact)
            if len(found) % 20 == 0:
                print(f"{len(found)} of {runs} runs without a fault", file=sys.stderr)
    return found


async def _impacts(place: Place, runs: int) -> AsyncIterator[Impact]:
    """One marker for all runs: what differs from `cutset impact` is that it is not started anew for each."""
    config = load_config(place.config_file)
    started = WINDOWS.started(BASELINE, TrafficSource.LIVE)
    mesh = mesh_beside(config)
    async with open_bench(config, place.key, mesh) as bench:
        with open_ledger(place.store) as ledger:
            async with live_traffic(
                bench, mesh, started, KnownCalls(), "aa", may_mark=lambda: True, on_mark=lambda _: None
            ) as traffic:
                for _ in range(runs):
                    tally = ImpactTally()
                    with new_run(ledger, RunStarted(loop=Loop.IMPACT, fingerprint={}, command="impact")) as run:
                        tally.add(RunStarted(run=run, loop=Loop.IMPACT, fingerprint={}, command="impact"))
                        async with observing(bench, BASELINE) as observer:
                            events = run_impact(
                                run,
                                started,
                                traffic,
                                observer,
                                ledger,
                                Brake(place.store),
                                stop_when_decided=False,
                                news_seconds=LOOK_SECONDS,
                            )
                            try:
                                async with aclosing(events):
                                    async for event in events:
                                        tally.add(event)
                            except HaltedError:
                                pass
                    yield tally.result()
