"""ART's own examples (§5.1 and Figure 2), its way and ours: the same conclusions, and how many users paid for them.

python -m benchmarks.impact art [--quick]

art_failed_requests      requests of users that failed while ART's way measured: the fault is everybody's
cutset_failed_requests   the same with a share of 5 %, and as many of control
art_conclusions_equal    [equal, of]: upstream APIs that both ways say are affected, or neither does
art_conclusions_open     of those that are not: Cutset does not tell yet, where ART says that nothing fell
"""

import asyncio
import sys
from dataclasses import dataclass, replace

from benchmarks.impact.art_way import by_art
from benchmarks.impact.hipster_system import ENTRY, GRPC, PATHS
from benchmarks.impact.live_runs import SETTINGS, measure_live
from benchmarks.impact.place import Place, run_place
from benchmarks.impact.users import UsersOrder

from cutset.model.impact import ApiVerdict

RATE = 150.0
SHARE = 5.0  # percent
ART_SECONDS = 5.0  # of each of its two windows; the paper waits for 30
CUTSET_SECONDS = 45.0  # at most


@dataclass(frozen=True, slots=True)
class Scenario:
    fault: str
    upstream: tuple[str, ...]  # services


SCENARIOS = (
    Scenario("cartservice/*:abort(500),50%", (ENTRY, "checkout")),
    Scenario("productcatalog/*:abort(500)", (ENTRY, "recommendation", "checkout")),
    Scenario("productcatalog/ListProducts:abort(500),50%", (ENTRY, "recommendation")),
    Scenario("recommendation/*:abort(500),20%", (ENTRY,)),
)


def measure(*, quick: bool) -> dict[str, object]:
    scenarios = SCENARIOS[:1] if quick else SCENARIOS
    equal = undecided = compared = art_failed = cutset_failed = 0
    with run_place(
        "benchmarks.impact.hipster_system:services", entry=ENTRY, grpc=GRPC, requests=PATHS, sections={}
    ) as place:
        for scenario in scenarios:
            result = asyncio.run(
                by_art(
                    place,
                    scenario.fault,
                    upstream=scenario.upstream,
                    paths=PATHS,
                    rate=RATE,
                    seconds=2.0 if quick else ART_SECONDS,
                )
            )
            verdicts, failed = asyncio.run(_by_cutset(place, scenario.fault, share=40.0 if quick else SHARE))
            art_failed, cutset_failed = art_failed + result.failed_requests, cutset_failed + failed
            for api in sorted(result.changes):
                verdict = verdicts.get(api)
                compared += 1
                equal += (verdict is ApiVerdict.AFFECTED) == (api in result.affected)
                undecided += verdict is ApiVerdict.CANNOT_TELL
                said = verdict or "never reaches it"
                print(f"{scenario.fault}: {api}: {100 * result.changes[api]:+.2f} %, {said}", file=sys.stderr)
    return {
        "art_failed_requests": art_failed,
        "cutset_failed_requests": cutset_failed,
        "art_conclusions_equal": [equal, compared],
        "art_conclusions_open": undecided,
        "art_scenarios": len(scenarios),
    }


async def _by_cutset(place: Place, fault: str, *, share: float) -> tuple[dict[str, ApiVerdict], int]:
    order = UsersOrder(place.mesh.edge_url, PATHS, RATE)
    settings = replace(SETTINGS, share=share, before=2.0, during=CUTSET_SECONDS)
    found = await measure_live(place, [fault], lambda _: order, settings=settings, first=order)
    (impact,) = found.impacts
    return {str(each.api): each.verdict for each in impact.apis}, len(found.failed)
