import json

import pytest
from tests.samples.jaeger_payloads import BATCH, BINARY, COMPACT

from cutset.errors import InputError
from cutset.lineage.client_spans import address_of
from cutset.model.span import SpanKind
from cutset.traces.legacy import spans_from_jaeger, spans_from_jaeger_message, spans_from_zipkin

IDS = {"traceId": "a" * 16, "id": "b" * 16}


def zipkin(*records):
    return spans_from_zipkin(json.dumps(records).encode())


def test_a_batch_of_jaeger_is_the_same_over_http_and_in_both_kinds_of_datagrams():
    first, second = spans_from_jaeger(BATCH)

    assert spans_from_jaeger_message(BINARY) == spans_from_jaeger_message(COMPACT) == [first, second]
    assert (first.trace_id, first.span_id, first.parent_id) == (
        "0" * 16 + "f" * 15 + "e",
        "f" * 15 + "d",
        "0" * 15 + "7",
    )
    assert (first.service, first.name, first.kind, first.error) == ("web", "GET", SpanKind.CLIENT, True)
    assert (first.start_ns, first.end_ns - first.start_ns) == (1_700_000_000_000_000_000, 1_500_000)
    assert first.attributes["http.request.method"] == first.attributes["http.method"] == "GET"
    assert (first.attributes["peer.port"], first.attributes["load"]) == (8080, 0.5)
    assert (second.trace_id, second.parent_id) == (f"{2:016x}{1:016x}", f"{9:016x}")


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (b"\0", "spans: expected a list"),
        (b"\x0f\x00\x02\x0b\0\0\0\x01\0\0\0\0\0", r"spans\[0\]: expected a struct"),
        (b"\x0f\x00\x02\x0c\0\0\0\x01\0\0", r"spans\[0\]: Jaeger span without ids"),
    ],
)
def test_a_batch_that_is_not_one_is_refused(payload, problem):
    with pytest.raises(InputError, match=problem):
        spans_from_jaeger(payload)


def test_a_datagram_that_asks_for_something_else_is_refused():
    with pytest.raises(InputError, match="calls `emitOther`: expected `emitBatch`"):
        spans_from_jaeger_message(BINARY.replace(b"emitBatch", b"emitOther"))


def test_zipkins_spans_say_where_their_calls_went():
    remote = {"serviceName": "pay", "ipv4": "10.0.0.7", "port": 8080}
    (span,) = zipkin(IDS | {"kind": "CLIENT", "name": "get", "timestamp": 5, "duration": 2, "remoteEndpoint": remote})

    assert (span.trace_id, span.span_id, span.kind) == ("0" * 16 + "a" * 16, "b" * 16, SpanKind.CLIENT)
    assert address_of(span) == "10.0.0.7:8080"
    assert span.attributes["peer.service"] == "pay"


def test_the_two_halves_of_a_call_that_share_an_id_are_two_spans_one_below_the_other():
    client, server = zipkin(IDS | {"kind": "CLIENT"}, IDS | {"kind": "SERVER", "shared": True, "parentId": "c" * 16})

    assert client.span_id == "b" * 16
    assert server.parent_id == client.span_id
    assert server.span_id not in {client.span_id, "c" * 16}


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (b"{", "is not JSON"),
        (b"{}", "is not a JSON array of spans"),
        (b"[[]]", r"\[0\]: Zipkin span that is not an object"),
        (json.dumps([IDS, {"id": "b"}]).encode(), r"\[1\]: Zipkin span without ids"),
        (json.dumps([{"traceId": "zz", "id": "yy"}]).encode(), r"\[0\]: expected ids of hex digits"),
        (b"[" * 100_000, "is not JSON"),
    ],
)
def test_what_is_not_zipkins_is_refused_as_a_whole(payload, problem):
    with pytest.raises(InputError, match=problem):
        spans_from_zipkin(payload)
