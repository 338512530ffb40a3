"""A campaign to harden against, in a ledger."""

from pathlib import Path

from tests.samples.campaign import audited, experiment

from cutset.model.event import CampaignEvent, CampaignStarted
from cutset.model.outcome import Verdict
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
    RunStarted(loop=Loop.CAMPAIGN, run="one", command="explore"),
    CampaignStarted(requests=("GET /", "POST /pay"), max_size=3),
    audited("GET /"),
    audited("POST /pay"),
    failed("GET /", "cart/GetCart"),
    failed("GET /", "ad/GetAds"),
    failed("POST /pay", "cart/GetCart"),
    failed("POST /pay", "payment/Charge", "email/SendInvoice"),
    RunFinished(reason=""),
]
RATES = {"cart/GetCart": 0.0001, "ad/GetAds": 0.2, "payment/Charge": 0.1, "email/SendInvoice": 0.1}
TRAFFIC = {"GET /": 1000.0, "POST /pay": 10.0}


def fill(folder: Path, events: list[CampaignEvent] = EVENTS) -> Path:
    with open_ledger(folder) as ledger:
        for event in events:
            ledger.append("one", event)
    return folder


def ingest_home_pages(store: Path, traces: int = 1200) -> None:
    """Ten `GET /` a second, of 0.9 s, each with a `cart/GetCart` of 0.5 s."""
    spans = []
    for number in range(traces):
        trace, start = f"{number:032x}", 10**18 + number * 10**8
        web, client, cart = (f"{3 * number + each:016x}" for each in range(1, 4))
        root = {"http.request.method": "GET", "http.route": "/"}
        rpc = {"rpc.system.name": "grpc", "rpc.method": "shop.Cart/GetCart"}
        spans += [
            Span(trace, web, "", "web", "GET /", SpanKind.SERVER, start, start + 9 * 10**8, attributes=root),
            Span(trace, client, web, "web", "Get", SpanKind.CLIENT, start, start + 6 * 10**8, attributes=rpc),
            Span(trace, cart, client, "cart", "Get", SpanKind.SERVER, start, start + 5 * 10**8, attributes=rpc),
        ]
    with begin_ingest(store) as ingest:
        ingest.add("test", spans)
