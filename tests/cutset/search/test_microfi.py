from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.model.fault import Cut, cut_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.search.microfi import MicroFi
from cutset.search.strategy import SearchSettings
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.drive import drive
from cutset.simulation.simulated import All, Call, Routes, Simulation, points_of_call

PATHS = st.lists(st.sets(st.sampled_from("ABCDEFG"), min_size=1), min_size=1, max_size=6)


def points(*apis: str) -> Points:
    return frozenset(Point("simulated", api) for api in apis)


def faults(*apis: str) -> Cut:
    return cut_of(points(*apis))


def choice_of(*paths: str) -> Routes:
    return Routes(tuple(points(*path) for path in paths))


@settings(max_examples=200, deadline=None)
@given(PATHS, st.integers(1, 4), st.integers(1, 9), st.dictionaries(st.sampled_from("ABCDEFG"), st.floats(0, 1)))
def test_finds_exactly_the_minimal_cuts_whatever_the_weights(
    paths: list[str], max_size: int, limit: int, weights: dict[str, float]
) -> None:
    system = choice_of(*paths)
    search = MicroFi(
        SearchSettings(max_size, weights={Point("simulated", api): weight for api, weight in weights.items()})
    )

    drive(search, Simulation(system), limit=limit)

    result = search.result()
    assert set(result.minimal_cuts) == minimal_cuts_by_brute_force(system, max_size)
    assert (result.finished, result.complete_up_to, result.predicted) == (True, max_size, ())


def test_the_cut_with_the_heaviest_api_comes_first() -> None:
    a2, b, c = Point("simulated", "A", replica="2"), Point("simulated", "B"), Point("simulated", "C")
    weights = {a2.of_api: 0.5, b: 0.2, c: 1.0}
    search = MicroFi(SearchSettings(2, weights=weights))
    search.learn(Outcome(frozenset(), Verdict.SURVIVED, path=frozenset({a2, b, c})))

    assert search.ask(9) == [cut_of({c}), cut_of({a2}), cut_of({b})]


def test_a_cut_weighs_what_its_heaviest_point_does() -> None:
    """MicroFI's own example: {LsR, DefR} before {LsP}, although DefR and LsP weigh less than LsR."""
    weights = {Point("simulated", "LsR"): 0.517, Point("simulated", "DefR"): 0.1, Point("simulated", "LsP"): 0.354}
    search = MicroFi(SearchSettings(2, weights=weights))
    search.learn(Outcome(frozenset(), Verdict.SURVIVED, path=points("Index", "LsR", "LsP")))
    search.learn(Outcome(faults("Index"), Verdict.FAILED))
    search.learn(Outcome(faults("LsR"), Verdict.SURVIVED, path=points("Index", "DefR")))
    search.learn(Outcome(faults("LsP"), Verdict.SURVIVED, path=points("Index", "LsR", "Other")))

    assert search.ask(1) == [faults("LsR", "DefR")]


def test_cuts_that_turned_out_to_contain_a_failing_one_are_dropped_from_the_round() -> None:
    search = MicroFi(SearchSettings(2))
    search.learn(Outcome(frozenset(), Verdict.SURVIVED, path=points("A", "B")))
    search.learn(Outcome(faults("A"), Verdict.SURVIVED, path=points("C", "D")))
    search.learn(Outcome(faults("B"), Verdict.SURVIVED, path=points("C", "D")))
    assert search.ask(1) == [faults("A", "C")]
    search.learn(Outcome(faults("D"), Verdict.FAILED))

    assert search.ask(9) == [faults("B", "C")]


def test_what_fails_other_requests_is_tried_first() -> None:
    search = MicroFi(SearchSettings(1, hints=(faults("B"), faults("X")), weights={Point("simulated", "C"): 1.0}))
    search.learn(Outcome(frozenset(), Verdict.SURVIVED, path=points("A", "B", "C")))

    assert search.ask(9) == [faults("B"), faults("C"), faults("A")]


def test_trusted_hints_are_predicted_and_prove_nothing() -> None:
    system = choice_of("ABC", "AD")
    search = MicroFi(SearchSettings(2, hints=(faults("A"), faults("B", "D")), trust_hints=True))

    drive(search, Simulation(system))

    result = search.result()
    assert result.minimal_cuts == (faults("C", "D"),)
    assert set(result.predicted) == {faults("A"), faults("B", "D")}
    assert result.finished
    assert result.complete_up_to == 0


def test_a_part_of_what_fails_another_request_is_not_tried_where_that_is_trusted() -> None:
    """Of an API whose three replicas together fail another one, neither the first nor the first two are tried."""
    system = All((Call("A", replicas=3, attempts=3), Call("B", replicas=3, attempts=3)))
    shared = cut_of(points_of_call(Call("A", replicas=3)))
    search = MicroFi(SearchSettings(3, hints=(shared,), trust_hints=True), one_per_path=True)

    tally = drive(search, Simulation(system))

    result = search.result()
    assert tally.injections == 3
    assert result.minimal_cuts == (cut_of(points_of_call(Call("B", replicas=3))),)
    assert result.predicted == (shared,)
    assert result.complete_up_to == 0  # the first replica of A was never tried by itself


def test_a_prediction_that_an_experiment_refutes_makes_room_for_larger_cuts() -> None:
    search = MicroFi(SearchSettings(2, hints=(faults("A"),), trust_hints=True))
    search.learn(Outcome(frozenset(), Verdict.SURVIVED, path=points("A")))
    assert search.ask(9) == []
    assert search.result().predicted == (faults("A"),)

    search.learn(Outcome(faults("A"), Verdict.SURVIVED, path=points("B")))

    assert search.ask(9) == [faults("A", "B")]
    assert search.result().predicted == ()
