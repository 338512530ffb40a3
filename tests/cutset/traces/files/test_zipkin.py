import io

import orjson
import pytest

from cutset.model.span import Span, SpanKind
from cutset.traces.files.zipkin import read
from cutset.traces.tally import ReadTally

TRACE = "8448eb211c80319c"
SPAN = "b7ad6b7169203331"
CART = {"serviceName": "cart", "ipv4": "10.0.0.1"}
SHOP = {"serviceName": "shop"}


def record(**fields):
    return {"traceId": TRACE, "id": SPAN, "name": "get", "timestamp": 1000, "localEndpoint": CART} | fields


def read_all(document, tally=None):
    content = document if isinstance(document, bytes) else orjson.dumps(document)
    return list(read(io.BytesIO(content), tally or ReadTally()))


def the_span(**fields):
    (span,) = read_all([record(**fields)])
    return span


def version_1(*notes, facts=(), **fields):
    annotations = [{"value": value, "timestamp": at, "endpoint": by} for value, at, by in notes]
    binary = [{"key": key, "value": value, "endpoint": by} for key, value, by in facts]
    return read_all(
        [
            {"traceId": TRACE, "id": SPAN, "name": "get", "annotations": annotations, "binaryAnnotations": binary}
            | fields
        ]
    )


def test_reads_a_span_of_version_2():
    span = the_span(
        parentId="f",
        kind="CLIENT",
        timestamp=1_531_282_088_548_312,
        duration=20333,
        remoteEndpoint=SHOP,
        tags={"http.method": "GET", "http.path": "/a?b=1", "http.status_code": "200", "lc": "x"},
    )
    assert span == Span(
        TRACE.zfill(32),
        SPAN,
        "f".zfill(16),
        "cart",
        "get",
        SpanKind.CLIENT,
        1_531_282_088_548_312_000,
        1_531_282_088_568_645_000,
        attributes={
            "http.request.method": "GET",
            "url.path": "/a",
            "http.response.status_code": "200",
            "peer.service": "shop",
        },
    )


def test_reads_arrays_of_spans_of_traces_and_spans_by_line():
    assert len(read_all([record(), record()])) == 2
    assert len(read_all([[record(), record()], [record()]])) == 3
    assert len(read_all(b"\n".join([orjson.dumps(record()), orjson.dumps([record(), record()])]))) == 3


def test_the_halves_of_a_call_that_share_an_id_keep_it():
    client, server = read_all(
        [record(kind="CLIENT", parentId="a"), record(kind="SERVER", parentId="a", shared=True, localEndpoint=SHOP)]
    )
    assert client.span_id == server.span_id
    assert client.parent_id == server.parent_id
    assert (client.kind, server.kind) == (SpanKind.CLIENT, SpanKind.SERVER)


def test_what_is_absent_does_not_matter():
    bare = {"traceId": TRACE, "id": SPAN}
    (span,) = read_all([bare])
    assert span == Span(TRACE.zfill(32), SPAN, "", "unknown_service", "", SpanKind.INTERNAL, 0, 0)
    assert the_span(localEndpoint={"ipv4": "10.0.0.1"}).service == "unknown_service"


def test_the_peer_of_a_server_is_its_caller():
    assert the_span(kind="SERVER", remoteEndpoint=SHOP).attributes["peer.service"] == "shop"
    assert the_span(kind="PRODUCER", remoteEndpoint=SHOP).attributes["peer.service"] == "shop"


@pytest.mark.parametrize(
    ("tags", "error"),
    [
        ({"error": ""}, True),
        ({"error": "connection refused"}, True),
        ({"error": "true"}, True),
        ({"http.status_code": "500"}, True),
        ({"error": "false"}, False),
        ({}, False),
    ],
)
def test_errors(tags, error):
    assert the_span(tags=tags).error is error


def test_annotations_of_version_2_do_not_make_it_version_1():
    assert the_span(kind="CLIENT", annotations=[{"timestamp": 5, "value": "Body Part Received"}]).service == "cart"


def test_a_span_of_version_1_yields_both_halves():
    client, server = version_1(
        ("cs", 1000, CART),
        ("sr", 1200, SHOP),
        ("sr", 1300, SHOP),
        ("ss", 1500, SHOP),
        ("cr", 2000, CART),
        facts=[
            ("sa", True, SHOP),
            ("ca", True, CART),
            ("http.method", "GET", CART),
            ("http.status_code", "503", CART),
            ("http.path", "/x", SHOP),
            ("component", "any", None),
        ],
        parentId="a",
        timestamp=1000,
        duration=1000,
    )
    assert client == Span(
        TRACE.zfill(32),
        SPAN,
        "a".zfill(16),
        "cart",
        "get",
        SpanKind.CLIENT,
        1_000_000,
        2_000_000,
        error=True,
        attributes={"http.request.method": "GET", "http.response.status_code": "503", "peer.service": "shop"},
    )
    assert (server.kind, server.service, server.start_ns, server.end_ns) == (
        SpanKind.SERVER,
        "shop",
        1_200_000,
        1_500_000,
    )
    assert server.attributes == {"url.path": "/x", "peer.service": "cart"}
    assert not server.error
    assert (server.span_id, server.parent_id) == (client.span_id, client.parent_id)


def test_a_span_of_version_1_with_one_half_or_none():
    (server,) = version_1(("sr", 1200, SHOP), timestamp=1200, duration=300)
    assert (server.kind, server.service, server.end_ns) == (SpanKind.SERVER, "shop", 1_500_000)
    (local,) = version_1(facts=[("lc", "job", CART), ("error", "bad", CART)], timestamp=1200, duration=300)
    assert (local.kind, local.service, local.error) == (SpanKind.INTERNAL, "cart", True)
    (client,) = version_1(facts=[("sa", True, SHOP), ("x", "y", CART)], timestamp=1)
    assert (client.kind, client.service, client.attributes) == (SpanKind.CLIENT, "cart", {"peer.service": "shop"})
    (producer,) = version_1(("ms", 5, CART))
    assert (producer.kind, producer.start_ns) == (SpanKind.PRODUCER, 5000)


def test_version_1_is_known_by_its_annotations_alone():
    (span,) = read_all(
        [{"traceId": TRACE, "id": SPAN, "annotations": [{"value": "sr", "timestamp": 7, "endpoint": SHOP}]}]
    )
    assert (span.kind, span.service, span.start_ns) == (SpanKind.SERVER, "shop", 7000)


def test_what_is_malformed_is_counted_and_the_rest_kept():
    tally = ReadTally()
    broken = [record(id=5), record(traceId=""), record(timestamp="soon"), record(timestamp=-1), 17, [None]]
    assert len(read_all([*broken, record()], tally)) == 1
    assert tally.skipped == {
        "Zipkin span without ids": 2,
        "Zipkin span whose timestamp is no time": 2,
        "Zipkin span that is not an object": 2,
    }
    assert tally.first_at["Zipkin span without ids"] == "[0]"


def test_a_sidecar_of_ours_speaks_for_its_service():
    tags = {"cutset.service": "cart", "cutset.attempt": "1"}
    span = the_span(kind="SERVER", localEndpoint={"serviceName": "cutset-mesh"}, tags=tags)

    assert (span.service, span.attributes["cutset.sidecar"]) == ("cart", "true")
