from tests.samples.call_systems import faults, points
from tests.samples.search_states import state_after

from cutset.model.fault import Cut
from cutset.model.outcome import Outcome, Verdict
from cutset.search.steps.diagnose import EXPLANATIONS, REPEATED_ASKS, ask_again, diagnose
from cutset.search.steps.state import RoundPlan, SearchState
from cutset.search.strategy import SearchSettings
from cutset.simulation.simulated import All, Call, FirstOf, all_points

PAIRS = All(tuple(FirstOf((Call(api), Call(api.lower()))) for api in "ABC"))


def unexpectedly(state: SearchState, *cuts: Cut) -> SearchState:
    """It was expected of these sets, all of which failed, that they survive."""
    state.unexpected |= {state.evidence.elements.to_bits(cut) for cut in cuts}
    return state


def asked_for(state: SearchState, plan: RoundPlan) -> set[Cut]:
    assert plan.targets == {cut: cut for cut in plan.cuts}
    return {state.evidence.elements.to_cut(cut) for cut in plan.cuts}


def test_the_replicas_of_one_call_are_suspected_first() -> None:
    system = All((Call("A", replicas=2), Call("B", replicas=2)))
    cut = faults("A1", "A2", "B1")
    state = unexpectedly(state_after(system, SearchSettings(2, inventory=all_points(system)), cut), cut)

    diagnosis = diagnose(state)

    assert faults("A1", "A2") in asked_for(state, diagnosis.plan)
    assert not diagnosis.unexplained


def test_then_the_smallest_open_sets_within_it() -> None:
    cut = faults("A", "a", "B")
    state = unexpectedly(state_after(PAIRS, SearchSettings(2), *map(faults, "AaB"), cut), cut)

    causes = asked_for(state, diagnose(state).plan)

    assert faults("A", "a") in causes
    assert all(cause < cut for cause in causes)
    assert len(causes) <= EXPLANATIONS


def test_a_failure_that_nothing_small_enough_explains_is_given_up() -> None:
    cut = faults("A", "a", "B")
    state = unexpectedly(state_after(PAIRS, SearchSettings(1), *map(faults, "AaB"), cut), cut)

    diagnosis = diagnose(state)
    assert not diagnosis.plan
    assert {state.evidence.elements.to_cut(each) for each in diagnosis.unexplained} == {cut}

    state.given_up |= diagnosis.unexplained
    assert not diagnose(state).unexplained


def test_a_minimal_failure_explains_itself() -> None:
    cut = faults("A", "a")
    state = unexpectedly(state_after(PAIRS, SearchSettings(2), *map(faults, "Aa"), cut), cut)

    diagnosis = diagnose(state)

    assert not diagnosis.plan
    assert not diagnosis.unexplained


def test_a_target_that_is_still_open_is_asked_for_directly() -> None:
    state = state_after(PAIRS, SearchSettings(2), faults("A"))
    state.owed = tuple(state.evidence.elements.to_bits(faults(*cut)) for cut in ("A", "B", "Aa"))

    assert asked_for(state, ask_again(state)) == {faults("B"), faults("A", "a")}


def test_where_paths_vary_a_survivor_is_asked_for_several_times() -> None:
    """B is behind a cache: {B} survived because it was not called."""
    state = state_after(All((Call("A"), Call("B"))), SearchSettings(1))
    state.evidence.learn(Outcome(frozenset(), Verdict.SURVIVED, path=points("A"), calls=points("A")))
    state.evidence.learn(Outcome(faults("B"), Verdict.SURVIVED, path=points("A"), calls=points("A")))
    cut = state.evidence.elements.to_bits(faults("B"))
    state.asked[cut] = 1
    assert asked_for(state, ask_again(state)) == {faults("B")}

    state.asked[cut] = REPEATED_ASKS
    assert not ask_again(state)
