import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.harden.traffic import APART_NS, TrafficSeen, pace_of, seconds_covered

SECOND_NS = 10**9
HOUR_NS = 3600 * SECOND_NS


def test_what_was_seen_in_less_than_a_day_is_told_as_a_pace() -> None:
    assert str(TrafficSeen(30, 1800.0)) == "30 seen in 30 min; 1,440 a day at that pace (972 to 2,060)"
    assert str(TrafficSeen(30, 5.0)).startswith("30 seen in 5 s, taken for a minute; 43,200 a day at that pace (")
    assert str(TrafficSeen(30, 2.5 * 86_400)) == "30 seen in 2.5 days; 12 a day (8.1 to 17.1)"
    assert pace_of([TrafficSeen(30, 1800.0)]) == "30 min"
    assert pace_of([]) == pace_of([TrafficSeen(1, 1e6)]) == ""


@given(st.integers(0, 30))
def test_the_interval_is_the_one_whose_ends_would_show_as_many_in_one_of_forty_cases(seen: int) -> None:
    low, high = TrafficSeen(seen, 86_400.0).between

    def at_most(number: int, mean: float) -> float:
        return sum(math.exp(-mean) * mean**each / math.factorial(each) for each in range(number + 1))

    assert at_most(seen, high) == pytest.approx(0.025)
    assert low == 0 if not seen else 1 - at_most(seen - 1, low) == pytest.approx(0.025)


def test_times_without_any_record_do_not_count() -> None:
    week = 7 * 24 * HOUR_NS
    times = [(week, week + HOUR_NS), (0, HOUR_NS), (week + HOUR_NS // 2, week + 2 * HOUR_NS)]

    assert seconds_covered(times) == 3 * 3600
    assert seconds_covered([(week, week), (week + APART_NS, week + APART_NS)]) == 86_400  # a quiet night is a night
    assert seconds_covered([]) == 0
