from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.call_systems import assert_right, explore, faults, points, systems

from cutset.model.fault import Cut
from cutset.model.outcome import Outcome, Verdict
from cutset.search.cuts import CutSearch
from cutset.search.stand_ins import stand_ins
from cutset.search.strategy import SearchSettings
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.drive import drive
from cutset.simulation.simulated import All, Call, Optional, Quorum, Simulation, System, all_points, points_of_call

WHOLE = faults("P1", "P2")
INVENTORY = points("P1", "P2", "Q1", "Q2")


class Noted:
    """A simulation that remembers what it showed."""

    def __init__(self, system: System) -> None:
        self.simulation = Simulation(system)
        self.runs: list[Outcome] = []

    def run(self, cut: Cut) -> Outcome:
        self.runs.append(self.simulation.run(cut))
        return self.runs[-1]


def served(by: str, *faulted: str, turned: bool = True) -> Outcome:
    """A run that survived, with faults at these replicas of P, of which one was tried first."""
    retried = points(by, *faulted) if turned else frozenset()
    calls = points(by, *faulted) if turned else points(by)
    return Outcome(
        faults(*faulted),
        Verdict.SURVIVED,
        path=points(by),
        calls=calls,
        fired=points(*faulted) & calls,
        retried=retried,
    )


BOTH = [served("P1", "P2"), served("P2", "P1")]


def test_replicas_that_were_each_seen_to_serve_alone_and_fail_together_leave_nothing_to_ask() -> None:
    assert stand_ins([WHOLE], BOTH, INVENTORY) == points("P1", "P2")


@pytest.mark.parametrize(
    ("failing", "runs"),
    [
        pytest.param([], BOTH, id="no class fails without it"),
        pytest.param([faults("P1")], BOTH, id="a part of it fails a class"),
        pytest.param([WHOLE, faults("P1", "Q1")], BOTH, id="a part of it fails a class along with another call"),
        pytest.param([faults("P1", "P2", "Q1", "Q2")], BOTH, id="two calls"),
        pytest.param([WHOLE], BOTH[:1], id="one was never seen to serve alone"),
        pytest.param(
            [WHOLE], [served("P1", "P2", turned=False), served("P2", "P1", turned=False)], id="no call was seen to turn"
        ),
        pytest.param([WHOLE], [BOTH[0], replace(BOTH[1], verdict=Verdict.DEGRADED)], id="something was missing then"),
        pytest.param([WHOLE], [BOTH[0], replace(BOTH[1], fired=frozenset())], id="a fault did not take effect"),
    ],
)
def test_all_else_is_to_be_asked(failing: list[Cut], runs: list[Outcome]) -> None:
    assert stand_ins(failing, runs, INVENTORY) == frozenset()


def test_a_replica_that_only_this_class_knows_is_to_be_asked_about_and_so_are_the_others() -> None:
    assert stand_ins([WHOLE], BOTH, INVENTORY | points("P3")) == frozenset()


def test_a_call_without_replicas_is_no_matter_of_stand_ins() -> None:
    assert stand_ins([faults("A")], [served("A")], points("A")) == frozenset()


def shared_by(system: System, other: System, size: int) -> SearchSettings:
    """The settings of a search of the second, after the first was explored."""
    known = Noted(system)
    search = CutSearch(SearchSettings(size, inventory=all_points(system)))
    drive(search, known)
    inventory = all_points(other)
    hints = tuple(cut for cut in search.result().minimal_cuts if {fault.point for fault in cut} <= inventory)
    return SearchSettings(
        size, inventory=inventory, hints=hints, trust_hints=True, stand_ins=stand_ins(hints, known.runs, inventory)
    )


def test_of_a_request_that_shares_all_but_its_own_call_only_that_is_tried() -> None:
    shared = tuple(Call(api, replicas=3) for api in "PQRS")
    other = All((Call("A", replicas=3), *shared))

    search = CutSearch(shared_by(All(shared), other, size=3))
    asked = explore(search, Simulation(other))

    own = points_of_call(Call("A", replicas=3))
    assert len(asked) == 1 + 3  # without a fault; all three replicas, and each of two others alone
    assert all(fault.point in own for cut in asked for fault in cut)
    result = search.result()
    assert (result.complete_up_to, result.exact_up_to) == (3, 0)
    assert set(result.minimal_cuts) == minimal_cuts_by_brute_force(other, 3)
    assert "replicas that stood in for each other there do so here" in result.assumption


@pytest.mark.parametrize(
    "shared", [Optional(Call("P", replicas=2)), Quorum("P", 3, 2), Call("P", replicas=3, attempts=2)]
)
def test_what_does_without_a_replica_in_another_way_is_tried_again(shared: System) -> None:
    other = All((Call("A"), shared))

    assert shared_by(All((Call("B"), shared)), other, size=3).stand_ins == frozenset()


@settings(max_examples=100, deadline=None)
@given(st.data(), st.dictionaries(st.sampled_from("PQR"), st.integers(2, 3), min_size=1), systems(hidden=True))
def test_where_shared_calls_are_handled_alike_nothing_is_lost(
    data: st.DataObject, replicas: dict[str, int], own: System
) -> None:
    """Whatever else the second request does, and in whichever place it makes the shared calls."""
    shared = [Call(api, replicas=number) for api, number in replicas.items()]
    both = data.draw(st.lists(st.sampled_from(shared), unique=True, min_size=1))
    other = All((*both, own)) if data.draw(st.booleans()) else Call("Z", All((own, *both)))
    search = CutSearch(shared_by(All(tuple(shared)), other, size=3))

    explore(search, Simulation(other))

    assert_right(search.result(), minimal_cuts_by_brute_force(other, 3), other)
