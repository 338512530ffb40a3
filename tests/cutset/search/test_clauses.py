from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.call_systems import points, subsets

from cutset.model.fault import points_of
from cutset.model.outcome import Points
from cutset.search.clauses import Clauses

EVERY = points(*"ABCDEF")
PATHS = st.lists(st.frozensets(st.sampled_from(sorted(EVERY)), min_size=1), max_size=6)


def formula(paths: list[Points]) -> Clauses:
    clauses = Clauses()
    for path in paths:
        clauses.add(path)
    return clauses


@settings(max_examples=200, deadline=None)
@given(PATHS, st.integers(0, 4))
def test_every_minimal_hitting_set_comes_once_and_nothing_else(paths: list[Points], max_size: int) -> None:
    hitting = [chosen for chosen in map(points_of, subsets(EVERY, max_size)) if all(chosen & path for path in paths)]
    minimal = [chosen for chosen in hitting if not any(other < chosen for other in hitting)]

    found = list(formula(paths).hitting_sets(max_size))

    assert sorted(map(sorted, found)) == sorted(map(sorted, minimal))


@settings(max_examples=200, deadline=None)
@given(PATHS, st.integers(0, 4))
def test_every_set_with_one_point_of_each_path_comes_once_and_nothing_else(paths: list[Points], max_size: int) -> None:
    occurring = frozenset().union(*paths)
    every = map(points_of, subsets(occurring, max_size))
    wanted = [chosen for chosen in every if all(len(chosen & path) == 1 for path in paths)]

    found = list(formula(paths).hitting_once(max_size))

    assert sorted(map(sorted, found)) == sorted(map(sorted, wanted if paths else [frozenset()]))


@settings(max_examples=200, deadline=None)
@given(PATHS, st.frozensets(st.sampled_from(sorted(EVERY | points("Z")))))
def test_a_cut_hits_the_formula_if_it_has_a_point_of_each_path(paths: list[Points], cut: Points) -> None:
    assert formula(paths).hit_by(cut) is all(cut & path for path in paths)


@given(PATHS)
def test_a_path_that_was_seen_before_is_no_further_clause(paths: list[Points]) -> None:
    assert len(formula([*paths, *paths])) == len(set(paths))


def test_a_formula_without_clauses_is_hit_by_nothing_at_all() -> None:
    assert list(Clauses().hitting_sets(3)) == [frozenset()]
    assert Clauses().hit_by(frozenset())
