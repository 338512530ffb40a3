"""The tables of Nezha's data sets (Yu et al., ESEC/FSE 2023): spans of Online Boutique and Train Ticket, by pod.

They have neither kind nor status, and say "root" where there is no parent. What an operation was is read off its name,
as the instrumentation of each language writes it; where that is not certain, a span stays internal, and who called whom
shows in the change of service between parent and child.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import BinaryIO

from cutset.model.span import UNKNOWN_SERVICE, AttributeValue, LabelValues, SpanKind, SpanRow, label_values
from cutset.traces.conventions import bounded, span_id, trace_id
from cutset.traces.files import in_order
from cutset.traces.files.csv_table import rows
from cutset.traces.files.in_order import UnlikeError
from cutset.traces.files.times import NS_PER_UNIT, end_after, nanoseconds
from cutset.traces.tally import ReadTally

COLUMNS = (
    *("TraceID", "SpanID", "ParentID", "PodName", "OperationName"),
    *("StartTimeUnixNano", "EndTimeUnixNano", "Duration"),
)
BLOCK_LINES = 2_000  # that are read at once, if all of them are in order
DISTINCT_NAMES = 1 << 14  # pairs of pod and operation whose meaning is remembered

# Kubernetes makes its suffixes of these characters, so that they spell no words.
_POD = re.compile(r"(.+?)-[bcdfghjklmnpqrstvwxz2456789]{6,10}-[bcdfghjklmnpqrstvwxz2456789]{5}")
_REPLICA = re.compile(r"(.+)-[0-9]+")  # of a stateful set

# `hipstershop.X/Y` (Go, C#, Java), `/hipstershop.X/Y` (Python) and `grpc.hipstershop.X/Y` (Node) are one and the same.
_GRPC = re.compile(r"(?:/|grpc\.)?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+/[A-Za-z_]\w*)", re.ASCII)
_IDENTIFIER = re.compile(r"/(?:\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,})(?=/|$)")  # then it is no route
_HTTP_CLIENT = re.compile(r"HTTP ([A-Z]+)")
# Only with a schema: `SELECT Order` is the object mapper's own span around the driver's `SELECT ts.orders`.
_SQL = re.compile(r"(?P<verb>SELECT|INSERT|UPDATE|DELETE|REPLACE|CALL) (?P<table>\w+\.\w+)")
_GO_SQL = re.compile(r"sql\.(?:conn|stmt)\.(?P<verb>query|exec)")
_MESSAGING = re.compile(r"(\S+) (send|process|receive)")

_Meaning = tuple[SpanKind, Mapping[str, AttributeValue]]


_Line = tuple[int, tuple[str, ...]]  # its number and its cells


def read(stream: BinaryIO, tally: ReadTally) -> Iterator[SpanRow]:
    lines = rows(stream, tally, COLUMNS)
    while block := list(islice(lines, BLOCK_LINES)):
        try:
            yield from _rows(block)
        except (UnlikeError, ValueError):
            yield from _rows_one_by_one(block, tally)


def _rows(block: Sequence[_Line]) -> list[SpanRow]:
    traces, spans, parents, pods, operations, starts, ends, _ = zip(*(cells for _, cells in block), strict=True)
    end_ns = list(map(int, ends))
    if 0 in end_ns:
        raise UnlikeError
    return in_order.rows(
        in_order.ids(traces, 32, trace_id),
        in_order.ids(spans, 16, span_id),
        in_order.parents(["" if parent == "root" else parent for parent in parents], span_id),
        list(map(int, starts)),
        end_ns,
        list(map(_label, pods, operations)),
    )


def _rows_one_by_one(block: Iterable[_Line], tally: ReadTally) -> Iterator[SpanRow]:
    for line, (trace_text, span_text, parent, pod, operation, start, end, duration) in block:
        trace, span, start_ns = trace_id(trace_text), span_id(span_text), nanoseconds(start, 1)
        if not trace or not span:
            tally.skip("CSV line without ids", f"line {line}")
            continue
        if start_ns is None:
            tally.skip("CSV line without a start time", f"line {line}")
            continue
        end_ns = nanoseconds(end, 1) or end_after(start_ns, duration, NS_PER_UNIT["us"])
        parent_id = "" if parent == "root" else span_id(parent)
        yield trace, span, parent_id, start_ns, max(start_ns, end_ns), _label(pod, operation)


@lru_cache(DISTINCT_NAMES)
def _label(pod: str, operation: str) -> LabelValues:
    name = bounded(operation)
    kind, attributes = _meaning(name)
    return label_values(_service(bounded(pod)), name, kind, False, attributes)


def _service(pod: str) -> str:
    match = _POD.fullmatch(pod) or _REPLICA.fullmatch(pod)
    return (match[1] if match else pod) or UNKNOWN_SERVICE


def _meaning(operation: str) -> _Meaning:
    if match := _GRPC.fullmatch(operation):  # a call's half on either side, or a function that is named like one
        return SpanKind.INTERNAL, {"rpc.system.name": "grpc", "rpc.method": match[1]}
    if match := _HTTP_CLIENT.fullmatch(operation):
        return SpanKind.CLIENT, {"http.request.method": match[1]}
    if operation.startswith("/"):
        return SpanKind.SERVER, {"url.path" if _IDENTIFIER.search(operation) else "http.route": operation}
    if match := _SQL.fullmatch(operation) or _GO_SQL.fullmatch(operation):
        verb, table = match["verb"], match.groupdict().get("table")
        attributes = {"db.system.name": "other_sql", "db.operation.name": verb}  # the database is not told
        return SpanKind.CLIENT, attributes | ({"db.collection.name": table} if table else {})
    if match := _MESSAGING.fullmatch(operation):
        kind = SpanKind.PRODUCER if match[2] == "send" else SpanKind.CONSUMER
        return kind, {"messaging.destination.name": match[1], "messaging.operation.name": match[2]}
    return SpanKind.INTERNAL, {}
