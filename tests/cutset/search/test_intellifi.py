from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.model.fault import Cut, cut_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.search.intellifi import IntelliFi
from cutset.search.strategy import SearchSettings
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.drive import drive
from cutset.simulation.simulated import Routes, Simulation

PATHS = st.lists(st.sets(st.sampled_from("ABCDEFG"), min_size=1), min_size=1, max_size=6)


def points(*apis: str) -> Points:
    return frozenset(Point("simulated", api) for api in apis)


def faults(*apis: str) -> Cut:
    return cut_of(points(*apis))


@settings(max_examples=200, deadline=None)
@given(PATHS, st.integers(1, 4), st.integers(1, 9))
def test_without_nested_calls_it_finds_exactly_the_minimal_cuts(paths: list[str], max_size: int, limit: int) -> None:
    system = Routes(tuple(points(*path) for path in paths))
    search = IntelliFi(SearchSettings(max_size))

    drive(search, Simulation(system), limit=limit)

    result = search.result()
    assert set(result.minimal_cuts) == minimal_cuts_by_brute_force(system, max_size)
    assert (result.finished, result.complete_up_to, result.predicted) == (True, max_size, ())


def test_a_call_that_failed_because_of_one_further_down_is_not_faulted_itself() -> None:
    search = IntelliFi(SearchSettings(2))
    search.learn(Outcome(frozenset(), Verdict.SURVIVED, path=points("Callee", "Other", "Upstream")))
    assert search.ask(1) == [faults("Callee")]
    search.learn(Outcome(faults("Callee"), Verdict.FAILED, failed=points("Callee", "Upstream")))

    assert search.ask(9) == [faults("Other")]
    search.learn(Outcome(faults("Other"), Verdict.FAILED, failed=points("Other")))
    assert search.ask(9) == []
    result = search.result()
    assert set(result.minimal_cuts) == {faults("Callee"), faults("Other")}
    assert result.predicted == (faults("Upstream"),)
    assert result.finished
    assert result.complete_up_to == 0


def test_an_upstream_failure_that_the_request_survived_rules_nothing_out() -> None:
    search = IntelliFi(SearchSettings(2))
    search.learn(Outcome(frozenset(), Verdict.SURVIVED, path=points("Callee", "Other", "Upstream")))
    search.learn(Outcome(faults("Callee"), Verdict.SURVIVED, path=points("Other"), failed=points("Callee", "Upstream")))
    search.learn(Outcome(faults("Other"), Verdict.SURVIVED, path=points("Callee", "Upstream")))

    assert set(search.ask(9)) == {faults("Callee", "Other"), faults("Other", "Upstream")}
    assert search.result().predicted == ()


def test_a_prediction_holds_as_long_as_it_hits_every_path() -> None:
    search = IntelliFi(SearchSettings(2))
    search.learn(Outcome(frozenset(), Verdict.SURVIVED, path=points("Callee", "Upstream")))
    search.learn(Outcome(faults("Callee"), Verdict.FAILED, failed=points("Callee", "Upstream")))
    assert search.ask(9) == []
    assert search.result().predicted == (faults("Upstream"),)

    search.learn(Outcome(faults("Other"), Verdict.SURVIVED, path=points("Callee", "Upstream", "Second")))
    assert search.ask(9) == []
    assert search.result().finished

    search.learn(Outcome(faults("Other", "Second"), Verdict.SURVIVED, path=points("Callee", "Third")))
    assert search.ask(9) == [faults("Third", "Upstream")]
    assert search.result().predicted == ()
