import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans
from tests.samples.otlp_payloads import (
    JSON_VALUES,
    PAYLOADS,
    SPAN,
    TRACE,
    json_payload,
    json_span,
    protobuf_payload,
    protobuf_span,
)

from cutset.model.span import Span, SpanKind
from cutset.traces.files.otlp import read_json, read_protobuf
from cutset.traces.otlp import line_from_protobuf
from cutset.traces.tally import ReadTally


def read(reader, content):
    tally = ReadTally()
    return list(reader(io.BytesIO(content), tally)), dict(tally.skipped)


def the_span_in_a_file(**fields):
    [span], skipped = read(read_json, json_payload(json_span(**fields)))
    assert not skipped
    return span


def attribute(key, value):
    return {"key": key, "value": {"stringValue": value}}


def test_a_file_gives_spans_in_present_names_with_their_failure():
    payload = json_payload(
        json_span(
            kind="SPAN_KIND_CLIENT",
            startTimeUnixNano="5",
            endTimeUnixNano=9,
            attributes=[
                attribute("http.method", "GET"),
                {"key": "http.status_code", "value": {"intValue": "404"}},
                {"key": "user.name", "value": {"stringValue": "secret"}},
                {"key": "http.route", "value": {"arrayValue": {"values": []}}},
            ],
        ),
        resource={"attributes": [attribute("service.name", "cart"), attribute("service.instance.id", "1")]},
    )
    attributes = {"http.request.method": "GET", "http.response.status_code": "404"}
    expected = Span(TRACE, SPAN, "", "cart", "GET /", SpanKind.CLIENT, 5, 9, True, attributes)

    assert read(read_json, payload) == ([expected], {})
    assert read(read_json, payload + b"\n" + payload) == ([expected] * 2, {})


def test_a_sidecar_of_ours_speaks_for_the_service_that_it_is_in_front_of():
    told = [attribute("cutset.service", "cart"), attribute("cutset.replica", "1")]
    payload = json_payload(
        json_span(attributes=told), resource={"attributes": [attribute("service.name", "cutset-mesh")]}
    )
    [span], _ = read(read_json, payload)
    assert (span.service, span.attributes) == ("cart", {})


def test_protobuf_and_json_files_of_the_same_spans_are_the_same():
    pairs = [KeyValue(key="http.status_code", value=AnyValue(int_value=503)), KeyValue(key="http.method")]
    span = protobuf_span(kind=2, start_time_unix_nano=5, end_time_unix_nano=2, attributes=pairs)
    payload = protobuf_payload(span, span, resource=[("service.name", "cart")])

    from_protobuf = read(read_protobuf, payload)

    assert from_protobuf == read(read_json, line_from_protobuf(payload).encode())
    assert from_protobuf[0][0] == Span(
        TRACE, SPAN, "", "cart", "GET /", SpanKind.SERVER, 5, 5, True, {"http.response.status_code": "503"}
    )


@pytest.mark.parametrize(
    ("trace", "own"),
    [(TRACE, SPAN), (TRACE.upper(), SPAN.upper()), ("CvdlGRbNQ92ESOshHIAxnA==", "t61rcWkgMzE=")],
)
def test_ids_in_files_are_hex_in_any_case_or_base64(trace, own):
    span = the_span_in_a_file(traceId=trace, spanId=own, parentSpanId=own)

    assert (span.trace_id, span.span_id, span.parent_id) == (TRACE, SPAN, SPAN)


@pytest.mark.parametrize("own", ["t61rcWkg\ufffdzE=", "t61r*Wkg*zE=", "============"])
def test_an_id_in_a_file_that_only_looks_like_base64_is_kept_as_it_is(own):
    assert the_span_in_a_file(spanId=own).span_id == own


@pytest.mark.parametrize("parent", [{}, {"parentSpanId": ""}, {"parentSpanId": None}, {"parentSpanId": "0" * 16}])
def test_a_span_in_a_file_without_a_parent_is_a_root(parent):
    assert the_span_in_a_file(**parent).parent_id == ""


