"""Jaeger's JSON: what its query API answers (`data`: traces), one trace, or a trace per line."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, BinaryIO

import msgspec

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
from cutset.traces.conventions import READ_ATTRIBUTES, SIDECAR_OF, as_text, bounded, failed, kept, span_id, trace_id
from cutset.traces.files import in_order
from cutset.traces.files.in_order import (
    LATEST_NS,
    NOTHING,
    REMEMBERED,
    Batches,
    Position,
    UnlikeError,
    decoded,
    pairs_of,
)
from cutset.traces.files.json_stream import Blocks, Torn, batches, elements
from cutset.traces.files.times import NS_PER_UNIT, end_after, nanoseconds
from cutset.traces.tally import ReadTally

_US = NS_PER_UNIT["us"]
_SCALARS: frozenset[Any] = frozenset({str, int, float, bool})
_ARRAYS = ("data",)
_DEPTH_OF_SPANS = 2  # inside an array, inside a trace
_READ_TAGS = READ_ATTRIBUTES | {"span.kind", "error", "otel.status_code"}
_KINDS: dict[AttributeValue, SpanKind] = {kind.value: kind for kind in SpanKind}


def read(stream: BinaryIO, tally: ReadTally) -> Iterator[Span]:
    for trace, where in elements(stream, tally, _ARRAYS, torn_at=_DEPTH_OF_SPANS):
        yield from _spans(trace, where, tally)


def read_rows(stream: BinaryIO, tally: ReadTally, position: Position = ()) -> Batches:
    """The same, some at a time, and from where to go on."""

    def plain(trace: Any, where: str) -> Iterable[SpanRow]:
        return map(row_of, _spans(trace, where, tally))

    return batches(stream, tally, _ARRAYS, read=plain, blocks=_BLOCKS, position=position, torn_at=_DEPTH_OF_SPANS)


def _spans(trace: Any, where: str, tally: ReadTally) -> Iterator[Span]:
    records = trace.get("spans") if isinstance(trace, dict) else None
    if not isinstance(records, list):
        tally.skip("Jaeger trace without spans", where)
        return
    services = _services(trace.get("processes"))
    for number, record in enumerate(records):
        if isinstance(trace, Torn) and not _tells_service(record, services):
            tally.skip("Jaeger span whose process is not in the file", f"{where}.spans[{number}]")
            continue
        span = span_of(record, services)
        if isinstance(span, Span):
            yield span
        else:
            tally.skip(span, f"{where}.spans[{number}]")


def _tells_service(record: Any, services: dict[object, str]) -> bool:
    """Jaeger writes processes behind the spans, so that a file that was cut off may lack them."""
    return not isinstance(record, dict) or "process" in record or str(record.get("processID")) in services


def _services(processes: object) -> dict[object, str]:
    """Of each process its service."""
    if not isinstance(processes, dict):
        return {}
    return {key: _service(process) for key, process in processes.items()}


def _service(process: object) -> str:
    name = process.get("serviceName") if isinstance(process, dict) else None
    return (bounded(name) if isinstance(name, str) else "") or UNKNOWN_SERVICE


def span_of(record: Any, services: dict[object, str]) -> Span | str:
    """The span, or why there is none."""
    if not isinstance(record, dict):
        return "Jaeger span that is not an object"
    trace, span, process = record.get("traceID"), record.get("spanID"), record.get("processID")
    trace = trace_id(trace) if isinstance(trace, str) else ""
    span = span_id(span) if isinstance(span, str) else ""
    if not trace or not span:
        return "Jaeger span without ids"
    start_ns = nanoseconds(record.get("startTime"), _US)
    if start_ns is None:
        return "Jaeger span without a start time"
    tags = _tags(record.get("tags"))
    name = record.get("operationName")
    name = bounded(name) if isinstance(name, str) else ""
    service = services.get(process) if isinstance(process, str) else None
    if service is None:
        service = _service(record.get("process"))  # some exports repeat it in every span
    kind, error, attributes = _meaning(tags, name, service)
    end_ns = end_after(start_ns, record.get("duration"), _US)
    service = bounded(str(tags.get(SIDECAR_OF, ""))) or service
    return Span(trace, span, _parent(record, trace), service, name, kind, start_ns, end_ns, error, attributes)


def _meaning(
    tags: Mapping[str, AttributeValue], name: str, service: str
) -> tuple[SpanKind, bool, dict[str, AttributeValue]]:
    kind = _kind(tags, name, service)
    attributes = kept(tags)
    error = _is_true(tags.get("error")) or tags.get("otel.status_code") == "ERROR"
    return kind, failed(error, kind, attributes), attributes


def _tags(tags: object) -> dict[str, AttributeValue]:
    if not isinstance(tags, list):
        return {}
    try:
        return {tag["key"]: tag["value"] for tag in tags if tag["value"].__class__ in _SCALARS}
    except (KeyError, TypeError):  # some tag is malformed: it alone is left out
        return {} if len(tags) == 1 else {key: value for tag in tags for key, value in _tags([tag]).items()}


def _kind(tags: Mapping[str, AttributeValue], name: str, service: str) -> SpanKind:
    kind = _KINDS.get(tags.get("span.kind", ""), SpanKind.INTERNAL)
    if kind is SpanKind.CLIENT and tags.get("component") == "proxy":
        # Istio's sidecars say so on both sides of a call. The callee's shows by the cluster that it sends to or, if it
        # answers itself, by the host that was called.
        cluster = str(tags.get("upstream_cluster", ""))
        if cluster.startswith("inbound|") or (not cluster.strip("-") and name.startswith(f"{service}.")):
            return SpanKind.SERVER
    return kind


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _parent(record: dict[str, Any], trace: str) -> str:
    """What a span is a child of or else follows from, in its own trace: what it says of other traces is a mere link."""
    followed = ""
    references = record.get("references")
    for reference in references if isinstance(references, list) else ():
        if not isinstance(reference, dict):
            continue
        parent, in_trace = reference.get("spanID"), reference.get("traceID", trace)
        if not isinstance(parent, str) or not isinstance(in_trace, str):
            continue
        if in_trace != trace and trace_id(in_trace) != trace:
            continue
        if reference.get("refType") == "CHILD_OF":
            return span_id(parent)
        followed = followed or span_id(parent)
    if followed:
        return followed
    parent = record.get("parentSpanID")  # as Jaeger wrote it before there were references
    return span_id(parent) if isinstance(parent, str) else ""


# What follows reads what is in order, many traces at a time.


class _Reference(msgspec.Struct, gc=False):
    spanID: str  # noqa: N815 -- as Jaeger has it, here and below
    traceID: str  # noqa: N815
    refType: str  # noqa: N815


class _Record(msgspec.Struct, gc=False):
    traceID: str  # noqa: N815
    spanID: str  # noqa: N815
    startTime: int  # noqa: N815
    duration: int = 0
    operationName: str = ""  # noqa: N815
    processID: str | None = None  # noqa: N815
    parentSpanID: str | None = None  # noqa: N815
    references: list[_Reference] | None = None
    tags: msgspec.Raw = NOTHING
    process: msgspec.Raw = NOTHING


class _Process(msgspec.Struct, gc=False):
    serviceName: str = ""  # noqa: N815


class _Trace(msgspec.Struct, gc=False):
    spans: list[_Record]
    processes: dict[str, _Process] = {}


class _Document(msgspec.Struct, gc=False):
    """An answer of the query API; or else a trace."""

    data: list[_Trace] | msgspec.UnsetType = msgspec.UNSET
    spans: list[_Record] = []
    processes: dict[str, _Process] = {}


_DOCUMENTS = msgspec.json.Decoder(_Document)
_ELEMENTS = msgspec.json.Decoder(list[_Trace])


def _rows_of_documents(block: bytes) -> list[SpanRow]:
    traces: list[_Trace | _Document] = []
    for document in _DOCUMENTS.decode_lines(block):
        if document.data is not msgspec.UNSET:
            traces += document.data
        elif document.spans:
            traces.append(document)
        else:
            raise UnlikeError
    return _rows(traces)


def _rows_of_elements(block: bytes) -> tuple[int, list[SpanRow]]:
    traces = _ELEMENTS.decode(b"[%b]" % block)
    return len(traces), _rows(traces)


_BLOCKS = Blocks(_rows_of_documents, _rows_of_elements)


def _rows(traces: Iterable[_Trace | _Document]) -> list[SpanRow]:
    records: list[_Record] = []
    labels: list[LabelValues] = []
    for trace in traces:
        services = {key: process.serviceName for key, process in trace.processes.items()}
        records += trace.spans
        for record in trace.spans:
            service = services.get(record.processID) if record.processID is not None else None
            raw_process = bytes(record.process) if service is None else b""
            labels.append(_label(service, raw_process, record.operationName, bytes(record.tags)))
    starts = [record.startTime * _US for record in records]
    durations = [record.duration * _US for record in records]
    if records and not 0 <= min(durations) <= max(durations) <= LATEST_NS:
        raise UnlikeError
    return in_order.rows(
        in_order.ids([record.traceID for record in records], 32, trace_id),
        in_order.ids([record.spanID for record in records], 16, span_id),
        in_order.parents([_parent_of(record) for record in records], span_id),
        starts,
        [min(start + duration, LATEST_NS) for start, duration in zip(starts, durations, strict=True)],
        labels,
    )


def _parent_of(record: _Record) -> str:
    references = record.references
    if not references:
        return record.parentSpanID or ""
    only = references[0]
    if len(references) == 1 and only.refType == "CHILD_OF" and only.traceID == record.traceID:
        return only.spanID
    read = {"references": list(map(msgspec.structs.asdict, references)), "parentSpanID": record.parentSpanID}
    return _parent(read, trace_id(record.traceID))


@lru_cache(REMEMBERED)
def _label(service: str | None, process: bytes, operation: str, tags: bytes) -> LabelValues:
    known = _service(decoded(process)) if service is None else bounded(service) or UNKNOWN_SERVICE
    read = [_tag(pair.key, bytes(pair.value)) for pair in pairs_of(tags) if pair.key in _READ_TAGS]
    return _label_of(known, bounded(operation), tuple(filter(None, read)))


@lru_cache(REMEMBERED)  # even if no two spans have all tags alike, each by itself is
def _tag(key: str, raw: bytes) -> tuple[str, str] | None:
    value = decoded(raw)
    return (key, as_text(value)) if value.__class__ in _SCALARS else None


@lru_cache(REMEMBERED)
def _label_of(service: str, name: str, tags: tuple[tuple[str, str], ...]) -> LabelValues:
    told = dict(tags)
    kind, error, attributes = _meaning(told, name, service)
    service = bounded(told.get(SIDECAR_OF, "")) or service
    return label_values(service, name, kind, error, attributes)
