import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.judge.shares import quantile, share


@pytest.mark.parametrize(
    ("count", "of", "low", "high"), [(0, 10, 0.0, 0.278), (10, 10, 0.722, 1.0), (5, 10, 0.237, 0.763), (0, 0, 0.0, 1.0)]
)
def test_intervals_are_those_of_wilson(count: int, of: int, low: float, high: float) -> None:
    found = share(count, of)

    assert (round(found.low, 3), round(found.high, 3)) == (low, high)


@given(st.integers(1, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_the_observed_share_is_within_its_interval_and_more_requests_narrow_it(pair: tuple[int, int]) -> None:
    count, of = pair
    few, many = share(count, of), share(10 * count, 10 * of)

    assert 0 <= few.low <= count / of + 1e-12
    assert count / of - 1e-12 <= few.high <= 1
    assert many.high - many.low < few.high - few.low


def test_quantiles_of_nothing_are_zero() -> None:
    assert quantile([], 0.5) == 0


def test_the_median_is_in_the_middle() -> None:
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
