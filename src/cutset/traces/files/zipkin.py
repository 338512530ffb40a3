"""Zipkin's JSON, version 2 and 1: an array of spans, of traces that are arrays of spans, or a span per line.

The client and the server of a call may share one id. In version 2 they are two spans; in version 1 they may be one, of
which the annotations tell the halves apart: client sent and received (cs, cr), server received and sent (sr, ss).
"""

from collections import defaultdict
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
from cutset.traces.files.in_order import LATEST_NS, NOTHING, REMEMBERED, Batches, Position, UnlikeError, decoded
from cutset.traces.files.json_stream import Blocks, batches, elements
from cutset.traces.files.times import NS_PER_UNIT, end_after, nanoseconds
from cutset.traces.tally import ReadTally

_US = NS_PER_UNIT["us"]
_SCALARS: frozenset[Any] = frozenset({str, int, float, bool})
_KINDS: dict[object, SpanKind] = {kind.value.upper(): kind for kind in SpanKind}

# Of version 1: the annotations with which the half of each kind begins and ends, and those that name the other side.
_HALVES = {
    SpanKind.CLIENT: ("cs", "cr"),
    SpanKind.SERVER: ("sr", "ss"),
    SpanKind.PRODUCER: ("ms", "ws"),
    SpanKind.CONSUMER: ("wr", "mr"),
}
_CORE = frozenset(value for half in _HALVES.values() for value in half)
_ADDRESSES = {"sa": SpanKind.CLIENT, "ca": SpanKind.SERVER, "ma": SpanKind.PRODUCER}
_READ_TAGS = READ_ATTRIBUTES | {"error"}

_Ids = tuple[str, str, str]  # of trace, span and parent


def read(stream: BinaryIO, tally: ReadTally) -> Iterator[Span]:
    for element, where in elements(stream, tally, ()):
        yield from _spans(element, where, tally)


def read_rows(stream: BinaryIO, tally: ReadTally, position: Position = ()) -> Batches:
    """The same, some at a time, and from where to go on."""

    def plain(element: Any, where: str) -> Iterable[SpanRow]:
        return map(row_of, _spans(element, where, tally))

    return batches(stream, tally, (), read=plain, blocks=_BLOCKS, position=position)


def _spans(element: Any, where: str, tally: ReadTally) -> Iterator[Span]:
    for record in element if isinstance(element, list) else (element,):
        spans = spans_of(record)
        if isinstance(spans, str):
            tally.skip(spans, where)
        else:
            yield from spans


def spans_of(record: Any) -> list[Span] | str:
    """The spans, or why there are none."""
    if not isinstance(record, dict):
        return "Zipkin span that is not an object"
    trace, span, parent = record.get("traceId"), record.get("id"), record.get("parentId")
    trace = trace_id(trace) if isinstance(trace, str) else ""
    span = span_id(span) if isinstance(span, str) else ""
    if not trace or not span:
        return "Zipkin span without ids"
    timestamp = record.get("timestamp")
    start_ns = 0 if timestamp is None else nanoseconds(timestamp, _US)  # it may be absent, as in a server's shared half
    if start_ns is None:
        return "Zipkin span whose timestamp is no time"
    ids = trace, span, span_id(parent) if isinstance(parent, str) else ""
    annotations = record.get("annotations")
    if "binaryAnnotations" in record or (annotations and any("endpoint" in note for note in _objects(annotations))):
        return _version_1(record, ids, start_ns)
    return [_version_2(record, ids, start_ns)]


def _version_2(record: dict[str, Any], ids: _Ids, start_ns: int) -> Span:
    return _span(
        ids,
        record.get("name"),
        _kind(record.get("kind")),
        service=_service(record.get("localEndpoint")),
        peer=_service(record.get("remoteEndpoint")),
        start_ns=start_ns,
        end_ns=end_after(start_ns, record.get("duration"), _US),
        tags=_tags(record.get("tags")),
    )


def _kind(kind: object) -> SpanKind:
    return _KINDS.get(kind, SpanKind.INTERNAL) if isinstance(kind, str) else SpanKind.INTERNAL


def _tags(tags: object) -> dict[str, AttributeValue]:
    return _scalars(tags.items()) if isinstance(tags, dict) else {}


def _version_1(record: dict[str, Any], ids: _Ids, start_ns: int) -> list[Span]:
    """A span for each half that the annotations show, or one if they show none."""
    moments: defaultdict[str, list[int]] = defaultdict(list)
    services: dict[str, str] = {}  # by annotation, of the one who made it
    for annotation in _objects(record.get("annotations")):
        value, at_ns = annotation.get("value"), nanoseconds(annotation.get("timestamp"), _US)
        if isinstance(value, str) and value in _CORE and at_ns is not None:
            moments[value].append(at_ns)
            services.setdefault(value, _service(annotation.get("endpoint")))
    facts = [
        (fact["key"], fact.get("value"), _service(fact.get("endpoint")))
        for fact in _objects(record.get("binaryAnnotations"))
        if isinstance(fact.get("key"), str)
    ]
    peers = {_ADDRESSES[key]: service for key, _, service in facts if key in _ADDRESSES}
    kinds = [kind for kind, (first, last) in _HALVES.items() if first in moments or last in moments]
    spans = []
    for kind in kinds or [SpanKind.CLIENT if SpanKind.CLIENT in peers else SpanKind.INTERNAL]:
        first, last = _HALVES.get(kind, ("", ""))
        anybody = "" if kinds else next((by for key, _, by in facts if by and key not in _ADDRESSES), "")
        service = services.get(first) or services.get(last) or anybody
        begin_ns = min(moments[first], default=start_ns)
        span = _span(
            ids,
            record.get("name"),
            kind,
            service=service,
            peer=peers.get(kind, ""),
            start_ns=begin_ns,
            end_ns=max(moments[last], default=end_after(begin_ns, record.get("duration"), _US)),
            tags=_scalars((key, value) for key, value, by in facts if len(kinds) < 2 or by in ("", service)),
        )
        spans.append(span)
    return spans


