import pytest
from tests.samples.call_systems import faults
from tests.samples.search_states import state_after

from cutset.model.fault import points_of
from cutset.search.steps.confirm import CONFIRM_GROWTH, confirm
from cutset.search.steps.state import SearchState
from cutset.search.strategy import Certificates, SearchSettings
from cutset.simulation.simulated import All, Call, FirstOf, Optional, Quorum, all_points

SINGLE = All(tuple(Call(api) for api in "ABCDE"))
REPLICATED = All(tuple(Call(api, replicas=2) for api in "ABC"))


def shown(state: SearchState) -> list[str]:
    return [
        " ".join(sorted(f"{point.api}{point.replica}" for point in points_of(state.evidence.elements.to_cut(cut))))
        for cut in confirm(state)
    ]


def test_the_loss_of_all_replicas_of_a_call_is_predicted_to_fail() -> None:
    state = state_after(REPLICATED, SearchSettings(2, inventory=all_points(REPLICATED)))

    assert sorted(shown(state)) == ["A1 A2", "B1 B2", "C1 C2"]


def test_where_more_is_inferred_few_predictions_are_ventured_and_more_once_they_held() -> None:
    system = All((*SINGLE.parts, Call("F", replicas=2)))
    settings = SearchSettings(1, Certificates.INDEPENDENT, inventory=all_points(system))
    state = state_after(system, settings)
    assert len(confirm(state)) == 1

    state.held = 1
    assert len(confirm(state)) == 1  # it may be luck
    state.held = 2
    assert len(confirm(state)) == min(5, CONFIRM_GROWTH)


def test_exact_certificates_have_all_predictions_tried_at_once() -> None:
    assert len(confirm(state_after(SINGLE, SearchSettings(1)))) == 5


def test_in_one_shot_all_predictions_are_ventured() -> None:
    assert len(confirm(state_after(SINGLE, SearchSettings(1, one_shot=True)))) == 5


def test_a_call_that_a_path_was_seen_without_is_predicted_to_fail_only_with_what_replaced_it() -> None:
    system = FirstOf((Call("A"), Call("B")))

    assert shown(state_after(system, SearchSettings(2))) == ["A"]
    assert shown(state_after(system, SearchSettings(2), faults("A"))) == ["A B"]


def test_what_was_tolerated_or_asked_is_not_predicted() -> None:
    system = All((Optional(Call("A")), Call("B")))

    assert shown(state_after(system, SearchSettings(2, one_shot=True), faults("A"))) == ["B"]
    assert shown(state_after(system, SearchSettings(2, one_shot=True), faults("A"), faults("B"))) == []


def test_where_two_of_three_replicas_failed_the_other_pairs_may() -> None:
    system = Quorum("A", 3, 2)
    state = state_after(system, SearchSettings(2, inventory=all_points(system)), faults("A1", "A2"))

    assert sorted(shown(state)) == ["A1 A3", "A2 A3"]


@pytest.mark.parametrize("seed", range(3))
def test_hints_come_first_then_the_smallest_then_the_heaviest(seed: int) -> None:
    system = All((Call("A"), Call("B"), Call("C"), Call("D", replicas=2)))
    weights = {point.of_api: float(ord(point.api)) for point in all_points(system)}
    settings = SearchSettings(2, hints=(faults("B"),), weights=weights, inventory=all_points(system), one_shot=True)

    assert shown(state_after(system, settings)) == ["B", "C", "A", "D1 D2"]
