from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutset.search.bitset import bits
from cutset.search.steps.covering_array import choose_paths


def in_columns(*widths: int) -> list[int]:
    """Disjoint ones: `in_columns(2, 3) == [0b00011, 0b11100]`."""
    columns, first = [], 0
    for width in widths:
        columns.append(((1 << width) - 1) << first)
        first += width
    return columns


def open_sets(columns: list[int], paths: list[int], failing: list[int], max_size: int) -> list[int]:
    every = list(bits(sum(columns)))
    sets = (sum(chosen) for size in range(max_size + 1) for chosen in combinations(every, size))
    return [
        each for each in sets if all(each & path for path in paths) and not any(cut & each == cut for cut in failing)
    ]


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[int], list[int], list[int], int]:
    columns = in_columns(*draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    max_size = draw(st.integers(1, 3))
    whole = [column for column in columns if column.bit_count() <= max_size]
    one_each = st.tuples(*(st.sampled_from(list(bits(column))) for column in columns)).map(sum)
    seen = draw(st.lists(one_each, max_size=4))
    more = draw(st.lists(st.integers(1, sum(columns)), max_size=2))
    return columns, seen, whole + more, max_size


@settings(max_examples=150, deadline=None)
@given(problems(), st.integers(0, 9))
def test_paths_leave_no_set_open(problem: tuple[list[int], list[int], list[int], int], seed: int) -> None:
    columns, seen, failing, max_size = problem

    paths = choose_paths(columns, seen, failing, max_size, random=Random(seed), effort=200)

    assert paths or not open_sets(columns, seen, failing, max_size)
    assert not open_sets(columns, [*seen, *paths], failing, max_size)
    for path in paths:
        assert path & ~sum(columns) == 0
        assert all((path & column).bit_count() == 1 for column in columns)


@settings(max_examples=100, deadline=None)
@given(problems(), st.integers(0, 9), st.integers(0, 3))
def test_with_little_effort_there_is_a_plan_that_leaves_nothing_open_or_none(
    problem: tuple[list[int], list[int], list[int], int], seed: int, effort: int
) -> None:
    columns, seen, failing, max_size = problem

    paths = choose_paths(columns, seen, failing, max_size, random=Random(seed), effort=effort)

    assert not paths or not open_sets(columns, [*seen, *paths], failing, max_size)


@settings(max_examples=30, deadline=None)
@given(problems(), st.integers(0, 9))
def test_the_same_seed_chooses_the_same(problem: tuple[list[int], list[int], list[int], int], seed: int) -> None:
    columns, seen, failing, max_size = problem

    first, second = (choose_paths(columns, seen, failing, max_size, random=Random(seed), effort=50) for _ in range(2))

    assert first == second


@pytest.mark.parametrize(
    ("widths", "max_size", "rows"),
    [
        ((2, 2), 2, 4),  # all four pairs
        ((2, 2, 2), 2, 4),
        ((2,) * 4, 2, 5),
        ((2,) * 10, 2, 6),  # Kleitman and Spencer
        ((3, 3), 3, 6),
    ],
)
def test_small_plans_are_as_short_as_can_be(widths: tuple[int, ...], max_size: int, rows: int) -> None:
    columns = in_columns(*widths)

    paths = choose_paths(columns, [], columns, max_size, random=Random(1), effort=400)

    assert not open_sets(columns, paths, columns, max_size)
    assert len(paths) == rows


def test_paths_that_were_seen_are_not_chosen_again() -> None:
    columns = in_columns(2, 2)

    paths = choose_paths(columns, [0b0101, 0b1010], columns, 2, random=Random(1), effort=400)

    assert sorted(paths) == [0b0110, 0b1001]


def test_no_paths_if_no_number_of_them_leaves_nothing_open() -> None:
    """No path misses a whole column, and nobody said that it fails."""
    assert choose_paths(in_columns(2, 2), [], [], 2, random=Random(1), effort=10) == []
