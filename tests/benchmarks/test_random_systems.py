from itertools import islice

import pytest
from benchmarks.random_systems import (
    CACHES,
    COUNTER_EXAMPLES,
    FAMILIES,
    HIDDEN_CALLS,
    SHUFFLED,
    CounterExample,
    Family,
    shuffled_names,
    systems_of,
)

from cutset.model.fault import cut_of, points_of
from cutset.model.outcome import Verdict
from cutset.model.point import Point
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.simulated import All, Call, Shuffled, Simulation, System, all_points


def first_five(family: Family) -> list[System]:
    return [system for _, system in islice(systems_of(family), 5)]


@pytest.mark.parametrize("family", [*FAMILIES, *SHUFFLED, *HIDDEN_CALLS, *CACHES], ids=lambda family: family.name)
def test_a_family_is_always_the_same_and_keeps_to_its_size(family: Family) -> None:
    systems = first_five(family)

    assert systems == first_five(family)
    assert len(systems) == len(set(systems)) == 5
    assert all(2 <= len(all_points(system)) <= family.points[1] for system in systems)


def test_enough_systems() -> None:
    assert sum(family.systems for family in FAMILIES) >= 1000
    assert sum(family.systems for family in SHUFFLED) >= 150
    assert sum(family.systems for family in HIDDEN_CALLS) >= 300


def test_shuffled_points_fail_as_the_originals_do() -> None:
    system = All((Call("A"), Call("B", replicas=2), Call("C", replicas=2)))
    names = shuffled_names(system, seed=1)
    assert any(point.of_api != name.of_api for point, name in names.items())

    for cut in minimal_cuts_by_brute_force(system, 2):
        renamed = cut_of(names[point] for point in points_of(cut))
        outcome = Shuffled(Simulation(system), names).run(renamed)
        assert (outcome.verdict, outcome.cut) == (Verdict.FAILED, renamed)


@pytest.mark.parametrize("example", COUNTER_EXAMPLES, ids=lambda example: example.name)
def test_counter_examples_have_cuts_to_be_lost(example: CounterExample) -> None:
    assert minimal_cuts_by_brute_force(example.system, example.max_size)


def test_the_cut_that_best_depth_loses() -> None:
    example = COUNTER_EXAMPLES[3]

    assert cut_of(Point("simulated", api) for api in "bcd") in minimal_cuts_by_brute_force(example.system, 3)
