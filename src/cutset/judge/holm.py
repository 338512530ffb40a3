"""Holm's adjustment: each p-value as large as it is when all questions are asked together.

The chance that any of those below a level is a false alarm is at most that level, however the questions depend on each
other: and APIs of one path do. Applied at every look to p-values that hold at every look, it holds at every look.
"""

from collections.abc import Sequence


def holm(chances: Sequence[float]) -> list[float]:
    order = sorted(range(len(chances)), key=chances.__getitem__)
    adjusted = [1.0] * len(chances)
    worst = 0.0
    for rank, index in enumerate(order):
        worst = max(worst, min(1.0, (len(chances) - rank) * chances[index]))
        adjusted[index] = worst
    return adjusted
