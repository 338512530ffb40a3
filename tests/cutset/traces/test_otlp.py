import io
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtobufSpan

from cutset.errors import InputError
from cutset.model.span import Span, SpanKind
from cutset.traces.files.otlp import read_json, read_protobuf
from cutset.traces.otlp import (
    line_from_json,
    line_from_protobuf,
    spans_from_json,
    spans_from_protobuf,
)
from cutset.traces.tally import ReadTally

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def json_payload(*spans, resource=None):
    document = {"resourceSpans": [{"resource": resource or {}, "scopeSpans": [{"spans": list(spans)}]}]}
    return json.dumps(document).encode()


def json_span(**fields):
    return {"traceId": TRACE, "spanId": SPAN, "name": "GET /", **fields}


def the_json_span(**fields):
    [span] = spans_from_json(json_payload(json_span(**fields)))
    return span


def protobuf_payload(*spans, resource=()):
    attributes = [KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in resource]
    scope_spans = [ScopeSpans(spans=spans)]
    resource_spans = ResourceSpans(resource=Resource(attributes=attributes), scope_spans=scope_spans)
    return ExportTraceServiceRequest(resource_spans=[resource_spans]).SerializeToString()


def protobuf_span(**fields):
    return ProtobufSpan(**{"trace_id": bytes.fromhex(TRACE), "span_id": bytes.fromhex(SPAN), "name": "GET /", **fields})


def test_a_protobuf_span_keeps_what_cutset_reasons_about():
    payload = protobuf_payload(
        protobuf_span(
            parent_span_id=bytes.fromhex("00f067aa0ba902b7"),
            kind=ProtobufSpan.SPAN_KIND_CLIENT,
            start_time_unix_nano=5,
            end_time_unix_nano=9,
            status=Status(code=Status.STATUS_CODE_ERROR),
            attributes=[KeyValue(key="http.response.status_code", value=AnyValue(int_value=503))],
        ),
        resource=[("service.name", "cart"), ("service.instance.id", "cart-2"), ("host.name", "n1")],
    )

    assert spans_from_protobuf(payload) == [
        Span(
            TRACE,
            SPAN,
            "00f067aa0ba902b7",
            "cart",
            "GET /",
            SpanKind.CLIENT,
            5,
            9,
            error=True,
            attributes={"service.instance.id": "cart-2", "http.response.status_code": 503},
        )
    ]


def test_a_json_span_keeps_what_cutset_reasons_about():
    payload = json_payload(
        json_span(
            parentSpanId="00f067aa0ba902b7",
            kind=3,
            startTimeUnixNano="5",
            endTimeUnixNano=9,
            status={"code": "STATUS_CODE_ERROR", "message": "no"},
            attributes=[{"key": "http.response.status_code", "value": {"intValue": "503"}}],
        ),
        resource={"attributes": [{"key": "service.name", "value": {"stringValue": "cart"}}]},
    )

    [span] = spans_from_json(payload)

    assert span == Span(
        TRACE,
        SPAN,
        "00f067aa0ba902b7",
        "cart",
        "GET /",
        SpanKind.CLIENT,
        5,
        9,
        error=True,
        attributes={"http.response.status_code": 503},
    )


def test_a_resource_without_a_name_is_an_unknown_service():
    [span] = spans_from_protobuf(protobuf_payload(protobuf_span()))

    assert span.service == the_json_span().service == "unknown_service"


def test_an_instance_that_the_span_names_itself_wins():
    own = KeyValue(key="service.instance.id", value=AnyValue(string_value="own"))
    payload = protobuf_payload(protobuf_span(attributes=[own]), resource=[("service.instance.id", "inherited")])

    [span] = spans_from_protobuf(payload)

    assert span.attributes == {"service.instance.id": "own"}


def test_json_ids_may_be_written_in_upper_case():
    assert the_json_span(traceId=TRACE.upper(), spanId=SPAN.upper()) == the_json_span()


