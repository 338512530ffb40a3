import secrets

from opentelemetry.proto.trace.v1.trace_pb2 import Span


def test_an_order_reaches_email_through_nats_within_its_trace(boutique):
    trace_id = secrets.token_hex(16)
    with boutique.client() as client:
        client.post("/cart", data={"product_id": "6E92ZMYYFZ"})
        client.headers["traceparent"] = f"00-{trace_id}-00000000000000aa-01"
        client.post("/cart/checkout")

    def told_by_both(spans):  # two processes, which export in whatever order
        return {Span.SPAN_KIND_CONSUMER, Span.SPAN_KIND_PRODUCER} <= {span.kind for _, _, span in spans}

    spans = boutique.wait_for_spans(trace_id, told_by_both)
    [(service, _, consumer)] = [entry for entry in spans if entry[2].kind == Span.SPAN_KIND_CONSUMER]
    [producer] = [span for _, _, span in spans if span.kind == Span.SPAN_KIND_PRODUCER]
    assert (service, consumer.name) == ("email", "orders.placed process")
    assert consumer.parent_span_id == producer.span_id
