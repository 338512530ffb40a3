from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.simulated_systems import Everything, cut, points, systems

from cutset.model.fault import cut_of
from cutset.model.outcome import Verdict
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.drive import drive
from cutset.simulation.simulated import (
    All,
    Balance,
    Cache,
    Call,
    Conditions,
    FirstOf,
    Optional,
    Quorum,
    Routes,
    Simulation,
    System,
    all_points,
    grouped_skeletons,
)


def test_brute_force_agrees_with_running_every_set() -> None:
    system = All(
        (Call("A", Quorum("B", 3, 2), replicas=2), FirstOf((Call("C"), Routes((points("D"), points("E", "F"))))))
    )
    asked = Everything(all_points(system), 4)

    drive(asked, Simulation(system))

    minimal = {failing for failing in asked.failing if not any(other < failing for other in asked.failing)}
    assert minimal_cuts_by_brute_force(system, 4) == minimal
    assert cut("C", "D", "E") in minimal


@settings(max_examples=100, deadline=None)
@given(systems(), st.sampled_from(Balance), st.integers(0, 99))
def test_whatever_the_load_balancer_does_a_cut_fails_exactly_if_it_contains_what_brute_force_finds(
    system: System, balance: Balance, seed: int
) -> None:
    simulation = Simulation(system, Conditions(seed, balance))
    chance = Random(seed)
    fails = minimal_cuts_by_brute_force(system, 3)
    for _ in range(20):
        faulted = frozenset(chance.sample(sorted(all_points(system)), min(3, len(all_points(system)))))
        outcome = simulation.run(cut_of(faulted))
        if outcome.verdict is Verdict.FAILED:
            assert any(minimal <= cut_of(faulted) for minimal in fails)
        else:
            assert cut_of(faulted) not in fails
            assert outcome.path <= outcome.calls
            assert not outcome.path & faulted
        assert outcome.failed <= outcome.calls & faulted


@settings(max_examples=100, deadline=None)
@given(systems(caches=True), st.integers(0, 9))
def test_what_no_cache_can_bring_about_never_happens(system: System, seed: int) -> None:
    possible = minimal_cuts_by_brute_force(system, 2)
    asked = Everything(all_points(system), 2)

    drive(asked, Simulation(system, Conditions(seed)))

    assert all(any(minimal <= failing for minimal in possible) for failing in asked.failing)


def test_a_cache_hit_can_be_the_worse_case() -> None:
    """With an answer out of the cache, Y is needed; without one, the failure of X hides it."""
    system = Optional(Cache(Call("X"), 0.5), then=Call("Y"))

    assert minimal_cuts_by_brute_force(system, 2) == {cut("Y")}
    assert Simulation(system, Conditions(tries=50)).run(cut("X", "Y")).verdict is Verdict.FAILED
    assert Simulation(Optional(Call("X"), then=Call("Y"))).run(cut("X", "Y")).verdict is Verdict.SURVIVED


def test_only_one_bone_of_each_group_cuts_all_paths() -> None:
    assert len(minimal_cuts_by_brute_force(grouped_skeletons(20, 2, 3), 2)) == 3 * 3
