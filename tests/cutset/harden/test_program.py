import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.hardening_programs import Given, programs

from cutset.harden import program as module
from cutset.harden.program import Aim, Solution, program_of, relaxed, solve
from cutset.harden.reduced import Soft

BUDGETS = st.none() | st.integers(0, 20)


def solved(posed: Given, aim: Aim, cost_at_most: int | None, covered_at_least: int | None = None) -> Solution | None:
    program = program_of(posed.costs, posed.ranks, posed.hard, posed.soft)
    return solve(program, aim, cost_at_most=cost_at_most, covered_at_least=covered_at_least)


@settings(max_examples=150, deadline=None)
@given(programs(), st.sampled_from(Aim), BUDGETS, st.none() | st.integers(0, 20))
def test_an_answer_is_the_best_of_all_choices_that_keep_the_limits(
    posed: Given, aim: Aim, cost_at_most: int | None, covered_at_least: int | None
) -> None:
    values = [
        {Aim.MOST_COVERED: covered, Aim.LEAST_COST: -cost, Aim.HIGHEST_RANK: rank}[aim]
        for _, covered, cost, rank in posed.choices()
        if (cost_at_most is None or cost <= cost_at_most) and (covered_at_least is None or covered >= covered_at_least)
    ]

    found = solved(posed, aim, cost_at_most, covered_at_least)

    if found is None:
        assert not values
        return
    assert found.proven
    assert (found.chosen, found.covered, found.cost, found.rank) in set(posed.choices())
    assert {Aim.MOST_COVERED: found.covered, Aim.LEAST_COST: -found.cost, Aim.HIGHEST_RANK: found.rank}[aim] == max(
        values
    )


@settings(max_examples=100, deadline=None)
@given(programs(fewest_soft=1), st.integers(0, 20))
def test_the_relaxation_bounds_every_cost_from_above(posed: Given, around: int) -> None:
    least = min(cost for _, _, cost, _ in posed.choices())
    around = max(around, least)

    value, slope, chosen = relaxed(program_of(posed.costs, posed.ranks, posed.hard, posed.soft), around)

    assert slope >= -1e-9
    assert chosen <= posed.costs.keys()
    for _, covered, cost, _ in posed.choices():
        assert covered <= value + slope * (cost - around) + 1e-6


def test_without_candidates_nothing_is_chosen_and_nothing_can_be_covered() -> None:
    nothing = program_of({}, {}, (), ())

    assert solve(nothing, Aim.MOST_COVERED) == Solution(frozenset(), 0, 0, 0, proven=True)
    assert solve(nothing, Aim.MOST_COVERED, covered_at_least=1) is None


def test_among_many_candidates_rank_is_a_preference_that_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Either of two candidates covers all, at the same cost."""
    monkeypatch.setattr(module, "EXACT_RANKS", 1)
    both = Soft((frozenset({0, 1}),), 1)
    program = program_of({0: 2, 1: 2, 2: 1}, {0: 1, 1: 8, 2: 9}, (), (both,))

    found = solve(program, Aim.LEAST_COST, covered_at_least=1, cost_at_most=3)

    assert found is not None
    assert (found.chosen, found.cost, found.proven) == (frozenset({1}), 2, True)
