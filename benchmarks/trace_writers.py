"""Writes traces as the tools that people have write them, so that readers can be tried on any amount of them.

`otlp-json` and `otlp-proto` are what the OpenTelemetry Collector's file exporter writes: lines, and messages behind
their length. `jaeger` is an answer of Jaeger's query API, `zipkin` a list of Zipkin's (`zipkin-shared`: the two halves
of a call have one id, as Brave reports them). `nezha` and `alibaba-2021` are the tables of these data sets, which say
less: neither has a status, and Alibaba's has calls only.
"""

import csv
import gzip
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any

import orjson
import zstandard
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1 import trace_pb2

from cutset.model.span import GRPC_FAILURES, AttributeValue, Span, SpanKind

BATCH = 100  # spans of one payload
REMEMBERED = 1 << 14  # sets of attributes, as written: the same few thousand come again and again
ALIBABA_START_NS = 1_767_571_200_000_000_000  # its times count from when the recording began: 5 January 2026
INSTANCE = "service.instance.id"
SCOPE = "io.opentelemetry.contrib"

COMPRESSIONS = ("", "gzip", "zstd")

_KIND_NUMBERS = {
    SpanKind.INTERNAL: 1,
    SpanKind.SERVER: 2,
    SpanKind.CLIENT: 3,
    SpanKind.PRODUCER: 4,
    SpanKind.CONSUMER: 5,
}
_GRPC_NUMBERS = {"OK": 0, **{name: number for number, name in GRPC_FAILURES.items()}}
_RENAMED = {  # present names, and those of before 2023
    "http.request.method": "http.method",
    "http.response.status_code": "http.status_code",
    "url.path": "http.target",
    "url.full": "http.url",
    "server.address": "net.peer.name",
    "rpc.system.name": "rpc.system",
    "db.system.name": "db.system",
    "messaging.operation.name": "messaging.operation",
}

_Items = tuple[tuple[str, AttributeValue], ...]
_Exported = Callable[[_Items], dict[str, str | int]]
_Traces = Iterable[Sequence[Span]]


def write(
    traces: Iterable[Sequence[Span]],
    format: str,  # noqa: A002 - one of FORMATS
    path: Path,
    compress: str = "",
    *,
    old_names: bool = False,
) -> int:
    """How many spans there were. Within a trace, callers must come before what they call.

    `old_names`: attributes by the semantic conventions of before 2023, in the formats that have attributes.
    """
    spans = 0

    def counted() -> Iterator[Sequence[Span]]:
        nonlocal spans
        for trace in traces:
            spans += len(trace)
            yield trace

    with _open(path, compress) as file:
        for part in FORMATS[format](counted(), _old_names if old_names else _present_names):
            file.write(part)
    return spans


def _open(path: Path, compress: str) -> Any:
    match compress:
        case "":
            return path.open("wb")
        case "gzip":
            return gzip.open(path, "wb", compresslevel=6)
        case "zstd":
            return zstandard.open(path, "wb")
    raise ValueError(f"`{compress}` is none of {COMPRESSIONS}")


def _present_names(attributes: _Items) -> dict[str, str | int]:
    """Attributes as instrumentation sends them, by OpenTelemetry's present conventions."""
    known = {name: str(value) for name, value in attributes if name != INSTANCE}
    sent: dict[str, str | int] = dict(known)
    if "peer.service" in known:  # what callers know is where they connected to
        sent["server.address"] = sent.pop("peer.service")
        if "url.path" in known:
            sent["url.full"] = f"http://{known['peer.service']}:8080{sent.pop('url.path')}"
    if "http.response.status_code" in known:
        sent["http.response.status_code"] = int(known["http.response.status_code"])
    return sent


def _old_names(attributes: _Items) -> dict[str, str | int]:
    """The same by the conventions of before 2023, when services and methods were apart and statements sent whole."""
    sent = _present_names(attributes)
    if "rpc.method" in sent:
        sent["rpc.service"], _, sent["rpc.method"] = str(sent["rpc.method"]).rpartition("/")
    if "rpc.response.status_code" in sent:
        sent["rpc.grpc.status_code"] = _GRPC_NUMBERS[str(sent.pop("rpc.response.status_code"))]
    if operation := sent.pop("db.operation.name", ""):
        collection = sent.pop("db.collection.name", "")
        sent["db.statement"] = f"{operation} * FROM {collection} WHERE id = ?" if collection else f"{operation} ?"
    return {_RENAMED.get(name, name): value for name, value in sent.items()}


