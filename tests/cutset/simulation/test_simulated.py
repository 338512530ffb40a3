from itertools import combinations
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.samples.simulated_systems import cut, points, systems

from cutset.model.fault import cut_of
from cutset.model.outcome import Points, Verdict
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.simulated import (
    All,
    Balance,
    Cache,
    Call,
    Conditions,
    Execution,
    FirstOf,
    Optional,
    Quorum,
    Simulation,
    System,
    all_points,
    grouped_skeletons,
    points_of_call,
)


def survives(system: System, faulted: Points, conditions: Conditions = Conditions()) -> bool:  # noqa: B008
    return Simulation(system, conditions).run(cut_of(faulted)).verdict is Verdict.SURVIVED


@settings(max_examples=100, deadline=None)
@given(systems(), st.integers(0, 99))
def test_what_a_surviving_request_relied_on_is_enough_for_the_same_failures(system: System, seed: int) -> None:
    """Points that were neither relied on nor failed make no difference."""
    chance = Random(seed)
    simulation = Simulation(system, Conditions(seed))
    faulted = frozenset(chance.sample(sorted(all_points(system)), min(2, len(all_points(system)))))
    outcome = simulation.run(cut_of(faulted))
    if outcome.verdict is Verdict.SURVIVED:
        assert survives(system, all_points(system) - outcome.calls | faulted)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(systems(caches=True))
def test_the_same_seed_gives_the_same_outcomes(system: System) -> None:
    conditions = Conditions(seed=7, flakes=0.3, misfires=0.3, repeats=2)
    cuts = [frozenset(), *(cut_of({point}) for point in sorted(all_points(system)))]

    first, second = (list(map(Simulation(system, conditions).run, cuts)) for _ in range(2))

    assert first == second


def test_an_api_that_is_called_several_times_may_be_served_by_several_replicas() -> None:
    outcome = Simulation(Call("A", replicas=4, times=40)).run(frozenset())

    assert outcome.path == frozenset(points_of_call(Call("A", replicas=4)))


def test_attempts_are_limited_to_the_first_replicas() -> None:
    system = Call("A", replicas=3, attempts=2)

    assert minimal_cuts_by_brute_force(system, 3) == {cut("A#1", "A#2")}
    outcome = Simulation(system).run(cut("A#1"))
    assert (outcome.path, outcome.calls) == (points("A#2"), points("A#1", "A#2"))


def test_zones_do_not_share_replicas() -> None:
    zones = FirstOf(tuple(All((Call("A", replicas=2, zone=z), Call("B", replicas=2, zone=z))) for z in (1, 2)), True)

    assert minimal_cuts_by_brute_force(zones, 2) == {cut(a, b) for a in ("A#1", "B#1") for b in ("A#2", "B#2")}
    simulation = Simulation(zones)
    paths = {simulation.run(frozenset()).path for _ in range(50)}
    assert paths == {points("A#1", "B#1"), points("A#2", "B#2")}


def test_a_quorum_fails_with_those_of_its_replicas_that_are_faulted() -> None:
    outcome = Simulation(Optional(Quorum("A", 3, 2))).run(cut("A#1", "A#2"))

    assert (outcome.path, outcome.failed) == (frozenset(), points("A#1", "A#2"))


@pytest.mark.parametrize(
    ("balance", "served"),
    [
        (Balance.ROUND_ROBIN, ["A#2", "A#3", "A#1", "A#2"]),
        (Balance.STICKY, ["A#2", "A#2", "A#2", "A#2"]),
    ],
)
def test_load_balancers_remember_across_requests(balance: Balance, served: list[str]) -> None:
    simulation = Simulation(Call("A", replicas=3), Conditions(seed=1, balance=balance))
    start = simulation.run(frozenset()).path

    paths = [start] + [simulation.run(frozenset()).path for _ in range(3)]

    offset = int(next(iter(start)).replica) - 2
    assert paths == [points(f"A#{(int(name[-1]) - 1 + offset) % 3 + 1}") for name in served]


def test_a_sticky_balancer_stays_where_a_failure_drove_it() -> None:
    simulation = Simulation(Call("A", replicas=2), Conditions(balance=Balance.STICKY))
    first = simulation.run(frozenset()).path
    other = simulation.run(cut_of(first)).path

    assert other != first
    assert simulation.run(frozenset()).path == other


def test_a_cache_makes_paths_vary_without_any_fault_and_brute_force_assumes_the_worst() -> None:
    system = All((Call("A"), Cache(Call("B"), hit_rate=0.5)))
    simulation = Simulation(system)

    assert {simulation.run(frozenset()).path for _ in range(50)} == {points("A"), points("A", "B")}
    assert minimal_cuts_by_brute_force(system, 2) == {cut("A"), cut("B")}


def test_several_tries_take_together_what_varying_survivors_relied_on() -> None:
    outcome = Simulation(All((Call("A"), Cache(Call("B"), 0.5))), Conditions(tries=30)).run(frozenset())

    assert (outcome.path, outcome.requests) == (points("A", "B"), 30)


def test_a_flake_is_not_believed_unless_it_repeats() -> None:
    believing = Simulation(Call("A"), Conditions(flakes=0.2))
    doubting = Simulation(Call("A"), Conditions(flakes=0.2, repeats=6))

    assert any(believing.run(frozenset()).verdict is Verdict.FAILED for _ in range(100))
    outcomes = [doubting.run(frozenset()) for _ in range(100)]
    assert all(outcome.verdict is Verdict.SURVIVED for outcome in outcomes)
    assert max(outcome.requests for outcome in outcomes) > 1
    assert doubting.run(cut("A")).requests == 6


def test_a_request_that_a_faulted_point_served_is_void() -> None:
    system = FirstOf((Call("A"), Call("B")))
    simulation = Simulation(system, Conditions(misfires=0.5))

    outcomes = [simulation.run(cut("A")) for _ in range(100)]

    assert {outcome.path for outcome in outcomes} == {points("B")}
    assert sum(outcome.requests for outcome in outcomes) > 150


def test_a_fault_that_no_call_met_does_not_void_the_request() -> None:
    simulation = Simulation(FirstOf((Call("A"), Call("B"))), Conditions(misfires=0.5))

    assert all(simulation.run(cut("B")).requests == 1 for _ in range(20))


def test_a_void_request_cannot_fail_either() -> None:
    """When the fault of X does not fire, Y is called and fails: not what {X, Y} was to show."""
    simulation = Simulation(Optional(Call("X"), then=Call("Y")), Conditions(misfires=0.5))

    assert all(simulation.run(cut("X", "Y")).verdict is Verdict.SURVIVED for _ in range(50))


def test_an_execution_without_a_balancer_starts_at_its_turn() -> None:
    assert Execution(frozenset(), turn=1).run(Call("A", replicas=3)) == points("A#2")


@pytest.mark.parametrize(
    ("edges", "groups", "bones", "overlap"),
    [(50, 2, 2, 0.0267), (50, 3, 4, 0.0320), (100, 2, 3, 0.0200), (250, 3, 3, 0.0048), (300, 3, 2, 0.0027)],
)
def test_grouped_skeletons_overlap_as_in_table_7_of_fastfi(edges: int, groups: int, bones: int, overlap: float) -> None:
    paths = grouped_skeletons(edges, groups, bones).paths
    shared = [len(one & other) for one, other in combinations(paths, 2)]

    mean_length = sum(map(len, paths)) / len(paths)
    assert sum(shared) / len(shared) / mean_length == pytest.approx(overlap, abs=5e-5)
    assert len(paths) == 2 * groups
