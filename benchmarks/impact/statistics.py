"""Do the verdicts of `cutset impact` keep their promises? Simulated runs whose truth is known, looked at each second.

Requests are marked, counted and judged as in a real run, by the same tally; users come back, some of them much more
often than others, and fail alike; the failure rate moves. False alarms are runs without any effect in which an API was
called affected at any look; coverage is the share of intervals that hold the true difference: at the look at which
somebody who waits for a verdict would have stopped, at all looks of a run together, and at an end that was planned.

    python -m benchmarks.impact.statistics [--runs 300] [--seed 1]
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import sin
from time import perf_counter

from tests.samples.simulated_impact import CHECKOUT, Shop, Traffic, impact_events

from cutset.judge.impact import ImpactTally
from cutset.model.fault import Fault
from cutset.model.impact import (
    ApiCall,
    ApiImpact,
    ApiVerdict,
    Group,
    Impact,
    ImpactStarted,
    ImpactWindow,
    Interval,
    ObservedRequest,
    RequestsObserved,
    TrafficSource,
)
from cutset.model.point import Point


def moving(second: float) -> float:
    """Everybody fails up to four times as often, and is as slow, in waves: nobody may blame the fault for it."""
    return 2.5 + 1.5 * sin(second / 7)


# Without an effect; but the fault fires.
QUIET = (
    (Shop(failing=0.005), Traffic()),
    (Shop(failing=0.05), Traffic()),
    (Shop(failing=0.02, worse=moving), Traffic()),
    (Shop(failing=0.02, alike=0.05), Traffic(users=200)),
    (Shop(failing=0.05, alike=0.2), Traffic(users=200)),
    (Shop(failing=0.05, alike=0.2, worse=moving), Traffic(users=60)),
)
# With all sizes of effects, none included.
HARMED = (
    (Shop(failing=0.005), Traffic()),
    (Shop(failing=0.001, harm=0.1), Traffic()),
    (Shop(failing=0.01, harm=1.0), Traffic()),
    (Shop(failing=0.05, harm=0.2, worse=moving), Traffic()),
    (Shop(failing=0.02, harm=0.1, alike=0.1), Traffic(users=200)),
    (Shop(failing=0.05, harm=0.5, alike=0.2), Traffic(users=400)),
)


def false_alarms(runs: int, seed: int) -> dict[str, int]:
    alarms = 0
    for number in range(runs):
        shop, traffic = QUIET[number % len(QUIET)]
        alarms += any(look.verdict is ApiVerdict.AFFECTED for look in _looks(shop, traffic, seed + number))
    return {"aa_simulated_runs": runs, "aa_simulated_alarms": alarms}


def false_comfort(runs: int, seed: int) -> dict[str, int]:
    """Runs in which an API that fails by just the margin more was called resilient, at any look."""
    shop, comforted = Shop(failing=0.005, harm=0.02 / 0.3), 0
    for number in range(runs):
        looks = _looks(shop, Traffic(seconds=(10, 120, 5)), seed + number)
        comforted += any(_entry(look).verdict is ApiVerdict.RESILIENT for look in looks)
    return {"at_margin_simulated_runs": runs, "at_margin_called_resilient": comforted}


def interval_coverage(runs: int, seed: int) -> dict[str, float]:
    held: Counter[str] = Counter()
    for number in range(runs):
        shop, traffic = HARMED[number % len(HARMED)]
        looks = list(_looks(shop, traffic, seed + number))
        expected = truth(shop, traffic)
        stopped = next((look for look in looks if look.verdict is not ApiVerdict.CANNOT_TELL), looks[-1])
        held["interval_coverage"] += _holds(_entry(stopped).at_any_time, expected)
        held["all_looks_coverage"] += all(_holds(_entry(look).at_any_time, expected) for look in looks)
        held["at_end_coverage"] += _holds(_entry(looks[-1]).at_end, expected)
    return {
        name: round(held[name] / runs, 4) for name in ("interval_coverage", "all_looks_coverage", "at_end_coverage")
    }


def look_milliseconds(requests: int = 20_000, apis: int = 20) -> dict[str, float]:
    """What one look costs, and one request."""
    chain = [Point(f"service-{number}", "Call") for number in range(apis + 1)]
    callers = tuple(pairwise(chain))
    tally = ImpactTally()
    cut = frozenset({Fault(chain[-1])})
    tally.add(ImpactStarted(cut=cut, traffic=TrafficSource.LOAD, shares=(0.05,), seconds={}))
    calls = tuple(ApiCall(api, failed=False, seconds=0.01, faulted=1) for api in chain)
    observed = [
        ObservedRequest(
            f"{number:032x}",
            (Group.FAULT, Group.CONTROL)[number % 2],
            f"user-{number % 5000}",
            float(number),
            chain[0],
            tuple(replace(call, failed=number % 97 == 0, seconds=(number * 7919 % 1000) / 1000) for call in calls),
            callers,
        )
        for number in range(requests)
    ]
    began = perf_counter()
    for first in range(0, requests, 100):
        tally.add(RequestsObserved(window=ImpactWindow.DURING, at=0.0, requests=tuple(observed[first : first + 100])))
    added = perf_counter()
    tally.result()
    looked = perf_counter()
    return {"look_ms": round(1000 * (looked - added), 2), "request_us": round(1e6 * (added - began) / requests, 1)}


def _looks(shop: Shop, traffic: Traffic, seed: int) -> Iterator[Impact]:
    tally = ImpactTally()
    for event in impact_events(shop, traffic, seed=seed):
        tally.add(event)
        if isinstance(event, RequestsObserved) and event.window is ImpactWindow.DURING:
            yield tally.result()
    yield tally.result()


def _entry(look: Impact) -> ApiImpact:
    return next(each for each in look.apis if each.api == CHECKOUT)


def _holds(interval: Interval | None, truth: float) -> bool:
    return interval is not None and interval.low <= truth <= interval.high


def truth(shop: Shop, traffic: Traffic) -> float:
    """Faults fail orders that would have gone well."""
    seconds = range(traffic.seconds[1])
    failing = sum(shop.worse(second) for second in seconds) / len(seconds) * shop.failing
    return shop.reached * shop.rate / 100 * shop.harm * (1 - failing)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(
        json.dumps(
            false_alarms(arguments.runs, arguments.seed)
            | interval_coverage(arguments.runs, arguments.seed)
            | false_comfort(arguments.runs, arguments.seed)
            | look_milliseconds()
        )
    )


if __name__ == "__main__":
    main()
