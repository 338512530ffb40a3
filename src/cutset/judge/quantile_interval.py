"""Intervals of quantiles of durations, whatever their distribution: order statistics, and differences by MOVER.

Failed requests are infinitely slow (`inf`): an error is quick, and would make the fault look like an improvement.
Quantiles with fewer than ten requests above them are refused: their intervals hold in 87 % instead of 95 % of cases.
"""

from collections.abc import Sequence
from math import ceil, floor, inf, isfinite, sqrt

from cutset.judge.intervals import mover
from cutset.model.impact import Interval

FEWEST_ABOVE = 10  # requests: p50 needs 20 of them, p95 200, p99 1,000


def has_quantile(ordered: Sequence[float], rank: float) -> bool:
    return len(ordered) * (1 - rank) >= FEWEST_ABOVE - 1e-9  # 1000 × (1 − 0.99) is a little less than 10


def quantile_of(ordered: Sequence[float], rank: float) -> float:
    return ordered[min(len(ordered) - 1, int(rank * len(ordered)))]


def quantile_interval(ordered: Sequence[float], rank: float, z: float) -> Interval | None:
    """None: too few to tell."""
    if not has_quantile(ordered, rank):
        return None
    count = len(ordered)
    middle, reach = count * rank, z * sqrt(count * rank * (1 - rank))
    low, high = floor(middle - reach), ceil(middle + reach)
    return Interval(ordered[low] if low >= 0 else 0.0, ordered[high] if high < count else inf)


def quantile_difference(ordered: Sequence[float], other: Sequence[float], rank: float, z: float) -> Interval | None:
    """Of the first less the other. None: too few to tell, or too many failed in both."""
    interval, other_interval = quantile_interval(ordered, rank, z), quantile_interval(other, rank, z)
    if interval is None or other_interval is None:
        return None
    estimate, other_estimate = quantile_of(ordered, rank), quantile_of(other, rank)
    if isfinite(estimate) and isfinite(other_estimate):
        return mover(estimate, interval, other_estimate, other_interval)
    if isfinite(interval.low) and isfinite(other_interval.high):
        return Interval(interval.low - other_interval.high, inf)
    if isfinite(other_interval.low) and isfinite(interval.high):
        return Interval(-inf, interval.high - other_interval.low)
    return None
