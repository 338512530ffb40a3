from dataclasses import replace

import pytest
from tests.samples.campaign import EVENTS, MIXED, audited, experiment, points

from cutset.model.event import CampaignEvent, CampaignStarted, RequestFinished
from cutset.model.outcome import Verdict
from cutset.model.point import Point
from cutset.model.run import RunFinished
from cutset.model.summary import RequestSummary, summarise
from cutset.report.campaign.significance import Bearing, Significance, bearings_of, worst


def summary(events: list[CampaignEvent], request: str) -> RequestSummary:
    (found,) = [each for each in summarise(events).requests if each.name == request]
    return found


def bearing(point: str, request: str = "GET /", events: list[CampaignEvent] = EVENTS) -> Bearing:
    return bearings_of(summary(events, request))[Point.parse(point)]


def test_what_fails_a_request_alone_is_fatal_and_says_what_the_user_sees() -> None:
    found = bearing("cart/GetCart")

    assert (found.significance, found.sign) == (Significance.FATAL, "✗")
    assert found.words == "fatal alone, 500 with `no cart`"


def test_a_point_of_a_larger_cut_has_its_size_as_a_sign_and_names_the_others() -> None:
    found = bearing("pay/Charge", "POST /pay")

    assert (found.significance, found.sign) == (Significance.SHARED, "2")
    assert found.words == "in a minimal cut of 2, with backup/Charge"


def test_what_takes_a_part_of_the_answer_away_degrades() -> None:
    assert bearing("ad/GetAds").words == "degraded, 200, but missing section#ads"


@pytest.mark.parametrize(
    ("point", "why"),
    [("currency/Convert", "called without the trace context, so no plan reaches it")],
)
def test_what_no_plan_reaches_is_not_coverable(point: str, why: str) -> None:
    assert bearing(point, "POST /pay") == Bearing(Significance.NOT_COVERABLE, why=why)


def test_what_stayed_unknown_is_not_known() -> None:
    assert bearing("x/Y", "POST /pay") == Bearing(Significance.UNKNOWN, why="never fired: x/Y was not called")


def test_what_was_not_tried_is_tolerated_only_where_all_single_failures_are_decided() -> None:
    def events(complete_up_to: int, reason: str) -> list[CampaignEvent]:
        return [
            CampaignStarted(requests=("GET /",), max_size=2),
            audited("GET /"),
            experiment("GET /", Verdict.SURVIVED, "200", "ad/GetAds"),
            RequestFinished(request="GET /", complete_up_to=complete_up_to, reason=reason),
            RunFinished(),
        ]

    assert bearing("cart/GetCart", events=events(1, "")) == Bearing(Significance.TOLERATED)
    assert bearing("cart/GetCart", events=events(0, "no time")) == Bearing(Significance.UNKNOWN, why="no time")
    assert bearing("ad/GetAds", events=events(0, "no time")) == Bearing(Significance.TOLERATED)


def test_what_is_expected_to_fail_and_was_not_tried_is_not_known() -> None:
    request = summary(EVENTS, "POST /pay")
    found = bearings_of(replace(request, calls=request.calls | points("a/1")))[Point.parse("a/1")]

    assert found == Bearing(Significance.UNKNOWN, why="expected to fail, but not tried")


def test_where_it_depends_on_the_effect_all_of_them_are_told() -> None:
    found = bearing("payment/Charge", "POST /pay", MIXED)

    assert found.significance is Significance.FATAL
    assert "survives abort(503)" in found.why
    assert "fails with timeout" in found.why


def test_over_several_requests_the_worst_counts_and_is_told_for_which() -> None:
    told = {
        "a": Bearing(Significance.TOLERATED),
        "b": Bearing(Significance.SHARED, 3),
        "c": Bearing(Significance.SHARED, 2),
        "d": Bearing(Significance.SHARED, 2),
    }

    assert worst(told) == Bearing(Significance.SHARED, 2, "for c, d")
    many = dict.fromkeys("abcde", Bearing(Significance.FATAL, 1))
    assert worst(many).why == "for a, b, c and 2 more"
