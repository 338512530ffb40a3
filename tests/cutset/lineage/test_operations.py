from cutset.lineage.operations import operation_of, operations_of
from cutset.model.span import Span, SpanKind


def span(span_id: str, kind: SpanKind = SpanKind.CLIENT, **attributes: str) -> Span:
    named = {f"cutset.{name}": value for name, value in attributes.items()}
    return Span("t", span_id, "", "shop", "x", kind, 2_000_000_000, 2_500_000_000, error=True, attributes=named)


def test_spans_become_operations_with_their_facts() -> None:
    found = operation_of(
        span("1", endpoint="db/psycopg/execute", occurrence="3", fault="deadlock", payload="ab", rows="1"),
        1_000_000_000,
    )

    assert (found.endpoint, found.occurrence, found.fault, found.payload) == ("db/psycopg/execute", 3, "deadlock", "ab")
    assert (found.started_at, found.seconds, found.failed, found.facts) == (1.0, 0.5, True, {"rows": "1"})


def test_calls_of_the_request_are_told_by_service_and_those_of_others_are_not() -> None:
    spans = [
        span("1", endpoint="db/psycopg/execute", occurrence="1", service="orders", verb="INSERT"),
        span("2", SpanKind.PRODUCER, endpoint="mq/nats/publish", occurrence="1", service="orders", peer="placed"),
        span("3", endpoint="cache/redis/rpush", occurrence="1", service="cart"),
        span("4", endpoint="cache/redis/rpush", occurrence="0", service="cart"),
        span("5", SpanKind.SERVER, endpoint="GET /", service="cart"),
    ]
    found = operations_of(spans)
    assert {service: [each.endpoint for each in calls] for service, calls in found.items()} == {
        "orders": ["db/psycopg/execute", "mq/nats/publish"],
        "cart": ["cache/redis/rpush"],
    }
    assert found["orders"][1].facts == {"peer": "placed"}
