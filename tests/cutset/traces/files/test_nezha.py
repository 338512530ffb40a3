import io

import pytest

from cutset.model.span import Span, SpanKind, span_of_row
from cutset.traces.files.nezha import read
from cutset.traces.tally import ReadTally

HEADER = "TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration"
TRACE = "0af7651916cd43dd8448eb211c80319c"


def spans_of(*lines, header=HEADER, tally=None):
    return list(map(span_of_row, read(io.BytesIO("\n".join([header, *lines]).encode()), tally or ReadTally())))


def span_of(operation, pod="cartservice-579f59597d-wc2lz"):
    (span,) = spans_of(f"{TRACE},b7ad6b7169203331,root,{pod},{operation},1661258203788591288,1661258203788591999,1")
    return span


def test_reads_a_root_and_its_child():
    root, child = spans_of(
        f"{TRACE},b7ad6b7169203331,root,frontend-579b9bff58-t2dbm,hipstershop.Frontend/Recv.,1000,5000,4",
        f"{TRACE},00f067aa0ba902b7,b7ad6b7169203331,cartservice-579f59597d-wc2lz,hipstershop.CartService/GetCart,2000,3000,1",
    )
    assert root == Span(
        TRACE, "b7ad6b7169203331", "", "frontend", "hipstershop.Frontend/Recv.", SpanKind.INTERNAL, 1000, 5000
    )
    assert child.parent_id == root.span_id
    assert child.service == "cartservice"


@pytest.mark.parametrize(
    "operation",
    ["hipstershop.CartService/GetCart", "/hipstershop.CartService/GetCart", "grpc.hipstershop.CartService/GetCart"],
)
def test_the_three_spellings_of_one_rpc_have_one_method(operation):
    span = span_of(operation)
    assert span.attributes == {"rpc.system.name": "grpc", "rpc.method": "hipstershop.CartService/GetCart"}
    assert span.kind is SpanKind.INTERNAL  # either half of a call


@pytest.mark.parametrize(
    ("operation", "kind", "attributes"),
    [
        ("HTTP POST", SpanKind.CLIENT, {"http.request.method": "POST"}),
        ("/api/v1/orders/{id}", SpanKind.SERVER, {"http.route": "/api/v1/orders/{id}"}),
        ("/*", SpanKind.SERVER, {"http.route": "/*"}),
        (
            "SELECT ts.orders",
            SpanKind.CLIENT,
            {"db.system.name": "other_sql", "db.operation.name": "SELECT", "db.collection.name": "ts.orders"},
        ),
        ("sql.conn.query", SpanKind.CLIENT, {"db.system.name": "other_sql", "db.operation.name": "query"}),
        (
            "food_delivery process",
            SpanKind.CONSUMER,
            {"messaging.destination.name": "food_delivery", "messaging.operation.name": "process"},
        ),
        ("SELECT Order", SpanKind.INTERNAL, {}),  # the object mapper's span around the driver's
        ("sql.rows", SpanKind.INTERNAL, {}),
        ("OrderController.find", SpanKind.INTERNAL, {}),
        ("Session.find order.entity.Order", SpanKind.INTERNAL, {}),
        ("hipstershop.Frontend/Recv.", SpanKind.INTERNAL, {}),
    ],
)
def test_what_an_operation_was_shows_in_its_name(operation, kind, attributes):
    span = span_of(operation)
    assert (span.kind, span.attributes) == (kind, attributes)


@pytest.mark.parametrize(
    ("pod", "service"),
    [
        ("ts-order-other-service-6cfdd55578-gfj6q", "ts-order-other-service"),
        ("currencyservice-cf787dd48-vpjrd", "currencyservice"),
        ("redis-cart-0", "redis-cart"),
        ("plain", "plain"),
        ("ts-order-service", "ts-order-service"),
        ("", "unknown_service"),
    ],
)
def test_a_service_is_its_pods_name_without_what_kubernetes_adds(pod, service):
    assert span_of("x", pod).service == service


def test_lines_that_cannot_be_read_are_counted_and_the_others_kept():
    tally = ReadTally()
    spans = spans_of(
        f"{TRACE},b7ad6b7169203331,root,a,x,1000,5000,4",
        f"{TRACE},,root,a,x,1000,5000,4",
        f"{TRACE},b7ad6b7169203332,root,a,x,soon,5000,4",
        f"{TRACE},b7ad6b7169203333,root",
        "",
        f"{TRACE},b7ad6b7169203334,root,a,x,1000,,4",
        tally=tally,
    )
    assert [span.end_ns for span in spans] == [5000, 5000]
    assert tally.skipped == {
        "CSV line without ids": 1,
        "CSV line without a start time": 1,
        "CSV line with too few columns": 1,
    }
    assert tally.first_at["CSV line without a start time"] == "line 4"


@pytest.mark.parametrize("header", ["", "a,b,c", HEADER.replace("SpanID", "Span")])
def test_a_table_with_other_columns_is_counted_not_guessed_at(header):
    tally = ReadTally()
    assert spans_of(f"{TRACE},b7ad6b7169203331,root,a,x,1,2,3", header=header, tally=tally) == []
    assert tally.skipped == {"CSV file without the columns that are needed": 1}
