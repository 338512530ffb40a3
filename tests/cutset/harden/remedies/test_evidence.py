from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.harden.remedies.evidence import SiteEvidence, evidence_of, latency_of, safe_to_repeat
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
    assert found[CART] == SiteEvidence(CART, breaks=("GET /cart",))
    assert found[QUOTE] == SiteEvidence(
        QUOTE, breaks=("GET /cart", "POST /order"), tolerated=("GET /cart",), instead=frozenset({FLAT})
    )
    assert found[ADS] == SiteEvidence(ADS, tolerated=("GET /cart",))


def test_points_of_findings_that_no_audit_saw_are_known_all_the_same() -> None:
    assert set(evidence_of([], [Finding("GET /", Outcome(cut_of([CART]), Verdict.FAILED))])) == {CART}


@given(st.lists(st.floats(0, 10), min_size=1, max_size=300))
def test_latencies_are_values_that_were_seen_in_order(seconds: list[float]) -> None:
    latency = latency_of(seconds)
    assert latency.calls == len(seconds)
    assert {latency.median, latency.p99, latency.p999, latency.longest} <= set(seconds)
    assert latency.median <= latency.p99 <= latency.p999 <= latency.longest == max(seconds)
    assert sum(each <= latency.median for each in seconds) * 2 >= len(seconds)
