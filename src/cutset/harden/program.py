"""Eq. 5 of FastFI (§3.3) as one mixed integer program for HiGHS, and what a solution proves.

HiGHS computes in floating point. So all numbers that we give it are whole, limits lie half-way between two whole
numbers, and what comes back is counted again: an answer is *proven* when the solver's bound leaves no room for a better
whole number.

A candidate is chosen or not; how far a weakness is mitigated follows from it. A weakness with a single candidate needs
no variable of its own, its weight is the candidate's.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp  # type: ignore[import-untyped]
from scipy.sparse import csr_array, vstack  # type: ignore[import-untyped]

from cutset.harden.reduced import CandidateClause, Soft

# Ranks only break ties, of which there are so many among thousands of candidates that a program for them takes minutes.
# With more candidates than this, they are but a preference when the least cost is looked for, of less than one unit.
EXACT_RANKS = 1000
_PREFERENCE, _ENOUGH = 0.4, 0.3

Vector = NDArray[np.float64]


class Aim(Enum):
    MOST_COVERED = auto()
    LEAST_COST = auto()
    HIGHEST_RANK = auto()


@dataclass(frozen=True, slots=True)
class Solution:
    chosen: frozenset[int]
    covered: int
    cost: int
    rank: int
    proven: bool  # that nothing is better in what was aimed for


@dataclass(frozen=True, slots=True)
class Program:
    """The parts of the program that are the same whatever is aimed for."""

    candidates: tuple[int, ...]
    hard: tuple[CandidateClause, ...]
    soft: tuple[Soft, ...]
    rows: csr_array  # each at least as much as in `lower`
    lower: Vector
    covered: Vector  # by variable: what it adds to the weight that is covered
    costs: Vector
    ranks: Vector


def program_of(
    costs: dict[int, int], ranks: dict[int, int], hard: Sequence[CandidateClause], soft: Sequence[Soft]
) -> Program:
    candidates = tuple(costs)
    column = {candidate: number for number, candidate in enumerate(candidates)}
    covered = [0] * len(candidates)
    lower = [1.0] * len(hard)
    entries = [(row, column[candidate], 1) for row, clause in enumerate(hard) for candidate in clause]
    for each in soft:
        if len(each.clauses) == len(each.clauses[0]) == 1:
            covered[column[next(iter(each.clauses[0]))]] += each.weight
            continue
        for clause in each.clauses:  # mitigated only as far as each clause has a chosen candidate
            entries += [(len(lower), column[candidate], 1) for candidate in clause]
            entries.append((len(lower), len(covered), -1))
            lower.append(0.0)
        covered.append(each.weight)
    row, col, value = np.array(entries, dtype=int).reshape(-1, 3).T
    nothing = [0] * (len(covered) - len(candidates))
    return Program(
        candidates,
        tuple(hard),
        tuple(soft),
        csr_array((value.astype(float), (row, col)), shape=(len(lower), len(covered))),
        np.array(lower),
        np.array(covered, dtype=float),
        np.array([*costs.values(), *nothing], dtype=float),
        np.array([*ranks.values(), *nothing], dtype=float),
    )


def solve(
    program: Program, aim: Aim, *, cost_at_most: int | None = None, covered_at_least: int | None = None
) -> Solution | None:
    """The best choice, or None if there is none that keeps the limits."""
    if not program.candidates:
        return Solution(frozenset(), 0, 0, 0, proven=True) if not (covered_at_least or 0) > 0 else None
    value = {Aim.MOST_COVERED: program.covered, Aim.LEAST_COST: -program.costs, Aim.HIGHEST_RANK: program.ranks}[aim]
    constraints = [LinearConstraint(program.rows, program.lower, np.inf)] if program.rows.shape[0] else []
    if cost_at_most is not None:
        constraints.append(LinearConstraint(program.costs, -np.inf, cost_at_most + 0.5))
    if covered_at_least is not None:
        constraints.append(LinearConstraint(program.covered, covered_at_least - 0.5, np.inf))
    count = len(program.candidates)
    gap = 0.0
    if aim is Aim.LEAST_COST and count > EXACT_RANKS and cost_at_most and program.ranks.any():
        value = value + _PREFERENCE * program.ranks / program.ranks.sum()
        gap = _ENOUGH / cost_at_most
    result = milp(
        -value,
        integrality=np.arange(len(value)) < count,
        bounds=Bounds(0, 1),
        constraints=constraints,
        options={"mip_rel_gap": gap},
    )
    if result.x is None:
        assert result.status == 2, result.message  # infeasible; there is no limit of time or nodes to run into
        return None
    chosen = frozenset(c for c, share in zip(program.candidates, result.x[:count], strict=True) if share > 0.5)
    covered, cost, rank = _counted(program, chosen)
    kept = (
        not any(clause.isdisjoint(chosen) for clause in program.hard)
        and (cost_at_most is None or cost <= cost_at_most)
        and (covered_at_least is None or covered >= covered_at_least)
    )
    reached = {Aim.MOST_COVERED: covered, Aim.LEAST_COST: -cost, Aim.HIGHEST_RANK: rank}[aim]
    proven = kept and result.status == 0 and -result.mip_dual_bound < reached + 0.9  # below the next whole number
    return Solution(chosen, covered, cost, rank, proven=bool(proven))


def _counted(program: Program, chosen: Collection[int]) -> tuple[int, int, int]:
    covered = sum(s.weight for s in program.soft if not any(clause.isdisjoint(chosen) for clause in s.clauses))
    columns = [number for number, candidate in enumerate(program.candidates) if candidate in chosen]
    return covered, int(program.costs[columns].sum()), int(program.ranks[columns].sum())


def relaxed(program: Program, cost_at_most: int) -> tuple[float, float, frozenset[int]]:
    """The most that parts of candidates would cover, how much one more unit of cost would add to it, and a choice.

    No choice at another cost covers more than the value and the slope say: the relaxation is concave in its limit.
    """
    result = linprog(
        -program.covered,
        A_ub=vstack([csr_array(program.costs[np.newaxis]), -program.rows]),
        b_ub=np.array([cost_at_most, *-program.lower]),
        bounds=(0, 1),
        method="highs",
    )
    assert result.status == 0, result.message
    count = len(program.candidates)
    chosen = frozenset(c for c, share in zip(program.candidates, result.x[:count], strict=True) if share > 0.5)
    return -result.fun, -result.ineqlin.marginals[0], chosen
