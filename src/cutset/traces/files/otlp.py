"""Files of OTLP trace data, protobuf and JSON, and what Tempo answers.

A malformed span is left out and counted, as nobody can send the file again. A span's parent need not be in the file.

What is in order is decoded whole (`_json_rows`, `_protobuf_rows`), but for the attributes: spans that have the same
bytes for those mean the same, and most spans have the same as many others.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, BinaryIO

import msgspec
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1 import trace_pb2

from cutset.errors import InputError
from cutset.model.span import (
    UNKNOWN_SERVICE,
    AttributeValue,
    LabelValues,
    Span,
    SpanKind,
    SpanRow,
    label_values,
    row_of,
)
from cutset.traces.conventions import (
    READ_ATTRIBUTES,
    SIDECAR_OF,
    as_text,
    bounded,
    failed,
    kept,
    span_id,
    trace_id,
)
from cutset.traces.files import in_order, protobuf_stream
from cutset.traces.files.in_order import NOTHING, REMEMBERED, Batches, Position, UnlikeError, decoded, pairs_of
from cutset.traces.files.json_stream import Blocks, batches, elements
from cutset.traces.otlp import ERROR, KIND_NUMBERS, KINDS, MAX_ATTRIBUTES, attributes_of, kind_of
from cutset.traces.tally import ReadTally

_KINDS_IN_FILES: dict[object, SpanKind] = {
    **dict(enumerate(KINDS)),
    **{name: KINDS[number] for name, number in KIND_NUMBERS.items()},
}

# Where files have resources: as OTLP says, as Tempo says, and inside of what Tempo's second API answers.
_RESOURCE_ARRAYS = ("resourceSpans", "batches", "trace.resourceSpans", "trace.batches")
_SCOPE_ARRAYS = ("scopeSpans", "instrumentationLibrarySpans")  # the latter before 2022
_SCOPE_FIELDS = (2, 1000)  # their numbers in protobuf

_SCALARS = (str, int, float)


def read_json(stream: BinaryIO, tally: ReadTally) -> Iterator[Span]:
    """The spans of a file of OTLP/JSON, or of Tempo's; JSON lines too."""
    for resource_spans, where in elements(stream, tally, _RESOURCE_ARRAYS):
        yield from _json_spans(resource_spans, where, tally)


def read_json_rows(stream: BinaryIO, tally: ReadTally, position: Position = ()) -> Batches:
    """The same, some at a time, and from where to go on."""

    def read(resource_spans: Any, where: str) -> Iterable[SpanRow]:
        return map(row_of, _json_spans(resource_spans, where, tally))

    return batches(stream, tally, _RESOURCE_ARRAYS, read=read, blocks=_JSON_BLOCKS, position=position)


def _json_spans(resource_spans: Any, where: str, tally: ReadTally) -> Iterator[Span]:
    if not isinstance(resource_spans, dict) or resource_spans.keys().isdisjoint(("resource", *_SCOPE_ARRAYS)):
        tally.skip("JSON that is not resource spans", where)
        return
    service = _service_in_file(_read_attributes(resource_spans.get("resource"), tally, where))
    for array in _SCOPE_ARRAYS:
        for scope_spans in _list(resource_spans, array, tally, where):
            for span in _list(scope_spans, "spans", tally, where):
                try:
                    yield _json_span_in_file(span, service, tally, where)
                except InputError as error:
                    tally.skip(error.message, where)


def read_protobuf(stream: BinaryIO, tally: ReadTally) -> Iterator[Span]:
    """The spans of a file of OTLP/protobuf: one message, or many with their lengths, as the Collector writes them."""
    for message, is_whole, where in protobuf_stream.first_fields(stream, tally):
        yield from _protobuf_spans(message, is_whole, where, tally)


def read_protobuf_rows(stream: BinaryIO, tally: ReadTally, position: Position = ()) -> Batches:
    """The same, some at a time, and from where to go on."""

    def read(message: bytes, is_whole: bool, where: str) -> Iterable[SpanRow]:  # noqa: FBT001
        return map(row_of, _protobuf_spans(message, is_whole, where, tally))

    return protobuf_stream.batches(stream, tally, read=read, decode=_protobuf_rows, position=position)


