"""Files of OTLP trace data, protobuf and JSON, and what Tempo answers.

A malformed span is left out and counted, as nobody can send the file again. A span's parent need not be in the file.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, BinaryIO

from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1 import trace_pb2

from cutset.errors import InputError
from cutset.model.span import UNKNOWN_SERVICE, AttributeValue, Span, SpanKind
from cutset.traces.conventions import READ_ATTRIBUTES, SIDECAR_OF, bounded, failed, kept, span_id, trace_id
from cutset.traces.files import protobuf_stream
from cutset.traces.files.json_stream import elements
from cutset.traces.otlp import ERROR, KIND_NUMBERS, KINDS, attributes_of, kind_of
from cutset.traces.tally import ReadTally

_KINDS_IN_FILES: dict[object, SpanKind] = {
    **dict(enumerate(KINDS)),
    **{name: KINDS[number] for name, number in KIND_NUMBERS.items()},
}
_MAX_NS = 2**63 - 1  # the year 2262; columns of stores hold no more

# Where files have resources: as OTLP says, as Tempo says, and inside of what Tempo's second API answers.
_RESOURCE_ARRAYS = ("resourceSpans", "batches", "trace.resourceSpans", "trace.batches")
_SCOPE_ARRAYS = ("scopeSpans", "instrumentationLibrarySpans")  # the latter before 2022
_SCOPE_FIELDS = (2, 1000)  # their numbers in protobuf

_SCALARS = (str, int, float)


def read_json(stream: BinaryIO, tally: ReadTally) -> Iterator[Span]:
    """The spans of a file of OTLP/JSON, or of Tempo's; JSON lines too."""
    for resource_spans, where in elements(stream, tally, _RESOURCE_ARRAYS):
        if not isinstance(resource_spans, dict) or resource_spans.keys().isdisjoint(("resource", *_SCOPE_ARRAYS)):
            tally.skip("JSON that is not resource spans", where)
            continue
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
    attributes: dict[str, AttributeValue],
) -> Span:
    trace, own = trace_id(trace), span_id(own)
    if not trace or not own:
        raise InputError("span without an id")
    start, end = times
    if not 0 <= start <= _MAX_NS or not 0 <= end <= _MAX_NS:
        raise InputError("span whose time is out of range")
    # A sidecar of Cutset's speaks for the service that it is in front of, whatever all sidecars are called together.
    service = bounded(str(attributes.pop(SIDECAR_OF, ""))) or service
    meaning, error = _meaning(tuple(attributes.items()), kind, error_flag)
    # A span that has not ended (yet) has an end of 0.
    return Span(trace, own, span_id(parent), service, bounded(name), kind, start, max(start, end), error, meaning)


def _json_span_in_file(span: Any, service: str, tally: ReadTally, where: str) -> Span:
    if not isinstance(span, dict):
        raise InputError("span that is not an object")
    name, status, kind = span.get("name"), span.get("status"), span.get("kind")
    code = status.get("code") if isinstance(status, dict) else None
    return _span_in_file(
        trace=_id_in_file(span.get("traceId"), 24),
        own=_id_in_file(span.get("spanId"), 12),
        parent=_id_in_file(span.get("parentSpanId"), 12),
        service=service,
        name=name if isinstance(name, str) else "",
        kind=_KINDS_IN_FILES.get(kind, SpanKind.INTERNAL) if isinstance(kind, _SCALARS) else SpanKind.INTERNAL,
        times=(_time_in_file(span.get("startTimeUnixNano")), _time_in_file(span.get("endTimeUnixNano"))),
        error_flag=code in (ERROR, "STATUS_CODE_ERROR"),
        attributes=_read_attributes(span, tally, where),
    )


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
    attributes: tuple[tuple[str, AttributeValue], ...],
    kind: SpanKind,
    error_flag: bool,  # noqa: FBT001
) -> tuple[Mapping[str, AttributeValue], bool]:
    meaning = kept(dict(attributes))
    return meaning, failed(error_flag, kind, meaning)


def _read_attributes(holder: Any, tally: ReadTally, where: str) -> dict[str, AttributeValue]:
    attributes: dict[str, AttributeValue] = {}
    for pair in _list(holder, "attributes", tally, where):
        try:
            key = pair.get("key")
            if key in READ_ATTRIBUTES:
                for content in (pair.get("value") or {}).values():
                    if isinstance(content, _SCALARS):
                        attributes[key] = content
        except (AttributeError, TypeError):
            tally.skip("attribute that is malformed", where)
    return attributes


def _read_pairs(pairs: Iterable[KeyValue]) -> dict[str, AttributeValue]:
    return attributes_of((pair for pair in pairs if pair.key in READ_ATTRIBUTES), {})


def _service_in_file(resource: dict[str, AttributeValue]) -> str:
    return bounded(str(resource.get("service.name", ""))) or UNKNOWN_SERVICE


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