@pytest.mark.parametrize("parent", [{}, {"parentSpanId": ""}, {"parentSpanId": None}])
def test_a_json_span_without_a_parent_is_a_root(parent):
    assert the_json_span(**parent).parent_id == ""


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ({}, SpanKind.INTERNAL),
        ({"kind": 0}, SpanKind.INTERNAL),
        ({"kind": 2}, SpanKind.SERVER),
        ({"kind": 99}, SpanKind.INTERNAL),
        ({"kind": "SPAN_KIND_PRODUCER"}, SpanKind.PRODUCER),
        ({"kind": "SPAN_KIND_CONSUMER"}, SpanKind.CONSUMER),
    ],
)
def test_a_json_kind_is_a_number_or_a_name(kind, expected):
    assert the_json_span(**kind).kind is expected


def test_unknown_json_fields_are_ignored():
    assert the_json_span(flags=257, novelty={"of": ["any", "shape"]}) == the_json_span()


def test_values_that_are_not_scalars_become_compact_json():
    values = {
        "array": {"arrayValue": {"values": [{"stringValue": "a"}, {"intValue": "1"}, {}]}},
        "map": {"kvlistValue": {"values": [{"key": "on", "value": {"boolValue": True}}]}},
        "bytes": {"bytesValue": "AQI="},
        "empty": {},
    }
    span = the_json_span(attributes=[{"key": key, "value": value} for key, value in values.items()])

    assert span.attributes == {"array": '["a",1,null]', "map": '{"on":true}', "bytes": '"AQI="', "empty": ""}


def test_long_texts_are_cut():
    long = "x" * 5000
    pair = KeyValue(key=long, value=AnyValue(string_value=long))

    [span] = spans_from_protobuf(protobuf_payload(protobuf_span(name=long, attributes=[pair])))

    assert span.name == "x" * 4096
    assert span.attributes == {"x" * 4096: "x" * 4096}
    assert span == the_json_span(name=long, attributes=[{"key": long, "value": {"stringValue": long}}])


def test_a_span_keeps_at_most_128_attributes():
    pairs = [KeyValue(key=str(number), value=AnyValue(int_value=number)) for number in range(200)]
    payload = protobuf_payload(protobuf_span(attributes=pairs), resource=[("service.instance.id", "1")])

    [span] = spans_from_protobuf(payload)

    assert len(span.attributes) == 128


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"traceId": "abc"}, 'traceId: expected 32 hex digits, found "abc"'),
        ({"traceId": None}, "traceId: expected 32 hex digits, found null"),
        ({"traceId": ["a"]}, 'traceId: expected 32 hex digits, found ["a"]'),
        ({"traceId": "CvdlGRbNQ92ESOshHIAxnA=="}, 'traceId: expected 32 hex digits, found "CvdlGRbNQ92ESOshHIAxnA=="'),
        ({"traceId": "g" * 32}, f'traceId: expected 32 hex digits, found "{"g" * 32}"'),
        ({"spanId": "0" * 16}, f'spanId: expected 16 hex digits, not all zero, found "{"0" * 16}"'),
        ({"spanId": ""}, 'spanId: expected 16 hex digits, found ""'),
        ({"parentSpanId": "12"}, 'parentSpanId: expected 16 hex digits, found "12"'),
        ({"parentSpanId": 12}, "parentSpanId: expected 16 hex digits, found 12"),
        ({"name": 5}, "name: expected a string, found 5"),
        ({"name": "\ud800"}, 'name: expected Unicode text without unpaired surrogates, found "\\ud800"'),
        ({"kind": True}, "kind: expected a number or one of SPAN_KIND_UNSPECIFIED"),
        ({"kind": "CLIENT"}, "kind: expected a number or one of SPAN_KIND_UNSPECIFIED"),
        ({"startTimeUnixNano": -1}, "startTimeUnixNano: expected a whole number from 0 to"),
        ({"startTimeUnixNano": "soon"}, "startTimeUnixNano: expected a whole number from 0 to"),
        ({"status": "OK"}, 'status: expected an object, found "OK"'),
        ({"status": {"code": "BAD"}}, "status.code: expected a number or one of STATUS_CODE_UNSET"),
        ({"attributes": {"a": 1}}, 'attributes: expected an array, found {"a": 1}'),
        ({"attributes": ["a"]}, 'attributes[0]: expected an object, found "a"'),
        ({"attributes": [{"key": "a", "value": "b"}]}, 'attributes[0].value: expected an object, found "b"'),
        ({"attributes": [{"value": {"boolValue": 1}}]}, "attributes[0].value.boolValue: expected true or false"),
        ({"attributes": [{"value": {"doubleValue": "x"}}]}, "attributes[0].value.doubleValue: expected a number"),
        ({"attributes": [{"value": {"doubleValue": True}}]}, "attributes[0].value.doubleValue: expected a number"),
        ({"attributes": [{"value": {"intValue": 2**63}}]}, "attributes[0].value.intValue: expected a whole number"),
        ({"attributes": [{"value": {"bytesValue": "é"}}]}, "attributes[0].value.bytesValue: expected base64"),
        (
            {"attributes": [{}, {"value": {"arrayValue": {"values": [{"intValue": 1.5}]}}}]},
            "attributes[1].value.arrayValue.values[0].intValue: expected a whole number",
        ),
    ],
)
def test_a_malformed_json_span_is_named_with_its_place(fields, message):
    with pytest.raises(InputError) as raised:
        spans_from_json(json_payload(json_span(), json_span(**fields)))

    assert raised.value.message.startswith(f"resourceSpans[0].scopeSpans[0].spans[1].{message}")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"trace_id": b""}, 'traceId: expected 32 hex digits, found ""'),
        ({"trace_id": bytes(16)}, f'traceId: expected 32 hex digits, not all zero, found "{"0" * 32}"'),
        ({"span_id": b"abc"}, 'spanId: expected 16 hex digits, found "616263"'),
        ({"span_id": bytes(8)}, f'spanId: expected 16 hex digits, not all zero, found "{"0" * 16}"'),
        ({"parent_span_id": b"a"}, 'parentSpanId: expected 16 hex digits, found "61"'),
    ],
)
def test_a_malformed_protobuf_span_is_named_with_its_place(fields, message):
    with pytest.raises(InputError) as raised:
        spans_from_protobuf(protobuf_payload(protobuf_span(), protobuf_span(**fields)))

    assert raised.value.message == f"resourceSpans[0].scopeSpans[0].spans[1].{message}"


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe\xfd",
        b'{"resourceSpans": 5}',
        b'{"resourceSpans": [5]}',
        b"[" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_not_otlp_json_is_refused(payload):
    with pytest.raises(InputError):
        spans_from_json(payload)


