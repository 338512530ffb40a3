"""OTLP trace payloads that exporters send, protobuf and JSON, as spans.

Trace data is untrusted: one malformed span refuses its whole payload, with the place named as OTLP/JSON spells it, so
that its sender learns of it; what is well-formed but huge is cut. A span's parent need not be in the payload: traces
arrive in pieces.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from math import isfinite
from sys import intern
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1 import trace_pb2

from cutset.errors import InputError
from cutset.model.span import UNKNOWN_SERVICE, AttributeValue, Span, SpanKind
from cutset.traces.json_fields import (
    boolean_in,
    bytes_in,
    enumeration_in,
    float_in,
    int64_in,
    integer_in,
    malformed,
    object_in,
    objects_in,
    place_in,
    text_in,
)

MAX_TEXT = 4096  # characters of a name or value: a stack trace fits, a dumped response body does not
MAX_ATTRIBUTES = 128  # per span: the OpenTelemetry SDKs' own default limit

INSTANCE = "service.instance.id"

KINDS = (
    SpanKind.INTERNAL,  # unspecified: the specification says to assume internal
    SpanKind.INTERNAL,
    SpanKind.SERVER,
    SpanKind.CLIENT,
    SpanKind.PRODUCER,
    SpanKind.CONSUMER,
)
KIND_NUMBERS = dict(trace_pb2.Span.SpanKind.items())
_STATUS_NUMBERS = dict(trace_pb2.Status.StatusCode.items())
ERROR = trace_pb2.Status.STATUS_CODE_ERROR
_HEX = re.compile(r"[0-9a-f]+")
_NO_PARENT = "0" * 16  # how some exporters write that a span is a root
_ZEROS = frozenset({"0" * 16, "0" * 32})

# A value as JSON knows it, and bytes.
_Plain = str | int | float | bool | bytes | list[Any] | dict[str, Any] | None


def spans_from_protobuf(payload: bytes) -> list[Span]:
    spans = []
    for resource_index, resource_spans in enumerate(_parse(payload).resource_spans):
        service, inherited = _service_of(attributes_of(resource_spans.resource.attributes, {}))
        for scope_index, scope_spans in enumerate(resource_spans.scope_spans):
            for index, span in enumerate(scope_spans.spans):
                trace_id, span_id, parent_id = span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()
                if parent_id == _NO_PARENT:
                    parent_id = ""
                if not (_is_id(trace_id, 32) and _is_id(span_id, 16) and (not parent_id or _is_id(parent_id, 16))):
                    where = f"resourceSpans[{resource_index}].scopeSpans[{scope_index}].spans[{index}]"
                    raise _malformed_ids(where, trace_id, span_id, parent_id)
                spans.append(
                    Span(
                        trace_id,
                        span_id,
                        parent_id,
                        service,
                        span.name[:MAX_TEXT],
                        kind_of(span.kind),
                        span.start_time_unix_nano,
                        span.end_time_unix_nano,
                        span.status.code == ERROR,
                        attributes_of(span.attributes, inherited),
                    )
                )
    return spans


def spans_from_json(payload: bytes) -> list[Span]:
    document = _load_json(payload)
    spans = []
    try:
        for resource_spans, where in objects_in(document, "resourceSpans", ""):
            resource, resource_where = object_in(resource_spans, "resource", where)
            service, inherited = _service_of(_json_attributes(resource, resource_where, {}))
            for scope_spans, scope_where in objects_in(resource_spans, "scopeSpans", where):
                for span, span_where in objects_in(scope_spans, "spans", scope_where):
                    spans.append(_json_span(span, span_where, service, inherited))
    except RecursionError:
        raise InputError("The payload is nested too deeply") from None
    return spans


def line_from_protobuf(payload: bytes) -> str:
    """The payload as one line of OTLP/JSON, as the OpenTelemetry Collector's file exporter writes it."""
    document = MessageToDict(_parse(payload), use_integers_for_enums=True)
    for resource_spans in document.get("resourceSpans", ()):
        for scope_spans in resource_spans.get("scopeSpans", ()):
            for span in scope_spans.get("spans", ()):
                for holder in (span, *span.get("links", ())):
                    _ids_to_hex(holder)
    return _compact(document)


