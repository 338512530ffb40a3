from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.hardening_problems import best_of, problems

from cutset.errors import InputError
from cutset.harden.choose import Infeasible, choose
from cutset.harden.problem import Candidate, Choice, Problem, Weakness


def problem(candidates: str, *weaknesses: tuple[str, str], high: str = "") -> Problem:
    """`problem("ab", ("r", "ab"))`: one weakness of r that either of two candidates mitigates."""
    names = list(candidates)
    return Problem(
        tuple(Candidate(name) for name in names),
        tuple(
            Weakness(request, (frozenset(names.index(name) for name in clause),), hard=request in high)
            for request, clause in weaknesses
        ),
    )


def names(choice: Choice | Infeasible) -> str:
    assert isinstance(choice, Choice)
    assert choice.proven
    return "".join(sorted(each.name for each in choice.chosen))


@settings(max_examples=100, deadline=None)
@given(problems(), st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 4.75, 100.0]))
def test_a_choice_is_as_good_as_the_best_of_all(given: Problem, budget: float) -> None:
    choice, best = choose(given, budget), best_of(given, budget)
    if best is None:
        assert isinstance(choice, Infeasible)
        return
    assert isinstance(choice, Choice)
    assert choice.proven
    assert choice.covered == pytest.approx(best[0])
    assert choice.cost == pytest.approx(best[1])
    assert sum(each.rank for each in choice.chosen) == pytest.approx(best[2])
    assert not any(each.untouchable or each.already for each in choice.chosen)
    assert not any(weakness.hard for weakness in choice.remaining)


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from([0.0, 0.5, 1.0, 2.0]))
def test_an_infeasible_budget_names_the_fewest_requests_that_must_go_and_the_smallest_budget(
    given: Problem, budget: float
) -> None:
    answer = choose(given, budget)
    if isinstance(answer, Choice):
        return
    high = sorted({each.request for each in given.weaknesses if each.hard})

    def only(requests: tuple[str, ...]) -> Problem:
        return Problem(given.candidates, tuple(w for w in given.weaknesses if w.hard and w.request in requests))

    assert list(answer.impossible) == [r for r in high if best_of(only((r,)), 1e6) is None]
    possible = [request for request in high if request not in answer.impossible]
    coverable = [
        kept
        for size in range(len(possible) + 1)
        for kept in combinations(possible, size)
        if best_of(only(kept), budget) is not None
    ]
    assert tuple(r for r in possible if r not in answer.uncovered) in coverable
    assert len(possible) - len(answer.uncovered) == max(map(len, coverable))
    assert list(answer.too_dear) == [r for r in answer.uncovered if (r,) not in coverable]
    assert best_of(only(tuple(possible)), answer.smallest) is not None
    assert best_of(only(tuple(possible)), answer.smallest - 0.25) is None or answer.smallest == 0


def test_high_priority_requests_are_covered_even_if_others_gain_less() -> None:
    shop = problem("abc", ("high", "ab"), ("low", "c"), ("other", "c"), high="high")
    assert names(choose(shop, 1)) == "a"
    assert names(choose(shop, 2)) == "ac"


def test_one_that_covers_the_same_and_ranks_higher_is_chosen() -> None:
    weakness = Weakness("r", (frozenset({0, 1}),))
    for low, high, expected in ((0.1, 0.2, "b"), (0.2, 0.1, "a")):
        assert names(choose(Problem((Candidate("a", rank=low), Candidate("b", rank=high)), (weakness,)), 1)) == expected


def test_rank_never_outweighs_coverage_or_cost() -> None:
    candidates = (Candidate("a", rank=1.0), Candidate("b", rank=0.0), Candidate("c", cost=1.5, rank=1.0))
    once, twice = Weakness("r", (frozenset({0}),)), Weakness("r", (frozenset({1}),), weight=1.0001)
    assert names(choose(Problem(candidates, (once, twice)), 1)) == "b"
    assert names(choose(Problem(candidates, (Weakness("r", (frozenset({1, 2}),)),)), 2)) == "b"


def test_no_more_is_chosen_than_is_of_use() -> None:
    assert names(choose(problem("abc", ("r", "a")), 3)) == "a"
    assert names(choose(problem("abc"), 3)) == ""


def test_a_budget_is_kept_to_the_last_cent() -> None:
    cents = Problem(
        (Candidate("a", cost=0.1), Candidate("b", cost=0.2)), tuple(Weakness("r", (frozenset({i}),)) for i in (0, 1))
    )
    assert names(choose(cents, 0.3)) == "ab"
    assert names(choose(cents, 0.299)) == "a"


def test_a_call_that_two_callers_make_is_mitigated_where_both_are_hardened() -> None:
    both = Problem(
        (Candidate("x>a"), Candidate("y>a"), Candidate("z>b")),
        (Weakness("r", (frozenset({0}), frozenset({1})), weight=1.5), Weakness("s", (frozenset({2}),))),
    )
    one, two = choose(both, 1), choose(both, 2)
    assert isinstance(one, Choice)
    assert isinstance(two, Choice)
    assert [each.name for each in one.chosen] == ["z>b"]
    assert [each.name for each in two.chosen] == ["x>a", "y>a"]


def test_untouchable_and_already_hardened_apis_are_respected() -> None:
    clauses = [Weakness("r", (frozenset({0, 1}),)), Weakness("r", (frozenset({2}),)), Weakness("r", (frozenset({3}),))]
    given = Problem(
        (
            Candidate("a", untouchable=True),
            Candidate("b"),
            Candidate("c", already=True),
            Candidate("d", untouchable=True),
        ),
        tuple(clauses),
    )
    choice = choose(given, 5)
    assert names(choice) == "b"
    assert isinstance(choice, Choice)
    assert (choice.covered, choice.remaining) == (2, (clauses[2],))


def test_a_request_that_only_untouchable_apis_would_save_is_impossible_for_any_budget() -> None:
    given = Problem((Candidate("a", untouchable=True),), (Weakness("r", (frozenset({0}),), hard=True),))
    assert choose(given, 99) == Infeasible(99, uncovered=(), too_dear=(), impossible=("r",), smallest=0)


def test_costs_that_are_no_costs_are_refused() -> None:
    for cost in (0.0, -1.0, float("nan"), 0.1234567):
        with pytest.raises(InputError, match="cost"):
            choose(Problem((Candidate("a", cost=cost),), ()), 1)