# OTLP


def _batches(traces: _Traces) -> Iterator[dict[tuple[str, str], list[Span]]]:
    """Spans by the process that sent them, some at a time: traces lie across the borders."""
    batch: dict[tuple[str, str], list[Span]] = {}
    for number, span in enumerate(chain.from_iterable(traces), start=1):
        batch.setdefault((span.service, str(span.attributes.get(INSTANCE, ""))), []).append(span)
        if number % BATCH == 0:
            yield batch
            batch = {}
    if batch:
        yield batch


def _otlp_json(traces: _Traces, exported: _Exported) -> Iterator[bytes]:
    for batch in _batches(traces):
        resource_spans = [
            {
                "resource": {
                    "attributes": [
                        {"key": "service.name", "value": {"stringValue": service}},
                        {"key": INSTANCE, "value": {"stringValue": instance}},
                    ]
                },
                "scopeSpans": [
                    {"scope": {"name": SCOPE}, "spans": [_otlp_json_span(span, exported) for span in spans]}
                ],
            }
            for (service, instance), spans in batch.items()
        ]
        yield orjson.dumps({"resourceSpans": resource_spans}, option=orjson.OPT_APPEND_NEWLINE)


def _otlp_json_span(span: Span, exported: _Exported) -> dict[str, object]:
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id,
        "name": span.name,
        "kind": _KIND_NUMBERS[span.kind],
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": _otlp_json_attributes(tuple(span.attributes.items()), exported),
        "status": {"code": 2} if span.error else {},
    }


@lru_cache(REMEMBERED)
def _otlp_json_attributes(attributes: _Items, exported: _Exported) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps(_json_attributes(exported(attributes))))


def _json_attributes(attributes: Mapping[str, str | int]) -> list[dict[str, object]]:
    return [
        {"key": name, "value": {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)}}
        for name, value in attributes.items()
    ]


def _otlp_proto(traces: _Traces, exported: _Exported) -> Iterator[bytes]:
    """Messages without anything between them: by protobuf's rules, together they are one."""
    for batch in _batches(traces):
        request = ExportTraceServiceRequest()
        for (service, instance), spans in batch.items():
            resource_spans = request.resource_spans.add()
            resource_spans.resource.attributes.extend(_key_values({"service.name": service, INSTANCE: instance}))
            scope_spans = resource_spans.scope_spans.add()
            scope_spans.scope.name = SCOPE
            for span in spans:
                message = scope_spans.spans.add()
                message.MergeFromString(_otlp_proto_attributes(tuple(span.attributes.items()), exported))
                message.trace_id = bytes.fromhex(span.trace_id)
                message.span_id = bytes.fromhex(span.span_id)
                message.parent_span_id = bytes.fromhex(span.parent_id)
                message.name = span.name
                message.kind = _KIND_NUMBERS[span.kind]
                message.start_time_unix_nano = span.start_ns
                message.end_time_unix_nano = span.end_ns
                if span.error:
                    message.status.code = trace_pb2.Status.STATUS_CODE_ERROR
        yield request.SerializeToString()


@lru_cache(REMEMBERED)
def _otlp_proto_attributes(attributes: _Items, exported: _Exported) -> bytes:
    """A span with nothing else: parsing it is faster than adding attribute after attribute."""
    return trace_pb2.Span(attributes=_key_values(exported(attributes))).SerializeToString()


def _key_values(attributes: Mapping[str, str | int]) -> list[KeyValue]:
    return [
        KeyValue(key=name, value=AnyValue(string_value=value) if isinstance(value, str) else AnyValue(int_value=value))
        for name, value in attributes.items()
    ]


def _otlp_proto_delimited(traces: _Traces, exported: _Exported) -> Iterator[bytes]:
    for message in _otlp_proto(traces, exported):
        yield len(message).to_bytes(4, "big") + message


# Jaeger


