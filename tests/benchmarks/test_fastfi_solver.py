from itertools import combinations

from benchmarks.fastfi_solver import dfs_based_solver
from hypothesis import given
from hypothesis import strategies as st

families = st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4, unique=True), max_size=6)


def sets(*words: str) -> list[frozenset[str]]:
    return [frozenset(word) for word in words]


def minimal_hitting_sets_by_brute_force(clauses: list[list[str]], max_size: int) -> set[frozenset[str]]:
    minimal: set[frozenset[str]] = set()
    for size in range(max_size + 1):
        for chosen in map(frozenset, combinations("abcdefgh", size)):
            if all(chosen & set(clause) for clause in clauses) and not any(known < chosen for known in minimal):
                minimal.add(chosen)
    return minimal


def test_example_of_the_paper() -> None:
    # Fig. 8, whose first clause is the highest bit.
    assert sorted(dfs_based_solver(["AD", "BC", "AB"], 2), key=sorted) == sets("AB", "AC", "BD")


def test_misses_a_minimal_set_that_is_not_of_minimum_cardinality() -> None:
    assert dfs_based_solver(["ab", "bc", "d"], 3) == sets("bd")


def test_the_order_of_literals_decides_what_is_missed() -> None:
    assert dfs_based_solver(["ba", "bc", "d"], 3) == sets("acd", "bd")


def test_last_literal_is_tried_first() -> None:
    assert dfs_based_solver(["abc"], 1) == sets("c", "b", "a")


def test_edges() -> None:
    assert dfs_based_solver([], 2) == sets("")
    assert dfs_based_solver(["ab", ""], 2) == []
    assert dfs_based_solver(["a"], 0) == []


@given(families, st.integers(0, 5))
def test_finds_only_minimal_sets_and_all_of_minimum_cardinality(clauses: list[list[str]], max_size: int) -> None:
    found = dfs_based_solver(clauses, max_size)
    true = minimal_hitting_sets_by_brute_force(clauses, max_size)
    assert len(found) == len(set(found))
    assert set(found) <= true
    minimum = min(map(len, true), default=0)
    assert {chosen for chosen in true if len(chosen) == minimum} <= set(found)
