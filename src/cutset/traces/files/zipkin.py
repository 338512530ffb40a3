"""Zipkin's JSON, version 2 and 1: an array of spans, of traces that are arrays of spans, or a span per line.

The client and the server of a call may share one id. In version 2 they are two spans; in version 1 they may be one, of
which the annotations tell the halves apart: client sent and received (cs, cr), server received and sent (sr, ss).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from cutset.model.span import UNKNOWN_SERVICE, AttributeValue, Span, SpanKind
from cutset.traces.conventions import bounded, failed, kept, span_id, trace_id
from cutset.traces.files.json_stream import elements
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


_Ids = tuple[str, str, str]  # of trace, span and parent


def read(stream: BinaryIO, tally: ReadTally) -> Iterator[Span]:
    for element, where in elements(stream, tally, ()):
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
    kind = record.get("kind")
    tags = record.get("tags")
    return _span(
        ids,
        record.get("name"),
        _KINDS.get(kind, SpanKind.INTERNAL) if isinstance(kind, str) else SpanKind.INTERNAL,
        service=_service(record.get("localEndpoint")),
        peer=_service(record.get("remoteEndpoint")),
        start_ns=start_ns,
        end_ns=end_after(start_ns, record.get("duration"), _US),
        tags=_scalars(tags.items()) if isinstance(tags, dict) else {},
    )


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
    attributes = kept(tags)
    if peer and kind is not SpanKind.SERVER:  # whose peer is the caller
        attributes.setdefault("peer.service", peer)
    error = str(tags.get("error", "false")).lower() != "false"  # mostly a message
    return Span(
        *ids,
        service or UNKNOWN_SERVICE,
        bounded(name) if isinstance(name, str) else "",
        kind,
        start_ns,
        max(start_ns, end_ns),
        failed(error, kind, attributes),
        attributes,
    )


def _scalars(tags: Iterable[tuple[str, Any]]) -> dict[str, AttributeValue]:
    return {key: value for key, value in tags if value.__class__ in _SCALARS}


def _objects(items: object) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _service(endpoint: object) -> str:
    name = endpoint.get("serviceName") if isinstance(endpoint, dict) else None
    return bounded(name) if isinstance(name, str) else ""
