from collections import Counter
from math import log, sqrt
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.judge.confidence_sequence import difference_at_any_time, planned_information, sequence_z
from cutset.judge.intervals import normal_quantile
from cutset.judge.user_sums import UserSums

alphas = st.sampled_from([0.1, 0.05, 0.01, 0.001])


def test_at_5_percent_it_is_as_wide_as_the_published_one() -> None:
    assert sequence_z(1.0, 1.0, 0.05) == pytest.approx(3.03, abs=0.01)
    assert sequence_z(1 / 3, 1.0, 0.05) == pytest.approx(3.17, abs=0.01)
    assert sequence_z(2.0, 1.0, 0.05) == pytest.approx(3.06, abs=0.01)


@given(alphas, st.floats(0.01, 100))
def test_it_is_never_as_narrow_as_a_single_look_and_narrowest_near_the_plan(alpha: float, information: float) -> None:
    assert sequence_z(information, 1.0, alpha) > normal_quantile(alpha)
    assert sequence_z(information, 1.0, alpha) >= 0.995 * sequence_z(1.0, 1.0, alpha)


@given(alphas, st.floats(0.001, 0.5))
def test_where_it_is_within_the_margin_it_is_nearly_as_narrow_as_can_be(alpha: float, margin: float) -> None:
    planned = planned_information(margin, alpha)
    needed = 3 * planned * 1.08  # for the 2 to 4 % by which it is wider there

    assert sequence_z(needed, planned, alpha) / sqrt(needed) <= margin
    assert sequence_z(needed, planned, alpha) <= 1.05 * sequence_z(needed, needed, alpha)


@given(alphas)
def test_it_is_the_mixture_of_normal_likelihood_ratios(alpha: float) -> None:
    """At its limit the mean of exp(θ·S − θ²·I/2) over θ ~ N(0, 1/r) is 1/α (Robbins)."""
    information, ratio = 7.0, 1 / (-2 * log(alpha) + log(1 - 2 * log(alpha)))
    limit = sequence_z(information, 1.0, alpha) * sqrt(information)
    mixed = sqrt(ratio / (ratio + information)) * 2.718281828459045 ** (limit**2 / (2 * (ratio + information)))

    assert mixed == pytest.approx(1 / alpha)


def ever_misses(seed: int, *, control: float, fault: float, alike: float, users: int, alpha: float) -> bool:
    """Whether any look at a run excludes the truth. Users fail alike and come back."""
    random = Random(seed)
    spread = 1 / alike - 1
    shares = {
        (group, user): random.betavariate(mean * spread, (1 - mean) * spread)
        for group, mean in (("fault", fault), ("control", control))
        for user in range(users)
    }
    sums, seen = {"fault": UserSums(), "control": UserSums()}, Counter[tuple[str, int]]()
    planned = planned_information(0.02, alpha)
    for number in range(1500):
        who = random.choice(("fault", "control")), random.randrange(users)
        sums[who[0]].add(str(who), seen[who], bad=random.random() < shares[who])
        seen[who] += 1
        if number % 50 == 49:
            interval = difference_at_any_time(sums["fault"], sums["control"], planned, alpha)
            if not interval.low <= fault - control <= interval.high:
                return True
    return False


@pytest.mark.parametrize(("control", "fault"), [(0.1, 0.1), (0.05, 0.12)])
def test_looking_thirty_times_misses_the_truth_as_seldom_as_promised(control: float, fault: float) -> None:
    missed = sum(
        ever_misses(seed, control=control, fault=fault, alike=0.1, users=150, alpha=0.05) for seed in range(100)
    )

    assert missed <= 5  # peeking at fixed intervals misses in 17


def test_nothing_known_is_anything_possible() -> None:
    interval = difference_at_any_time(UserSums(), UserSums(), planned_information(0.02, 0.01), 0.01)

    assert (interval.low, interval.high) == (-1, 1)
