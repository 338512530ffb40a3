import pytest
from tests.samples.trace_builder import Made, trace

from cutset.lineage.client_spans import address_of, call_of, remote_calls, store_calls, unseen_by_mesh
from cutset.model.span import Span, SpanKind

GET = {"http.request.method": "GET"}


def made(
    own: str, parent: str, attributes: dict[str, object], kind: SpanKind = SpanKind.CLIENT, name: str = ""
) -> Span:
    return Span("t" * 32, own, parent, "web", name, kind, 0, 1, attributes=attributes)


def ids(spans: list[Span]) -> list[str]:
    return [span.span_id for span in spans]


def test_calls_that_a_sidecar_tells_of_are_told_from_those_that_none_does():
    spans = [*trace(Made("cart/GetCart"), Made("ad/GetAds", failed_attempts=1)), made("x", "1", GET)]

    assert len(remote_calls(spans)) == 3
    assert ids(unseen_by_mesh(remote_calls(spans), spans)) == ["x"]


def test_of_client_spans_inside_each_other_the_innermost_is_the_call():
    """As a vendor's library shows that is built on an HTTP client."""
    spans = [made("outer", "server", GET), made("between", "outer", {}, SpanKind.INTERNAL), made("x", "between", GET)]

    assert ids(remote_calls(spans)) == ["x"]


def test_a_call_past_the_mesh_is_not_covered_by_what_its_callee_calls():
    callee = made("server", "x", GET, SpanKind.SERVER)
    mesh = made("mesh", "y", {"cutset.service": "cart"}, SpanKind.SERVER)
    spans = [made("x", "", GET), callee, made("y", "server", GET), mesh]

    assert ids(unseen_by_mesh(remote_calls(spans), spans)) == ["x"]


def test_data_stores_are_no_services_also_if_they_speak_http():
    search = made("outer", "", {"db.system": "elasticsearch"})
    publish = made("publish", "", {"messaging.system": "nats"}, SpanKind.PRODUCER)
    spans = [search, made("x", "outer", GET), publish]

    assert remote_calls(spans) == []
    assert ids(store_calls(spans)) == ["outer", "publish"]


@pytest.mark.parametrize(
    ("attributes", "address"),
    [
        ({"server.address": "pay", "server.port": 8080, "url.full": "http://proxy/x"}, "pay:8080"),
        ({"net.peer.name": "redis"}, "redis"),
        ({"http.url": "https://user:secret@rates.example:8443/v1?key=1"}, "rates.example:8443"),
        ({"peer.hostname": "pay", "peer.port": "80"}, "pay:80"),
        ({"peer.service": "pay"}, "pay"),
        ({}, ""),
    ],
)
def test_where_a_call_went_is_read_from_whatever_names_it(attributes, address):
    assert address_of(made("x", "", attributes)) == address


@pytest.mark.parametrize(
    ("name", "attributes", "call"),
    [
        ("GET", GET | {"url.full": "http://pay/cards/12345?key=1"}, "GET /cards/*"),
        ("HTTP GET", {"http.method": "GET", "http.url": "http://pay/cards"}, "GET /cards"),
        ("GET /cards/12345", GET, "GET /cards/*"),
        ("pay.Pay/Charge", {"rpc.system": "grpc"}, "pay.Pay/Charge"),
    ],
)
def test_a_call_is_named_without_identifiers(name, attributes, call):
    assert call_of(made("x", "", attributes, name=name)) == call