def _span(
    ids: _Ids,
    name: object,
    kind: SpanKind,
    *,
    service: str,
    peer: str,
    start_ns: int,
    end_ns: int,
    tags: dict[str, AttributeValue],
) -> Span:
    error, attributes = _meaning(kind, peer, tags)
    name = bounded(name) if isinstance(name, str) else ""
    end_ns = max(start_ns, end_ns)
    service = bounded(str(tags.get(SIDECAR_OF, ""))) or service or UNKNOWN_SERVICE
    return Span(*ids, service, name, kind, start_ns, end_ns, error, attributes)


def _meaning(
    kind: SpanKind, peer: str, tags: Mapping[str, AttributeValue]
) -> tuple[bool, Mapping[str, AttributeValue]]:
    attributes = kept(tags)
    if peer:  # of a server the caller
        attributes.setdefault("peer.service", peer)
    error = str(tags.get("error", "false")).lower() != "false"  # mostly a message
    return failed(error, kind, attributes), attributes


def _scalars(tags: Iterable[tuple[str, Any]]) -> dict[str, AttributeValue]:
    return {key: value for key, value in tags if value.__class__ in _SCALARS}


def _objects(items: object) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _service(endpoint: object) -> str:
    name = endpoint.get("serviceName") if isinstance(endpoint, dict) else None
    return bounded(name) if isinstance(name, str) else ""


# What follows reads what is in order, and version 2, many spans at a time.


class _Record(msgspec.Struct, rename="camel", gc=False):
    trace_id: str
    id: str
    parent_id: str | None = None
    name: str | None = None
    kind: str | None = None
    timestamp: int | None = None
    duration: int | None = None
    local_endpoint: msgspec.Raw = NOTHING
    remote_endpoint: msgspec.Raw = NOTHING
    tags: msgspec.Raw = NOTHING
    annotations: msgspec.Raw = NOTHING
    binary_annotations: msgspec.Raw = NOTHING


_ELEMENTS = msgspec.json.Decoder(list[_Record | list[_Record]])
_DOCUMENTS = msgspec.json.Decoder(_Record | list[_Record | list[_Record]])


def _rows_of_documents(block: bytes) -> list[SpanRow]:
    documents = _DOCUMENTS.decode_lines(block)
    return _rows(element for each in documents for element in (each if isinstance(each, list) else (each,)))


def _rows_of_elements(block: bytes) -> tuple[int, list[SpanRow]]:
    found = _ELEMENTS.decode(b"[%b]" % block)
    return len(found), _rows(found)


_BLOCKS = Blocks(_rows_of_documents, _rows_of_elements)


def _rows(elements: Iterable[_Record | list[_Record]]) -> list[SpanRow]:
    records: list[_Record] = []
    for element in elements:
        if isinstance(element, list):
            records += element
        else:
            records.append(element)
    labels = [
        _label(
            record.name or "",
            record.kind,
            bytes(record.local_endpoint),
            bytes(record.remote_endpoint),
            bytes(record.tags),
        )
        for record in records
    ]
    if any(bytes(each.binary_annotations) or b'"endpoint"' in bytes(each.annotations) for each in records):
        raise UnlikeError  # version 1
    starts = [(record.timestamp or 0) * _US for record in records]
    durations = [(record.duration or 0) * _US for record in records]
    if records and not 0 <= min(durations) <= max(durations) <= LATEST_NS:
        raise UnlikeError
    return in_order.rows(
        in_order.ids([record.trace_id for record in records], 32, trace_id),
        in_order.ids([record.id for record in records], 16, span_id),
        in_order.parents([record.parent_id or "" for record in records], span_id),
        starts,
        [min(start + duration, LATEST_NS) for start, duration in zip(starts, durations, strict=True)],
        labels,
    )


@lru_cache(REMEMBERED)
def _label(name: str, kind: str | None, local: bytes, remote: bytes, tags: bytes) -> LabelValues:
    read = {key: as_text(value) for key, value in _tags(decoded(tags)).items() if key in _READ_TAGS}
    service = _service(decoded(local)) or UNKNOWN_SERVICE
    return _label_of(service, bounded(name), _kind(kind), _service(decoded(remote)), tuple(read.items()))


@lru_cache(REMEMBERED)
def _label_of(service: str, name: str, kind: SpanKind, peer: str, tags: tuple[tuple[str, str], ...]) -> LabelValues:
    told = dict(tags)
    error, attributes = _meaning(kind, peer, told)
    service = bounded(told.get(SIDECAR_OF, "")) or service
    return label_values(service, name, kind, error, attributes)
