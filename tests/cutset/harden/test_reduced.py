from itertools import combinations

import pytest
from hypothesis import given, settings
from tests.samples.hardening_problems import all_choices, problems

from cutset.errors import InputError
from cutset.harden.problem import Candidate, Problem, Weakness
from cutset.harden.reduced import STEPS, CandidateClause, Reduced, in_whole_numbers, reduced, without_dominated


def weakness(*clauses: str, request: str = "low", weight: float = 1.0, hard: bool = False) -> Weakness:
    """`weakness("01", "2")`: one of the candidates 0 and 1, and candidate 2."""
    return Weakness(request, tuple(frozenset(map(int, clause)) for clause in clauses), weight, hard)


def posed(costs: str, *weaknesses: Weakness) -> Problem:
    return Problem(tuple(Candidate(f"api-{n}", cost=float(cost)) for n, cost in enumerate(costs.split())), weaknesses)


def clause(text: str) -> CandidateClause:
    return frozenset(map(int, text))


def best_by_cost(small: Reduced) -> dict[int, int]:
    """The most that can be covered at each cost of a choice that covers what is hard, by trying all."""
    best: dict[int, int] = {}
    for size in range(len(small.costs) + 1):
        for chosen in map(frozenset, combinations(small.costs, size)):
            if not any(each.isdisjoint(chosen) for each in small.hard):
                cost = sum(small.costs[index] for index in chosen)
                covered = sum(
                    each.weight for each in small.soft if not any(part.isdisjoint(chosen) for part in each.clauses)
                )
                best[cost] = max(best.get(cost, 0), small.covered + covered)
    return best


def frontier_of(best: dict[float, float]) -> list[tuple[float, float]]:
    """What no cheaper choice covers."""
    rises: list[tuple[float, float]] = []
    for cost in sorted(best):
        if not rises or best[cost] > rises[-1][1] + 1e-9:
            rises.append((cost, best[cost]))
    return rises


@settings(max_examples=150, deadline=None)
@given(problems())
def test_what_is_left_has_the_same_best_choices_as_the_whole(problem: Problem) -> None:
    small = reduced(problem)
    choices = all_choices(problem)
    assert bool(small.impossible) is not bool(choices)
    if not choices:
        return
    whole: dict[float, float] = {}
    for covered, cost, _, _ in choices:
        whole[cost] = max(whole.get(cost, 0.0), covered)
    rest = {cost * small.cost_unit: best * small.weight_unit for cost, best in best_by_cost(small).items()}

    assert [cost for cost, _ in frontier_of(rest)] == pytest.approx([cost for cost, _ in frontier_of(whole)])
    assert [best for _, best in frontier_of(rest)] == pytest.approx([best for _, best in frontier_of(whole)], rel=1e-5)


@settings(max_examples=150, deadline=None)
@given(problems())
def test_candidates_that_others_stand_in_for_change_no_best_choice(problem: Problem) -> None:
    larger = in_whole_numbers(problem)
    smaller = without_dominated(larger)

    assert smaller.costs.items() <= larger.costs.items()
    assert frontier_of(dict(best_by_cost(smaller))) == frontier_of(dict(best_by_cost(larger)))


@settings(max_examples=100, deadline=None)
@given(problems())
def test_nothing_is_left_to_leave_out(problem: Problem) -> None:
    small = reduced(problem)
    used = frozenset().union(*small.hard, *(each for soft in small.soft for each in soft.clauses))

    assert small.costs.keys() == small.ranks.keys() == used
    assert not any(problem.candidates[index].untouchable for index in used)
    assert not used & problem.already
    assert not any(one < other for one in small.hard for other in small.hard)
    assert not any(one <= other for one in small.hard for soft in small.soft for other in soft.clauses)
    assert small.total >= small.covered + sum(each.weight for each in small.soft)


def test_costs_become_multiples_of_a_unit() -> None:
    small = reduced(posed("0.5 2.25 1", weakness("0"), weakness("1"), weakness("2")))

    assert (small.costs, small.cost_unit) == ({0: 2, 1: 9, 2: 4}, 0.25)


def test_weights_that_are_no_simple_numbers_are_rounded_to_a_share_of_the_largest() -> None:
    small = reduced(posed("1 1", weakness("0", weight=3.14159), weakness("1", weight=0.0000001)))

    assert [each.weight for each in small.soft] == [STEPS, 1]  # never to nothing
    assert small.weight_unit == pytest.approx(3.14159 / STEPS)


@pytest.mark.parametrize("cost", [0.0, -1.0, float("inf"), float("nan"), 0.0000001])
def test_costs_that_cannot_be_whole_are_refused(cost: float) -> None:
    with pytest.raises(InputError, match="expected more than 0, with at most 6 decimals"):
        reduced(Problem((Candidate("a", cost=cost),), ()))


def test_weaknesses_with_the_same_clauses_are_one() -> None:
    (soft,) = reduced(posed("1 1", weakness("01"), weakness("01", weight=2.0))).soft

    assert soft.weight == 3


def test_what_hard_clauses_imply_is_covered_anyway() -> None:
    small = reduced(posed("1 1 1", weakness("0", hard=True), weakness("01"), weakness("2")))

    assert small.hard == (clause("0"),)
    assert small.covered == 1
    assert [each.clauses for each in small.soft] == [(clause("2"),)]


def test_of_two_candidates_in_the_same_clauses_the_cheaper_one_stays() -> None:
    assert reduced(posed("2 1", weakness("01"), weakness("01", "01"))).costs == {1: 1}
    assert in_whole_numbers(posed("2 1", weakness("01"))).costs == {0: 2, 1: 1}


def test_a_request_that_only_untouchable_candidates_would_help_is_impossible() -> None:
    candidates = (Candidate("a", untouchable=True), Candidate("b"))
    both = (weakness("0", request="high", hard=True), weakness("01", request="other", hard=True))

    small = reduced(Problem(candidates, both))

    assert small.impossible == ("high",)
    assert small.hard == (clause("1"),)
