from benchmarks.greedy_hardening import choose_greedily
from hypothesis import given, settings
from tests.samples.hardening_problems import problems

from cutset.harden.choose import Infeasible, choose
from cutset.harden.problem import Candidate, Problem, Weakness


def problem(candidates: str, weaknesses: dict[str, str], high: str = "") -> Problem:
    return Problem(
        tuple(Candidate(name) for name in candidates),
        tuple(
            Weakness(request, (frozenset(candidates.index(name) for name in clause),), hard=request == high)
            for request, clauses in weaknesses.items()
            for clause in clauses.split()
        ),
    )


def chosen(problem: Problem, budget: float) -> str:
    return "".join(each.name for each in choose_greedily(problem, budget).chosen)


def test_high_priority_comes_first_by_the_largest_gain() -> None:
    shop = problem("abcd", {"high": "ab bc d", "low": "a"}, high="high")
    assert [chosen(shop, budget) for budget in (1, 2, 3)] == ["b", "bd", "abd"]


def test_then_the_request_with_most_weaknesses_left_is_finished_before_another_begins() -> None:
    shop = problem("abcdx", {"two": "x a", "also": "x", "three": "b c d"})
    assert [chosen(shop, budget) for budget in (1, 3, 4)] == ["b", "bcd", "abcd"]


def test_it_can_fail_to_cover_high_priority_where_that_is_possible() -> None:
    # Two of six would do, `a` and `b`; but `c` alone is in four.
    shop = problem("abc", {"high": "ac ac a bc bc b"}, high="high")
    assert not choose_greedily(shop, 2).proven
    assert any(each.hard for each in choose_greedily(shop, 2).remaining)
    assert not isinstance(choose(shop, 2), Infeasible)


@settings(max_examples=25, deadline=None)
@given(problems())
def test_it_keeps_the_budget_and_is_never_better_than_the_optimum(problem: Problem) -> None:
    for budget in (0.5, 2.0, 4.0):
        greedy, best = choose_greedily(problem, budget), choose(problem, budget)
        assert greedy.cost <= budget
        assert not any(each.untouchable for each in greedy.chosen)
        if not any(each.hard for each in greedy.remaining):
            assert not isinstance(best, Infeasible)
            assert greedy.covered <= best.covered + 1e-6
