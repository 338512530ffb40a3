import pytest
from tests.samples.call_systems import faults
from tests.samples.search_states import state_after

from cutset.search.steps.cover import cover
from cutset.search.steps.state import FIRST_COVER_ROUND, SearchState, settled_sets, some_open_sets
from cutset.search.strategy import Certificates, SearchSettings
from cutset.simulation.simulated import All, Call, FirstOf, Optional, Simulation, System, all_points

REPLICATED = All(tuple(Call(api, replicas=2) for api in "ABCD"))
COLUMNS = [faults(f"{api}1", f"{api}2") for api in "ABCD"]


def replicated(**settings: object) -> SearchState:
    """Once all that fails is known to fail."""
    return state_after(REPLICATED, SearchSettings(2, inventory=all_points(REPLICATED), **settings), *COLUMNS)  # type: ignore[arg-type]


def left_open(state: SearchState, system: System) -> list[int]:
    """After the answers to what `cover` asks for."""
    simulation = Simulation(system)
    for cut in cover(state).cuts:
        state.evidence.learn(simulation.run(state.evidence.elements.to_cut(cut)))
    return some_open_sets(state, state.evidence.clauses(), settled_sets(state.evidence))


@pytest.mark.parametrize("certificates", Certificates)
def test_its_survivors_leave_nothing_open_where_one_skeleton_serves(certificates: Certificates) -> None:
    state = replicated(certificates=certificates)

    assert not left_open(state, REPLICATED)


def test_each_set_leaves_one_replica_of_each_call_healthy() -> None:
    state = replicated()
    plan = cover(state)

    assert plan.cuts == tuple(plan.targets)
    assert set(plan.targets.values()) == {0}
    for cut in plan.cuts:
        assert all(len(column - state.evidence.elements.to_cut(cut)) == 1 for column in COLUMNS)


def test_what_is_expected_to_fail_is_not_covered() -> None:
    known = state_after(REPLICATED, SearchSettings(2, inventory=all_points(REPLICATED)))
    expected = [known.evidence.elements.to_bits(column) for column in COLUMNS]

    plan = cover(known, expected=expected)

    assert plan
    assert not any(known.evidence.contains_failing(cut) for cut in plan.cuts)
    assert not any(each & cut == each for cut in plan.cuts for each in expected)


def test_where_calls_have_no_replicas_the_first_round_is_small_and_each_set_has_a_target() -> None:
    system = All(tuple(FirstOf((Call(api), Call(api.lower()))) for api in "ABCDEFGH"))
    state = state_after(system, SearchSettings(2))

    plan = cover(state)

    assert 0 < len(plan.cuts) <= FIRST_COVER_ROUND
    assert all(target and target & cut == target for cut, target in plan.targets.items())


def test_a_smaller_share_injects_fewer_faults_beyond_the_target() -> None:
    state = replicated()
    state.share = 0

    plan = cover(state)

    assert plan
    assert all(cut == target for cut, target in plan.targets.items())


def test_nothing_is_left_to_cover_where_everything_is_certified() -> None:
    system = All((Call("A"), Optional(Call("B"))))
    state = state_after(system, SearchSettings(2), faults("A"), faults("B"))

    assert not cover(state)