def _protobuf_spans(message: bytes, is_whole: bool, where: str, tally: ReadTally) -> Iterator[Span]:  # noqa: FBT001
    try:
        resource_spans = trace_pb2.ResourceSpans.FromString(message)
    except DecodeError:
        counted = tally if is_whole else ReadTally()  # what is torn has been counted already
        resource_spans = _salvaged(message, counted, where)
    else:
        if not resource_spans.scope_spans:  # older files have spans in a field that is no longer known
            resource_spans = _salvaged(message, tally, where)
    service = _service_in_file(_read_pairs(resource_spans.resource.attributes))
    for scope_spans in resource_spans.scope_spans:
        for span in scope_spans.spans:
            try:
                yield _span_in_file(
                    trace=span.trace_id.hex(),
                    own=span.span_id.hex(),
                    parent=span.parent_span_id.hex(),
                    service=service,
                    name=span.name,
                    kind=kind_of(span.kind),
                    times=(span.start_time_unix_nano, span.end_time_unix_nano),
                    error_flag=span.status.code == ERROR,
                    attributes=_read_pairs(span.attributes),
                )
            except InputError as error:
                tally.skip(error.message, where)


def _span_in_file(
    *,
    trace: str,
    own: str,
    parent: str,
    service: str,
    name: str,
    kind: SpanKind,
    times: tuple[int, int],
    error_flag: bool,
    attributes: dict[str, str],
) -> Span:
    trace, own = trace_id(trace), span_id(own)
    if not trace or not own:
        raise InputError("span without an id")
    start, end = times
    if not 0 <= start <= in_order.LATEST_NS or not 0 <= end <= in_order.LATEST_NS:
        raise InputError("span whose time is out of range")
    service = bounded(attributes.pop(SIDECAR_OF, "")) or service
    meaning, error = _meaning(tuple(attributes.items()), kind, error_flag)
    # A span that has not ended (yet) has an end of 0.
    return Span(trace, own, span_id(parent), service, bounded(name), kind, start, max(start, end), error, meaning)


def _json_span_in_file(span: Any, service: str, tally: ReadTally, where: str) -> Span:
    if not isinstance(span, dict):
        raise InputError("span that is not an object")
    name = span.get("name")
    return _span_in_file(
        trace=_id_in_file(span.get("traceId"), 24),
        own=_id_in_file(span.get("spanId"), 12),
        parent=_id_in_file(span.get("parentSpanId"), 12),
        service=service,
        name=name if isinstance(name, str) else "",
        kind=_json_kind(span.get("kind")),
        times=(_time_in_file(span.get("startTimeUnixNano")), _time_in_file(span.get("endTimeUnixNano"))),
        error_flag=_json_error(span.get("status")),
        attributes=_read_attributes(span, tally, where),
    )


def _json_kind(kind: object) -> SpanKind:
    return _KINDS_IN_FILES.get(kind, SpanKind.INTERNAL) if isinstance(kind, _SCALARS) else SpanKind.INTERNAL


def _json_error(status: object) -> bool:
    return isinstance(status, dict) and status.get("code") in (ERROR, "STATUS_CODE_ERROR")


def _id_in_file(found: Any, base64_length: int) -> str:
    """Hex, as OTLP/JSON says; or base64, as proto3's JSON and Tempo have it."""
    if found is None:
        return ""
    if not isinstance(found, str):
        raise InputError("span whose id is not a text")
    if len(found) == base64_length and found.endswith("="):
        with suppress(ValueError):  # not base64, or not even ASCII
            return base64.b64decode(found, validate=True).hex()
    return found


def _time_in_file(found: Any) -> int:
    try:
        return int(found or 0)  # OTLP/JSON has texts, as JSON's numbers are too small
    except (TypeError, ValueError, OverflowError):
        raise InputError("span whose time is not a number") from None


@lru_cache(maxsize=10_000)  # most spans say what many others say
def _meaning(
    attributes: tuple[tuple[str, str], ...],
    kind: SpanKind,
    error_flag: bool,  # noqa: FBT001
) -> tuple[Mapping[str, AttributeValue], bool]:
    meaning = kept(dict(attributes))
    return meaning, failed(error_flag, kind, meaning)


