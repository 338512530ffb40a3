"""`cutset harden` on a ledger, without a running system; with one, it is in `end_to_end/test_harden.py`."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from tests.samples.campaign import audited, experiment
from typer.testing import CliRunner, Result

from cutset.cli.main import app
from cutset.errors import CutsetError
from cutset.model.event import CampaignEvent, CampaignStarted
from cutset.model.outcome import Verdict
from cutset.model.point import Point
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.model.span import Span, SpanKind
from cutset.store.ledger import open_ledger
from cutset.store.spans import begin_ingest

MESH = """\
services:
  cart: {protocol: grpc, replicas: ["h:1", "h:2"]}
  ad: {protocol: grpc, replicas: ["h:3"]}
"""


def failed(request: str, *faults: str) -> CampaignEvent:
    return experiment(request, Verdict.FAILED, "500", *faults)


EVENTS: list[CampaignEvent] = [
    RunStarted(loop=Loop.CAMPAIGN, command="explore"),
    CampaignStarted(requests=("GET /", "POST /pay"), max_size=3),
    audited("GET /"),
    audited("POST /pay"),
    failed("GET /", "cart/GetCart"),
    failed("GET /", "ad/GetAds"),
    failed("POST /pay", "cart/GetCart"),
    failed("POST /pay", "payment/Charge", "email/SendInvoice"),
    RunFinished(reason=""),
]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / ".cutset", EVENTS)
    return tmp_path


def fill(folder: Path, events: list[CampaignEvent]) -> None:
    with open_ledger(folder) as ledger:
        for event in events:
            ledger.append("one", event)


def harden(*arguments: str) -> Result:
    result = CliRunner().invoke(app, ["harden", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit | CutsetError):
        raise result.exception
    return result


def document(*arguments: str) -> dict:
    result = harden("--json", *arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return json.loads(result.stdout)


def error(*arguments: str) -> CutsetError:
    result = harden(*arguments)
    assert isinstance(result.exception, CutsetError), result.output
    return result.exception


@pytest.mark.usefixtures("store")
def test_the_api_of_most_findings_comes_first_with_advice_and_a_frontier() -> None:
    found = document("--budget", "1")
    assert [site["name"] for site in found["sites"]] == ["cart/GetCart"]
    assert found["sites"][0]["breaks"] == ["GET /", "POST /pay"]
    assert found["sites"][0]["remedies"][0]["settings"] == {"fallback": {"GetCart": "last-good"}}
    assert found["proven"]
    assert (found["covered"], found["coverage"], found["afvr_predicted"]) == (2, 0.5, 0.5)
    assert [(point["budget"], point["covered"]) for point in found["frontier"]] == [(0, 0), (1, 2), (2, 3), (3, 4)]
    assert found["diminishing_from"] == 1


@pytest.mark.usefixtures("store")
def test_people_read_what_why_and_how_far_it_goes() -> None:
    text = harden("--budget", "1").output
    assert "Harden 1 API of cost 1  proven best" in text
    assert "That mitigates 2 of 4 findings; AFVR would be 0.500" in text
    assert "1. cart/GetCart\n   breaks GET /, POST /pay\n" in text
    assert "no timeout" in text
    assert "← this budget, from here on returns diminish" in text


def test_costs_priorities_and_wishes_come_from_a_file(store: Path) -> None:
    apis = {
        "cart/GetCart": {"cost": 5},
        "ad/GetAds": {"untouchable": True},
        "payment/Charge": {"fallback": "last-good-or-empty"},
        "email/SendInvoice": {"cost": 2},
    }
    (store / "costs.yaml").write_text(yaml.safe_dump({"apis": apis}))
    (site,) = document("--budget", "3", "--cost", "costs.yaml")["sites"]
    assert site["name"] == "payment/Charge"
    assert site["remedies"][0]["settings"] == {"fallback": {"Charge": "last-good-or-empty"}}
    refused = error("--budget", "3", "--cost", "costs.yaml", "--high", "GET /")
    assert refused.message.startswith("No budget covers `GET /`")
    refused = error("--budget", "3", "--cost", "costs.yaml", "--high", "POST /pay")
    assert refused.message.endswith("does not cover all high-priority requests: not `POST /pay`")
    assert refused.hint == "The smallest budget that does is 6"


def test_the_same_may_stand_in_the_configuration(store: Path) -> None:
    section = {"high": ["POST /pay"], "apis": {"payment/Charge": {"hardened": True}}}
    content = {"requests": [{"path": "/"}], "target": {"url": "http://127.0.0.1:1"}, "harden": section}
    (store / "cutset.yaml").write_text(yaml.safe_dump(content))
    found = document("--budget", "1")
    assert [site["name"] for site in found["sites"]] == ["cart/GetCart"]
    assert found["afvr_predicted"] == 0.25


def test_call_sites_are_named_by_their_callers_where_those_are_known(tmp_path: Path) -> None:
    ads, cart = Point.parse("ad/GetAds"), Point.parse("cart/GetCart")
    known = replace(audited("POST /pay"), edges=((ads, cart),))
    fill(tmp_path / "other", [*EVENTS[:2], known, *EVENTS[4:]])
    sites = document("--level", "call-site", "--budget", "9", "--store", str(tmp_path / "other"))["sites"]
    assert {site["name"] for site in sites} >= {"ad>cart/GetCart", "cart/GetCart"}
    assert all(site["breaks"] for site in sites)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("apis: {crat/GetCart: {cost: 1}}", "`crat/GetCart` was not called in this campaign"),
        ("apis: {cart/GetCart: {cost: 0}}", "expected a cost above 0, found 0"),
        ("apis: {cart/GetCart: {price: 1}}", "unknown key"),
        ("high: [GET /nowhere]", "There is no request `GET /nowhere` in this campaign"),
        ("high: [busiest]", "Which request is the busiest is not known"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(store: Path, content: str, message: str) -> None:
    (store / "costs.yaml").write_text(content)
    assert message in error("--cost", "costs.yaml").message


def test_availability_needs_rates_and_prefers_what_fails_often(store: Path) -> None:
    assert "The failure rate of" in error("--objective", "availability").message
    rates = {"cart/GetCart": 0.0001, "ad/GetAds": 0.2, "payment/Charge": 0.1, "email/SendInvoice": 0.1}
    wishes = {
        "apis": {api: {"failure_rate": rate} for api, rate in rates.items()},
        "traffic": {"GET /": 1000, "POST /pay": 10},
    }
    (store / "costs.yaml").write_text(yaml.safe_dump(wishes))
    found = document("--objective", "availability", "--budget", "1", "--cost", "costs.yaml")
    assert [site["name"] for site in found["sites"]] == ["ad/GetAds"]
    assert found["requests_per_day"] == 1010
    # cart and ads of GET /; cart, or payment with email, of POST /pay
    assert found["failed_per_day"]["before"] == pytest.approx(1000 * (1 - 0.9999 * 0.8) + 10 * (1 - 0.9999 * 0.99))
    assert found["failed_per_day"]["after"] == pytest.approx(1000 * 0.0001 + 10 * (1 - 0.9999 * 0.99))
    assert found["likeliest"][0]["failed_per_day"] == pytest.approx(200)
    assert "a day" in harden("--budget", "1", "--cost", "costs.yaml").output


def test_stored_traces_tell_latencies_and_traffic(store: Path) -> None:
    spans = []
    for number in range(1200):
        trace, start = f"{number:032x}", 10**18 + number * 10**8
        web, client, cart = (f"{3 * number + each:016x}" for each in range(1, 4))
        root = {"http.request.method": "GET", "http.route": "/"}
        rpc = {"rpc.system.name": "grpc", "rpc.method": "shop.Cart/GetCart"}
        spans += [
            Span(trace, web, "", "web", "GET /", SpanKind.SERVER, start, start + 9 * 10**8, attributes=root),
            Span(trace, client, web, "web", "Get", SpanKind.CLIENT, start, start + 6 * 10**8, attributes=rpc),
            Span(trace, cart, client, "cart", "Get", SpanKind.SERVER, start, start + 5 * 10**8, attributes=rpc),
        ]
    with begin_ingest(store / ".cutset") as ingest:
        ingest.add("test", spans)
    (store / "mesh.yaml").write_text(MESH)
    found = document("--budget", "2", "--high", "busiest", "--mesh", "mesh.yaml")
    assert {site["name"] for site in found["sites"]} == {"cart/GetCart", "ad/GetAds"}  # both of GET /
    settings = {name: site["remedies"] for site in found["sites"] for name in [site["name"]]}
    advised = {each["name"]: each["settings"] for each in settings["cart/GetCart"]}
    assert advised["timeout"] == {"timeout_seconds": 0.75}
    assert advised["bulkhead"] == {"max_parallel": 15}  # 3 × 10 a second × 0.5 s
    assert found["failed_per_day"]["before"] > 0  # rates follow from traces, too


def test_the_frontier_is_drawn(store: Path) -> None:
    document("--budget", "2", "--plot", "frontier.svg")
    root = ET.fromstring((store / "frontier.svg").read_text())
    assert root.tag.endswith("svg")
    texts = [each.text or "" for each in root.iter() if each.tag.endswith("text")]
    assert "budget 2" in texts
    assert any("50% at 1: from here on returns diminish" in text for text in texts)


def test_manifests_are_written_merged_with_or_refused(store: Path) -> None:
    (store / "mesh.yaml").write_text(MESH)  # retries already, so that there is one manifest only
    (name,) = document("--budget", "1", "--write", "k8s")["written"]
    assert name == "k8s/cart-destinationrule.yaml"
    file = store / name
    ours = yaml.safe_load(file.read_text())
    assert ours["spec"]["trafficPolicy"]["outlierDetection"]["interval"] == "1s"

    assert document("--budget", "1", "--write", "k8s")["written"] == []  # it is all there

    theirs = {"apiVersion": "networking.istio.io/v1", "kind": "DestinationRule", "metadata": {"name": "by-us"}}
    theirs["spec"] = {"host": "cart.shop.svc.cluster.local", "trafficPolicy": {"tls": {"mode": "ISTIO_MUTUAL"}}}
    file.write_text(yaml.safe_dump(theirs))
    refused = error("--budget", "1", "--write", "k8s")
    assert "`spec.host` is" in refused.message  # which name is right, we cannot know
    theirs["spec"]["host"] = "cart"
    file.write_text(yaml.safe_dump(theirs))
    assert document("--budget", "1", "--write", "k8s")["written"] == [name]
    merged = yaml.safe_load(file.read_text())
    assert merged["metadata"] == {"name": "by-us"}
    assert merged["spec"]["trafficPolicy"] == ours["spec"]["trafficPolicy"] | {"tls": {"mode": "ISTIO_MUTUAL"}}

    commented = "# by hand\n" + yaml.safe_dump(theirs)
    file.write_text(commented)
    assert "has comments" in error("--budget", "1", "--write", "k8s").message
    assert file.read_text() == commented


def test_what_stands_under_our_name_is_not_overwritten(store: Path) -> None:
    (store / "k8s").mkdir()
    (store / "k8s" / "cart-destinationrule.yaml").write_text("kind: Secret\n")
    assert "exists and holds something else" in error("--budget", "1", "--write", "k8s").message


def test_without_findings_there_is_nothing_to_harden(tmp_path: Path) -> None:
    fill(tmp_path / "other", [*EVENTS[:2], audited("GET /")])
    assert "nothing to harden" in error("--store", str(tmp_path / "other")).message


def test_applying_needs_a_mesh_and_a_configuration_of_the_same_requests(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert error("--apply", "local").message == "There is no mesh.yaml to change"
    monkeypatch.setenv("CUTSET_KEY", "x")
    content = {"requests": [{"path": "/"}], "target": {"url": "http://127.0.0.1:1"}}
    (store / "cutset.yaml").write_text(yaml.safe_dump(content))
    assert "explored `POST /pay`, which the configuration does not have" in error("--verify").message
