from itertools import combinations, count, islice
from math import comb
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.search.hitting_sets import HittingSets, minimal_hitting_sets

POINTS = 9
families = st.lists(st.integers(1, 2**POINTS - 1), max_size=8)
# Few distinct clauses over many points: most points are interchangeable.
grouped_families = st.lists(st.sampled_from([0b111, 0b111000, 0b111111, 0b111000000, 0b100100100]), max_size=4)
weights = st.lists(st.integers(0, 5).map(float), min_size=POINTS, max_size=POINTS)
A, B, C, D = 1, 2, 4, 8


def by_brute_force(clauses: list[int], max_size: int, points: int = POINTS) -> list[int]:
    """The smallest first."""
    minimal: list[int] = []
    for size in range(max_size + 1):
        for chosen in (sum(1 << point for point in some) for some in combinations(range(points), size)):
            if all(chosen & clause for clause in clauses) and not any(known & chosen == known for known in minimal):
                minimal.append(chosen)
    return minimal


def added(clauses: list[int], max_size: int, **limits: int) -> HittingSets:
    family = HittingSets(max_size, **limits)
    for clause in clauses:
        family.add(clause)
    return family


def grouped_skeleton(edges: int, groups: int, bones: int) -> list[int]:
    """FastFI §4.1.1: per group a short and a long path that share `bones` points."""
    short = 3 * edges // 10
    clauses, first = [], 0
    for _ in range(groups):
        both = [(1 << bones) - 1 << first, 0, 0]
        both[1] = (1 << short - bones) - 1 << first + bones
        both[2] = (1 << edges - short - bones) - 1 << first + short
        clauses += [both[0] | both[1], both[0] | both[2]]
        first += edges - bones
    return clauses


def number_of_sets(edges: int, groups: int, bones: int, max_size: int) -> int:
    short = 3 * edges // 10
    pairs = (short - bones) * (edges - short - bones)
    return sum(comb(groups, j) * bones ** (groups - j) * pairs**j for j in range(groups + 1) if groups + j <= max_size)


def test_the_set_that_algorithm_1_misses() -> None:
    clauses = [A | B, B | C, D]
    assert list(minimal_hitting_sets(clauses, 3)) == [B | D, A | C | D]
    assert list(added(clauses, 3)) == [B | D, A | C | D]


def test_edges() -> None:
    assert list(HittingSets(2)) == list(minimal_hitting_sets([], 2)) == [0]
    assert list(added([A | B, 0], 2)) == list(minimal_hitting_sets([A | B, 0], 2)) == []
    assert list(added([A], 0)) == list(minimal_hitting_sets([A], 0)) == []
    assert added([A], 0).complete_up_to == 0


@given(st.one_of(families, grouped_families), st.integers(0, 6))
def test_from_scratch_equals_brute_force(clauses: list[int], max_size: int) -> None:
    found = list(minimal_hitting_sets(clauses, max_size))
    assert sorted(found) == sorted(by_brute_force(clauses, max_size))
    assert found == sorted(found, key=int.bit_count)


@given(families, st.integers(0, 4), st.integers(0, 4))
def test_from_scratch_from_a_size_on(clauses: list[int], min_size: int, more: int) -> None:
    found = minimal_hitting_sets(clauses, min_size + more, min_size=min_size)
    assert sorted(found) == sorted(c for c in by_brute_force(clauses, min_size + more) if c.bit_count() >= min_size)


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
        patch.setattr("cutset.search.hitting_sets.UNGROUP_FROM_SETS", ungroup_from_sets)
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


