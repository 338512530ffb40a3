from itertools import count, islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.clause_families import by_brute_force, families, grouped_families, grouped_skeleton, number_of_sets

from cutset.search.hitting_sets import choices, minimal_hitting_sets

A, B, C, D = 1, 2, 4, 8


def test_the_set_that_algorithm_1_misses() -> None:
    assert list(minimal_hitting_sets([A | B, B | C, D], 3)) == [B | D, A | C | D]


def test_edges() -> None:
    assert list(minimal_hitting_sets([], 2)) == [0]
    assert list(minimal_hitting_sets([A | B, 0], 2)) == []
    assert list(minimal_hitting_sets([A], 0)) == []


@given(st.one_of(families, grouped_families), st.integers(0, 6))
def test_from_scratch_equals_brute_force(clauses: list[int], max_size: int) -> None:
    found = list(minimal_hitting_sets(clauses, max_size))
    assert sorted(found) == sorted(by_brute_force(clauses, max_size))
    assert found == sorted(found, key=int.bit_count)


@given(families, st.integers(0, 4), st.integers(0, 4))
def test_from_scratch_from_a_size_on(clauses: list[int], min_size: int, more: int) -> None:
    found = minimal_hitting_sets(clauses, min_size + more, min_size=min_size)
    assert sorted(found) == sorted(c for c in by_brute_force(clauses, min_size + more) if c.bit_count() >= min_size)


def test_from_scratch_ends_when_out_of_time() -> None:
    clock = count()
    clauses = grouped_skeleton(50, 3, 4)
    found = list(minimal_hitting_sets(clauses, 6, may_go_on=lambda: next(clock) < 10))
    assert len(found) < number_of_sets(50, 3, 4, 6)


@pytest.mark.parametrize("groups", [2, 3])
def test_counts_of_grouped_skeletons(groups: int) -> None:
    found = sum(1 for _ in minimal_hitting_sets(grouped_skeleton(50, groups, 2), groups + 1))

    assert found == number_of_sets(50, groups, 2, groups + 1)


def test_the_first_of_trillions_of_sets_are_served_at_once() -> None:
    clauses = grouped_skeleton(300, 3, 4)
    assert number_of_sets(300, 3, 4, 6) > 5e12

    found = list(islice(minimal_hitting_sets(clauses, 6), 500))

    assert len(set(found)) == 500
    assert all(chosen & clause for chosen in found for clause in clauses)
    assert sorted(map(int.bit_count, found)) == [3] * 64 + [4] * 436


def test_a_set_of_groups_stands_for_one_point_of_each() -> None:
    assert sorted(choices([0b11, 0b100], [A | B, C, D])) == sorted([A | C, B | C, D])


@pytest.mark.parametrize("seed", range(6))
def test_equals_sat_solvers(seed: int) -> None:
    hitman = pytest.importorskip("pysat.examples.hitman")
    z3 = pytest.importorskip("z3")
    random = Random(seed)
    clauses = [random.sample(range(20), random.randint(2, 7)) for _ in range(12)]
    found = set(minimal_hitting_sets([sum(1 << point for point in clause) for clause in clauses], 5))

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
