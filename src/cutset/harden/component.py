"""What a part of a hardening problem covers at each cost (FastFI's CN_b, §4.5.2): the table that `frontier` combines.

A small part is tabulated by trying all subsets. For a large one, upper and lower bounds are brought together:

- The linear relaxation at one cost bounds all costs from above, by its value and its slope (its dual). In practice it
  is nearly tight: weaknesses have few candidates, most of them in a fallback and what it stands in for.
- What it rounds to, and what is got from it by adding the best or removing the least useful candidate again and again,
  bounds from below.

As coverage is a whole number, bounds less than 1 apart decide. Where a gap stays, a mixed integer program closes it. So
all is exact, and a program per budget is the exception.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array  # type: ignore[import-untyped]

from cutset.harden.program import Aim, program_of, relaxed, solve
from cutset.harden.reduced import CandidateClause, Soft

MOST_SUBSETS = 2**12  # to be tried one by one

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ProblemPart:
    """Candidates with all that concerns them."""

    costs: dict[int, int]
    hard: list[CandidateClause]
    soft: list[Soft]


@dataclass(frozen=True, slots=True)
class Table:
    """The most that can be covered at a cost of at most `first`, `first` + 1, … up to full coverage."""

    first: int
    covered: Numbers
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

    costs, covered = np.zeros_like(subsets), np.zeros_like(subsets)
    for candidate, cost in part.costs.items():
        costs += cost * (subsets & bit[candidate] != 0)
    for each in part.soft:
        covered += each.weight * hit(each.clauses)
    feasible = hit(part.hard)
    first, last = costs[feasible].min(), costs[feasible & (covered == covered[-1])].min()  # the last has all candidates
    best = np.zeros(last - first + 1, dtype=np.int64)
    affordable = feasible & (costs <= last)
    np.maximum.at(best, costs[affordable] - first, covered[affordable])
    return Table(int(first), np.maximum.accumulate(best))


def _by_bounds(part: ProblemPart) -> Table:
    program = program_of(part.costs, dict.fromkeys(part.costs, 0), part.hard, part.soft)
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
    return Table(least.cost, walk.reached, proven and bool(gaps.min() == 0))


class _Walk:
    """Lower bounds: what choices that were come across cover."""

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
        self._first = int(costs[0])
        self.reached = np.zeros(len(costs), dtype=np.int64)

    def both_ways(self, chosen: Iterable[int], upper: Numbers) -> None:
        """From this choice on, with ever more candidates and with ever fewer, as long as there are gaps ahead."""
        start = np.zeros(len(self._costs), dtype=np.bool_)
        start[[self._column[each] for each in chosen]] = True
        self._go(start.copy(), upper, adding=True)
        self._go(start, upper, adding=False)
        self.reached = np.maximum.accumulate(self.reached)

    def _go(self, chosen: NDArray[np.bool_], upper: Numbers, *, adding: bool) -> None:
        gaps = np.flatnonzero(upper > self.reached) + self._first
        while gaps.size:
            cost = int(self._costs[chosen].sum())
            hits = self._in_clause @ chosen.astype(np.int64)
            if hits[: self._hard].all():
                self._note(cost, hits[self._hard :] > 0)
            if cost > gaps[-1] if adding else cost < gaps[0]:
                return
            worth = (self._worth * (hits == (0 if adding else 1))) @ self._in_clause / self._costs
            if adding:
                candidate = int(np.argmax(np.where(chosen, -1.0, worth)))
                if not worth[candidate] > 0:
                    return
            else:
                candidate = int(np.argmin(np.where(chosen, worth, np.inf)))
                if not chosen[candidate]:
                    return
            chosen[candidate] = adding

    def _note(self, cost: int, hit: NDArray[np.bool_]) -> None:
        if 0 <= cost - self._first < len(self.reached):
            covered = int(self._weights @ np.logical_and.reduceat(hit, self._starts)) if len(self._starts) else 0
            self.reached[cost - self._first] = max(self.reached[cost - self._first], covered)
