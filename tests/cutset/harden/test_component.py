import numpy as np
import pytest
from hypothesis import assume, given, settings
from tests.samples.hardening_programs import Given, programs

from cutset.harden.component import ProblemPart, Table, tabulated
from cutset.harden.reduced import Soft

EVERY_SUBSET, BOUNDS = 2**20, 1  # how small a part must be to be tabulated by trying all subsets


def part_of(posed: Given) -> ProblemPart:
    """Each candidate of a part is in one of its clauses."""
    used = frozenset().union(*posed.hard, *(clause for each in posed.soft for clause in each.clauses))
    return ProblemPart({each: cost for each, cost in posed.costs.items() if each in used}, posed.hard, posed.soft)


def by_brute_force(posed: Given) -> tuple[int, list[int]]:
    """The least cost, and the most covered at each cost from there up to full coverage."""
    choices = list(posed.choices())
    most = max(covered for _, covered, _, _ in choices)
    first = min(cost for _, _, cost, _ in choices)
    last = min(cost for _, covered, cost, _ in choices if covered == most)
    return first, [max(covered for _, covered, cost, _ in choices if cost <= limit) for limit in range(first, last + 1)]


@pytest.mark.parametrize("most_subsets", [EVERY_SUBSET, BOUNDS])
@settings(max_examples=120, deadline=None)
@given(posed=programs(fewest_soft=1))
def test_at_each_cost_the_table_has_the_most_that_any_choice_covers(posed: Given, most_subsets: int) -> None:
    table = tabulated(part_of(posed), most_subsets)

    assert table.proven
    assert (table.first, table.covered.tolist()) == by_brute_force(posed)


@settings(max_examples=60, deadline=None)
@given(posed=programs())
def test_bounds_agree_with_trying_all_subsets(posed: Given) -> None:
    part = part_of(posed)
    assume(part.costs)

    by_bounds, by_subsets = tabulated(part, BOUNDS), tabulated(part, EVERY_SUBSET)

    assert by_bounds.first == by_subsets.first
    assert np.array_equal(by_bounds.covered, by_subsets.covered)


def test_a_large_part_is_tabulated_without_trying_everything() -> None:
    """Forty pairs in a ring: half of the candidates cover all."""
    ring = [Soft((frozenset({number, (number + 1) % 40}),), 1) for number in range(40)]
    table = tabulated(ProblemPart(dict.fromkeys(range(40), 1), [], ring), 2**12)

    assert table.proven
    assert (table.first, table.covered.tolist()) == (0, [*range(0, 40, 2), 40])


def test_a_table_is_taken_for_proven_unless_it_says_otherwise() -> None:
    nothing = np.zeros(1, dtype=np.int64)
    assert Table(0, nothing, nothing, lambda _: frozenset()).proven
