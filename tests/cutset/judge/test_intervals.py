from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from cutset.judge.intervals import clustered_difference, newcombe, normal_quantile, wilson
from cutset.judge.user_sums import UserSums
from cutset.model.impact import Interval


@pytest.mark.parametrize(
    ("groups", "low", "high"),
    [
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((6, 7, 2, 7), 0.0582, 0.8062),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((0, 10, 0, 20), -0.1611, 0.2775),
        ((10, 10, 0, 20), 0.6791, 1.0),
    ],
)
def test_newcombe_gives_what_his_paper_has(groups: tuple[int, int, int, int], low: float, high: float) -> None:
    """Statistics in Medicine 17 (1998), table II, method 10."""
    found = newcombe(*groups, alpha=0.05)

    assert (found.low, found.high) == pytest.approx((low, high), abs=5.1e-5)


@given(st.integers(1, 300).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))), st.floats(1, 4))
def test_wilson_has_the_shares_that_the_count_is_z_deviations_away_from(counts: tuple[int, int], z: float) -> None:
    count, of = counts
    found, estimate = wilson(count, of, z), count / of

    assert found.low - 1e-12 <= estimate <= found.high + 1e-12
    for share in (found.low, found.high):
        deviation = sqrt(of * share * (1 - share))
        assert abs(count - of * share) == pytest.approx(z * deviation, abs=1e-6) or share == pytest.approx(estimate)


@pytest.mark.parametrize(
    ("of", "control", "fault"), [(40, 0.01, 0.01), (40, 0.01, 0.3), (80, 0.05, 0.1), (60, 0.3, 0.3), (80, 0.0, 0.02)]
)
def test_newcombe_covers_the_truth_nearly_as_often_as_promised_or_more_by_exact_enumeration(
    of: int, control: float, fault: float
) -> None:
    covered = 0.0
    for first in range(of + 1):
        for second in range(of + 1):
            interval = newcombe(first, of, second, of, 0.05)
            if interval.low <= fault - control <= interval.high:
                covered += binom.pmf(first, of, fault) * binom.pmf(second, of, control)

    assert covered >= 0.945


def sums_of(bad_users: int, users: int, requests_each: int) -> UserSums:
    sums = UserSums()
    for user in range(users):
        for earlier in range(requests_each):
            sums.add(str(user), earlier, bad=user < bad_users)
    return sums


def test_by_user_it_is_newcombes_where_users_send_one_request_each() -> None:
    assert clustered_difference(sums_of(7, 90, 1), sums_of(2, 110, 1), 0.05) == _near(newcombe(7, 90, 2, 110, 0.05))


def test_by_user_it_is_no_narrower_for_users_who_repeat_themselves() -> None:
    assert clustered_difference(sums_of(7, 90, 20), sums_of(2, 110, 20), 0.05) == _near(newcombe(7, 90, 2, 110, 0.05))


def _near(expected: Interval) -> Interval:
    return Interval(pytest.approx(expected.low, abs=1e-6), pytest.approx(expected.high, abs=1e-6))


def test_nothing_known_is_anything_possible() -> None:
    nothing = newcombe(0, 0, 0, 0, 0.05)

    assert wilson(0, 0, 2) == Interval(0, 1)
    assert nothing.low < -0.7
    assert nothing.high > 0.7


def test_the_normal_quantile_of_5_percent_is_the_well_known_one() -> None:
    assert normal_quantile(0.05) == pytest.approx(1.959964, abs=1e-6)
