import pytest
from benchmarks.search import PAPERS, Comparison, Results, Sums, Watched, cuts, explored, print_table

from benchmarks import search
from cutset.search.fastfi import FastFi
from cutset.search.strategy import SearchSettings
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.simulated import All, Call, Simulation

SYSTEM = All((Call("A"), Call("B", replicas=2)))


def test_a_strategy_that_asks_for_too_much_is_cut_short() -> None:
    capped = explored(FastFi(SearchSettings(2), repaired=True), Simulation(SYSTEM), most=2)

    assert capped.capped
    assert capped.tally.injections == 2
    assert capped.shown == ">2"


def test_a_strategy_that_ends_in_time_is_not() -> None:
    run = explored(FastFi(SearchSettings(2), repaired=True), Simulation(SYSTEM), most=100)

    assert not run.capped
    assert run.found == minimal_cuts_by_brute_force(SYSTEM, 2)


def test_a_round_is_cut_to_what_is_left() -> None:
    watched = Watched(PAPERS["LDFI"](SearchSettings(2)), most=1)
    simulation = Simulation(SYSTEM)
    (baseline,) = watched.ask(10)
    watched.learn(simulation.run(baseline))

    assert len(watched.ask(10)) == 1
    assert watched.capped


def test_what_is_lost_and_what_is_false_is_counted_apart() -> None:
    run = explored(FastFi(SearchSettings(2)), Simulation(SYSTEM))  # as printed, it finds {A} only
    truth = frozenset(minimal_cuts_by_brute_force(SYSTEM, 2))
    nothing_fails = Comparison("", frozenset(), {"mode": run})
    results = Results()

    results.check(Sums([Comparison("", truth, {"mode": run}), nothing_fails]), ["mode"])

    assert results.numbers == {"misses": 1, "non_minimal": 1}


def test_every_section_of_the_docstring_can_be_run() -> None:
    assert search.__doc__
    assert all(f"\n    {section} " in search.__doc__ for section in (*search.SECTIONS, "microfi"))


def test_tables_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("Title", [["a", "long"], ["longer", 1]])

    assert capsys.readouterr().out == "\nTitle\na      long\nlonger    1\n"


def test_cuts_are_shown_without_the_simulated_service() -> None:
    assert cuts(minimal_cuts_by_brute_force(SYSTEM, 2)) == "{A} {B#1,B#2}"
