"""Simulated runs whose truth is known, more than live traffic gives: `benchmarks.impact.statistics`, on two cores.

python -m benchmarks.impact simulated [--quick]

interval_coverage   true differences that are within the stated interval when a run ends, of all; promised: 99 %
"""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing import Pool
from statistics import fmean

from benchmarks.impact.statistics import false_alarms, false_comfort, interval_coverage, look_milliseconds

RUNS = 120
RUNS_EACH = 12  # that one process takes at a time

Part = Callable[..., Mapping[str, float]]  # of a number of runs, and a seed


def measure(*, quick: bool) -> dict[str, object]:
    runs = RUNS_EACH if quick else RUNS
    seeds = [number * 1000 + 1 for number in range(runs // RUNS_EACH)]
    counted: Counter[str] = Counter()
    with Pool(2) as pool:
        for part in (false_alarms, false_comfort):
            for each in pool.imap_unordered(partial(part, RUNS_EACH), seeds):
                counted.update(each)
        coverage = list(pool.imap_unordered(partial(interval_coverage, RUNS_EACH), seeds))
    shares = {name: round(fmean(each[name] for each in coverage), 4) for name in coverage[0]}
    return {**counted, **shares, "interval_coverage_runs": runs, **look_milliseconds()}