def line_from_json(payload: bytes) -> str:
    try:
        return _compact(_load_json(payload))
    except RecursionError:
        raise InputError("The payload is nested too deeply") from None


def _parse(payload: bytes) -> ExportTraceServiceRequest:
    try:
        return ExportTraceServiceRequest.FromString(payload)
    except DecodeError as error:
        raise InputError(f"The payload of {len(payload)} bytes is not an OTLP protobuf message: {error}") from None


def _load_json(payload: bytes) -> dict[str, Any]:
    try:
        document = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise InputError(f"The payload of {len(payload)} bytes is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise InputError(f"The payload of {len(payload)} bytes is not a JSON object with `resourceSpans`")
    return document


def _is_id(text: str, digits: int) -> bool:
    return len(text) == digits and text not in _ZEROS


def kind_of(number: int) -> SpanKind:
    return KINDS[number] if 0 <= number < len(KINDS) else SpanKind.INTERNAL


def _service_of(resource: dict[str, AttributeValue]) -> tuple[str, dict[str, AttributeValue]]:
    """The resource's service, and the attributes that its spans inherit."""
    inherited = {INSTANCE: resource[INSTANCE]} if INSTANCE in resource else {}
    return str(resource.get("service.name", "")) or UNKNOWN_SERVICE, inherited


def attributes_of(pairs: Iterable[KeyValue], inherited: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
    attributes = inherited.copy()
    for pair in islice(pairs, MAX_ATTRIBUTES - len(inherited)):
        key = intern(pair.key[:MAX_TEXT])  # the same few in every span, so they are held once
        value = pair.value
        kind = value.WhichOneof("value")
        if kind == "string_value":
            attributes[key] = value.string_value[:MAX_TEXT]
        elif kind == "int_value":
            attributes[key] = value.int_value
        else:
            attributes[key] = _flat(_plain(value))
    return attributes


def _plain(value: AnyValue) -> _Plain:
    match value.WhichOneof("value"):
        case "array_value":
            return [_plain(item) for item in value.array_value.values]
        case "kvlist_value":
            return {pair.key: _plain(pair.value) for pair in value.kvlist_value.values}
        case None:
            return None
        case kind:
            plain: str | int | float | bool | bytes = getattr(value, kind)
            return plain


def _flat(value: _Plain) -> AttributeValue:
    if value is None:
        return ""
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if isinstance(value, bool | int | float):
        return value
    return _compact(value)[:MAX_TEXT]


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), default=lambda raw: base64.b64encode(raw).decode())


def _ids_to_hex(holder: dict[str, str]) -> None:
    for key in ("traceId", "spanId", "parentSpanId"):
        if key in holder:
            holder[key] = base64.b64decode(holder[key]).hex()


def _malformed_ids(where: str, trace_id: str, span_id: str, parent_id: str) -> InputError:
    if not _is_id(trace_id, 32):
        return _malformed_id(f"{where}.traceId", 32, trace_id)
    if not _is_id(span_id, 16):
        return _malformed_id(f"{where}.spanId", 16, span_id)
    return _malformed_id(f"{where}.parentSpanId", 16, parent_id)


def _malformed_id(where: str, digits: int, found: object) -> InputError:
    return malformed(
        where, f"{digits} hex digits{', not all zero' if isinstance(found, str) and found in _ZEROS else ''}", found
    )


# What follows reads OTLP/JSON. As in all of proto3's JSON, null and absent mean the default and unknown fields are
# ignored; unlike it, ids are hex.