@pytest.mark.parametrize(
    "wrap",
    [
        lambda resources: {"batches": resources},
        lambda resources: {"trace": {"resourceSpans": resources}, "metrics": {}},
        lambda resources: {"trace": {"batches": resources}},
        lambda resources: resources,
        lambda resources: resources[0],
    ],
)
@pytest.mark.parametrize("scopes", ["scopeSpans", "instrumentationLibrarySpans"])
@pytest.mark.parametrize("indent", [None, 2])
def test_tempos_and_older_layouts_are_read(wrap, scopes, indent):
    document = wrap([{"resource": {}, scopes: [{"spans": [json_span()]}]}])

    assert read(read_json, json.dumps(document, indent=indent).encode())[0] == [the_span_in_a_file()]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"traceId": None}, "span without an id"),
        ({"spanId": "0" * 16}, "span without an id"),
        ({"spanId": 7}, "span whose id is not a text"),
        ({"startTimeUnixNano": "soon"}, "span whose time is not a number"),
        ({"startTimeUnixNano": [1]}, "span whose time is not a number"),
        ({"startTimeUnixNano": -1}, "span whose time is out of range"),
        ({"endTimeUnixNano": 2**64}, "span whose time is out of range"),
    ],
)
def test_a_malformed_span_in_a_file_is_left_out_and_counted(fields, reason):
    payload = json_payload(json_span(), json_span(**fields), json_span())

    assert read(read_json, payload) == ([the_span_in_a_file()] * 2, {reason: 1})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"attributes": 5}, "attributes that are not an array"),
        ({"attributes": [5]}, "attribute that is malformed"),
        ({"attributes": [{"key": ["a"]}]}, "attribute that is malformed"),
    ],
)
def test_a_span_in_a_file_is_kept_without_its_malformed_attributes(fields, reason):
    assert read(read_json, json_payload(json_span(**fields))) == ([the_span_in_a_file()], {reason: 1})


def test_a_span_in_a_file_is_kept_whatever_its_name_kind_or_status():
    assert the_span_in_a_file(kind=["x"], status=5) == the_span_in_a_file()
    assert the_span_in_a_file(name=7).name == ""
    assert the_span_in_a_file(name="a\ud800").name == "a\ufffd"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"resourceSpans": [5]}, "JSON that is not resource spans"),
        ({"resourceMetrics": []}, "JSON that is not resource spans"),
        ({"resourceSpans": [{"scopeSpans": 5}]}, "scopeSpans that are not an array"),
        ({"resourceSpans": [{"resource": 5, "scopeSpans": [5]}]}, "spans that are not an array"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [5]}]}]}, "span that is not an object"),
    ],
)
def test_a_file_without_spans_says_why(document, reason):
    spans, skipped = read(read_json, json.dumps(document).encode())

    assert not spans
    assert reason in skipped


def delimited(*messages):
    return b"".join(len(message).to_bytes(4) + message for message in messages)


def test_protobuf_files_hold_one_message_or_many_with_their_lengths():
    payload = protobuf_payload(protobuf_span())
    spans, _ = read(read_protobuf, payload)

    assert len(spans) == 1
    assert read(read_protobuf, b"") == ([], {})
    assert read(read_protobuf, payload * 3) == (spans * 3, {})
    assert read(read_protobuf, delimited(payload, payload)) == (spans * 2, {})


@pytest.mark.parametrize("layout", [lambda payload: payload * 2, lambda payload: delimited(payload, payload)])
def test_a_truncated_protobuf_file_keeps_its_whole_spans(layout):
    payload = protobuf_payload(protobuf_span(), protobuf_span(name="second"))

    spans, skipped = read(read_protobuf, layout(payload)[:-3])

    assert [span.name for span in spans] == ["GET /", "second", "GET /"]
    assert skipped == {"truncated protobuf": 1}


def test_a_malformed_protobuf_span_in_a_file_is_left_out_and_counted():
    payload = protobuf_payload(protobuf_span(), protobuf_span(name="@@@@"), protobuf_span(span_id=b""), protobuf_span())

    spans, skipped = read(read_protobuf, payload.replace(b"@@@@", b"\xff\xff\xff\xff"))

    assert len(spans) == 2
    assert skipped == {"span that is malformed protobuf": 1, "span without an id": 1}


def test_older_protobuf_files_have_their_spans_in_another_field():
    scope_spans = ScopeSpans(spans=[protobuf_span()]).SerializeToString()
    resource_spans = b"\xc2\x3e" + bytes([len(scope_spans)]) + scope_spans  # field 1000

    assert len(read(read_protobuf, b"\x0a" + bytes([len(resource_spans)]) + resource_spans)[0]) == 1


@settings(deadline=None)
@given(PAYLOADS, st.data())
def test_a_damaged_file_gives_spans_and_never_an_error(request_message, data):
    for reader, content in (
        (read_protobuf, request_message.SerializeToString()),
        (read_json, line_from_protobuf(request_message.SerializeToString()).encode()),
    ):
        at = data.draw(st.integers(0, len(content)))
        damage = data.draw(st.binary(max_size=3))
        spans, _ = read(reader, content[:at] + damage + content[at + len(damage) :])
        assert all(isinstance(span, Span) for span in spans)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_arbitrary_bytes_as_a_file_never_raise(content):
    for reader in (read_protobuf, read_json):
        read(reader, content)


@settings(deadline=None)
@given(st.sampled_from(["traceId", "spanId", "name", "kind", "status", "startTimeUnixNano", "attributes"]), JSON_VALUES)
def test_arbitrary_values_of_a_field_in_a_file_never_raise(field, value):
    read(read_json, json_payload(json_span(**{field: value})))