@given(st.one_of(families, grouped_families), weights, st.integers(0, 5), st.sampled_from([0, 32]))
def test_within_a_size_the_heaviest_come_first(
    clauses: list[int], weights: list[float], max_size: int, ungroup_from_sets: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cutset.search.hitting_sets.UNGROUP_FROM_SETS", ungroup_from_sets)
        family = added(clauses, max_size)

        def rank(chosen: int) -> tuple[int, float]:
            return chosen.bit_count(), -sum(weights[point] for point in range(POINTS) if chosen >> point & 1)

        found = list(family.sets(weights))
        assert list(map(rank, found)) == sorted(map(rank, found))
        assert sorted(found) == sorted(by_brute_force(clauses, max_size))
        assert sorted(minimal_hitting_sets(clauses, max_size, weights=weights)) == sorted(found)


@settings(max_examples=400)
@given(
    families,
    st.integers(1, 5),
    st.integers(1, 30),
    st.sampled_from([None, [float(n) for n in range(POINTS)]]),
    st.sampled_from([0, 32]),
)
def test_beyond_max_sets_the_rest_is_found_on_demand(
    clauses: list[int], max_size: int, max_sets: int, weights: list[float] | None, ungroup_from_sets: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cutset.search.hitting_sets.UNGROUP_FROM_SETS", ungroup_from_sets)
        family = HittingSets(max_size, max_sets=max_sets)
        for number, clause in enumerate(clauses, 1):
            family.add(clause)
            true = by_brute_force(clauses[:number], max_size)
            assert family.count() == sum(chosen.bit_count() <= family.complete_up_to for chosen in true)
            assert sum(map(len, family._held)) <= max_sets
        true = by_brute_force(clauses, max_size)
        found = list(family.sets(weights))
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


def test_from_scratch_ends_when_out_of_time() -> None:
    clock = count()
    clauses = grouped_skeleton(50, 3, 4)
    found = list(minimal_hitting_sets(clauses, 6, may_go_on=lambda: next(clock) < 10))
    assert len(found) < number_of_sets(50, 3, 4, 6)


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
    stale = family.sets()
    next(stale)
    family.add(1 << 8)
    after = family.complete_up_to
    list(stale)
    assert family.complete_up_to == after


@pytest.mark.parametrize("ungroup_from_sets", [0, 32])
def test_an_iteration_goes_on_with_the_former_family(ungroup_from_sets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutset.search.hitting_sets.UNGROUP_FROM_SETS", ungroup_from_sets)
    clauses = [0b1111, 0b11110000, 0b110011]
    family = added(clauses, 3)
    iteration = family.sets()
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


def test_the_first_of_trillions_of_sets_by_weight() -> None:
    clauses = grouped_skeleton(300, 3, 4)
    family = added(clauses, 6)
    assert family.count() > 5e12
    weights = [float(point % 101) for point in range(900)]
    found = list(islice(family.sets(weights), 500))
    assert found[:64] == sorted(
        minimal_hitting_sets(clauses, 3),
        key=lambda chosen: -sum(weights[point] for point in range(900) if chosen >> point & 1),
    )
    assert all(chosen.bit_count() == 4 for chosen in found[64:])
    assert len(set(found)) == 500


def test_large_groups_that_come_late_are_served_on_demand() -> None:
    random = Random(3)
    clauses = [sum(1 << api * 3 + random.randrange(3) for api in range(6)) for _ in range(12)]
    clauses += [(1 << 300) - 1 << 100, (1 << 300) - 1 << 400]
    family = added(clauses, 6, max_sets=5_000)
    first = list(islice(family, 6_000))
    assert len(set(first)) == 6_000
    assert all(chosen & clause for chosen in first for clause in clauses)


@pytest.mark.parametrize("seed", range(6))
def test_equals_sat_solvers(seed: int) -> None:
    hitman = pytest.importorskip("pysat.examples.hitman")
    z3 = pytest.importorskip("z3")
    random = Random(seed)
    clauses = [random.sample(range(20), random.randint(2, 7)) for _ in range(12)]
    found = set(added([sum(1 << point for point in clause) for clause in clauses], 5))

    by_pysat = set()
    with hitman.Hitman(bootstrap_with=[[point + 1 for point in clause] for clause in clauses]) as solver:
        while (hitting := solver.get()) is not None and len(hitting) <= 5:
            by_pysat.add(sum(1 << point - 1 for point in hitting))
            solver.block(hitting)
    assert found == by_pysat

    points = z3.Bools([f"p{number}" for number in range(20)])
    solver = z3.Solver()
    solver.add(*(z3.Or([points[point] for point in clause]) for clause in clauses), z3.AtMost(*points, 5))
    # Nothing that hits all clauses is left, once supersets of what was found are excluded.
    solver.add(*(z3.Or([z3.Not(points[p]) for p in range(20) if chosen >> p & 1]) for chosen in found))
    assert solver.check() == z3.unsat
