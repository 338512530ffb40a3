from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.judge.holm import holm

chances = st.lists(st.floats(0, 1), max_size=7)


def by_closed_testing(values: list[float], index: int) -> float:
    """A question is answered if Bonferroni answers every set of questions that it is a part of."""
    others = [each for each in range(len(values)) if each != index]
    sets = [(index, *more) for size in range(len(values)) for more in combinations(others, size)]
    return max(min(1.0, len(each) * min(values[one] for one in each)) for each in sets)


@given(chances)
def test_is_the_closed_test_of_all_sets_of_questions(values: list[float]) -> None:
    assert holm(values) == pytest.approx([by_closed_testing(values, index) for index in range(len(values))])


@given(chances)
def test_nothing_gets_more_certain_and_the_order_stays(values: list[float]) -> None:
    adjusted = holm(values)

    assert all(after >= before for before, after in zip(values, adjusted, strict=True))
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [adjusted[index] for index in order] == sorted(adjusted)


def test_one_question_alone_stays_as_it_is() -> None:
    assert holm([0.03]) == [0.03]


def test_the_first_of_four_counts_four_times_the_second_three_times() -> None:
    assert holm([0.01, 0.5, 0.012, 0.004]) == pytest.approx([0.03, 0.5, 0.03, 0.016])
