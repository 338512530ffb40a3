"""What every strategy keeps to, as the loop that owns the effects relies on it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.call_systems import faults, run

from cutset.model.outcome import Outcome, Points, Verdict
from cutset.search.strategies import STRATEGIES, StrategyName
from cutset.search.strategy import Search, SearchSettings
from cutset.simulation.simulated import All, Call, FirstOf, Optional

SYSTEM = All((Call("A"), FirstOf((Call("B"), Call("C"))), Optional(Call("D")), Call("E", replicas=2)))
NAMES = list(StrategyName)


def start(name: StrategyName, max_size: int = 2) -> Search:
    return STRATEGIES[name].start(SearchSettings(max_size))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NAMES), st.integers(1, 4))
def test_it_hands_out_at_most_so_many_cuts_and_none_twice(name: StrategyName, limit: int) -> None:
    search = start(name)
    asked: list[Points] = []
    while cuts := search.ask(limit):
        assert len(cuts) <= limit
        asked += cuts
        for cut in cuts:
            search.learn(run(SYSTEM, cut))

    assert asked[0] == faults()
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("name", NAMES)
def test_it_asks_for_nothing_while_the_answers_of_a_round_are_out(name: StrategyName) -> None:
    search = start(name)

    assert search.ask(9) == [faults()]
    assert search.ask(9) == []
    assert search.result().left == 1

    search.learn(run(SYSTEM, faults()))
    assert search.ask(9)


@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_valid_at_any_time_and_claims_nothing_before_the_first_outcome(name: StrategyName) -> None:
    search = start(name)
    before = search.result()
    assert (before.complete_up_to, before.finished, before.minimal_cuts) == (-1, False, ())

    while cuts := search.ask(1):
        search.learn(run(SYSTEM, cuts[0]))
        result = search.result()
        assert all(run(SYSTEM, cut).verdict is Verdict.FAILED for cut in result.minimal_cuts)
        assert result.complete_up_to <= 2

    assert search.result().finished
    assert search.result().left == 0


@pytest.mark.parametrize("name", NAMES)
def test_outcomes_that_nobody_asked_for_are_learnt_and_not_asked_for(name: StrategyName) -> None:
    search = start(name)
    search.learn(run(SYSTEM, faults()))
    search.learn(run(SYSTEM, faults("A")))

    asked = []
    while cuts := search.ask(9):
        asked += cuts
        for cut in cuts:
            search.learn(run(SYSTEM, cut))

    assert not {faults(), faults("A")} & set(asked)
    assert faults("A") in search.result().minimal_cuts


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_outcome_is_neither_failing_nor_surviving(name: StrategyName) -> None:
    search = start(name, max_size=1)
    while cuts := search.ask(9):
        for cut in cuts:
            search.learn(Outcome(cut, Verdict.UNKNOWN) if cut == faults("A") else run(SYSTEM, cut))

    assert faults("A") not in search.result().minimal_cuts
    assert faults("A") in search.result().undecided
