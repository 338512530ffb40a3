from collections.abc import Iterable
from itertools import pairwise
from random import Random

import pytest
from benchmarks.fastfi_solver import dfs_based_solver
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cutset.model.fault import Cut, cut_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.search.clauses import Clauses
from cutset.search.fastfi import FastFi
from cutset.search.strategy import SearchSettings
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.simulated import All, Call, FirstOf, Optional, Routes, Simulation, System, grouped_skeletons

# Every monotone request is a choice between paths, each of which needs all its calls.
PATHS = st.lists(st.sets(st.sampled_from("ABCDEFG"), min_size=1), min_size=1, max_size=6)


def choice_of(paths: Iterable[Iterable[str]]) -> Routes:
    return Routes(tuple(points(*path) for path in paths))


def explore(search: FastFi, system: System) -> list[Points]:
    simulation = Simulation(system)
    asked: list[Points] = []
    while cuts := search.ask(5):
        assert len(cuts) == 1
        asked += cuts
        search.learn(simulation.run(cuts[0]))
    return asked


def points(*apis: str) -> Points:
    return frozenset(Point("simulated", api) for api in apis)


def faults(*apis: str) -> Cut:
    return cut_of(points(*apis))


@settings(max_examples=200, deadline=None)
@given(PATHS, st.integers(1, 4))
@example(["ACEF", "BCF", "ABEF", "ADE"], 3)  # a repaired search that keeps `best_depth` loses {B, C, D} here
def test_repaired_it_finds_exactly_the_minimal_cuts(paths: list[str], max_size: int) -> None:
    system = choice_of(paths)
    search = FastFi(SearchSettings(max_size), repaired=True)

    asked = explore(search, system)

    result = search.result()
    assert set(result.minimal_cuts) == minimal_cuts_by_brute_force(system, max_size)
    assert (result.finished, result.complete_up_to, result.left) == (True, max_size, 0)
    assert len(set(asked)) == len(asked) == result.rounds
    assert result.certificates + len(result.minimal_cuts) == len(asked)


@settings(max_examples=200, deadline=None)
@given(PATHS, st.integers(1, 4))
@example(["A", "B"], 1)
def test_as_printed_it_finds_exactly_the_cuts_of_the_smallest_size(paths: list[str], max_size: int) -> None:
    system = choice_of(paths)
    search = FastFi(SearchSettings(max_size))

    explore(search, system)

    truth = minimal_cuts_by_brute_force(system, max_size)
    smallest = min((len(cut) for cut in truth), default=max_size)
    result = search.result()
    assert set(result.minimal_cuts) == {cut for cut in truth if len(cut) == smallest}
    assert (result.finished, result.complete_up_to) == (True, smallest)
    assert "as printed" in result.assumption


@settings(max_examples=200, deadline=None)
@given(PATHS)
def test_candidates_come_in_the_order_in_which_algorithm_2_pops_them(paths: list[str]) -> None:
    clauses = Clauses()
    printed = []
    for path in paths:
        clauses.add(points(*path))
        printed.append(sorted(points(*path)))
    size = next(size for size in range(1, 8) if dfs_based_solver(printed, size))

    assert list(clauses.hitting_sets(size)) == dfs_based_solver(printed, size)[::-1]


@pytest.mark.parametrize("repaired", [False, True])
@pytest.mark.parametrize(("skeleton", "injections"), [((50, 2, 2), 7), ((100, 3, 6), 221)])
def test_takes_as_many_injections_on_grouped_skeletons_as_the_paper_reports(
    skeleton: tuple[int, int, int], injections: int, repaired: bool
) -> None:
    """Fig. 10 has 8 and 222 with the run without faults."""
    search = FastFi(SearchSettings(skeleton[1]), repaired=repaired)

    asked = explore(search, grouped_skeletons(*skeleton))

    assert len(asked) == injections + 1
    assert len(search.result().minimal_cuts) == skeleton[2] ** skeleton[1]


def test_as_printed_a_single_point_of_failure_hides_larger_cuts() -> None:
    system = All((Call("A"), FirstOf((Call("B"), Call("C")))))
    printed, repaired = FastFi(SearchSettings(3)), FastFi(SearchSettings(3), repaired=True)

    explore(printed, system)
    explore(repaired, system)

    assert printed.result().minimal_cuts == (faults("A"),)
    assert set(repaired.result().minimal_cuts) == {faults("A"), faults("B", "C")}


def test_a_tolerated_failure_hides_a_mandatory_call_from_path_clauses() -> None:
    search = FastFi(SearchSettings(2), repaired=True)

    asked = explore(search, Optional(Call("X"), Call("Y")))

    assert faults("Y") not in asked
    assert search.result().minimal_cuts == ()


@settings(max_examples=100, deadline=None)
@given(PATHS, st.integers(1, 3), st.booleans(), st.randoms(use_true_random=False))
def test_what_was_learnt_before_is_not_asked_again(
    paths: list[str], max_size: int, repaired: bool, chance: Random
) -> None:
    system = choice_of(paths)
    whole = FastFi(SearchSettings(max_size), repaired=repaired)
    asked = explore(whole, system)
    resumed = FastFi(SearchSettings(max_size), repaired=repaired)
    past = chance.sample(asked, chance.randint(1, len(asked)))
    for cut in past:
        resumed.learn(Simulation(system).run(cut))

    asked_later = explore(resumed, system)

    assert not set(asked_later) & set(past)
    assert set(resumed.result().minimal_cuts) == set(whole.result().minimal_cuts)
    assert resumed.result().complete_up_to == whole.result().complete_up_to


@settings(max_examples=200, deadline=None)
@given(PATHS, st.integers(1, 3), st.randoms(use_true_random=False))
def test_whatever_stays_unknown_hides_no_other_cut(paths: list[str], max_size: int, chance: Random) -> None:
    system = choice_of(paths)
    search = FastFi(SearchSettings(max_size), repaired=True)
    asked = []
    while cuts := search.ask(1):
        asked += cuts
        known = not cuts[0] or chance.random() < 0.7
        search.learn(Simulation(system).run(cuts[0]) if known else Outcome(cuts[0], Verdict.UNKNOWN))

    result = search.result()
    truth = minimal_cuts_by_brute_force(system, max_size)
    assert set(result.minimal_cuts) <= truth
    assert len(set(asked)) == len(asked)
    for cut in truth - set(result.minimal_cuts):
        assert any(undecided <= cut for undecided in result.undecided)


def test_k_rises_by_one_when_the_candidates_of_a_size_run_out() -> None:
    search = FastFi(SearchSettings(3), repaired=True)

    asked = explore(search, choice_of(["A", "B", "C"]))

    assert asked == [faults(), faults("A"), faults("A", "B"), faults("A", "B", "C")]
    assert all(smaller < larger for smaller, larger in pairwise(asked))


def test_a_failing_baseline_ends_the_search() -> None:
    search = FastFi(SearchSettings(3))
    assert search.ask(1) == [faults()]
    assert search.result().complete_up_to == -1
    search.learn(Outcome(frozenset(), Verdict.FAILED))

    assert search.ask(1) == []
    assert search.result().minimal_cuts == (faults(),)


def test_asks_for_nothing_while_an_answer_is_out() -> None:
    search = FastFi(SearchSettings(2))
    search.ask(1)

    assert search.ask(1) == []
    assert not search.result().finished
    assert search.result().left == 1
