from math import comb, exp
from random import Random

import pytest

from cutset.judge.control_guard import TOLERATED, ControlGuard
from cutset.judge.intervals import wilson


def requests_until_it_trips(guard: ControlGuard, share: float, seed: int, most: int = 5000) -> int | None:
    random = Random(seed)
    return next((number for number in range(1, most + 1) if guard.add(random.random() < share)), None)


def test_at_the_limit_itself_one_is_expected_after_any_number_of_requests() -> None:
    limit = TOLERATED * wilson(10, 1000, 1.645).high
    for count in (1, 5, 30):
        expected = 0.0
        for failed in range(count + 1):
            guard = ControlGuard(10, 1000)
            for number in range(count):
                guard.add(number < failed)
            expected += comb(count, failed) * limit**failed * (1 - limit) ** (count - failed) * exp(guard.log_evidence)

        assert expected == pytest.approx(1, rel=1e-9)


def test_a_control_as_before_never_trips_in_sixty_runs() -> None:
    assert not any(requests_until_it_trips(ControlGuard(20, 2000), 0.01, seed) for seed in range(60))


def test_half_as_many_failures_again_are_drift() -> None:
    assert not any(requests_until_it_trips(ControlGuard(20, 2000), 0.015, seed) for seed in range(40))


@pytest.mark.parametrize(("times", "median"), [(20, 60), (4, 1600)])
def test_the_worse_it_gets_the_sooner_it_trips(times: int, median: int) -> None:
    taken = sorted(requests_until_it_trips(ControlGuard(20, 2000), 0.01 * times, seed) or 9999 for seed in range(21))

    assert taken[10] <= median


def test_once_it_has_tripped_it_stays_so() -> None:
    guard = ControlGuard(0, 1000)
    while not guard.add(True):
        pass

    assert all(guard.add(False) for _ in range(1000))


@pytest.mark.parametrize(("failed", "of"), [(0, 0), (5, 5), (0, 3), (1000, 1000)])
def test_a_window_before_that_tells_little_or_only_failures_trips_nothing(failed: int, of: int) -> None:
    guard = ControlGuard(failed, of)

    assert not any(guard.add(number % 2 == 0) for number in range(20))


def test_a_failure_or_two_after_a_window_without_any_trip_nothing() -> None:
    guard = ControlGuard(0, 200)

    assert not any(guard.add(number in (0, 40)) for number in range(100))
