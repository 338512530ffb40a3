"""Alibaba's microservice traces of 2021 and 2022 (Luo et al., SoCC 2021 and 2022): a line is a record of one call.

A call from `um` to `dm` has an id that says inside which call it was made: 0.1.2 is the second within 0.1. Calls by rpc
and http are recorded twice, by the caller and, with a negative response time, by the callee; either record may be
missing, and either may not know the other's name. Also, distinct calls bear one id where services lose their context.
So lines are gathered by trace, and each call becomes one span: of the service that answered, or, if that is a store or
not known, of the service that asked. Times are milliseconds since the recording began.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import BinaryIO, NamedTuple

from cutset.model.span import UNKNOWN_SERVICE, LabelValues, SpanKind, SpanRow, label_values
from cutset.traces.conventions import MAX_TEXT, bounded, trace_id
from cutset.traces.files.csv_table import rows
from cutset.traces.files.in_order import LATEST_NS, REMEMBERED
from cutset.traces.files.times import NS_PER_UNIT, nanoseconds
from cutset.traces.tally import ReadTally

MAX_LINES = 50_000  # held at once; a trace that is scattered over more than that comes out in parts
MAX_COMPARED = 16  # calls of one id that a line is compared with: real ids have a handful, and all with all takes long
MAX_ID = 256  # characters of a call's id
ALIAS_NS = 2_000_000  # two records that begin as close together are of one call, even if they name it differently

_COLUMNS = ("timestamp", "traceid", "um", "rpctype", "dm", "interface", "rt", "rpcid")
_COLUMNS_OF_2022 = {"rpc_id": "rpcid"}
_UNKNOWN = frozenset({"", "(?)", "UNKNOWN", "UNAVAILABLE", "USER", "NAN", "nan", "NaN"})  # users are not services
_MS = NS_PER_UNIT["ms"]
_STORES = {"mc": "memcached", "db": "other_sql"}  # types of calls, and OpenTelemetry's words for what is called
_QUEUE = "mq"
_INTERNAL = "userDefined"  # a part of its own work that a service gave a name
# Interfaces are hashes, which must not be taken for identifiers: what holds an API's name is never masked, unlike a
# span's. Of types that we do not know, all that is known is that somebody was called.
_NAMES_API = {"http": "http.route", _QUEUE: "messaging.destination.name"} | dict.fromkeys(_STORES, "db.collection.name")
_NAMES_ANY_API = "rpc.method"
_NO_CALLS_OF_ITSELF = frozenset({*_STORES, _QUEUE, _INTERNAL})


class _Call(NamedTuple):
    """A line of the table, or what the two lines of a call say together; "" is what is unknown."""

    id: str
    type: str
    caller: str
    callee: str
    interface: str
    start_ns: int
    duration_ns: int
    side: int  # who recorded it: -1 the callee, 1 the caller, 0 either, since it took less than a millisecond


def read(stream: BinaryIO, tally: ReadTally) -> Iterator[SpanRow]:
    traces: OrderedDict[str, set[_Call]] = OrderedDict()  # least recently touched first; equal lines count once
    held = 0
    for number, (timestamp, trace_text, *cells, rt, call_id) in rows(stream, tally, _COLUMNS, renamed=_COLUMNS_OF_2022):
        trace, start_ns = trace_id(trace_text), nanoseconds(timestamp, _MS)
        duration_ns, side = _duration(rt)
        if not trace or not call_id or len(call_id) > MAX_ID:
            tally.skip("CSV line without ids", f"line {number}")
            continue
        if start_ns is None or duration_ns is None:
            tally.skip("CSV line without a time", f"line {number}")
            continue
        caller, call_type, callee, interface = _names(*cells)
        lines = traces.setdefault(trace, set())
        traces.move_to_end(trace)
        held -= len(lines)
        lines.add(_Call(bounded(call_id), call_type, caller, callee, interface, start_ns, duration_ns, side))
        held += len(lines)
        if held > MAX_LINES:
            evicted, lines = traces.popitem(last=False)
            held -= len(lines)
            yield from _spans(evicted, lines)
    while traces:
        yield from _spans(*traces.popitem(last=False))


@lru_cache(REMEMBERED)
def _duration(rt: str) -> tuple[int | None, int]:
    """In nanoseconds, and who recorded it."""
    duration_ns = 0 if rt in _UNKNOWN else nanoseconds(rt.removeprefix("-"), _MS)
    return duration_ns, 0 if duration_ns == 0 else -1 if rt.startswith("-") else 1


@lru_cache(REMEMBERED)
def _names(*cells: str) -> tuple[str, ...]:
    return tuple(_name(cell[:MAX_TEXT]) for cell in cells)


@lru_cache(REMEMBERED)  # so that equal names are one in memory, too
def _name(cell: str) -> str:
    return "" if cell in _UNKNOWN else bounded(cell)


def _spans(trace: str, lines: Iterable[_Call]) -> Iterator[SpanRow]:
    calls = _calls(lines)
    shallowest = min(call.id.count(".") for call in calls.values())
    answered: dict[tuple[str, str], str] = {}  # the span of a call's id and of the service that answered, or of any: ""
    for span_id, call in calls.items():
        if call.type not in _STORES:
            answered.setdefault((call.id, call.callee), span_id)
            answered.setdefault((call.id, ""), span_id)
    for span_id, call in calls.items():
        parent = _parent(call, answered)
        caller = call.caller or (calls[parent].callee if parent else "")
        times = call.start_ns, min(call.start_ns + call.duration_ns, LATEST_NS)
        if parent:
            if call.caller == call.callee != "" and call.type not in _NO_CALLS_OF_ITSELF:
                # Else it would look like a part of the caller's own work.
                yield trace, span_id, parent, *times, _callers_label(call.type, caller, call.callee, call.interface)
            yield trace, span_id, parent, *times, _label(call.type, caller, call.callee, call.interface)
            continue
        # The call inside which this one was made is not recorded, so what made it shows only in the caller's half. Its
        # id may be another call's as well: it gets one that is nobody's.
        parent = "" if call.id.count(".") == shallowest else f"{call.id.rpartition('.')[0]}/{caller}"
        if caller and call.callee and call.type not in _STORES and call.type != _INTERNAL:
            yield trace, span_id, parent, *times, _callers_label(call.type, caller, call.callee, call.interface)
        yield trace, span_id, parent, *times, _label(call.type, call.caller, call.callee, call.interface)


def _parent(call: _Call, answered: dict[tuple[str, str], str]) -> str:
    """The closest call around this one that its caller answered; of an unknown caller, such as a proxy, the closest.

    Not just the next one by the id: that may not be recorded, or be another call's as well.
    """
    around = call.id
    while around := around.rpartition(".")[0]:
        if found := answered.get((around, call.caller)):
            return found
    return ""


def _calls(lines: Iterable[_Call]) -> dict[str, _Call]:
    """Each call once, by a span id of its own."""
    by_id: defaultdict[str, list[_Call]] = defaultdict(list)
    made_inside: dict[str, str] = {}  # by a call's id, who made calls within it: so it was the callee
    for line in sorted(lines, key=lambda line: (line.side == 0, line.side, line)):  # callees know themselves best
        by_id[line.id].append(line)
        if line.caller:
            made_inside.setdefault(line.id.rpartition(".")[0], line.caller)
    calls: dict[str, _Call] = {}
    for call_id, records in by_id.items():
        for number, call in enumerate(_merged(records), start=1):
            callee = call.callee if call.callee or call.type in _STORES else made_inside.get(call_id, "")
            known = call if callee == call.callee else call._replace(callee=callee)
            calls[call_id if number == 1 else f"{call_id}~{number}"] = known
    return calls


def _merged(records: list[_Call]) -> list[_Call]:
    if len(records) == 1:
        return records
    calls: list[_Call] = []
    halves: list[int] = []  # positions of calls of which one side's record has been seen
    for record in records:
        matching = [at for at in islice(halves, MAX_COMPARED) if _are_halves(calls[at], record)]
        position = min(matching, key=lambda at: calls[at].interface != record.interface, default=-1)
        if position < 0:
            halves.append(len(calls))
            calls.append(record)
        else:
            halves.remove(position)
            call = calls[position]
            calls[position] = call._replace(
                caller=call.caller or record.caller,
                callee=call.callee or record.callee,
                interface=call.interface or record.interface,
            )
    return calls


def _are_halves(call: _Call, record: _Call) -> bool:
    if call.type != record.type or call.type in _STORES or call.type == _INTERNAL:
        return False
    if call.side == record.side != 0 or (call.caller and record.caller and call.caller != record.caller):
        return False
    same_callee = call.callee == record.callee or not call.callee or not record.callee
    # A caller may know an interface by another name than its callee does.
    return (same_callee and call.interface == record.interface) or abs(call.start_ns - record.start_ns) <= ALIAS_NS


@lru_cache(REMEMBERED)
def _label(call_type: str, caller: str, callee: str, interface: str) -> LabelValues:
    """Of the one span that a call becomes."""
    attributes = _attributes(call_type, interface)
    if call_type == _INTERNAL:
        kind, service = SpanKind.INTERNAL, callee
    elif call_type in _STORES or not callee:
        kind, service = SpanKind.CLIENT, caller
        if callee:
            attributes["peer.service"] = callee
    else:
        kind, service = SpanKind.CONSUMER if call_type == _QUEUE else SpanKind.SERVER, callee
    return _values(service, call_type, interface, kind, attributes)


@lru_cache(REMEMBERED)
def _callers_label(call_type: str, caller: str, callee: str, interface: str) -> LabelValues:
    """Of the caller's half, if that has a span of its own."""
    kind = SpanKind.PRODUCER if call_type == _QUEUE else SpanKind.CLIENT
    return _values(caller, call_type, interface, kind, _attributes(call_type, interface) | {"peer.service": callee})


def _attributes(call_type: str, interface: str) -> dict[str, str]:
    attributes = {}
    if call_type in _STORES:
        attributes["db.system.name"] = _STORES[call_type]
    elif call_type == _QUEUE:
        attributes["messaging.system"] = _QUEUE
    if interface and call_type != _INTERNAL:
        attributes[_NAMES_API.get(call_type, _NAMES_ANY_API)] = interface
    return attributes


def _values(service: str, call_type: str, interface: str, kind: SpanKind, attributes: dict[str, str]) -> LabelValues:
    return label_values(service or UNKNOWN_SERVICE, interface or call_type or "call", kind, False, attributes)
