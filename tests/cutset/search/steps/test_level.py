from tests.samples.call_systems import faults
from tests.samples.search_states import state_after

from cutset.model.outcome import Points
from cutset.search.steps.diagnose import REPEATED_ASKS
from cutset.search.steps.level import level
from cutset.search.steps.state import SearchState
from cutset.search.strategy import SearchSettings
from cutset.simulation.simulated import All, Call, FirstOf, Optional

SYSTEM = All((Call("A"), FirstOf((Call("B"), Call("C"))), Optional(Call("D"))))


def asked(state: SearchState) -> set[Points]:
    return {state.evidence.elements.to_cut(cut) for cut in level(state).cuts}


def test_all_calls_of_the_fault_free_run_are_tried_at_once() -> None:
    assert asked(state_after(SYSTEM, SearchSettings(2))) == {faults("A"), faults("B"), faults("D")}


def test_then_all_pairs_that_may_fire_together_and_contain_no_cut() -> None:
    state = state_after(SYSTEM, SearchSettings(2), faults("A"), faults("B"), faults("D"))

    assert asked(state) == {faults("B", "C"), faults("B", "D")}


def test_as_long_as_one_of_a_size_is_open_none_that_is_larger_is_tried() -> None:
    state = state_after(SYSTEM, SearchSettings(2), faults("A"), faults("B"))

    assert asked(state) == {faults("D")}


def test_what_stays_open_although_it_survived_is_asked_for_again_so_many_times() -> None:
    """A run of {X} in which X was not called, as by a cache, is one more run without faults."""
    state = state_after(Call("X"), SearchSettings(1))
    cut = state.evidence.elements.to_bits(faults("X"))
    state.asked[cut] = 1
    assert asked(state) == {faults("X")}

    state.asked[cut] = REPEATED_ASKS
    assert not level(state)
