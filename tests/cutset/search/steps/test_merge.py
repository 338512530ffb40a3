from dataclasses import replace

from tests.samples.call_systems import faults, points
from tests.samples.search_states import state_after

from cutset.search.steps.merge import merge
from cutset.search.strategy import Certificates, SearchSettings
from cutset.simulation.simulated import All, Call, Optional

C = Call("C", replicas=2)
SYSTEM = All((Optional(Call("A")), Optional(Call("B")), C))
SETTINGS = SearchSettings(2, Certificates.INDEPENDENT, inventory=points("C1", "C2"))
TRIED = (faults("A"), faults("B"))


def test_failures_that_were_tolerated_one_by_one_are_injected_together() -> None:
    state = state_after(SYSTEM, SETTINGS, *TRIED)

    merger = merge(state)

    assert merger is not None
    assert state.evidence.elements.to_cut(merger.tolerated) == faults("A", "B")


def test_other_replicas_serve_then_than_without_faults() -> None:
    state = state_after(SYSTEM, SETTINGS, *TRIED)

    merger = merge(state)

    assert merger is not None
    assert merger.cut is not None
    assert state.evidence.elements.to_cut(merger.cut) == faults("A", "B", "C1")


def test_what_was_merged_before_is_not_merged_again() -> None:
    state = state_after(SYSTEM, SETTINGS, *TRIED)
    merger = merge(state)
    assert merger is not None

    state.merged.add(merger.tolerated)

    assert merge(state) is None


def test_a_merged_set_that_was_asked_for_is_only_remembered() -> None:
    state = state_after(SYSTEM, SETTINGS, *TRIED)
    state.asked[state.evidence.elements.to_bits(faults("A", "B", "C1"))] = 1

    merger = merge(state)

    assert merger is not None
    assert merger.cut is None


def test_a_failure_that_hides_another_is_left_out() -> None:
    """The survivor of {A} does not call B, so that it would say nothing of it."""
    system = All((Optional(Call("A"), Optional(Call("B"))), Optional(Call("D")), Optional(Call("E")), C))
    state = state_after(system, SETTINGS, *map(faults, "ABDE"))

    merger = merge(state)

    assert merger is not None
    assert state.evidence.elements.to_cut(merger.tolerated) == faults("B", "D", "E")


def test_exact_certificates_gain_nothing_by_merging() -> None:
    assert merge(state_after(SYSTEM, replace(SETTINGS, certificates=Certificates.EXACT), *TRIED)) is None
