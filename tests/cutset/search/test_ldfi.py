from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.model.fault import Cut, cut_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.search import ldfi
from cutset.search.ldfi import Ldfi
from cutset.search.strategy import SearchSettings
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.drive import drive
from cutset.simulation.simulated import All, Call, Quorum, Routes, Simulation

PATHS = st.lists(st.sets(st.sampled_from("ABCDEFG"), min_size=1), min_size=1, max_size=6)


def points(*apis: str) -> Points:
    return frozenset(Point("simulated", api) for api in apis)


def faults(*apis: str) -> Cut:
    return cut_of(points(*apis))


def choice_of(*paths: str) -> Routes:
    return Routes(tuple(points(*path) for path in paths))


@settings(max_examples=200, deadline=None)
@given(PATHS, st.integers(1, 4), st.integers(1, 9))
def test_finds_exactly_the_minimal_cuts_of_any_monotone_request(paths: list[str], max_size: int, limit: int) -> None:
    system = choice_of(*paths)
    search = Ldfi(SearchSettings(max_size))

    drive(search, Simulation(system), limit=limit)

    result = search.result()
    assert set(result.minimal_cuts) == minimal_cuts_by_brute_force(system, max_size)
    assert (result.finished, result.complete_up_to, result.left) == (True, max_size, 0)


def test_a_round_has_all_candidates_of_the_present_size_and_drops_none() -> None:
    search = Ldfi(SearchSettings(2))
    simulation = Simulation(choice_of("AB", "CD"))
    assert search.ask(9) == [faults()]
    search.learn(simulation.run(faults()))

    assert search.ask(1) == [faults("A")]
    search.learn(simulation.run(faults("A")))
    assert search.ask(9) == [faults("B")]  # though C or D has to fail along with it, as {A} has shown
    assert search.ask(9) == []
    search.learn(simulation.run(faults("B")))
    assert set(search.ask(9)) == {faults(*pair) for pair in ("AC", "AD", "BC", "BD")}
    assert search.result().rounds == 3
    assert search.result().complete_up_to == 1


def test_a_round_that_is_cut_short_loses_nothing(monkeypatch) -> None:
    system = choice_of("ABC", "DEF", "ADG")
    whole, short = Ldfi(SearchSettings(3)), Ldfi(SearchSettings(3))
    drive(whole, Simulation(system))

    monkeypatch.setattr(ldfi, "MOST_PER_ROUND", 2)
    drive(short, Simulation(system))

    assert set(short.result().minimal_cuts) == set(whole.result().minimal_cuts)
    assert short.result().rounds > whole.result().rounds


def test_solutions_that_others_of_their_round_refute_are_tried_all_the_same() -> None:
    """Five APIs with two replicas: the first replicas, then the five APIs and every pair of first replicas."""
    search = Ldfi(SearchSettings(2))

    tally = drive(search, Simulation(All(tuple(Call(api, replicas=2, attempts=2) for api in "ABCDE"))))

    assert (tally.injections, tally.rounds) == (5 + 5 + 10, 3)
    assert len(search.result().minimal_cuts) == 5


@settings(max_examples=100, deadline=None)
@given(PATHS, st.integers(1, 3), st.randoms(use_true_random=False))
def test_past_outcomes_in_any_order_are_not_asked_again(paths: list[str], max_size: int, chance) -> None:
    simulation = Simulation(choice_of(*paths))
    whole, resumed = Ldfi(SearchSettings(max_size)), Ldfi(SearchSettings(max_size))
    asked = []
    while cuts := whole.ask(9):
        asked += cuts
        for cut in cuts:
            whole.learn(simulation.run(cut))
    past = chance.sample(asked, chance.randint(1, len(asked)))
    for cut in past:
        resumed.learn(simulation.run(cut))

    while cuts := resumed.ask(9):
        assert not set(cuts) & set(past)
        for cut in cuts:
            resumed.learn(simulation.run(cut))

    assert set(resumed.result().minimal_cuts) == set(whole.result().minimal_cuts)


def test_an_unknown_cut_is_undecided_until_another_experiment_decides_it() -> None:
    search = Ldfi(SearchSettings(2))
    search.learn(Outcome(frozenset(), Verdict.SURVIVED, path=points("A", "B")))
    assert set(search.ask(9)) == {faults("A"), faults("B")}
    search.learn(Outcome(faults("A"), Verdict.UNKNOWN))
    assert search.result().undecided == (faults("A"),)

    search.learn(Outcome(faults("B"), Verdict.SURVIVED, path=points("C")))

    assert search.result().undecided == ()
    assert set(search.ask(9)) == {faults("A", "C"), faults("B", "C")}


def test_a_tolerated_delay_does_not_keep_the_search_from_ending() -> None:
    """A delayed call still succeeds, so the faulted point is on the surviving path."""
    search = Ldfi(SearchSettings(2))
    asked: list[Points] = []
    while cuts := search.ask(4):
        asked += cuts
        for cut in cuts:
            search.learn(Outcome(cut, Verdict.DEGRADED, path=points("A", "B")))

    assert set(asked) == {faults(), faults("A"), faults("B"), faults("A", "B")}
    assert search.result().minimal_cuts == ()
    assert search.result().complete_up_to == 2


def test_as_published_each_api_is_tried_by_itself_and_no_two_together() -> None:
    """Three replicas, tried in their order: the first, the first two, all three. What is left is not called decided."""
    search = Ldfi(SearchSettings(3), one_per_path=True)

    tally = drive(search, Simulation(All(tuple(Call(api, replicas=3, attempts=3) for api in "ABCDE"))))

    result = search.result()
    assert (tally.injections, tally.rounds) == (5 * 3, 4)
    assert sorted(len(cut) for cut in result.minimal_cuts) == [3] * 5
    assert (result.finished, result.complete_up_to) == (True, 1)
    assert "no two points of one path" in result.assumption


def test_as_published_a_cut_with_two_points_of_one_path_is_lost_and_not_called_decided() -> None:
    search = Ldfi(SearchSettings(3), one_per_path=True)

    tally = drive(search, Simulation(All((Call("A"), Quorum("B", replicas=3, needed=2)))))

    result = search.result()
    assert tally.injections == 4
    assert result.minimal_cuts == (faults("A"),)
    assert (result.finished, result.complete_up_to) == (True, 1)


@settings(max_examples=200, deadline=None)
@given(PATHS, st.integers(1, 4), st.integers(1, 9))
def test_as_published_it_is_right_up_to_the_size_that_it_calls_complete(
    paths: list[str], max_size: int, limit: int
) -> None:
    system = choice_of(*paths)
    search = Ldfi(SearchSettings(max_size), one_per_path=True)
    simulation, truth = Simulation(system), minimal_cuts_by_brute_force(system, max_size)

    for _ in range(4):  # at any time, not only at the end
        for cut in search.ask(limit):
            search.learn(simulation.run(cut))
        known = search.result()
        assert {cut for cut in truth if len(cut) <= known.complete_up_to} <= set(known.minimal_cuts)
    drive(search, simulation)

    result = search.result()
    assert set(result.minimal_cuts) <= truth
    assert {cut for cut in truth if len(cut) <= result.complete_up_to} <= set(result.minimal_cuts)
    assert (result.finished, result.left) == (True, 0)
