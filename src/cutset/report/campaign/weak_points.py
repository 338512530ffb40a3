"""What to fix first, at a glance: which calls are in the smallest cuts.

It ranks and no more: what a measure costs, and which few remove most cuts together, is what `cutset harden` solves.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from cutset.model.fault import points_of
from cutset.model.finding import Finding
from cutset.model.point import Point
from cutset.model.wording import count

RANKED = "Calls in the smallest cuts come first, and of these the ones that are in most, over all request classes."


@dataclass(frozen=True, slots=True)
class WeakPoint:
    point: Point
    cuts: tuple[int, ...]  # that it is in: of one fault, of two, …
    requests: tuple[str, ...]

    @property
    def words(self) -> str:
        alone, *others = self.cuts
        told = [f"fails alone in {count(alone, 'minimal cut')}"] if alone else []
        told += [f"in {count(number, 'cut')} of {size} faults" for size, number in enumerate(others, 2) if number]
        return ", ".join(told)


def weak_points(findings: Iterable[Finding]) -> list[WeakPoint]:
    """The worst first."""
    found = list(findings)
    sizes = range(1, max((len(each.cut) for each in found), default=0) + 1)
    cuts: dict[Point, Counter[int]] = {}
    requests: dict[Point, dict[str, None]] = {}
    for each in found:
        for point in points_of(each.cut):
            cuts.setdefault(point, Counter())[len(each.cut)] += 1
            requests.setdefault(point, {})[each.request] = None
    ranked = [
        WeakPoint(point, tuple(counts[size] for size in sizes), tuple(requests[point]))
        for point, counts in cuts.items()
    ]
    return sorted(ranked, key=lambda each: ([-number for number in each.cuts], each.point))
