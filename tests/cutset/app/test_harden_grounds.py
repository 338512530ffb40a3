from pathlib import Path

import pytest
from tests.samples.campaign import audited
from tests.samples.hardening import EVENTS, RATES, failed, fill, ingest_home_pages

from cutset.app.harden_grounds import failure_rates_of, gather
from cutset.app.report import read_campaign
from cutset.config.harden import ApiChoice, Cause, HardenChoice
from cutset.errors import InputError
from cutset.model.point import Point
from cutset.model.span import Span, SpanKind
from cutset.store.spans import begin_ingest

CART, CHARGE = Point("cart", "GetCart"), Point("payment", "Charge")


def test_a_campaign_alone_tells_findings_evidence_and_ranks(tmp_path: Path) -> None:
    known = gather(read_campaign(fill(tmp_path)), tmp_path, HardenChoice(traffic={"GET /": 7.0}))
    assert len(known.findings) == 4
    assert known.evidence[CART].breaks == ("GET /", "POST /pay")
    assert known.evidence[CART].latency is None
    assert set(known.ranks) == {CART, Point("ad", "GetAds")}  # what audits saw
    assert (known.traffic, known.calls, known.traces) == ({"GET /": 7.0}, {}, (0, 0, 0))


def test_stored_traces_tell_latencies_traffic_and_calls_and_what_is_given_wins(tmp_path: Path) -> None:
    ingest_home_pages(fill(tmp_path))
    known = gather(read_campaign(tmp_path), tmp_path, HardenChoice())
    latency = known.evidence[CART].latency
    assert latency is not None
    assert (latency.calls, latency.median) == (1200, 0.5)
    assert known.evidence[CART].per_second == pytest.approx(10, rel=0.1)
    assert known.traffic == {"GET /": pytest.approx(864_000, rel=0.01)}
    seen = "1,200 seen in 2 min; 865,000 a day at that pace (816,000 to 915,000)"
    assert known.traffic_from == {"GET /": seen}
    assert latency.source == "stored traces"
    assert known.calls[CART].total == 1200
    assert known.traces[0] == 3600
    assert gather(read_campaign(tmp_path), tmp_path, HardenChoice(traffic={"GET /": 5.0})).traffic == {"GET /": 5.0}


def test_failure_rates_must_be_given_or_seen(tmp_path: Path) -> None:
    known = gather(read_campaign(fill(tmp_path)), tmp_path, HardenChoice())
    with pytest.raises(InputError, match="failure rate of"):
        failure_rates_of(known, HardenChoice())
    given = HardenChoice(
        apis={name: ApiChoice(failure_rate=rate) for name, rate in RATES.items()},
        common_causes={"zone": Cause(0.05, ("payment", "email"))},
    )
    rates = failure_rates_of(known, given)
    (zone,) = rates.causes
    assert zone.points == {CHARGE, Point("email", "SendInvoice")}
    assert rates.of_points[CART] == pytest.approx(0.0001)
    assert rates.of_points[CHARGE] == pytest.approx(1 - 0.9 / 0.95)  # the rest of what was given


def test_traces_tell_of_the_apis_of_findings_whatever_they_call_them(tmp_path: Path) -> None:
    """Jaeger's clients have the whole method as the span's name, and routes have names for what the mesh stars out."""
    apis = ["user/CheckUser", "web/GET /item/*"]
    fill(tmp_path, [*EVENTS[:2], audited("GET /"), *(failed("GET /", api) for api in apis), EVENTS[-1]])
    route = {"http.request.method": "GET", "http.route": "/item/{id}"}
    spans = []
    for number in range(3):
        trace, ids = f"{number:032x}", [f"{3 * number + each:016x}" for each in range(1, 4)]
        names = [("edge", "GET /", {}), ("web", "get item", route), ("user", "/user.User/CheckUser", {})]
        for (service, name, attributes), own, parent in zip(names, ids, ["", *ids], strict=False):
            spans.append(
                Span(trace, own, parent, service, name, SpanKind.SERVER, 10**18, 10**18 + 10**9, attributes=attributes)
            )
    with begin_ingest(tmp_path) as ingest:
        ingest.add("test", spans)
    known = gather(read_campaign(tmp_path), tmp_path, HardenChoice())
    for api in map(Point.parse, apis):
        latency = known.evidence[api].latency
        assert latency is not None
        assert latency.calls == known.calls[api].total == 3
