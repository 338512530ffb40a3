"""Payloads of OpenTelemetry traces, chosen and random."""

import json

from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtobufSpan

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def json_payload(*spans, resource=None):
    document = {"resourceSpans": [{"resource": resource or {}, "scopeSpans": [{"spans": list(spans)}]}]}
    return json.dumps(document).encode()


def json_span(**fields):
    return {"traceId": TRACE, "spanId": SPAN, "name": "GET /", **fields}


def protobuf_payload(*spans, resource=()):
    attributes = [KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in resource]
    scope_spans = [ScopeSpans(spans=spans)]
    resource_spans = ResourceSpans(resource=Resource(attributes=attributes), scope_spans=scope_spans)
    return ExportTraceServiceRequest(resource_spans=[resource_spans]).SerializeToString()


def protobuf_span(**fields):
    return ProtobufSpan(**{"trace_id": bytes.fromhex(TRACE), "span_id": bytes.fromhex(SPAN), "name": "GET /", **fields})


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


JSON_KEYS = st.sampled_from(
    ["resourceSpans", "scopeSpans", "spans", "traceId", "name", "kind", "status", "code", "attributes"]
)
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda values: st.one_of(st.lists(values, max_size=3), st.dictionaries(JSON_KEYS, values)),
    max_leaves=12,
)
