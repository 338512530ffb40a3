from math import inf

import pytest

from cutset.judge.api_record import FEWEST_FOR_SLOW, SLOW_SLACK, ApiRecord, GroupRecord
from cutset.model.impact import ApiCall, Group, ObservedRequest
from cutset.model.point import Point

API = Point("frontend", "GET /")


def request(number: int, group: Group = Group.CONTROL, user: str = "") -> ObservedRequest:
    return ObservedRequest(f"trace-{number}", group, user, float(number))


def call(seconds: float = 0.01, *, failed: bool = False, attempts: int = 1) -> ApiCall:
    return ApiCall(API, failed=failed, seconds=seconds, attempts=attempts)


def before(count: int, seconds: float = 0.01) -> GroupRecord:
    record = GroupRecord()
    for number in range(count):
        record.add(request(number), call(seconds), bad=False)
    return record


def test_a_sample_has_counts_quantiles_attempts_and_the_first_traces_that_failed() -> None:
    record = GroupRecord()
    for number in range(200):
        failed = number % 10 == 0
        record.add(request(number, user=f"u{number % 7}"), call(number / 1000, failed=failed, attempts=2), bad=failed)
    sample = record.sample()

    assert (sample.requests, sample.failed, sample.users, sample.attempts) == (200, 20, 7, 2.0)
    assert sample.failed_traces == tuple(f"trace-{number}" for number in range(0, 100, 10))
    assert sample.seconds == {"p50": pytest.approx(0.111, abs=0.002), "p95": inf}  # too few for p99


def test_slow_is_a_tenth_of_a_second_more_than_nearly_all_before_took() -> None:
    assert before(FEWEST_FOR_SLOW, 0.02).slow_limit == pytest.approx(0.02 + SLOW_SLACK)


def test_slow_is_half_as_long_again_where_requests_take_long() -> None:
    assert before(FEWEST_FOR_SLOW, 2.0).slow_limit == pytest.approx(3.0)


def test_failed_requests_do_not_say_what_is_slow() -> None:
    record = before(FEWEST_FOR_SLOW)
    for number in range(500):
        record.add(request(number), call(failed=True), bad=True)

    assert record.slow_limit == pytest.approx(0.01 + SLOW_SLACK)


def test_without_a_window_before_the_first_of_the_control_say_what_is_slow_and_are_not_slow_themselves() -> None:
    record = ApiRecord()
    for number in range(FEWEST_FOR_SLOW):
        assert record.slow_limit is None
        record.add(request(number, Group.FAULT), call(5.0), fired=True)
        record.add(request(number), call(5.0 if number == 3 else 0.01), fired=False)
    record.add(request(1000, Group.FAULT), call(9.0), fired=True)

    assert record.slow_limit == pytest.approx(7.5)
    assert (record.fault.slow_or_failed.bad, record.control.slow_or_failed.bad) == (1, 0)
    assert (record.slowness.fault, record.slowness.control) == (1, 0)


def test_what_is_slow_does_not_change_any_more() -> None:
    record = ApiRecord(before=before(FEWEST_FOR_SLOW))
    record.add(request(1), call(), fired=False)
    limit = record.slow_limit
    for number in range(500):
        record.before.add(request(number), call(7.0), bad=False)
        record.add(request(number), call(7.0), fired=False)

    assert record.slow_limit == limit


def test_only_the_first_failure_of_a_user_is_told_to_the_coin() -> None:
    record = ApiRecord()
    for number in range(10):
        record.add(request(number, Group.FAULT, user="a"), call(failed=True), fired=True)
        record.add(request(number, Group.CONTROL, user="b"), call(failed=True), fired=False)

    assert (record.failures.fault, record.failures.control) == (1, 1)
    assert (record.fault.failed.bad, record.fault.failed.users) == (10, 1)


def test_requests_of_nobody_are_users_of_their_own() -> None:
    record = ApiRecord()
    for number in range(10):
        record.add(request(number, Group.FAULT), call(failed=True), fired=True)

    assert (record.failures.fault, record.fault.failed.users) == (10, 10)
