"""Jaeger's JSON: what its query API answers (`data`: traces), one trace, or a trace per line."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from cutset.model.span import UNKNOWN_SERVICE, AttributeValue, Span, SpanKind
from cutset.traces.conventions import bounded, failed, kept, span_id, trace_id
from cutset.traces.files.json_stream import elements
from cutset.traces.files.times import NS_PER_UNIT, end_after, nanoseconds
from cutset.traces.tally import ReadTally

_US = NS_PER_UNIT["us"]
_SCALARS: frozenset[Any] = frozenset({str, int, float, bool})
_KINDS: dict[AttributeValue, SpanKind] = {kind.value: kind for kind in SpanKind}


def read(stream: BinaryIO, tally: ReadTally) -> Iterator[Span]:
    for trace, where in elements(stream, tally, ("data",)):
        records = trace.get("spans") if isinstance(trace, dict) else None
        if not isinstance(records, list):
            tally.skip("Jaeger trace without spans", where)
            continue
        services = _services(trace.get("processes"))
        for number, record in enumerate(records):
            span = span_of(record, services)
            if isinstance(span, Span):
                yield span
            else:
                tally.skip(span, f"{where}.spans[{number}]")


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
    kind = _kind(tags, name, service)
    attributes = kept(tags)
    error = _is_true(tags.get("error")) or tags.get("otel.status_code") == "ERROR"
    return Span(
        trace,
        span,
        _parent(record, trace),
        service,
        name,
        kind,
        start_ns,
        end_after(start_ns, record.get("duration"), _US),
        failed(error, kind, attributes),
        attributes,
    )


def _tags(tags: object) -> dict[str, AttributeValue]:
    if not isinstance(tags, list):
        return {}
    try:
        return {tag["key"]: tag["value"] for tag in tags if tag["value"].__class__ in _SCALARS}
    except (KeyError, TypeError):  # some tag is malformed: it alone is left out
        return {} if len(tags) == 1 else {key: value for tag in tags for key, value in _tags([tag]).items()}


def _kind(tags: dict[str, AttributeValue], name: str, service: str) -> SpanKind:
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
