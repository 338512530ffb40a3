import pytest
from tests.samples.campaign import MIXED
from tests.samples.hardening import EVENTS, RATES, TRAFFIC

from cutset.harden.choose import choose
from cutset.harden.importance import failures_per_day
from cutset.harden.needs import softened_by_errors
from cutset.harden.odds import hardened_by, odds_of, request_classes, within_bounds
from cutset.harden.probability import Rates, likelihood, rates_of
from cutset.harden.problem import CandidateLevel, Choice, problem_of
from cutset.model.point import Point
from cutset.model.summary import summarise

SUMMARY = summarise(EVENTS)
FAILS = Rates({Point.parse(name): rate for name, rate in RATES.items()})
CALLERS = {("GET /", Point("cart", "GetCart")): frozenset({"web"})}


def test_hardening_is_worth_the_requests_that_no_longer_fail() -> None:
    problem = problem_of(SUMMARY.findings, already={"payment/Charge"})
    best = choose(problem, 1)
    assert isinstance(best, Choice)
    hardened = hardened_by(problem, best)
    assert hardened == {"cart/GetCart", "payment/Charge"}
    classes = request_classes(SUMMARY.requests, problem, {}, TRAFFIC)

    odds = odds_of(classes, SUMMARY.findings, FAILS, hardened)

    assert odds.per_day == 1010
    assert odds.failed_before == pytest.approx(1000 * (1 - 0.9999 * 0.8) + 10 * (1 - 0.9999 * 0.99))
    assert odds.failed_after == pytest.approx(1000 * 0.2)
    assert odds.likeliest[0][1] == pytest.approx(200)
    assert [each.name for each in odds.importances.ranked] == [
        "ad/GetAds",
        "email/SendInvoice",
        "payment/Charge",
        "cart/GetCart",
    ]
    assert odds.importances.ranked[0].saved == pytest.approx(1000 * 0.9999 * 0.2)


def test_a_call_site_is_what_has_to_be_hardened_where_its_caller_is_known() -> None:
    problem = problem_of(SUMMARY.findings, level=CandidateLevel.CALL_SITE, callers=CALLERS)
    home, pay = request_classes(SUMMARY.requests, problem, CALLERS, {})
    cart = Point("cart", "GetCart")
    assert (home.sites_of(cart), pay.sites_of(cart)) == ({"web>cart/GetCart"}, {"cart/GetCart"})
    assert home.per_day == 1


def test_what_fails_lies_between_what_all_low_and_all_high_rates_make_of_it() -> None:
    problem = problem_of(SUMMARY.findings)
    classes = request_classes(SUMMARY.requests, problem, {}, TRAFFIC)
    odds = odds_of(classes, SUMMARY.findings, FAILS, {"cart/GetCart"})
    halved, doubled = (
        Rates({point: factor * rate for point, rate in FAILS.of_points.items()}) for factor in (0.5, 2.0)
    )
    bounded = within_bounds(odds, classes, (halved, doubled), {"cart/GetCart"})
    assert bounded.failed_before_between is not None
    assert bounded.failed_after_between is not None
    assert bounded.failed_before_between[0] < odds.failed_before < bounded.failed_before_between[1]
    assert bounded.failed_after_between[0] < odds.failed_after < bounded.failed_after_between[1]
    assert bounded.failed_before_between[1] == pytest.approx(1000 * (1 - 0.9998 * 0.6) + 10 * (1 - 0.9998 * 0.96))


def test_traffic_that_was_seen_has_bounds_of_its_own() -> None:
    classes = request_classes(SUMMARY.requests, problem_of(SUMMARY.findings), {}, TRAFFIC)
    odds = odds_of(classes, SUMMARY.findings, FAILS, set())
    busy = {each.name: (each.per_day / 2, each.per_day * 3) for each in classes}
    bounded = within_bounds(odds, classes, (FAILS, FAILS), set(), busy)
    assert bounded.failed_before_between == pytest.approx((odds.failed_before / 2, odds.failed_before * 3))


def test_findings_that_differ_in_effects_alone_are_counted_once_and_hardened_against_each() -> None:
    summary = summarise(MIXED)
    softened = softened_by_errors(summary)
    problem = problem_of(summary.findings, softened=softened)
    (request,) = request_classes(summary.requests, problem, {}, {}, softened)
    charge, book = Point("payment", "Charge"), Point("ledger", "Book")
    rates = rates_of({charge: 0.1, book: 0.0})

    assert request.cuts == (frozenset({charge}), frozenset({charge, book}))
    assert likelihood(request, rates).probability == pytest.approx(0.1)
    assert {"validation at payment/Charge", "timeout at payment/Charge"} <= request.sites_of(charge)
    assert len(failures_per_day(summary.findings, rates, {})) == 2
    timeout = {"timeout at payment/Charge": 0.0}
    assert likelihood(request, rates, timeout).probability == pytest.approx(0.1)  # what is left may do it, too
    every = dict.fromkeys(request.sites_of(charge), 0.0)
    assert likelihood(request, rates, every).probability == 0
