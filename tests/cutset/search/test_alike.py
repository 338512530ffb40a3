"""Which effects stand for each other, and where that goes wrong."""

import pytest
from tests.samples.call_systems import explore

from cutset.model.effect import Effect, EffectChoice
from cutset.model.fault import Cut, Fault
from cutset.model.point import Point
from cutset.search.alike import representatives, stand_in
from cutset.search.cuts import CutSearch
from cutset.search.elements import Elements
from cutset.search.observed_run import ObservedRun
from cutset.search.strategy import Certificates, SearchSettings
from cutset.simulation.program_laboratory import ProgramLaboratory
from cutset.simulation.program_truth import Does, minimal_sets
from cutset.simulation.programs import CallSite, Instead, InTurn, RequestProgram, Tolerate

EFFECTS = EffectChoice(tuple(map(Effect.parse, ("abort(503)", "abort(429)", "delay(100ms)", "garbled"))))
ABORT, BUSY, SLOW, GARBLED = EFFECTS.usual


def fault(api: str, effect: Effect) -> Fault:
    return Fault(Point("simulated", api), effect)


def bits(elements: Elements, *faults: Fault) -> int:
    return elements.to_bits(frozenset(faults))


def observed() -> tuple[Elements, dict[int, ObservedRun]]:
    """A and B are optional; without an answer of A in time, B is called twice."""
    elements = Elements(EFFECTS)
    a, b = (elements.at({Point("simulated", api)}) for api in "AB")

    def leaf(first: str, second: tuple[str, ...] = ("200@",), took: int = 1) -> ObservedRun:
        return ObservedRun(a | b, {a: (first,), b: second}, {0: took, a: took, b: 1}, "survived")

    leaves = {0: leaf("200@")}
    leaves[bits(elements, fault("A", ABORT))] = leaf("503@")
    leaves[bits(elements, fault("A", BUSY))] = leaf("429@")
    leaves[bits(elements, fault("A", GARBLED))] = leaf("200@")
    leaves[bits(elements, fault("A", SLOW))] = leaf("200@", ("200@", "200@"), 101)
    leaves[bits(elements, fault("B", ABORT))] = leaf("200@", ("503@",))
    leaves[bits(elements, fault("B", BUSY))] = leaf("200@", ("429@",))
    return elements, leaves


def test_effects_whose_runs_look_alike_elsewhere_have_one_representative() -> None:
    elements, leaves = observed()
    alike = representatives(leaves, elements, 100)

    abort, busy, garbled, slow = (bits(elements, fault("A", each)) for each in (ABORT, BUSY, GARBLED, SLOW))
    assert alike[abort] == alike[busy] == alike[garbled] == abort
    assert alike[slow] == slow


def test_a_fault_stands_for_itself_where_another_changes_how_its_point_is_called() -> None:
    elements, leaves = observed()
    alike = representatives(leaves, elements, 100)

    def standing(*faults: Fault) -> Cut:
        return elements.to_cut(stand_in(bits(elements, *faults), alike, leaves, elements))

    assert standing(fault("A", BUSY), fault("B", BUSY)) == {fault("A", ABORT), fault("B", ABORT)}
    assert standing(fault("A", SLOW), fault("B", BUSY)) == {fault("A", SLOW), fault("B", BUSY)}


@pytest.mark.parametrize("kind", Certificates)
def test_what_representatives_fail_is_tried_with_all_that_they_stand_for(kind: Certificates) -> None:
    """Both A and its fallback B must fail, by whatever effect: each combination is a cut of its own."""
    request = RequestProgram(InTurn((CallSite("A", Instead(CallSite("B"))), CallSite("C", Tolerate()))))
    effects = EffectChoice((ABORT, BUSY, GARBLED))
    search = CutSearch(SearchSettings(2, kind, effects))

    explore(search, ProgramLaboratory(request))

    assert set(search.result().minimal_cuts) == minimal_sets(request, 2, effects)[Does.FAIL]
    assert len(search.result().minimal_cuts) == 9


def test_classes_take_fewer_experiments_and_name_what_they_rest_on() -> None:
    request = RequestProgram(InTurn(tuple(CallSite(api, Tolerate()) for api in "ABCD")))
    effects = EffectChoice((ABORT, BUSY, GARBLED))
    asked = {}
    for kind in Certificates:
        search = CutSearch(SearchSettings(2, kind, effects))
        asked[kind] = len(explore(search, ProgramLaboratory(request)))
        assert ("look alike" in search.result().assumption) is (kind is Certificates.CLASSES)
        assert search.result().complete_up_to == 2

    assert asked[Certificates.CLASSES] < asked[Certificates.INDEPENDENT] < asked[Certificates.EXACT]
