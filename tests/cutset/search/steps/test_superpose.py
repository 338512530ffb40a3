from dataclasses import replace
from random import Random

from cutset.model.effect import EffectChoice
from cutset.model.fault import Cut, cut_of
from cutset.model.outcome import Points
from cutset.model.point import Point
from cutset.search.certificates import Evidence
from cutset.search.elements import Elements
from cutset.search.steps.state import Discovery, SearchState
from cutset.search.steps.superpose import superpose
from cutset.search.strategy import Certificates, SearchSettings
from cutset.simulation.program_laboratory import ProgramLaboratory
from cutset.simulation.programs import (
    Behaviour,
    CallSite,
    Instead,
    InTurn,
    RequestProgram,
    Tolerate,
)

PAGE = InTurn(tuple(CallSite(api, Tolerate()) for api in "ABCD"))


def points(names: str) -> Points:
    return frozenset(Point("simulated", name) for name in names)


def faults(names: str) -> Cut:
    return cut_of(points(names))


def state_after(program: Behaviour, *tried: str, max_size: int = 3) -> SearchState:
    evidence = Evidence(Certificates.INDEPENDENT, Elements(EffectChoice()))
    state = SearchState(SearchSettings(max_size), evidence, Random(0), Discovery(needed=False))
    for cut in map(faults, ("", *tried)):
        evidence.learn(ProgramLaboratory(RequestProgram(program)).run(cut))
        state.asked[evidence.elements.to_bits(cut)] = 1
    return state


def asked(state: SearchState) -> list[Cut]:
    return [state.evidence.elements.to_cut(cut) for cut in superpose(state).cuts]


def test_single_failures_are_injected_one_by_one_all_in_one_round() -> None:
    assert sorted(map(sorted, asked(state_after(PAGE)))) == sorted(map(sorted, map(faults, "ABCD")))


def test_failures_that_were_tolerated_alone_are_injected_together() -> None:
    assert asked(state_after(PAGE, *"ABCD")) == [faults("ABCD")]


def test_a_call_that_has_just_appeared_is_tried_with_what_made_it_appear() -> None:
    program = InTurn((CallSite("A", Instead(CallSite("F"))), *PAGE.parts[1:]))

    assert faults("AF") in asked(state_after(program, *"ABCD"))


def test_what_a_row_was_to_decide_and_did_not_is_injected_itself() -> None:
    state = state_after(PAGE, *"ABCD")
    target = state.evidence.elements.to_bits(faults("AB"))
    state.owed = (target,)

    assert faults("AB") in asked(state)


def test_after_so_many_rounds_nothing_is_merged() -> None:
    state = state_after(PAGE, *"ABCD", max_size=2)
    state.rounds = state.settings.max_size + 1

    assert {len(cut) for cut in asked(state)} == {2}
    assert not superpose(state).targets


def test_of_a_row_that_failed_at_most_half_are_injected_together_again() -> None:
    apis = "ABCDEFGHIJ"
    page = InTurn(tuple(CallSite(api, Tolerate()) for api in apis))
    state = state_after(page, *apis, max_size=2)
    failed = ProgramLaboratory(RequestProgram(CallSite("A"))).run(faults("A"))

    state.evidence.learn(replace(failed, cut=faults(apis), fired=points(apis), calls=points(apis)))

    assert max(len(cut) for cut in asked(state)) == len(apis) // 2
