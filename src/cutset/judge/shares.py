"""Shares with their uncertainty, and quantiles: what phases of a drill are compared by."""

from collections.abc import Sequence
from math import sqrt

from cutset.model.drill import Share

Z = 1.96  # of the normal distribution, for 95 %


def share(count: int, of: int) -> Share:
    """With Wilson's interval, which is sound for few samples and for shares near 0 and 1 too."""
    if not of:
        return Share(0, 0, 0.0, 1.0)
    middle = (count + Z * Z / 2) / (of + Z * Z)
    reach = Z / (of + Z * Z) * sqrt(count * (of - count) / of + Z * Z / 4)
    return Share(count, of, max(0.0, middle - reach), min(1.0, middle + reach))


def quantile(values: Sequence[float], rank: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(rank * len(ordered)))] if ordered else 0.0
