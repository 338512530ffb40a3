"""Verdicts on live traffic, held against the answer key of the planted system.

python -m benchmarks.impact planted [--quick]

planted            call sites of which the key tells; `planted_cases` are the faults at them, each an impact
verdicts_right     verdicts of upstream APIs that agree with the key, of `verdicts`
verdicts_open      of those that do not: cannot tell
unmarked_failed    requests of users that failed though they had no plan; `control_failed`: though theirs was empty
leaks_noticed      of `leaks`: marked requests did harm to others, and a guard ended it or the report shows it
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.impact.live_runs import SETTINGS, LiveRuns, measure_live, progress
from benchmarks.impact.place import Place, run_place
from benchmarks.impact.planted_system import ENTRY, GRPC, SITES, Case, cases
from benchmarks.impact.users import UsersOrder

from cutset.impact.settings import ImpactSettings
from cutset.model.impact import ApiVerdict, Impact

RATE = 200.0  # requests per second
QUICK = ("payment/GET /charge:abort(503)", "ads/GET /banner:abort(503)")
SERVICES = "benchmarks.impact.planted_system:services"
PATHS = tuple(dict.fromkeys(path for site in SITES for path in site.paths))


def measure(*, quick: bool) -> dict[str, object]:
    chosen = [case for case in cases() if not quick or case.fault in QUICK]
    quiet, leaking = ([case for case in chosen if case.site.leaks is leaks] for leaks in (False, True))
    with run_place(SERVICES, entry=ENTRY, grpc=GRPC, requests=PATHS, sections={}) as place:
        begin = time.monotonic()
        found = asyncio.run(_judged(place, quiet, replace(SETTINGS, during=4.0) if quick else SETTINGS))
        noticed = [asyncio.run(_is_noticed(place, case)) for case in leaking]
        seconds = time.monotonic() - begin
    judged = [_agreements(case, impact) for case, impact in zip(quiet, found.impacts, strict=False)]
    verdicts = sum(len(case.key) for case in quiet)
    return {
        "planted": len({case.site.point for case in chosen}),
        "planted_cases": len(chosen),
        "verdicts": verdicts,
        "verdicts_right": sum(right for right, _ in judged),
        "verdicts_open": sum(undecided for _, undecided in judged),
        "unmarked_failed": found.failed_unmarked,
        "control_failed": len(found.failed_without_fault) - found.failed_unmarked,
        "user_requests": found.requests,
        "leaks": len(leaking),
        "leaks_noticed": sum(noticed),
        "planted_seconds": round(seconds),
    }


async def _judged(place: Place, chosen: Sequence[Case], settings: ImpactSettings) -> LiveRuns:
    found = await measure_live(
        place,
        [case.fault for case in chosen],
        lambda number: _visiting(place, chosen[number].site.paths),
        settings=settings,
        first=_visiting(place, PATHS),
        on_event=progress([case.fault for case in chosen]),
    )
    if found.halted:
        print(f"halted: {found.halted}", file=sys.stderr)
    for how in found.failed_without_fault.values():
        print(f"failed without a fault: {how}", file=sys.stderr)
    return found


async def _is_noticed(place: Place, case: Case) -> bool:
    found = await measure_live(
        place,
        [case.fault],
        lambda _: _visiting(place, case.site.paths),
        first=_visiting(place, PATHS),
    )
    shown = sum(impact.others_failed[0] for impact in found.impacts)
    print(f"{case.fault}: {found.halted or 'not halted'}; {shown} others failed", file=sys.stderr)
    return bool(found.halted or shown)


def _visiting(place: Place, paths: Sequence[str]) -> UsersOrder:
    return UsersOrder(place.mesh.edge_url, paths, RATE)


def _agreements(case: Case, impact: Impact) -> tuple[int, int]:
    """Verdicts that are right, and those that are left open."""
    said = {str(each.api): each for each in impact.apis}
    right = undecided = 0
    for api, expected in case.key.items():
        verdict = said[api].verdict if api in said else ApiVerdict.CANNOT_TELL
        right += verdict is expected
        undecided += verdict is ApiVerdict.CANNOT_TELL
        if verdict is not expected:
            reason = said[api].reason if api in said else f"not judged, only {', '.join(said) or 'nothing'} was"
            print(f"{case.fault}: {api} is {verdict}, and should be {expected}: {reason}", file=sys.stderr)
    for api in said.keys() - case.key.keys():
        print(f"{case.fault}: {api} is no API of the key: {said[api].verdict}", file=sys.stderr)
    for problem in impact.problems:
        print(f"{case.fault}: problem: {problem}", file=sys.stderr)
    return right, undecided
