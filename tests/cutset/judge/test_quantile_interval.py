from math import inf
from random import Random

import pytest
from scipy.stats import binom

from cutset.judge.quantile_interval import has_quantile, quantile_difference, quantile_interval, quantile_of
from cutset.model.impact import Interval

Z = 1.96


@pytest.mark.parametrize(("rank", "fewest"), [(0.5, 20), (0.95, 200), (0.99, 1000)])
def test_a_quantile_needs_ten_requests_above_it(rank: float, fewest: int) -> None:
    enough = [float(number) for number in range(fewest)]

    assert has_quantile(enough, rank)
    assert quantile_interval(enough, rank, Z) is not None
    assert not has_quantile(enough[1:], rank)
    assert quantile_interval(enough[1:], rank, Z) is None
    assert quantile_difference(enough, enough[1:], rank, Z) is None


@pytest.mark.parametrize(("rank", "of"), [(0.5, 20), (0.5, 200), (0.95, 200), (0.95, 1000), (0.99, 1000), (0.99, 3000)])
def test_covers_the_truth_nearly_as_often_as_promised_whatever_the_distribution(rank: float, of: int) -> None:
    """How many are below the true quantile is binomial: no more is needed to tell how often it is inside."""
    covered = 0.0
    for below in range(of + 1):
        interval = quantile_interval([0.0] * below + [2.0] * (of - below), rank, Z)
        assert interval is not None
        if interval.low <= 1.0 <= interval.high:
            covered += binom.pmf(below, of, rank)

    assert covered >= 0.945


def durations(seed: int, count: int, *, slower: float = 0.0, failed: float = 0.0) -> list[float]:
    random = Random(seed)
    return sorted(inf if random.random() < failed else random.lognormvariate(-3, 0.6) + slower for _ in range(count))


@pytest.mark.parametrize("rank", [0.5, 0.95])
def test_differences_cover_the_truth_nearly_as_often_as_promised_or_more(rank: float) -> None:
    covered = 0
    for seed in range(200):
        interval = quantile_difference(durations(2 * seed, 300, slower=0.05), durations(2 * seed + 1, 300), rank, Z)
        assert interval is not None
        covered += interval.low <= 0.05 <= interval.high

    assert covered >= 180  # 190 expected at least


def test_failed_requests_are_infinitely_slow_not_quick() -> None:
    quick_failures, well = durations(1, 1000, failed=0.2), durations(2, 1000)

    assert quantile_of(quick_failures, 0.95) == inf
    difference = quantile_difference(quick_failures, well, 0.5, Z)
    assert difference is not None
    assert difference.low > 0


def test_where_most_failed_only_the_lower_limit_is_known_or_none() -> None:
    some_failed, many_failed, well = durations(1, 1000, failed=0.05), durations(1, 1000, failed=0.2), durations(2, 1000)
    difference = quantile_difference(some_failed, well, 0.95, Z)

    assert difference is not None
    assert difference.high == inf
    assert quantile_difference(many_failed, well, 0.95, Z) is None
    assert quantile_difference(many_failed, many_failed, 0.95, Z) is None


def test_where_only_the_control_failed_only_the_upper_limit_is_known() -> None:
    failed, well = durations(1, 1000, failed=0.056), durations(2, 1000, slower=1)
    difference = quantile_difference(well, failed, 0.95, Z)

    assert quantile_of(failed, 0.95) == inf
    assert difference is not None
    assert difference.low == -inf
    assert isinstance(difference, Interval)