# Which depth is one too many differs from one Python version to the next.
@pytest.mark.parametrize("depth", [10, 200, 300, 310, 320, 330, 340, 100_000])
@pytest.mark.parametrize("decode", [spans_from_json, line_from_json])
def test_a_deeply_nested_value_is_decoded_or_refused(depth, decode):
    nested = b'{"arrayValue":{"values":[' * depth + b"]}}" * depth
    attributes = b'{"key":"deep","value":' + nested + b"}"
    payload = b'{"resourceSpans":[{"resource":{"attributes":[' + attributes + b"]}}]}"

    try:
        decode(payload)
    except InputError:
        assert depth > 100


def test_a_protobuf_value_as_deep_as_protobuf_allows_has_a_json_line():
    value = AnyValue(string_value="deep")
    for _ in range(46):
        value = AnyValue(array_value=ArrayValue(values=[value]))
    payload = protobuf_payload(protobuf_span(attributes=[KeyValue(key="nested", value=value)]))

    assert spans_from_json(line_from_protobuf(payload).encode()) == spans_from_protobuf(payload)


def test_a_truncated_protobuf_payload_is_refused():
    with pytest.raises(InputError, match="not an OTLP protobuf message"):
        spans_from_protobuf(protobuf_payload(protobuf_span())[:-3])


def test_a_json_line_of_a_protobuf_payload_has_hex_ids_also_in_links():
    link = ProtobufSpan.Link(trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(SPAN))
    payload = protobuf_payload(protobuf_span(kind=ProtobufSpan.SPAN_KIND_SERVER, links=[link]))

    line = line_from_protobuf(payload)

    [span] = json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert span == {
        "traceId": TRACE,
        "spanId": SPAN,
        "name": "GET /",
        "kind": 2,
        "links": [{"traceId": TRACE, "spanId": SPAN}],
    }


