from tests.samples.call_systems import faults
from tests.samples.search_states import state_after

from cutset.search.steps.state import (
    RoundPlan,
    in_size,
    is_open,
    is_plainly_replicated,
    open_sets,
    settled_sets,
    some_open_sets,
)
from cutset.search.strategy import SearchSettings
from cutset.simulation.simulated import All, Call, Optional, all_points

SYSTEM = All((Call("A"), Optional(Call("B"))))


def test_a_plan_without_sets_is_none() -> None:
    assert not RoundPlan()
    assert RoundPlan((0,))  # the fault-free request


def test_before_any_fault_all_calls_of_the_path_are_open() -> None:
    state = state_after(SYSTEM, SearchSettings(2))
    to_bits = state.evidence.elements.to_bits

    assert set(open_sets(state, state.evidence.clauses(), [])) == {to_bits(faults("A")), to_bits(faults("B"))}
    assert some_open_sets(state, state.evidence.clauses(), []) == list(open_sets(state, state.evidence.clauses(), []))


def test_what_failed_what_it_is_part_of_and_what_survived_are_not_open() -> None:
    state = state_after(SYSTEM, SearchSettings(2), faults("A"), faults("B"))
    to_bits = state.evidence.elements.to_bits

    assert settled_sets(state.evidence) == [to_bits(faults("A"))]
    assert not any(is_open(state, to_bits(faults(*cut))) for cut in ("A", "B", "AB"))
    assert not list(open_sets(state, state.evidence.clauses(), settled_sets(state.evidence)))


def test_sets_of_more_points_than_asked_for_are_out_of_size() -> None:
    state = state_after(SYSTEM, SearchSettings(1))

    assert in_size(state, 0b10)
    assert not in_size(state, 0b11)


def test_a_system_is_plainly_replicated_if_all_calls_of_the_fault_free_run_have_replicas() -> None:
    replicated = All((Call("A", replicas=2), Call("B", replicas=3)))
    partly = All((Call("A", replicas=2), Call("B")))

    for system, plainly in ((replicated, True), (partly, False)):
        state = state_after(system, SearchSettings(2, inventory=all_points(system)))
        assert is_plainly_replicated(state.evidence) is plainly
