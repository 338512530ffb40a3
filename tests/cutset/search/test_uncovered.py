from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.search.bitset import bits
from cutset.search.uncovered import Clause, Cover, OutOfPatienceError, strongest, uncovered_sets

POINTS = 7
CLAUSES = st.lists(
    st.builds(
        lambda zone, condition: Clause(zone, condition & ~zone),
        st.integers(0, 2**POINTS - 1),
        st.one_of(st.just(0), st.integers(0, 2**POINTS - 1)),
    ),
    max_size=8,
)


def sets_up_to(size: int) -> list[int]:
    every = list(bits(2**POINTS - 1))
    return [sum(chosen) for number in range(size + 1) for chosen in combinations(every, number)]


@settings(max_examples=300, deadline=None)
@given(CLAUSES, st.integers(0, 5))
def test_uncovered_sets_equal_brute_force(clauses: list[Clause], max_size: int) -> None:
    found = list(uncovered_sets(clauses, max_size))

    uncovered = [each for each in sets_up_to(max_size) if not any(clause.covers(each) for clause in clauses)]
    assert set(found) <= set(uncovered)
    assert all(any(known & each == known for known in found) for each in uncovered)


@settings(max_examples=300, deadline=None)
@given(CLAUSES)
def test_the_strongest_clauses_cover_what_all_of_them_cover(clauses: list[Clause]) -> None:
    kept = strongest(clauses)

    for each in sets_up_to(POINTS):
        assert any(clause.covers(each) for clause in kept) == any(clause.covers(each) for clause in clauses)
    assert not any(one.implies(other) for one in kept for other in kept if one is not other)


@settings(max_examples=200, deadline=None)
@given(CLAUSES)
def test_a_clause_is_found_for_each_set_that_one_covers(clauses: list[Clause]) -> None:
    cover = Cover(clauses)

    for each in sets_up_to(POINTS):
        found = cover.clause_for(each)
        assert any(clause.covers(each) for clause in clauses) == (found is not None)
        assert found is None or (found in clauses and found.covers(each))


def test_an_enumeration_that_takes_too_long_says_which_sizes_are_done() -> None:
    clauses = [Clause(0b111 << 3 * number) for number in range(6)]  # the smallest sets that hit them have six points

    with pytest.raises(OutOfPatienceError) as raised:
        list(uncovered_sets(clauses, 6, patience=100))

    assert 0 < raised.value.size <= 6
    assert len(list(uncovered_sets(clauses, 6))) == 3**6
