from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.hardening_problems import all_choices, best_of, problems

from cutset.errors import InputError
from cutset.harden.choose import choose
from cutset.harden.frontier import frontier, frontier_with_choices
from cutset.harden.problem import Candidate, Choice, Problem, Weakness


def singles(*gains: int, high: int = 0) -> Problem:
    """One candidate per number, which mitigates so many weaknesses; of the first few, one is of a high priority."""
    weaknesses = [Weakness("low", (frozenset({index}),)) for index, gain in enumerate(gains) for _ in range(gain)]
    hard = [Weakness("high", (frozenset({index}),), hard=True) for index in range(high)]
    return Problem(tuple(Candidate(f"api-{index}") for index in range(len(gains))), (*weaknesses, *hard))


@settings(max_examples=100, deadline=None)
@given(problems(), st.sampled_from([1, 2**12]))
def test_every_point_is_the_best_of_all_choices_and_none_is_missing(problem: Problem, most_subsets: int) -> None:
    choices = all_choices(problem)
    if not choices:
        with pytest.raises(InputError, match="No budget covers"):
            frontier(problem)
        return
    found = frontier(problem, most_subsets=most_subsets)
    assert found.proven
    expected: list[tuple[float, float]] = []
    for cost, covered in sorted((cost, -covered) for covered, cost, _, _ in choices):
        if not expected or -covered > expected[-1][1] + 1e-9:
            expected.append((cost, -covered))
    assert [point.budget for point in found.points] == pytest.approx([cost for cost, _ in expected])
    assert [point.covered for point in found.points] == pytest.approx([covered for _, covered in expected], rel=1e-5)


@settings(max_examples=100, deadline=None)
@given(problems(), st.sampled_from([1, 2**12]))
def test_behind_every_point_is_a_choice_as_good_as_the_best(problem: Problem, most_subsets: int) -> None:
    if not all_choices(problem):
        return
    found, choice_at = frontier_with_choices(problem, most_subsets=most_subsets)
    for position, point in enumerate(found.points):
        choice, best = choice_at(position), best_of(problem, point.budget)
        assert best is not None
        assert choice.proven
        assert (choice.covered, choice.cost) == pytest.approx(best[:2], rel=1e-5)
        if most_subsets > 1:  # else a part may be large, and its rank but nearly the highest
            assert sum(each.rank for each in choice.chosen) == pytest.approx(best[2], rel=1e-4)


@pytest.mark.parametrize("cost", [1.0, 2.5])
def test_the_frontier_of_a_larger_system_agrees_with_one_program_per_budget(cost: float) -> None:
    chance = Random(7)
    candidates = tuple(Candidate(f"api-{number}", cost=cost) for number in range(60))
    clauses = [frozenset(chance.sample(range(60), chance.choice((1, 1, 2, 2, 3)))) for _ in range(90)]
    problem = Problem(candidates, tuple(Weakness(f"r{n % 9}", (c,), hard=n % 9 == 0) for n, c in enumerate(clauses)))
    found, choice_at = frontier_with_choices(problem)
    assert found.proven
    assert found.points[-1].coverage == 1
    for position in range(0, len(found.points), 7):
        for choice in (choose(problem, found.points[position].budget), choice_at(position)):
            assert isinstance(choice, Choice)
            assert choice.proven
            assert (choice.covered, choice.cost) == (found.points[position].covered, found.points[position].budget)
            assert not any(each.hard for each in choice.remaining)


def test_it_goes_from_what_high_priority_needs_to_full_coverage() -> None:
    found = frontier(singles(1, 3, 2, 2, high=1))
    assert [point.budget for point in found.points] == [1, 2, 3, 4]
    assert [point.coverage for point in found.points] == [1 / 8, 4 / 8, 6 / 8, 1]
    assert [point.gain for point in found.points] == [None, 3, 2, 2]


def test_returns_diminish_where_a_unit_brings_less_than_the_average() -> None:
    found = frontier(singles(9, 8, 1, 1, 1))
    assert found.points[found.knee].budget == 2


def test_returns_that_stay_the_same_do_not_diminish_before_the_end() -> None:
    found = frontier(singles(2, 2, 2))
    assert found.knee == len(found.points) - 1


def test_gains_are_per_unit_of_cost() -> None:
    given = Problem(
        (Candidate("a", cost=0.5), Candidate("b", cost=4)),
        (Weakness("r", (frozenset({0}),)), *[Weakness("r", (frozenset({1}),))] * 3),
    )
    found = frontier(given)
    assert [(point.budget, point.gain) for point in found.points] == [(0, None), (0.5, 2), (4, 2 / 3.5), (4.5, 2)]


def test_a_budget_belongs_to_the_last_point_that_it_reaches() -> None:
    found = frontier(singles(1, 3, 2, 2, high=1))
    assert [found.at(budget) for budget in (1, 1.9, 2, 99)] == [0, 0, 1, 3]
    with pytest.raises(InputError, match="1 would"):
        found.at(0.5)


def test_without_weaknesses_there_is_one_point_of_full_coverage() -> None:
    assert [(point.budget, point.coverage) for point in frontier(singles()).points] == [(0, 1)]


def test_costs_that_are_too_fine_are_refused() -> None:
    fine = Problem(
        (Candidate("a", cost=1000.001), Candidate("b", cost=0.1)),
        tuple(Weakness("r", (frozenset({index}),)) for index in (0, 1)),
    )
    with pytest.raises(InputError, match="too fine"):
        frontier(fine)