def _json_span(span: dict[str, Any], where: str, service: str, inherited: dict[str, AttributeValue]) -> Span:
    status, status_where = object_in(span, "status", where)
    return Span(
        _json_id(span, "traceId", where, 32),
        _json_id(span, "spanId", where, 16),
        "" if span.get("parentSpanId") in (None, "", _NO_PARENT) else _json_id(span, "parentSpanId", where, 16),
        service,
        text_in(span, "name", where)[:MAX_TEXT],
        kind_of(enumeration_in(span, "kind", where, KIND_NUMBERS)),
        integer_in(span, "startTimeUnixNano", where, 0, 2**64 - 1),
        integer_in(span, "endTimeUnixNano", where, 0, 2**64 - 1),
        enumeration_in(status, "code", status_where, _STATUS_NUMBERS) == ERROR,
        _json_attributes(span, where, inherited),
    )


def _json_attributes(
    holder: dict[str, Any], where: str, inherited: dict[str, AttributeValue]
) -> dict[str, AttributeValue]:
    attributes = inherited.copy()
    for pair, pair_where in islice(objects_in(holder, "attributes", where), MAX_ATTRIBUTES - len(inherited)):
        key = text_in(pair, "key", pair_where)[:MAX_TEXT]
        attributes[key] = _flat(_json_plain(*object_in(pair, "value", pair_where)))
    return attributes


def _json_plain(value: dict[str, Any], where: str) -> _Plain:
    kind = next((kind for kind, content in value.items() if kind in _PLAIN_READERS and content is not None), None)
    return None if kind is None else _PLAIN_READERS[kind](value, kind, where)


def _json_array(value: dict[str, Any], key: str, where: str) -> list[_Plain]:
    array, array_where = object_in(value, key, where)
    return [_json_plain(item, item_where) for item, item_where in objects_in(array, "values", array_where)]


def _json_map(value: dict[str, Any], key: str, where: str) -> dict[str, _Plain]:
    pairs, pairs_where = object_in(value, key, where)
    return {
        text_in(pair, "key", pair_where): _json_plain(*object_in(pair, "value", pair_where))
        for pair, pair_where in objects_in(pairs, "values", pairs_where)
    }


def _json_id(holder: dict[str, Any], key: str, where: str, digits: int) -> str:
    found = holder.get(key)
    text = found.lower() if isinstance(found, str) else ""
    if not _is_id(text, digits) or _HEX.fullmatch(text) is None:
        raise _malformed_id(place_in(where, key), digits, found)
    return text


_PLAIN_READERS: dict[str, Callable[[dict[str, Any], str, str], _Plain]] = {
    "stringValue": text_in,
    "boolValue": boolean_in,
    "intValue": int64_in,
    "doubleValue": float_in,
    "bytesValue": bytes_in,
    "arrayValue": _json_array,
    "kvlistValue": _json_map,
}


# What follows writes OTLP/JSON.


def line_from_spans(spans: Sequence[Span]) -> str:
    """Spans that came in another form, as one line of OTLP/JSON."""
    by_service: dict[str, list[Span]] = {}
    for span in spans:
        by_service.setdefault(span.service, []).append(span)
    resource_spans = [
        {
            "resource": {"attributes": _pairs({"service.name": service})},
            "scopeSpans": [{"spans": [_span_document(span) for span in own]}],
        }
        for service, own in by_service.items()
    ]
    return _compact({"resourceSpans": resource_spans})


def _span_document(span: Span) -> dict[str, Any]:
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id,
        "name": span.name,
        "kind": KINDS.index(span.kind, 1),
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "status": {"code": ERROR} if span.error else {},
        "attributes": _pairs(span.attributes),
    }


def _pairs(attributes: Mapping[str, AttributeValue]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _any_value(value)} for key, value in attributes.items()]


def _any_value(value: AttributeValue) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value if isfinite(value) else str(value)}
        case _:
            return {"stringValue": value}
