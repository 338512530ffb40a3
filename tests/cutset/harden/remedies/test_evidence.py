from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.harden.remedies.evidence import SiteEvidence, evidence_of, latency_of, safe_to_repeat
from cutset.model.effect import SLOW, UNAVAILABLE, Effect
from cutset.model.event import ExperimentFinished, RequestAudited
from cutset.model.fault import cut_of
from cutset.model.finding import Finding, findings_of
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point

CART, QUOTE, FLAT, ADS = map(Point.parse, ("cart/GetCart", "shipping/GetQuote", "shipping/GetFlatRate", "ad/GetAds"))


def experiment(request: str, verdict: Verdict, *points: Point) -> ExperimentFinished:
    return ExperimentFinished(request=request, outcome=Outcome(cut_of(points), verdict))


@pytest.mark.parametrize(
    ("api", "safe"),
    [
        ("GetCart", True),
        ("ListProducts", True),
        ("Get", True),
        ("BatchGetItems", True),
        ("GET /carts/*", True),
        ("HEAD /", True),
        ("POST /carts", False),
        ("DELETE /carts/*", False),
        ("Charge", False),
        ("Getaway", False),
        ("Issue", False),
        ("PlaceOrder", False),
        ("Convert", False),
    ],
)
def test_only_what_is_known_to_read_is_safe_to_repeat(api: str, safe: bool) -> None:
    assert bool(safe_to_repeat(SiteEvidence(Point("shop", api)))) == safe


def test_a_call_that_was_repeated_and_well_answered_is_safe_too() -> None:
    assert "3 times" in safe_to_repeat(SiteEvidence(Point("shop", "Charge"), recovered=3))


def test_a_campaign_shows_what_breaks_what_is_tolerated_and_what_stands_in() -> None:
    events = [
        RequestAudited(
            request="GET /cart",
            healthy=True,
            reason="",
            calls=frozenset({replace(CART, replica="1"), QUOTE, ADS}),
            not_reached=frozenset(),
            trace_ids=(),
        ),
        experiment("GET /cart", Verdict.FAILED, CART),
        experiment("GET /cart", Verdict.DEGRADED, QUOTE),
        experiment("GET /cart", Verdict.FAILED, QUOTE, FLAT),
        experiment("GET /cart", Verdict.SURVIVED, ADS),
        experiment("POST /order", Verdict.FAILED, QUOTE),
    ]
    found = evidence_of(events, findings_of(events))
    assert set(found) == {CART, QUOTE, FLAT, ADS}
    assert found[CART] == SiteEvidence(CART, breaks=("GET /cart",), fatal=(UNAVAILABLE,))
    assert found[QUOTE] == SiteEvidence(
        QUOTE,
        breaks=("GET /cart", "POST /order"),
        tolerated=("GET /cart",),
        instead=frozenset({FLAT}),
        fatal=(UNAVAILABLE,),
    )
    assert found[ADS] == SiteEvidence(ADS, tolerated=("GET /cart",), survived=(UNAVAILABLE,))


def test_points_of_findings_that_no_audit_saw_are_known_all_the_same() -> None:
    assert set(evidence_of([], [Finding("GET /", Outcome(cut_of([CART]), Verdict.FAILED))])) == {CART}


@given(st.lists(st.floats(0, 10), min_size=1, max_size=300))
def test_latencies_are_values_that_were_seen_in_order(seconds: list[float]) -> None:
    latency = latency_of(seconds)
    assert latency.calls == len(seconds)
    assert {latency.median, latency.p99, latency.p999, latency.longest} <= set(seconds)
    assert latency.median <= latency.p99 <= latency.p999 <= latency.longest == max(seconds)
    assert sum(each <= latency.median for each in seconds) * 2 >= len(seconds)


def test_what_is_fatal_and_what_is_survived_is_told_by_effect() -> None:
    timeout = Effect.parse("timeout")
    events = [
        experiment("GET /", Verdict.SURVIVED, CART),
        ExperimentFinished(request="GET /", outcome=Outcome(cut_of([CART], timeout), Verdict.FAILED)),
    ]
    found = evidence_of(events, findings_of(events))[CART]

    assert (found.fatal, found.survived) == ((timeout,), (UNAVAILABLE,))
    assert found.survives_errors
    assert found.fatal_by(SLOW) == [timeout]
    assert not replace(found, survived=(timeout,)).survives_errors


@pytest.mark.parametrize(
    ("site", "safe"),
    [
        ("cart>cache/redis/get sessions:6379/0", True),
        ("cart>cache/redis/set sessions:6379/0", False),
        ("orders>db/psycopg/SELECT orders", True),
        ("orders>db/psycopg/INSERT orders", False),
        ("pay>rpc/httpx/GET /v1/rates", True),
        ("pay>rpc/httpx/POST /v1/charges", False),
    ],
)
def test_of_a_clients_own_calls_the_verb_says_what_is_safe_to_repeat(site: str, safe: bool) -> None:
    assert bool(safe_to_repeat(SiteEvidence(Point.parse(site)))) is safe
