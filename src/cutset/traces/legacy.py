"""Payloads of clients of Jaeger (Thrift) and Zipkin (JSON), as the collector takes them: whole, or not at all.

What their spans say is kept by the names that they use, too: where a call went is in no convention that all share.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from cutset.errors import InputError
from cutset.model.span import AttributeValue, Span, SpanKind
from cutset.traces.conventions import bounded
from cutset.traces.files import jaeger, zipkin
from cutset.traces.otlp import MAX_ATTRIBUTES
from cutset.traces.thrift import ThriftStruct, ThriftValue, read_message, read_struct

_IDS = re.compile("[0-9a-f]{48}")  # of trace and span
_BITS = (1 << 64) - 1
_REFERENCES = ("CHILD_OF", "FOLLOWS_FROM")
_SHARED_MASK = 1 << 63  # how the two halves of a call that share an id are told apart


def spans_from_jaeger(payload: bytes) -> list[Span]:
    """A batch, as it comes over HTTP."""
    return _batch(read_struct(payload))


def spans_from_jaeger_message(payload: bytes) -> list[Span]:
    """A batch, as it is sent to the agent."""
    name, arguments = read_message(payload)
    if name != "emitBatch":
        raise InputError(f"The datagram calls `{bounded(name, 60)}`: expected `emitBatch`")
    return _batch(_struct(arguments.get(1), "the batch"))


def spans_from_zipkin(payload: bytes) -> list[Span]:
    try:
        records = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise InputError(f"The payload of {len(payload)} bytes is not JSON: {error}") from None
    if not isinstance(records, list):
        raise InputError(f"The payload of {len(payload)} bytes is not a JSON array of spans")
    return [span for index, record in enumerate(records) for span in _zipkin_spans(record, f"[{index}]")]


def _zipkin_spans(record: Any, where: str) -> Iterator[Span]:
    found = zipkin.spans_of(record)
    if isinstance(found, str):
        raise InputError(f"{where}: {found}")
    tags = record.get("tags")
    told = {key: value for key, value in tags.items() if isinstance(value, str)} if isinstance(tags, dict) else {}
    remote = record.get("remoteEndpoint")
    if isinstance(remote, dict):
        names = {"ipv4": "net.peer.ip", "ipv6": "net.peer.ip", "port": "net.peer.port"}
        told |= {names[key]: str(remote[key]) for key in names if isinstance(remote.get(key), str | int)}
    for span in found:
        if not _IDS.fullmatch(span.trace_id + span.span_id):
            raise InputError(f"{where}: expected ids of hex digits")
        yield _as_told(_own_half(span) if record.get("shared") is True else span, told)


def _own_half(span: Span) -> Span:
    """The server's half of a call that shares its id with the caller's: here each span has an id of its own."""
    if span.kind is not SpanKind.SERVER or len(span.span_id) != 16:
        return span
    return replace(span, span_id=f"{int(span.span_id, 16) ^ _SHARED_MASK:016x}", parent_id=span.span_id)


def _batch(batch: ThriftStruct) -> list[Span]:
    process = {"serviceName": _text(_struct(batch.get(1, {}), "process").get(1))}
    spans = []
    for index, each in enumerate(_list(batch.get(2), "spans")):
        record = _record(_struct(each, f"spans[{index}]")) | {"process": process}
        span = jaeger.span_of(record, {})
        if isinstance(span, str):
            raise InputError(f"spans[{index}]: {span}")
        spans.append(_as_told(span, {tag["key"]: tag["value"] for tag in record["tags"]}))
    return spans


def _record(span: ThriftStruct) -> dict[str, Any]:
    """As Jaeger's own JSON has it."""
    return {
        "traceID": _id(span.get(2)) + _id(span.get(1)),
        "spanID": _id(span.get(3)),
        "parentSpanID": _id(span.get(4)),
        "operationName": _text(span.get(5)),
        "references": [_reference(_struct(each, "reference")) for each in _list(span.get(6, []), "references")],
        "startTime": span.get(8),
        "duration": span.get(9),
        "tags": [tag for each in _list(span.get(10, []), "tags") for tag in _tag(_struct(each, "tag"))],
    }


def _reference(reference: ThriftStruct) -> dict[str, Any]:
    kind = reference.get(1)
    return {
        "refType": _REFERENCES[kind] if isinstance(kind, int) and 0 <= kind < len(_REFERENCES) else "",
        "traceID": _id(reference.get(3)) + _id(reference.get(2)),
        "spanID": _id(reference.get(4)),
    }


def _tag(tag: ThriftStruct) -> Iterator[dict[str, Any]]:
    """Its value is in the one field of those that is there; what is binary is left out."""
    value = next((tag[number] for number in (3, 4, 5, 6) if number in tag), None)
    if value is not None and not isinstance(value, list | dict):
        yield {"key": _text(tag.get(1)), "value": _text(value) if isinstance(value, bytes) else value}


def _as_told(span: Span, told: Mapping[str, AttributeValue]) -> Span:
    """With the tags themselves besides what they mean."""
    raw = {
        bounded(key): bounded(value) if isinstance(value, str) else value
        for key, value in list(told.items())[:MAX_ATTRIBUTES]
    }
    return replace(span, attributes={**raw, **span.attributes})


def _id(value: object) -> str:
    return f"{value & _BITS:016x}" if isinstance(value, int) else "0" * 16


def _text(value: object) -> str:
    return bounded(value.decode(errors="replace")) if isinstance(value, bytes) else ""


def _struct(value: object, what: str) -> ThriftStruct:
    if not isinstance(value, dict):
        raise InputError(f"{what}: expected a struct")
    return value


def _list(value: object, what: str) -> list[ThriftValue]:
    if not isinstance(value, list):
        raise InputError(f"{what}: expected a list")
    return value
