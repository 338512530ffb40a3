from dataclasses import replace

import pytest
from tests.samples.call_systems import faults, run
from tests.samples.search_states import state_after

from cutset.search.steps.discover import discover, discovered
from cutset.search.steps.state import Discovery
from cutset.search.strategy import SearchSettings
from cutset.simulation.simulated import All, Call

SYSTEM = All((Call("B", replicas=3), Call("A", replicas=2)))


def test_everything_seen_is_injected_at_once_while_new_points_appear() -> None:
    state = state_after(SYSTEM, SearchSettings(3))
    seen = []
    while (discovery := discover(state)).needed:
        cut = state.evidence.elements.to_cut(discovery.cut)
        seen.append(cut)
        known = state.evidence.elements.everything()
        outcome = run(SYSTEM, cut)
        state.evidence.learn(outcome)
        state.asked[discovery.cut] = 1
        failed = not outcome.path
        news = state.evidence.elements.everything() != known
        state.discovery = discovered(discovery, discovery.cut, failed=failed, news=news)

    assert seen[0] == faults("A1", "B1")
    assert state.evidence.elements.to_cut(state.evidence.elements.everything()) == faults("A1", "A2", "B1", "B2", "B3")


def test_without_replicas_there_is_nothing_to_discover() -> None:
    assert not discover(state_after(All((Call("A"), Call("B"))), SearchSettings(2))).needed


def test_after_a_failure_a_replica_of_each_call_that_has_as_many_as_any_stays_healthy() -> None:
    state = state_after(SYSTEM, SearchSettings(3), faults("A1", "B1"), faults("B1", "B2"))
    state.discovery = replace(state.discovery, careful=True)

    discovery = discover(state)

    cut = state.evidence.elements.to_cut(discovery.cut)
    assert faults("A1", "A2") < cut
    assert len(faults("B1", "B2", "B3") - cut) == 1


@pytest.mark.parametrize(
    ("before", "failed", "news", "after"),
    [
        pytest.param(Discovery(True, 3), False, True, Discovery(True, 3), id="news: go on"),
        pytest.param(Discovery(False, 3), False, True, Discovery(True, 3), id="late news: begin again"),
        pytest.param(Discovery(False), False, True, Discovery(False), id="news, but all replicas were told"),
        pytest.param(Discovery(True, 3), False, False, Discovery(False, 3), id="survived without news: done"),
        pytest.param(Discovery(True, 3), True, False, Discovery(True, 3, True), id="failed: carefully again"),
        pytest.param(Discovery(True, 3, True), True, False, Discovery(False, 3, True), id="failed carefully: done"),
    ],
)
def test_what_an_outcome_means_for_the_next(before: Discovery, failed: bool, news: bool, after: Discovery) -> None:
    assert discovered(before, 3, failed=failed, news=news) == after


def test_outcomes_of_other_sets_end_nothing() -> None:
    assert discovered(Discovery(True, 3), 1, failed=True, news=False) == Discovery(True, 3)
