"""Something else happens to everybody during the fault: it must not be blamed on the fault, nor hide it.

    python -m benchmarks.impact everybody [--quick]

As the fault begins, requests of all groups get slower, or one of ten fails. ART compares with the time before, and so
blames the fault.

    control_equals   [runs that are right, runs]: with a fault that is tolerated nobody is called affected (a guard may
                     have ended it, as it should when others fail), with a fatal one the entry is
    before_blames    of those with a tolerated fault: how many the success rate before and during would blame, by more
                     than the margin or, when slower, by half as long again
"""

import asyncio
import sys
from collections.abc import Mapping

from benchmarks.impact.live_runs import LiveRuns, measure_live
from benchmarks.impact.place import Place, run_place
from benchmarks.impact.planted_system import ENTRY, GRPC
from benchmarks.impact.users import UsersOrder

from cutset.guards.settings import GuardSettings
from cutset.model.impact import ApiVerdict, Impact, ImpactEvent, ImpactWindow, WindowEnded, WindowStarted

RATE = 200.0
TOLERATED, FATAL = "ads/GET /banner:abort(503)", "payment/GET /charge:abort(503),50%"
PATH_OF = {TOLERATED: "/home", FATAL: "/pay"}
FAILING: Mapping[str, float] = {"failing": 0.1}
SLOWER: Mapping[str, float] = {"seconds": 0.3}
RUNS = ((TOLERATED, FAILING), (TOLERATED, SLOWER)) * 2 + ((FATAL, FAILING), (FATAL, SLOWER))
BLAMED_INCREASE = 0.02  # of failures, as the margin
BLAMED_FACTOR = 1.5  # of the median time


def measure(*, quick: bool) -> dict[str, object]:
    runs = RUNS[:1] if quick else RUNS
    right = blamed = 0
    with run_place(
        "benchmarks.impact.planted_system:services",
        entry=ENTRY,
        grpc=GRPC,
        requests=tuple(PATH_OF.values()),
        sections={},
    ) as place:
        for fault, weather in runs:
            found = asyncio.run(_measured(place, fault, weather))
            (impact,) = found.impacts
            expected = fault == FATAL
            is_right = (impact.verdict is ApiVerdict.AFFECTED) is expected
            right += is_right
            blamed += not expected and _before_blames(impact)
            said = f"{impact.verdict}; {found.halted or 'not halted'}; {impact.apis[0].reason}"
            print(f"{'right' if is_right else 'WRONG'}: {fault} with {weather}: {said}", file=sys.stderr)
    return {"control_equals": [right, len(runs)], "before_blames": [blamed, sum(fault != FATAL for fault, _ in runs)]}


async def _measured(place: Place, fault: str, weather: Mapping[str, float]) -> LiveRuns:
    order = UsersOrder(place.mesh.edge_url, (PATH_OF[fault],), RATE)

    def change(event: ImpactEvent) -> None:
        if isinstance(event, WindowStarted | WindowEnded) and event.window is ImpactWindow.DURING:
            place.weather(**({ENTRY: weather} if isinstance(event, WindowStarted) else {}))

    return await measure_live(
        place,
        [fault],
        lambda _: order,
        first=order,
        # Else the first look at a tenth of failed requests would end it, and the statistics were not put to the test.
        guards=GuardSettings(error_rate=0, max_marked=0, max_failed=0),
        on_event=change,
    )


def _before_blames(impact: Impact) -> bool:
    """ART §3.4: success, and here time as well, before and with the fault, whatever else happened meanwhile."""
    entry = impact.apis[0]
    fell = entry.before.success_rate - entry.fault.success_rate > BLAMED_INCREASE
    return fell or entry.fault.seconds.get("p50", 0.0) > BLAMED_FACTOR * entry.before.seconds.get("p50", 0.0)