def _jaeger(traces: _Traces, exported: _Exported) -> Iterator[bytes]:
    yield b'{"data":['
    for number, trace in enumerate(traces):
        processes: dict[tuple[str, str], str] = {}
        spans = [_jaeger_span(span, processes, exported) for span in trace]
        described = {
            process: {"serviceName": service, "tags": [{"key": INSTANCE, "type": "string", "value": instance}]}
            for (service, instance), process in processes.items()
        }
        document = {"traceID": trace[0].trace_id, "spans": spans, "processes": described, "warnings": None}
        yield (b"," if number else b"") + orjson.dumps(document)
    yield b'],"total":0,"limit":0,"offset":0,"errors":null}'


def _jaeger_span(span: Span, processes: dict[tuple[str, str], str], exported: _Exported) -> dict[str, object]:
    process = (span.service, str(span.attributes.get(INSTANCE, "")))
    parent = {"refType": "CHILD_OF", "traceID": span.trace_id, "spanID": span.parent_id}
    return {
        "traceID": span.trace_id,
        "spanID": span.span_id,
        "operationName": span.name,
        "references": [parent] if span.parent_id else [],
        "startTime": span.start_ns // 1000,
        "duration": (span.end_ns - span.start_ns) // 1000,
        "tags": _jaeger_tags(tuple(span.attributes.items()), span.kind, exported, error=span.error),
        "logs": [],
        "processID": processes.setdefault(process, f"p{len(processes) + 1}"),
        "warnings": None,
    }


@lru_cache(REMEMBERED)
def _jaeger_tags(attributes: _Items, kind: SpanKind, exported: _Exported, *, error: bool) -> orjson.Fragment:
    tags = [
        {"key": name, "type": "string" if isinstance(value, str) else "int64", "value": value}
        for name, value in exported(attributes).items()
    ]
    tags.append({"key": "span.kind", "type": "string", "value": str(kind)})
    if error:
        tags.append({"key": "otel.status_code", "type": "string", "value": "ERROR"})
        tags.append({"key": "error", "type": "bool", "value": True})
    return orjson.Fragment(orjson.dumps(tags))


# Zipkin


def _zipkin(traces: _Traces, exported: _Exported, *, shared: bool = False) -> Iterator[bytes]:
    separator = b"["
    for trace in traces:
        clients = {span.span_id: span for span in trace if span.kind is SpanKind.CLIENT} if shared else {}
        called_by: dict[str, Span] = {}  # by the id of a server's span, the caller's half
        for span in trace:
            document = _zipkin_span(span, exported)
            if span.parent_id in called_by:
                document["parentId"] = called_by[span.parent_id].span_id
            if span.kind is SpanKind.SERVER and span.parent_id in clients:
                caller = called_by[span.span_id] = clients[span.parent_id]
                parent = called_by.get(caller.parent_id)
                document |= {
                    "id": caller.span_id,
                    "parentId": parent.span_id if parent else caller.parent_id,
                    "shared": True,
                }
            yield separator + orjson.dumps(document)
            separator = b","
    yield b"]" if separator == b"," else b"[]"


