from collections.abc import Iterable, Sequence

from benchmarks.fastfi_solver import dfs_based_solver
from benchmarks.two_stage_hardening import choose_in_two_stages
from hypothesis import given, settings
from tests.samples.hardening_problems import problems

from cutset.harden.choose import Infeasible, choose
from cutset.harden.problem import Candidate, Choice, Problem, Weakness
from cutset.search.hitting_sets import minimal_hitting_sets


def exact(clauses: Sequence[Sequence[int]], max_size: int) -> Iterable[frozenset[int]]:
    for chosen in minimal_hitting_sets([sum(1 << each for each in clause) for clause in clauses], max_size):
        yield frozenset(number for number in range(chosen.bit_length()) if chosen >> number & 1)


def test_two_stages_miss_the_optimum_of_three_apis() -> None:
    a, b, c = 0, 1, 2
    shop = Problem(
        (Candidate("a"), Candidate("b"), Candidate("c")),
        (
            Weakness("GET /", (frozenset({a, b}),), hard=True),
            Weakness("GET /cart", (frozenset({a, c}),)),
            Weakness("GET /cart", (frozenset({b}),)),
            Weakness("GET /product", (frozenset({a, c}),)),
            Weakness("GET /ad", (frozenset({c}),)),
        ),
    )
    for solver in (dfs_based_solver, exact):
        in_two_stages, best = choose_in_two_stages(shop, 2, solver), choose(shop, 2)
        assert in_two_stages is not None
        assert isinstance(best, Choice)
        assert (in_two_stages.covered, best.covered) == (3, 4)
        assert [each.name for each in best.chosen] == ["b", "c"]


def test_a_budget_below_every_minimal_solution_has_no_choice() -> None:
    two = Problem(
        (Candidate("a"), Candidate("b")), tuple(Weakness("r", (frozenset({index}),), hard=True) for index in (0, 1))
    )
    assert choose_in_two_stages(two, 1, dfs_based_solver) is None
    assert choose_in_two_stages(two, 2, dfs_based_solver) is not None


@settings(max_examples=30, deadline=None)
@given(problems())
def test_it_keeps_the_rules_and_is_never_better_than_the_optimum(problem: Problem) -> None:
    in_two_stages, best = choose_in_two_stages(problem, 3.0, exact), choose(problem, 3.0)
    if in_two_stages is None:
        assert isinstance(best, Infeasible)
        return
    assert isinstance(best, Choice)
    assert in_two_stages.cost <= 3
    assert in_two_stages.covered <= best.covered + 1e-6
    assert not any(each.hard for each in in_two_stages.remaining)
