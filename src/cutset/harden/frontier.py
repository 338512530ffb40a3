"""Coverage for every budget at once: CR_b and MCG_b of FastFI §4.5.2, and from where on more budget brings little.

One program per budget would not do for thousands of APIs. But weaknesses tie candidates together only where they share
a clause, and most have few candidates: the problem falls apart into parts that have nothing in common but the budget.
Each has a table of what it covers at which cost (`component`), and two tables combine into one by the best split of
each cost, a knapsack over the parts. They are combined in pairs, then in pairs of pairs, so that n budgets take some n²
additions in arrays. Which candidates to choose for a budget is found on the way back, from the whole to its parts: in a
moment, for any budget. `choose` finds as good ones by a program of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cutset.errors import InputError
from cutset.harden.component import MOST_SUBSETS, ProblemPart, Table, tabulated
from cutset.harden.problem import Choice, Problem, choice_of
from cutset.harden.reduced import Reduced, reduced

MOST_UNITS = 200_000  # of cost, in all: the time to combine tables grows with the square
_LARGEST = 2**62  # that what is covered and the ranks of it may come to as one number
_ZERO = np.zeros(1, dtype=np.int64)
_EMPTY = Table(0, _ZERO, _ZERO, lambda _: frozenset())


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """The least budget for a coverage that no smaller budget reaches."""

    budget: float
    covered: float  # CN_b: weight of the low-priority weaknesses that are mitigated
    coverage: float  # CR_b
    gain: float | None  # MCG_b: what each unit of budget since the point before has added; None for the first


@dataclass(frozen=True, slots=True)
class Frontier:
    points: tuple[FrontierPoint, ...]  # from the least budget for all high-priority requests up to full coverage
    knee: int  # where returns diminish: the position of a point, see `_knee`
    proven: bool

    def at(self, budget: float) -> int:
        """The position of the last point that the budget reaches."""
        position = sum(point.budget <= budget + 1e-9 for point in self.points) - 1
        if position < 0:
            smallest = self.points[0].budget
            raise InputError(f"A budget of {budget:g} does not cover the high-priority requests: {smallest:g} would")
        return position


def frontier(problem: Problem, *, most_subsets: int = MOST_SUBSETS) -> Frontier:
    return frontier_with_choices(problem, most_subsets=most_subsets)[0]


def frontier_with_choices(
    problem: Problem, *, most_subsets: int = MOST_SUBSETS
) -> tuple[Frontier, Callable[[int], Choice]]:
    """And the choice behind each of its points, by position: of those that cover as much, the one of highest rank.

    Parts of the problem with at most so many subsets are tabulated by trying them all.
    """
    small = reduced(problem)
    if small.impossible:
        raise InputError(
            f"No budget covers {', '.join(f'`{request}`' for request in small.impossible)}",
            hint="Allow one of the untouchable APIs there, or do not give it high priority",
        )
    if sum(small.costs.values()) > MOST_UNITS:
        raise InputError(
            f"Costs are too fine: in all, they come to more than {MOST_UNITS:,} times {small.cost_unit:g}",
            hint="Round them",
        )
    table = _combined([tabulated(part, most_subsets) for part in _parts(small)])
    rises = np.flatnonzero(np.diff(table.covered, prepend=-1)).tolist()
    costs, covered = [table.first + rise for rise in rises], (table.covered[rises] + small.covered).tolist()
    steps = zip(pairwise(covered), pairwise(costs), strict=True)
    gains = [None, *((more - less) / (dearer - cheaper) for (less, more), (cheaper, dearer) in steps)]
    points = tuple(
        FrontierPoint(
            budget=cost * small.cost_unit,
            covered=weight * small.weight_unit,
            coverage=weight / small.total if small.total else 1.0,
            gain=None if gain is None else gain * small.weight_unit / small.cost_unit,
        )
        for cost, weight, gain in zip(costs, covered, gains, strict=True)
    )

    def choice(position: int) -> Choice:
        return choice_of(problem, points[position].budget, table.chosen(rises[position]), proven=table.proven)

    return Frontier(points, _knee(costs, covered), table.proven), choice


def _knee(costs: Sequence[int], covered: Sequence[int]) -> int:
    """The point of diminishing returns: the one that is highest above the straight line from the first to the last.

    Up to it, a unit of budget has brought more than the average of the whole way, and from it on brings less. Where all
    units bring the same there is no such point before the last.
    """
    width, height = costs[-1] - costs[0], covered[-1] - covered[0]
    above = [(now - covered[0]) * width - (cost - costs[0]) * height for cost, now in zip(costs, covered, strict=True)]
    return above.index(max(above)) if max(above) > 0 else len(costs) - 1


def _parts(small: Reduced) -> Iterator[ProblemPart]:
    """Candidates that share a weakness or a clause, directly or through others."""
    parent = {candidate: candidate for candidate in small.costs}

    def root(candidate: int) -> int:
        while parent[candidate] != candidate:
            parent[candidate] = candidate = parent[parent[candidate]]
        return candidate

    for clauses in [*((clause,) for clause in small.hard), *(each.clauses for each in small.soft)]:
        first, *others = (candidate for clause in clauses for candidate in clause)
        for other in others:
            parent[root(other)] = root(first)
    coarser = 1 + small.total * sum(small.ranks.values()) // _LARGEST
    found = {candidate: ProblemPart({}, [], []) for candidate in small.costs if root(candidate) == candidate}
    for candidate, cost in small.costs.items():
        found[root(candidate)].costs[candidate] = cost
        found[root(candidate)].ranks[candidate] = small.ranks[candidate] // coarser
    for clause in small.hard:
        found[root(next(iter(clause)))].hard.append(clause)
    for each in small.soft:
        found[root(next(iter(each.clauses[0])))].soft.append(each)
    yield from found.values()


def _combined(tables: Sequence[Table]) -> Table:
    """Neighbours in pairs, then pairs of pairs, down to one table."""
    level = sorted(tables, key=lambda table: len(table.covered)) or [_EMPTY]
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        level = [*map(_pair, level[::2], level[1::2]), *odd]
    return level[0]


def _pair(one: Table, other: Table) -> Table:
    short, long = sorted((one, other), key=lambda table: len(table.covered))
    scale = int(short.ranks.max() + long.ranks.max()) + 1
    of_short, of_long = (table.covered * scale + table.ranks for table in (short, long))
    width = len(of_long)
    worth = np.zeros(len(of_short) + width - 1, dtype=np.int64)
    for share, own in enumerate(of_short):
        there = worth[share : share + width]
        np.maximum(there, own + of_long, out=there)

    def chosen(number: int) -> frozenset[int]:
        """By the split that is worth the most; of equals, the one that gives most to the first part, as by name."""
        lowest = max(0, number - width + 1)
        shares = np.arange(min(number, len(of_short) - 1), lowest - 1, -1)
        share = int(shares[np.argmax(of_short[shares] + of_long[number - shares])])
        return short.chosen(share) | long.chosen(number - share)

    return Table(short.first + long.first, worth // scale, worth % scale, chosen, short.proven and long.proven)