def _zipkin_span(span: Span, exported: _Exported) -> dict[str, object]:
    document: dict[str, object] = {
        "traceId": span.trace_id,
        "id": span.span_id,
        "name": span.name.lower(),  # Zipkin's server does that
        "timestamp": span.start_ns // 1000,
        "duration": max(1, (span.end_ns - span.start_ns) // 1000),
        "localEndpoint": {"serviceName": span.service},
        "tags": _zipkin_tags(tuple(span.attributes.items()), exported, error=span.error),
    }
    if span.parent_id:
        document["parentId"] = span.parent_id
    if span.kind is not SpanKind.INTERNAL:
        document["kind"] = span.kind.upper()
    if peer := span.attributes.get("peer.service"):
        document["remoteEndpoint"] = {"serviceName": peer}
    return document


@lru_cache(REMEMBERED)
def _zipkin_tags(attributes: _Items, exported: _Exported, *, error: bool) -> orjson.Fragment:
    unseen = ("server.address", "net.peer.name")  # the remote endpoint says it
    tags = {name: str(value) for name, value in exported(attributes).items() if name not in unseen}
    if error:
        tags |= {"otel.status_code": "ERROR", "error": "true"}
    return orjson.Fragment(orjson.dumps(tags))


# Tables


def _table(header: str, rows: Iterable[Iterable[Sequence[object]]]) -> Iterator[bytes]:
    """`rows` are those of one trace after the other."""
    yield header.replace(" ", ",").encode() + b"\n"
    for of_trace in rows:
        text = StringIO()
        csv.writer(text, lineterminator="\n").writerows(of_trace)
        yield text.getvalue().encode()


def _nezha(traces: _Traces, _exported: _Exported) -> Iterator[bytes]:
    header = "TraceID SpanID ParentID PodName OperationName StartTimeUnixNano EndTimeUnixNano Duration"
    return _table(header, map(_nezha_rows, traces))


def _nezha_rows(trace: Sequence[Span]) -> Iterator[tuple[object, ...]]:
    for span in trace:
        yield (
            span.trace_id,
            span.span_id,
            span.parent_id or "root",
            span.attributes.get(INSTANCE, span.service),
            _nezha_operation(span),
            span.start_ns,
            span.end_ns,
            (span.end_ns - span.start_ns) // 1000,
        )


def _nezha_operation(span: Span) -> str:
    attributes = span.attributes
    if "http.request.method" in attributes:
        if span.kind is SpanKind.CLIENT:
            return f"HTTP {attributes['http.request.method']}"
        return str(attributes.get("http.route") or attributes.get("url.path", span.name))
    if "db.collection.name" in attributes:
        return f"{attributes['db.operation.name']} shop.{attributes['db.collection.name']}"
    if "messaging.system" in attributes:
        return f"{attributes['messaging.destination.name']} {attributes['messaging.operation.name']}"
    return span.name


def _alibaba(traces: _Traces, _exported: _Exported) -> Iterator[bytes]:
    return _table("traceid timestamp rpcid um rpctype dm interface rt", map(_alibaba_rows, traces))


def _alibaba_rows(trace: Sequence[Span]) -> Iterator[tuple[object, ...]]:
    """A call of a service is recorded by both sides, the callee's with a negative response time."""
    within: dict[str, str] = {}  # by the id of a span, the call that it is part of
    services = {span.span_id: span.service for span in trace}
    made: Counter[str] = Counter()  # by call, how many were made inside it
    for span in trace:
        around = within.get(span.parent_id, "0")
        if span.kind in (SpanKind.CLIENT, SpanKind.PRODUCER):
            made[around] += 1
            around = f"{around}.{made[around]}"
        within[span.span_id] = around
        if span.kind is SpanKind.INTERNAL:
            continue
        kind, interface = _alibaba_call(span)
        milliseconds = (span.end_ns - span.start_ns) // 1_000_000
        by_callee = span.kind is SpanKind.SERVER
        yield (
            span.trace_id,
            max(0, span.start_ns - ALIBABA_START_NS) // 1_000_000,
            around,
            services.get(span.parent_id, "(?)") if by_callee else span.service,
            kind,
            span.service if by_callee else span.attributes.get("peer.service", "(?)"),
            interface,
            -milliseconds if by_callee else milliseconds,
        )


def _alibaba_call(span: Span) -> tuple[str, str]:
    """The type of a call and its interface, which those of stores do not have."""
    attributes = span.attributes
    if "db.system.name" in attributes:
        return ("mc" if attributes["db.system.name"] == "redis" else "db"), ""
    if "messaging.system" in attributes:
        return "mq", str(attributes["messaging.destination.name"])
    if "rpc.method" in attributes:
        return "rpc", str(attributes["rpc.method"])
    return "http", str(attributes.get("http.route") or attributes.get("url.path", span.name))


FORMATS: dict[str, Callable[[_Traces, _Exported], Iterator[bytes]]] = {
    "otlp-json": _otlp_json,
    "otlp-proto": _otlp_proto_delimited,
    "otlp-proto-undelimited": _otlp_proto,
    "jaeger": _jaeger,
    "zipkin": _zipkin,
    "zipkin-shared": partial(_zipkin, shared=True),
    "nezha": _nezha,
    "alibaba-2021": _alibaba,
}
