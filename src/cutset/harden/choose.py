"""Which candidates to harden within a budget: FastFI's eq. 5 (§3.3), solved to proven optimality as one problem.

The paper fixes a minimal choice for the high-priority requests first, and only then looks at the others with what is
left of the budget (`benchmarks.two_stage_hardening`), which can miss the optimum. Here, both are one mixed integer
program (`program`).

Of choices that cover the same, the cheapest is taken; of those, the one whose candidates have the highest sum of
APIRank. Each is a program of its own, held to what the one before it has reached, so none can spoil the optimum.
With more than a thousand candidates the sum of ranks is only near the highest; coverage and cost are exact always.
"""

from dataclasses import dataclass, replace
from math import floor

from cutset.harden.problem import Choice, Problem, Weakness, choice_of
from cutset.harden.program import EXACT_RANKS, Aim, Program, Solution, program_of, solve
from cutset.harden.reduced import Reduced, reduced


@dataclass(frozen=True, slots=True)
class Infeasible:
    """The high-priority requests cannot all be covered."""

    budget: float
    uncovered: tuple[str, ...]  # the fewest requests that must be left out so that the budget covers the others
    too_dear: tuple[str, ...]  # of these, the ones that the budget would not cover even alone
    impossible: tuple[str, ...]  # requests that no budget covers: only untouchable candidates would mitigate a weakness
    smallest: float  # the smallest budget that covers all but the impossible ones


def choose(problem: Problem, budget: float) -> Choice | Infeasible:
    """The choice that mitigates all weaknesses of high-priority requests, and the most weight of the others."""
    small = reduced(problem)
    program = program_of(small.costs, small.ranks, small.hard, small.soft)
    answer = None if small.impossible else best_within(program, whole_budget(small, budget))
    if answer is None:
        return _infeasible(problem, small, budget)
    return choice_of(problem, budget, answer.chosen, proven=answer.proven)


def whole_budget(small: Reduced, budget: float) -> int:
    """In units of cost; what is missing to a whole unit by rounding alone counts as a whole one."""
    return floor(min(budget / small.cost_unit, sum(small.costs.values())) + 1e-6)


def best_within(program: Program, limit: int) -> Solution | None:
    """Most covered, then least cost, then highest rank."""
    most = solve(program, Aim.MOST_COVERED, cost_at_most=limit)
    if most is None:
        return None
    cheapest = solve(program, Aim.LEAST_COST, covered_at_least=most.covered, cost_at_most=most.cost)
    assert cheapest is not None  # `most` is such a choice
    best = _of_highest_rank(program, cheapest)
    return replace(best, proven=most.proven and cheapest.proven and best.proven)


def _of_highest_rank(program: Program, equal: Solution) -> Solution:
    """Of all answers that cover as much as this one and cost no more."""
    if not program.ranks.any() or len(program.candidates) > EXACT_RANKS:
        return equal
    best = solve(program, Aim.HIGHEST_RANK, covered_at_least=equal.covered, cost_at_most=equal.cost)
    assert best is not None
    return best


def smallest_budget(small: Reduced) -> float:
    """What covering the high-priority requests costs at least, as far as possible: a hitting set of minimum cost."""
    answer = solve(program_of(small.costs, small.ranks, small.hard, ()), Aim.LEAST_COST)
    assert answer is not None  # choosing everything covers them
    return answer.cost * small.cost_unit


def _infeasible(problem: Problem, small: Reduced, budget: float) -> Infeasible:
    clauses: dict[str, set[frozenset[int]]] = {}
    for each in problem.weaknesses:
        if each.hard and each.request not in small.impossible:
            clauses.setdefault(each.request, set()).update(each.clauses)
    # As one weakness, a request is covered as a whole or not at all: the best choice covers as many as possible.
    whole = {request: Weakness(request, tuple(parts)) for request, parts in clauses.items()}
    choice = choose(Problem(problem.candidates, tuple(whole.values())), budget)
    assert isinstance(choice, Choice)  # nothing is hard there
    uncovered = sorted(each.request for each in choice.remaining)
    alone = {r: reduced(Problem(problem.candidates, (replace(whole[r], hard=True),))) for r in uncovered}
    return Infeasible(
        budget,
        uncovered=tuple(uncovered),
        too_dear=tuple(request for request in uncovered if smallest_budget(alone[request]) > budget),
        impossible=small.impossible,
        smallest=smallest_budget(small),
    )
