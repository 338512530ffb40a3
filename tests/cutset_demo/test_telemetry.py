import secrets

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

TRACESTATE = "cutset=v1~a/b~c:d|e,vendor=kept"


def attributes(span: Span) -> dict:
    values = {item.key: item.value for item in span.attributes}
    return {key: value.string_value or value.int_value for key, value in values.items()}


def spans_of(boutique, path: str, root: str, *, tracestate: str = TRACESTATE):
    """All spans of one GET, once its outermost span, which ends last in its process, has arrived."""
    trace_id = secrets.token_hex(16)
    with boutique.client(traceparent=f"00-{trace_id}-00000000000000aa-01", tracestate=tracestate) as client:
        client.get(path)

    def complete(spans) -> bool:
        ids = {span.span_id for _, _, span in spans}
        orphans = [span for _, _, span in spans if span.name != root and span.parent_span_id not in ids]
        clients = {span.span_id for _, _, span in spans if span.kind == Span.SPAN_KIND_CLIENT and "/" in span.name}
        served = {span.parent_span_id for _, _, span in spans if span.kind == Span.SPAN_KIND_SERVER}
        return any(span.name == root for _, _, span in spans) and not orphans and clients <= served

    return boutique.wait_for_spans(trace_id, complete)


def test_every_call_is_a_client_span_with_a_server_span_below_it(boutique):
    spans = spans_of(boutique, "/product/6E92ZMYYFZ", "GET /product/{id}")
    by_id = {span.span_id: (service, span) for service, _, span in spans}
    served = [(service, span) for service, _, span in spans if span.kind == Span.SPAN_KIND_SERVER]
    edges = [
        (by_id[span.parent_span_id][0], service, span.name)
        for service, span in served
        if span.parent_span_id in by_id and by_id[span.parent_span_id][1].kind == Span.SPAN_KIND_CLIENT
    ]
    assert len(edges) == len(served) - 1  # all but the request itself
    assert edges.count(("frontend", "productcatalog", "hipstershop.ProductCatalogService/GetProduct")) == 6
    assert edges.count(("recommendation", "productcatalog", "hipstershop.ProductCatalogService/ListProducts")) == 1
    assert edges.count(("frontend", "cart", "hipstershop.CartService/GetCart")) == 1


def test_the_root_span_continues_the_callers_trace_and_describes_the_request(boutique):
    spans = spans_of(boutique, "/product/6E92ZMYYFZ", "GET /product/{id}")
    [root] = [span for _, _, span in spans if span.name == "GET /product/{id}"]
    assert root.parent_span_id.hex() == "00000000000000aa"
    assert attributes(root) == {
        "http.request.method": "GET",
        "http.route": "/product/{id}",
        "url.path": "/product/6E92ZMYYFZ",
        "http.response.status_code": 200,
    }


def test_the_tracestate_is_on_every_span_unchanged(boutique):
    spans = spans_of(boutique, "/", "GET /")
    assert {span.trace_state for _, _, span in spans} == {TRACESTATE}


def test_data_store_calls_are_client_spans_that_name_their_system(boutique):
    spans = spans_of(boutique, "/", "GET /")
    stores = {
        (service, attributes(span)["db.system"], attributes(span)["db.operation"])
        for service, _, span in spans
        if "db.system" in attributes(span)
    }
    assert stores == {("cart", "redis", "HGETALL"), ("productcatalog", "postgresql", "SELECT")}


def test_a_failed_call_is_told_from_one_that_worked(boutique):
    spans = spans_of(boutique, "/", "GET /", tracestate="other=1")
    assert {attributes(span)["rpc.grpc.status_code"] for _, _, span in spans if "rpc.method" in attributes(span)} == {0}
    trace_id = secrets.token_hex(16)
    with boutique.client(["cart/GetCart"], traceparent=f"00-{trace_id}-00000000000000aa-01") as client:
        assert client.get("/").status_code == 500
    spans = boutique.wait_for_spans(trace_id, lambda spans: any(span.name == "GET /" for _, _, span in spans))
    errors = {span.name: attributes(span) for _, _, span in spans if span.status.code == Status.STATUS_CODE_ERROR}
    assert set(errors) == {"GET /", "hipstershop.CartService/GetCart"}
    assert errors["GET /"]["http.response.status_code"] == 500
    assert errors["hipstershop.CartService/GetCart"]["rpc.grpc.status_code"] == 14


def test_a_failure_below_a_service_is_internal_never_unavailable(boutique):
    trace_id = secrets.token_hex(16)
    plan = {"traceparent": f"00-{trace_id}-00000000000000aa-01"}
    with boutique.client(["productcatalog/ListProducts"], **plan) as client:
        assert client.get("/product/6E92ZMYYFZ").status_code == 500
    name = "hipstershop.RecommendationService/ListRecommendations"
    spans = boutique.wait_for_spans(trace_id, lambda spans: sum(span.name == name for _, _, span in spans) == 2)
    assert {attributes(span)["rpc.grpc.status_code"] for _, _, span in spans if span.name == name} == {13}


def test_foreign_headers_travel_to_the_last_callee_byte_for_byte(boutique):
    headers = {
        "baggage": "plan=a%2Fb;ttl=1, other=2",
        "uber-trace-id": "1:2:3:1",
        "uberctx-cutset": "x=y,z",
    }
    boutique.calls.clear()
    with boutique.client(**headers) as client:
        client.get("/product/6E92ZMYYFZ")
    [last] = [call.metadata for call in boutique.calls if call.method == "ListProducts"]
    assert {name: last.get(name) for name in headers} == headers


def test_spans_name_the_replica_that_made_them(boutique):
    spans = spans_of(boutique, "/", "GET /")
    assert {replica for _, replica, _ in spans} == {"1"}  # the proxies know of the first replicas only
