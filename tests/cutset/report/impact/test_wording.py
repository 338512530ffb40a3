from dataclasses import replace

import pytest
from tests.samples.impacts import IMPACT, impact_started

from cutset.model.fault import Fault
from cutset.model.impact import ApiVerdict, Interval, Matching, TrafficSource, UserKey
from cutset.report.impact.wording import (
    advice,
    fault_in_words,
    interval_in_words,
    matching_in_words,
    population,
    rate_in_words,
    recovery_in_words,
    seconds_in_words,
    slower_in_words,
    user_in_words,
)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("payment/Charge:abort(503),30%", "payment/Charge answered 503 at 30 % of calls"),
        ("payment/*:grpc(14)", "all of payment answered UNAVAILABLE at every call"),
        ("ad/GetAds:delay(250ms),1%", "ad/GetAds was delayed by 250 ms at 1 % of calls"),
        ("ad/GetAds:timeout", "ad/GetAds did not answer at every call"),
        ("cart>cache/redis/get:connection-refused", "cart>cache/redis/get refused connections at every call"),
        ("a>db/x/get:connection-reset,call=2", "a>db/x/get broke connections at every call (the second call only)"),
        ("cart>cache/redis/get:library(cache-miss)", "cart>cache/redis/get failed by `cache-miss` at every call"),
        ("a/B:garbled", "a/B gave garbled answers at every call"),
        ("a/B:abort(500),attempts=1", "a/B answered 500 at every call (the first attempt only)"),
    ],
)
def test_a_fault_is_put_into_words(fault: str, words: str) -> None:
    assert fault_in_words(Fault.parse(fault)) == words


def test_who_was_looked_at_is_put_into_words() -> None:
    ramp = replace(impact_started(shares=(0.001, 0.01)), matching=Matching("GET", "/product/*", {"x-beta": ""}))
    sent = replace(impact_started(traffic=TrafficSource.LOAD), entries=("GET /", "POST /pay"))

    assert population(ramp) == "0.1 %, then 1 % of live requests with `GET /product/*`, header `x-beta`"
    assert population(sent) == "5 % of our own requests GET /, POST /pay"
    assert matching_in_words(Matching(cookies={"team": "shop"}, query={"q": "1"})) == "cookie `team=shop`, query `q=1`"
    assert user_in_words(UserKey(header="x-user")) == "by header `x-user`"
    assert user_in_words(UserKey()) == "each request by itself"


@pytest.mark.parametrize(
    ("rate", "words"),
    [(1.0, "100 %"), (0.0, "0 %"), (0.999999, "99.9999 %"), (0.9998, "99.98 %"), (0.7, "70.0 %"), (0.0005, "0.05 %")],
)
def test_a_rate_is_100_percent_only_if_nothing_failed(rate: float, words: str) -> None:
    assert rate_in_words(rate) == words


def test_small_differences_have_more_digits_and_none_is_minus_zero() -> None:
    assert interval_in_words(Interval(-0.00001, 0.123)) == "[0, +12.3]"
    assert interval_in_words(Interval(-0.0042, 1.0)) == "[−0.42, +100.0]"


def test_times_are_short_and_a_failed_request_is_infinitely_slow() -> None:
    assert [seconds_in_words(each) for each in (0.0412, 1.0, 75.2, float("inf"))] == ["41.2 ms", "1 s", "75.2 s", "∞"]
    assert slower_in_words(Interval(0.015, float("inf"))) == "p95 is at least 15 ms later than in the control"


def test_recovery_is_told_of_what_was_off_alone() -> None:
    assert [recovery_in_words(api) for api in IMPACT.apis] == [
        "well again 1.4 s after the last fault",
        "",
        "",
        "still off at the end",
    ]


def test_where_nothing_is_affected_the_advice_is_to_try_more() -> None:
    calm = replace(IMPACT, apis=IMPACT.apis[1:2], target=(), problems=())

    assert calm.verdict is ApiVerdict.RESILIENT
    assert list(advice(calm)) == ["Nothing upstream is affected: try a higher rate, or another effect"]
