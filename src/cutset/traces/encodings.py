"""The payloads that the collector takes, by path and content type: OTLP, and those of Jaeger's and Zipkin's clients."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.trace.v1 import trace_pb2

from cutset.model.span import Span
from cutset.traces.legacy import spans_from_jaeger, spans_from_jaeger_message, spans_from_zipkin
from cutset.traces.otlp import (
    line_from_json,
    line_from_protobuf,
    line_from_spans,
    spans_from_json,
    spans_from_protobuf,
)


def _refusal(message: str) -> bytes:
    return json.dumps({"message": message}).encode()


@dataclass(frozen=True, slots=True)
class Encoding:
    media_type: str  # of answers
    spans: Callable[[bytes], list[Span]]
    line: Callable[[bytes], str]  # the payload as one line of OTLP/JSON
    accepted: bytes = b""
    status: int = 202  # of what is accepted
    refusal: Callable[[str], bytes] = _refusal


PROTOBUF = Encoding(
    "application/x-protobuf",
    spans_from_protobuf,
    line_from_protobuf,
    accepted=ExportTraceServiceResponse().SerializeToString(),
    status=200,
    # OTLP asks for a google.rpc.Status of which only `message` is used: field 2, as in the span status that we have.
    refusal=lambda message: trace_pb2.Status(message=message).SerializeToString(),
)
JSON = Encoding("application/json", spans_from_json, line_from_json, accepted=b"{}", status=200)
JAEGER = Encoding("application/json", spans_from_jaeger, lambda payload: line_from_spans(spans_from_jaeger(payload)))
DATAGRAM = Encoding(
    "application/json", spans_from_jaeger_message, lambda payload: line_from_spans(spans_from_jaeger_message(payload))
)
ZIPKIN = Encoding("application/json", spans_from_zipkin, lambda payload: line_from_spans(spans_from_zipkin(payload)))
# Where each is sent to, and how it says what it is.
ENCODINGS: Mapping[str, Mapping[str, Encoding]] = {
    "/v1/traces": {"application/x-protobuf": PROTOBUF, "application/json": JSON},
    "/api/traces": {"application/x-thrift": JAEGER, "application/vnd.apache.thrift.binary": JAEGER},
    "/api/v2/spans": {"application/json": ZIPKIN},
}
