"""FastFI's own way to choose (§3.3, eq. 6), in two stages: another yardstick for `choose`.

First, of all minimal choices that cover the high-priority requests, the one that covers most of the others is fixed.
Then what is left of the budget is spent as well as possible. The second stage is exact, and the first may still miss
the optimum, since what a choice covers by itself says little about what the rest of the budget can add to it:

    high priority: {a, b}    low priority: {a, c} twice, {b}, {c}    budget: 2

Of the minimal choices {a} and {b}, {a} covers two of the others and {b} one. With {a} fixed, the best is {a, c} (or
{a, b}), with 3 of 4. But {b, c} covers all 4.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

from cutset.harden.choose import best_within, whole_budget
from cutset.harden.problem import Choice, Problem, choice_of
from cutset.harden.program import program_of
from cutset.harden.reduced import Reduced, in_whole_numbers

# Minimal hitting sets of these clauses with at most so many elements, as `benchmarks.fastfi_solver` finds them.
MinimalSolutions = Callable[[Sequence[Sequence[int]], int], Iterable[frozenset[int]]]


def choose_in_two_stages(problem: Problem, budget: float, minimal_solutions: MinimalSolutions) -> Choice | None:
    """None if no minimal solution for the high-priority requests fits into the budget.

    The paper does not say whether a minimal solution that is too dear may be taken for the best one; here it may not.
    """
    small = in_whole_numbers(problem)  # with dominated candidates: the paper enumerates them, too
    limit = whole_budget(small, budget)
    cheapest = min(small.costs.values(), default=1)
    solutions = minimal_solutions([sorted(clause) for clause in small.hard], limit // cheapest)
    fitting = [solution for solution in solutions if sum(small.costs[index] for index in solution) <= limit]
    if small.impossible or not fitting:
        return None
    first = max(fitting, key=lambda chosen: _covered(small, chosen))  # the first of equals, as they are enumerated
    fixed = (*small.hard, *(frozenset({candidate}) for candidate in sorted(first)))
    answer = best_within(program_of(small.costs, small.ranks, fixed, small.soft), limit)
    assert answer is not None  # `first` alone is one
    return choice_of(problem, budget, answer.chosen, proven=False)


def _covered(small: Reduced, chosen: Collection[int]) -> int:
    return sum(each.weight for each in small.soft if not any(clause.isdisjoint(chosen) for clause in each.clauses))