def test_a_json_line_of_a_json_payload_keeps_unknown_fields_on_one_line():
    assert line_from_json(b'{\n  "novelty": "a\\nb"\n}') == '{"novelty":"a\\nb"}'


def pairs_of(values):
    return st.lists(st.builds(KeyValue, key=TEXTS, value=values), max_size=4)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
IDS = st.binary(min_size=16, max_size=16).filter(any)
SPAN_IDS = st.binary(min_size=8, max_size=8).filter(any)
TIMES = st.integers(0, 2**64 - 1)
VALUES = st.recursive(
    st.one_of(
        st.builds(AnyValue),
        st.builds(AnyValue, string_value=TEXTS),
        st.builds(AnyValue, bool_value=st.booleans()),
        st.builds(AnyValue, int_value=st.integers(-(2**63), 2**63 - 1)),
        st.builds(AnyValue, double_value=st.floats()),
        st.builds(AnyValue, bytes_value=st.binary(max_size=9)),
    ),
    lambda values: st.one_of(
        st.builds(AnyValue, array_value=st.builds(ArrayValue, values=st.lists(values, max_size=3))),
        st.builds(AnyValue, kvlist_value=st.builds(KeyValueList, values=pairs_of(values))),
    ),
    max_leaves=4,
)


SPANS = st.builds(
    ProtobufSpan,
    trace_id=IDS,
    span_id=SPAN_IDS,
    parent_span_id=st.one_of(st.just(b""), SPAN_IDS),
    name=TEXTS,
    kind=st.sampled_from(ProtobufSpan.SpanKind.values()),
    start_time_unix_nano=TIMES,
    end_time_unix_nano=TIMES,
    status=st.builds(Status, code=st.sampled_from(Status.StatusCode.values())),
    attributes=pairs_of(VALUES),
)
RESOURCES = st.builds(
    Resource,
    attributes=st.lists(
        st.builds(KeyValue, key=st.sampled_from(["service.name", "service.instance.id", "other"]), value=VALUES),
        max_size=3,
    ),
)
PAYLOADS = st.builds(
    ExportTraceServiceRequest,
    resource_spans=st.lists(
        st.builds(
            ResourceSpans,
            resource=RESOURCES,
            scope_spans=st.lists(st.builds(ScopeSpans, spans=st.lists(SPANS, max_size=3)), max_size=2),
        ),
        max_size=2,
    ),
)


@settings(deadline=None)
@given(PAYLOADS)
def test_protobuf_and_json_of_the_same_payload_are_the_same_spans(request_message):
    payload = request_message.SerializeToString()

    from_protobuf = spans_from_protobuf(payload)
    from_json = spans_from_json(line_from_protobuf(payload).encode())

    assert [comparable(span) for span in from_json] == [comparable(span) for span in from_protobuf]


def comparable(span):
    """With NaN, which does not equal itself, as text."""
    return repr(span) if any(isinstance(v, float) and math.isnan(v) for v in span.attributes.values()) else span


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_spans_or_an_input_error(payload):
    for decode in (spans_from_protobuf, spans_from_json):
        try:
            spans = decode(payload)
        except InputError:
            continue
        assert all(isinstance(span, Span) for span in spans)


JSON_KEYS = st.sampled_from(
    ["resourceSpans", "scopeSpans", "spans", "traceId", "name", "kind", "status", "code", "attributes"]
)
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda values: st.one_of(st.lists(values, max_size=3), st.dictionaries(JSON_KEYS, values)),
    max_leaves=12,
)


@settings(deadline=None)
@given(JSON_VALUES)
def test_arbitrary_values_in_the_place_of_a_span_are_spans_or_an_input_error(value):
    payload = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [json_span(status=value)]}, value]}]}
    try:
        spans = spans_from_json(json.dumps(payload).encode())
    except InputError:
        return
    assert all(isinstance(span, Span) for span in spans)


def test_a_parent_of_zeros_means_a_root():
    [from_protobuf] = spans_from_protobuf(protobuf_payload(protobuf_span(parent_span_id=bytes(8))))

    assert from_protobuf.parent_id == ""
    assert the_json_span(parentSpanId="0" * 16).parent_id == ""


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
