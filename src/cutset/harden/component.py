"""What a part of a hardening problem covers at each cost (FastFI's CN_b, §4.5.2): the table that `frontier` combines.

A small part is tabulated by trying all subsets. For a large one, upper and lower bounds are brought together:

- The linear relaxation at one cost bounds all costs from above, by its value and its slope (its dual). In practice it
  is nearly tight: weaknesses have few candidates, most of them in a fallback and what it stands in for.
- What it rounds to, and what is got from it by adding the best or removing the least useful candidate again and again,
  bounds from below.

As coverage is a whole number, bounds less than 1 apart decide. Where a gap stays, a mixed integer program closes it. So
all is exact, and a program per budget is the exception.

Each number has a choice behind it, which can be asked for. Of those that are equally good, it has the highest sum of
APIRank; in a large part only nearly so, unless a program can look for it in a moment.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array  # type: ignore[import-untyped]

from cutset.harden.program import Aim, program_of, relaxed, solve
from cutset.harden.reduced import CandidateClause, Soft

MOST_SUBSETS = 2**12  # to be tried one by one
QUICKLY_RANKED = 40  # candidates: a program that looks for the highest rank among so many takes some milliseconds
_HINT = 1e-9  # by how much a rank may sway a walk: less than any difference in what is covered

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ProblemPart:
    """Candidates with all that concerns them."""

    costs: dict[int, int]
    hard: list[CandidateClause]
    soft: list[Soft]
    ranks: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """The most that can be covered at a cost of at most `first`, `first` + 1, … up to full coverage."""

    first: int
    covered: Numbers
    ranks: Numbers  # of the choices that cover so much
    chosen: Callable[[int], frozenset[int]] = field(compare=False)  # such a choice, by the number of the cost
    proven: bool = True


def tabulated(part: ProblemPart, most_subsets: int) -> Table:
    return _by_subsets(part) if 2 ** len(part.costs) <= most_subsets else _by_bounds(part)


def _by_subsets(part: ProblemPart) -> Table:
    subsets = np.arange(2 ** len(part.costs))
    bit = {candidate: 1 << number for number, candidate in enumerate(part.costs)}

    def hit(clauses: Iterable[CandidateClause]) -> NDArray[np.bool_]:
        all_hit = np.ones(len(subsets), dtype=np.bool_)
        for clause in clauses:
            all_hit &= subsets & sum(bit[each] for each in clause) != 0
        return all_hit

    costs, covered, ranks = (np.zeros_like(subsets) for _ in range(3))
    for candidate, cost in part.costs.items():
        there = subsets & bit[candidate] != 0
        costs += cost * there
        ranks += part.ranks.get(candidate, 0) * there
    for each in part.soft:
        covered += each.weight * hit(each.clauses)
    feasible = hit(part.hard)
    first, last = costs[feasible].min(), costs[feasible & (covered == covered[-1])].min()  # the last has all candidates
    best = np.zeros(last - first + 1, dtype=np.int64)
    affordable = np.flatnonzero(feasible & (costs <= last))
    scale = int(ranks[-1]) + 1
    worth = covered * scale + ranks  # what covers more is worth more, and of what covers the same the higher rank
    np.maximum.at(best, costs[affordable] - first, worth[affordable])
    best = np.maximum.accumulate(best)

    def chosen(number: int) -> frozenset[int]:
        within = affordable[costs[affordable] <= first + number]
        subset = int(within[np.argmax(worth[within])])
        return frozenset(candidate for candidate, own in bit.items() if subset & own)

    return Table(int(first), best // scale, best % scale, chosen)


def _by_bounds(part: ProblemPart) -> Table:
    ranks = {candidate: part.ranks.get(candidate, 0) for candidate in part.costs}
    program = program_of(part.costs, ranks, part.hard, part.soft)
    everything = [*part.hard, *(clause for each in part.soft for clause in each.clauses)]
    least = solve(program, Aim.LEAST_COST)
    full = solve(program_of(part.costs, dict.fromkeys(part.costs, 0), everything, ()), Aim.LEAST_COST)
    assert least is not None  # choosing all candidates is always possible
    assert full is not None
    costs = np.arange(least.cost, full.cost + 1)
    walk = _Walk(part, costs)
    upper = np.full(len(costs), sum(each.weight for each in part.soft), dtype=np.int64)
    proven = least.proven and full.proven
    for known in (least, full):
        walk.both_ways(known.chosen, upper)
    while (gaps := upper - walk.reached).max() > 0:
        widest = np.flatnonzero(gaps == gaps.max())
        index = int(widest[len(widest) // 2])
        value, slope, chosen = relaxed(program, int(costs[index]))
        # The margin is for what floating point may be off.
        upper = np.minimum(upper, np.floor(value + slope * (costs - costs[index]) + 1e-3).astype(np.int64))
        walk.both_ways(chosen, upper)
        if upper[index] > walk.reached[index]:
            answer = solve(program, Aim.MOST_COVERED, cost_at_most=int(costs[index]))
            assert answer is not None
            walk.both_ways(answer.chosen, upper)
            proven = proven and answer.proven
            upper[: index + 1] = np.minimum(upper[: index + 1], walk.reached[index])

    @cache
    def behind(number: int) -> frozenset[int]:
        if len(part.costs) > QUICKLY_RANKED or not any(ranks.values()):
            return walk.chosen(number)
        limits = {"cost_at_most": int(costs[number]), "covered_at_least": int(walk.reached[number])}
        best = solve(program, Aim.HIGHEST_RANK, **limits)
        assert best is not None  # the walk found one
        return best.chosen

    return Table(least.cost, walk.reached, walk.ranks, behind, proven and bool(gaps.min() == 0))


class _Walk:
    """Lower bounds: what choices that were come across cover, and these choices."""

    def __init__(self, part: ProblemPart, costs: Numbers) -> None:
        clauses = [*part.hard, *(clause for each in part.soft for clause in each.clauses)]
        column = {candidate: number for number, candidate in enumerate(part.costs)}
        entries = [(row, column[candidate]) for row, clause in enumerate(clauses) for candidate in clause]
        rows, columns = np.array(entries).T
        self._in_clause = csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)))
        self._column = column
        self._costs = np.array(list(part.costs.values()))
        self._hard = len(part.hard)
        self._weights = np.array([each.weight for each in part.soft])
        self._starts = np.cumsum([0, *(len(each.clauses) for each in part.soft)])[:-1]
        # What a clause is worth on the way: a share of its weakness; a hard one, more than all others.
        shares = [each.weight / len(each.clauses) for each in part.soft for _ in each.clauses]
        self._worth = np.array([sum(shares) + 1.0] * self._hard + shares)
        ranks = np.array([part.ranks.get(candidate, 0) for candidate in part.costs])
        self._ranks, self._scale = ranks, int(ranks.sum()) + 1
        self._hint = _HINT * ranks / max(int(ranks.max(initial=0)), 1)
        self._first = int(costs[0])
        self._best = np.full(len(costs), -1, dtype=np.int64)  # covered, and then rank: as one number
        self._behind: dict[int, tuple[int, NDArray[np.uint8]]] = {}  # by cost: what it is worth, and which it is

    @property
    def reached(self) -> Numbers:
        return self._best // self._scale

    @property
    def ranks(self) -> Numbers:
        return self._best % self._scale

    def chosen(self, number: int) -> frozenset[int]:
        _, bits = max((each for cost, each in self._behind.items() if cost <= number), key=lambda each: each[0])
        taken = np.unpackbits(bits, count=len(self._costs))
        return frozenset(candidate for candidate, column in self._column.items() if taken[column])

    def both_ways(self, chosen: Iterable[int], upper: Numbers) -> None:
        """From this choice on, with ever more candidates and with ever fewer, as long as there are gaps ahead."""
        start = np.zeros(len(self._costs), dtype=np.bool_)
        start[[self._column[each] for each in chosen]] = True
        self._go(start.copy(), upper, adding=True)
        self._go(start, upper, adding=False)
        self._best = np.maximum.accumulate(self._best)

    def _go(self, chosen: NDArray[np.bool_], upper: Numbers, *, adding: bool) -> None:
        gaps = np.flatnonzero(upper > self.reached) + self._first
        while gaps.size:
            cost = int(self._costs[chosen].sum())
            hits = self._in_clause @ chosen.astype(np.int64)
            if hits[: self._hard].all():
                self._note(cost, hits[self._hard :] > 0, chosen)
            if cost > gaps[-1] if adding else cost < gaps[0]:
                return
            worth = (self._worth * (hits == (0 if adding else 1))) @ self._in_clause / self._costs
            useful = worth > 0
            worth += self._hint
            if adding:
                candidate = int(np.argmax(np.where(chosen, -1.0, worth)))
                if not useful[candidate]:
                    return
            else:
                candidate = int(np.argmin(np.where(chosen, worth, np.inf)))
                if not chosen[candidate]:
                    return
            chosen[candidate] = adding

    def _note(self, cost: int, hit: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> None:
        number = cost - self._first
        if not 0 <= number < len(self._best):
            return
        covered = int(self._weights @ np.logical_and.reduceat(hit, self._starts)) if len(self._starts) else 0
        worth = covered * self._scale + int(self._ranks @ chosen)
        if worth > self._best[number]:
            self._best[number] = worth
            self._behind[number] = (worth, np.packbits(chosen))
