from itertools import count, islice
from random import Random

import pytest
from benchmarks.growing_hitting_sets import HittingSets
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.clause_families import by_brute_force, families, grouped_families, grouped_skeleton, number_of_sets

A, B, C, D = 1, 2, 4, 8


def added(clauses: list[int], max_size: int, **limits: int) -> HittingSets:
    family = HittingSets(max_size, **limits)
    for clause in clauses:
        family.add(clause)
    return family


def test_the_set_that_algorithm_1_misses() -> None:
    assert list(added([A | B, B | C, D], 3)) == [B | D, A | C | D]


def test_edges() -> None:
    assert list(HittingSets(2)) == [0]
    assert list(added([A | B, 0], 2)) == []
    assert list(added([A], 0)) == []
    assert added([A], 0).complete_up_to == 0


@settings(max_examples=400)
@given(
    st.one_of(families, grouped_families),
    st.randoms(use_true_random=False),
    st.integers(0, 3),
    st.sampled_from([0, 32]),
)
def test_clause_by_clause_equals_brute_force(
    clauses: list[int], random: Random, max_size: int, ungroup_from_sets: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmarks.growing_hitting_sets.UNGROUP_FROM_SETS", ungroup_from_sets)
        family = HittingSets(max_size)
        for number, clause in enumerate(clauses, 1):
            family.add(clause)
            if random.random() < 0.3:
                max_size += 1
                family.grow(max_size)
            found = list(family)
            assert sorted(found) == sorted(by_brute_force(clauses[:number], max_size))
            assert found == sorted(found, key=int.bit_count)
            assert family.count() == len(found)
            assert family.complete_up_to == family.max_size == max_size


@settings(max_examples=400)
@given(
    families,
    st.integers(1, 5),
    st.integers(1, 30),
    st.sampled_from([0, 32]),
)
def test_beyond_max_sets_the_rest_is_found_on_demand(
    clauses: list[int], max_size: int, max_sets: int, ungroup_from_sets: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmarks.growing_hitting_sets.UNGROUP_FROM_SETS", ungroup_from_sets)
        family = HittingSets(max_size, max_sets=max_sets)
        for number, clause in enumerate(clauses, 1):
            family.add(clause)
            true = by_brute_force(clauses[:number], max_size)
            assert family.count() == sum(chosen.bit_count() <= family.complete_up_to for chosen in true)
            assert sum(map(len, family._held)) <= max_sets
        true = by_brute_force(clauses, max_size)
        found = list(family)
        assert sorted(found) == sorted(true)
        assert found == sorted(found, key=int.bit_count)
        assert family.complete_up_to == max_size
        assert sum(map(len, family._held)) <= max_sets


@settings(max_examples=400)
@given(families, st.integers(0, 5), st.integers(0, 5), st.integers(0, 30))
def test_out_of_time_what_is_said_to_be_complete_is(clauses: list[int], max_size: int, more: int, steps: int) -> None:
    clock = count()
    family = HittingSets(max_size, may_go_on=lambda: next(clock) < steps)
    for clause in clauses:
        family.add(clause)
    family.grow(max_size + more)
    true = by_brute_force(clauses, max_size + more)
    found = list(family)
    assert set(found) <= set(true)
    assert {chosen for chosen in true if chosen.bit_count() <= family.complete_up_to} <= set(found)
    assert len(found) == len(set(found))


def test_holds_again_what_has_become_few_enough() -> None:
    family = added([0b1111, 0b11110000], 2, max_sets=10)
    family.add(0b1 | 1 << 8)
    splitting = [0b11, 0b1100, 0b110000, 0b11000000, 0b1010101, 0b10001]
    for clause in splitting:
        family.add(clause)
    family.grow(2)
    clauses = [0b1111, 0b11110000, 0b1 | 1 << 8, *splitting]
    assert family.complete_up_to == 2
    assert sorted(family) == sorted(by_brute_force(clauses, 2))


def test_a_stale_iteration_does_not_claim_completeness() -> None:
    family = added([0b1111, 0b10001, 0b1100110, 0b1010100], 4, max_sets=1)
    before = family.complete_up_to
    assert before < 4
    stale = iter(family)
    next(stale)
    family.add(1 << 8)
    after = family.complete_up_to
    list(stale)
    assert family.complete_up_to == after


@pytest.mark.parametrize("ungroup_from_sets", [0, 32])
def test_an_iteration_goes_on_with_the_former_family(ungroup_from_sets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.growing_hitting_sets.UNGROUP_FROM_SETS", ungroup_from_sets)
    clauses = [0b1111, 0b11110000, 0b110011]
    family = added(clauses, 3)
    iteration = iter(family)
    first = next(iteration)
    for clause in (0b1010101, 0b1101110, 0b10110010):
        family.add(clause)
    assert sorted([first, *iteration]) == sorted(by_brute_force(clauses, 3))


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("bones", [2, 4])
@pytest.mark.parametrize("edges", [50, 300])
def test_counts_of_grouped_skeletons(edges: int, groups: int, bones: int) -> None:
    clauses = grouped_skeleton(edges, groups, bones)
    Random(7).shuffle(clauses)
    for max_size in (groups, groups + 1, 2 * groups):
        assert added(clauses, max_size).count() == number_of_sets(edges, groups, bones, max_size)
    growing = added(clauses, 1)
    growing.grow(2 * groups)
    assert growing.count() == number_of_sets(edges, groups, bones, 2 * groups)


def test_large_groups_that_come_late_are_served_on_demand() -> None:
    random = Random(3)
    clauses = [sum(1 << api * 3 + random.randrange(3) for api in range(6)) for _ in range(12)]
    clauses += [(1 << 300) - 1 << 100, (1 << 300) - 1 << 400]
    family = added(clauses, 6, max_sets=5_000)
    first = list(islice(family, 6_000))
    assert len(set(first)) == 6_000
    assert all(chosen & clause for chosen in first for clause in clauses)


def test_trillions_of_sets_are_counted_without_listing_them() -> None:
    family = added(grouped_skeleton(300, 3, 4), 6)

    assert family.count() == number_of_sets(300, 3, 4, 6) > 5e12
    assert len(set(islice(family, 500))) == 500