def _read_attributes(holder: Any, tally: ReadTally, where: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for pair in _list(holder, "attributes", tally, where):
        try:
            key = pair.get("key")
            if key in READ_ATTRIBUTES:
                for content in (pair.get("value") or {}).values():
                    if isinstance(content, _SCALARS):
                        attributes[key] = as_text(content)
        except (AttributeError, TypeError):
            tally.skip("attribute that is malformed", where)
    return attributes


def _read_pairs(pairs: Iterable[KeyValue]) -> dict[str, str]:
    read = attributes_of((pair for pair in pairs if pair.key in READ_ATTRIBUTES), {})
    return {key: as_text(value) for key, value in read.items()}


def _service_in_file(resource: dict[str, str]) -> str:
    return bounded(resource.get("service.name", "")) or UNKNOWN_SERVICE


def _list(holder: Any, key: str, tally: ReadTally, where: str) -> list[Any]:
    found = holder.get(key) if isinstance(holder, dict) else holder
    if isinstance(found, list) and found is not holder:
        return found
    if found is not None:
        tally.skip(f"{key} that are not an array", where)
    return []


def _salvage_spans(message: bytes, salvaged: trace_pb2.ScopeSpans, tally: ReadTally, where: str) -> None:
    for number, content, is_whole in protobuf_stream.fields(message):
        if number == 2:
            try:
                salvaged.spans.append(trace_pb2.Span.FromString(content))
            except DecodeError:
                if is_whole:
                    tally.skip("span that is malformed protobuf", where)


def _salvaged(message: bytes, tally: ReadTally, where: str) -> trace_pb2.ResourceSpans:
    """Of resource spans that cannot be read as a whole, those parts that can be."""
    salvaged = trace_pb2.ResourceSpans()
    for number, content, _ in protobuf_stream.fields(message):
        try:
            if number == 1:
                salvaged.resource.MergeFromString(content)
            elif number in _SCOPE_FIELDS:
                _salvage_spans(content, salvaged.scope_spans.add(), tally, where)
        except DecodeError:
            tally.skip("resource that is malformed protobuf", where)
    return salvaged


# What follows reads what is in order, many spans at a time.


class _JsonSpan(msgspec.Struct, rename="camel", gc=False):
    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    name: str | None = None
    kind: int | str | None = None
    start_time_unix_nano: str | int | None = None
    end_time_unix_nano: str | int | None = None
    status: msgspec.Raw = NOTHING
    attributes: msgspec.Raw = NOTHING


class _JsonScopeSpans(msgspec.Struct, gc=False):
    spans: list[_JsonSpan]


class _JsonResourceSpans(msgspec.Struct, rename="camel", gc=False):
    scope_spans: list[_JsonScopeSpans]
    resource: msgspec.Raw = NOTHING
    instrumentation_library_spans: msgspec.Raw = NOTHING


class _JsonDocument(msgspec.Struct, rename="camel", gc=False):
    resource_spans: list[_JsonResourceSpans]
    batches: msgspec.Raw = NOTHING
    trace: msgspec.Raw = NOTHING


_DOCUMENTS = msgspec.json.Decoder(_JsonDocument)
_ELEMENTS = msgspec.json.Decoder(list[_JsonResourceSpans])


def _rows_of_documents(block: bytes) -> list[SpanRow]:
    documents = _DOCUMENTS.decode_lines(block)
    if any(bytes(document.batches) or bytes(document.trace) for document in documents):
        raise UnlikeError
    return _json_rows(resource_spans for document in documents for resource_spans in document.resource_spans)


def _rows_of_elements(block: bytes) -> tuple[int, list[SpanRow]]:
    found = _ELEMENTS.decode(b"[%b]" % block)
    return len(found), _json_rows(found)


_JSON_BLOCKS = Blocks(_rows_of_documents, _rows_of_elements)


def _json_rows(elements: Iterable[_JsonResourceSpans]) -> list[SpanRow]:
    spans: list[_JsonSpan] = []
    labels: list[LabelValues] = []
    for resource_spans in elements:
        if bytes(resource_spans.instrumentation_library_spans):
            raise UnlikeError
        service = _json_service(bytes(resource_spans.resource))
        for scope_spans in resource_spans.scope_spans:
            spans += scope_spans.spans
            labels += [
                _json_label(service, span.name, span.kind, bytes(span.status), bytes(span.attributes))
                for span in scope_spans.spans
            ]
    try:
        return in_order.rows(
            in_order.ids([span.trace_id for span in spans], 32, lambda text: trace_id(_id_in_file(text, 24))),
            in_order.ids([span.span_id for span in spans], 16, _span_id),
            in_order.parents([span.parent_span_id or "" for span in spans], _span_id),
            [int(span.start_time_unix_nano or 0) for span in spans],
            [int(span.end_time_unix_nano or 0) for span in spans],
            labels,
        )
    except ValueError:  # of a time
        raise UnlikeError from None


def _span_id(text: str) -> str:
    return span_id(_id_in_file(text, 12))


@lru_cache(REMEMBERED)
def _json_service(resource: bytes) -> str:
    uncounted = ReadTally()
    service = _service_in_file(_read_attributes(decoded(resource), uncounted, ""))
    if uncounted.skipped:
        raise UnlikeError
    return service


@lru_cache(REMEMBERED)
def _json_label(service: str, name: str | None, kind: object, status: bytes, attributes: bytes) -> LabelValues:
    read = [_json_pair(pair.key, bytes(pair.value)) for pair in pairs_of(attributes) if pair.key in READ_ATTRIBUTES]
    return _label(service, name or "", _json_kind(kind), _json_status(status), tuple(filter(None, read)))


@lru_cache(REMEMBERED)  # even if no two spans have all attributes alike, each by itself is
def _json_pair(key: str, value: bytes) -> tuple[str, str] | None:
    uncounted = ReadTally()
    read = _read_attributes({"attributes": [{"key": key, "value": decoded(value)}]}, uncounted, "")
    if uncounted.skipped:
        raise UnlikeError
    return next(iter(read.items()), None)


@lru_cache
def _json_status(status: bytes) -> bool:
    return _json_error(decoded(status))


@lru_cache(REMEMBERED)
def _label(
    service: str,
    name: str,
    kind: SpanKind,
    error_flag: bool,  # noqa: FBT001
    attributes: tuple[tuple[str, str], ...],
) -> LabelValues:
    read = dict(attributes)
    service = bounded(read.pop(SIDECAR_OF, "")) or service
    meaning = kept(read)
    return label_values(service, bounded(name), kind, failed(error_flag, kind, meaning), meaning)


def _with_raw_attributes() -> Any:
    """OTLP's message of traces, but for spans' attributes and resources, which stay the bytes that they are."""
    file = FileDescriptorProto()
    trace_pb2.DESCRIPTOR.CopyToProto(file)
    ours = "cutset.otlp_with_raw_attributes"
    for message in (each for outer in file.message_type for each in (outer, *outer.nested_type)):
        for field in message.field:
            if field.type_name:
                field.type_name = field.type_name.replace(f".{file.package}.", f".{ours}.")
            if (message.name, field.name) in (("Span", "attributes"), ("ResourceSpans", "resource")):
                field.type, field.label = FieldDescriptorProto.TYPE_BYTES, FieldDescriptorProto.LABEL_REPEATED
                field.ClearField("type_name")
    file.name, file.package = f"{ours}.proto", ours
    pool = descriptor_pool.Default()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{ours}.TracesData"))


_RawTracesData = _with_raw_attributes()


def _protobuf_rows(message: bytes) -> list[SpanRow]:
    spans: list[Any] = []
    labels: list[LabelValues] = []
    for resource_spans in _RawTracesData.FromString(message).resource_spans:
        if len(resource_spans.resource) > 1 or not resource_spans.scope_spans:
            raise UnlikeError
        service = _protobuf_service(b"".join(resource_spans.resource))
        for scope_spans in resource_spans.scope_spans:
            found = list(scope_spans.spans)
            spans += found
            labels += [
                _protobuf_label(service, span.name, span.kind, span.status.code == ERROR, tuple(span.attributes))
                for span in found
            ]
    return in_order.rows(
        in_order.ids([span.trace_id.hex() for span in spans], 32, trace_id),
        in_order.ids([span.span_id.hex() for span in spans], 16, span_id),
        in_order.parents([span.parent_span_id.hex() for span in spans], span_id),
        [span.start_time_unix_nano for span in spans],
        [span.end_time_unix_nano for span in spans],
        labels,
    )


@lru_cache(REMEMBERED)
def _protobuf_service(resource: bytes) -> str:
    return _service_in_file(_read_pairs(Resource.FromString(resource).attributes))


@lru_cache(REMEMBERED)
def _protobuf_label(
    service: str,
    name: str,
    kind: int,
    error_flag: bool,  # noqa: FBT001
    attributes: tuple[bytes, ...],
) -> LabelValues:
    if len(attributes) > MAX_ATTRIBUTES:
        raise UnlikeError
    return _label(service, name, kind_of(kind), error_flag, tuple(filter(None, map(_protobuf_pair, attributes))))


@lru_cache(REMEMBERED)
def _protobuf_pair(attribute: bytes) -> tuple[str, str] | None:
    return next(iter(_read_pairs((KeyValue.FromString(attribute),)).items()), None)
