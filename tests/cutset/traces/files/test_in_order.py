"""What is decoded in blocks is what the plain reader finds, whatever a file holds and from wherever it goes on."""

import copy
import io
import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1 import trace_pb2

from cutset.model.span import row_of
from cutset.traces.files import alibaba, jaeger, json_stream, nezha, otlp, zipkin
from cutset.traces.files.in_order import UnlikeError, by_reading_again, rows
from cutset.traces.tally import ReadTally

CHUNK = 2_500  # bytes: a few elements

TRACE, SPAN, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "00f067aa0ba902b7"
OTLP_SPAN = {
    "traceId": TRACE,
    "spanId": SPAN,
    "parentSpanId": PARENT,
    "name": "GET /",
    "kind": 2,
    "startTimeUnixNano": "1700000000000000000",
    "endTimeUnixNano": "1700000000000000009",
    "attributes": [
        {"key": "http.request.method", "value": {"stringValue": "GET"}},
        {"key": "http.response.status_code", "value": {"intValue": "503"}},
        {"key": "thread.id", "value": {"intValue": 7}},
    ],
    "status": {"code": 2},
}
OTLP = {
    "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "cart"}}]},
    "scopeSpans": [{"scope": {"name": "x"}, "spans": [OTLP_SPAN, {**OTLP_SPAN, "parentSpanId": ""}]}],
}
JAEGER = {
    "traceID": TRACE,
    "spans": [
        {
            "traceID": TRACE,
            "spanID": SPAN,
            "operationName": "get",
            "references": [{"refType": "CHILD_OF", "traceID": TRACE, "spanID": PARENT}],
            "startTime": 1700000000000000,
            "duration": 5,
            "tags": [{"key": "span.kind", "value": "client"}, {"key": "error", "value": True}],
            "processID": "p1",
        },
        {
            "traceID": TRACE,
            "spanID": PARENT,
            "operationName": "get",
            "references": [{"refType": "FOLLOWS_FROM", "traceID": TRACE, "spanID": SPAN}] * 2,
            "startTime": 1700000000000000,
            "duration": 5,
            "tags": [],
            "process": {"serviceName": "shop"},
        },
    ],
    "processes": {"p1": {"serviceName": "cart", "tags": []}},
}
ZIPKIN = {
    "traceId": TRACE,
    "id": SPAN,
    "parentId": PARENT,
    "kind": "CLIENT",
    "name": "get",
    "timestamp": 1700000000000000,
    "duration": 5,
    "localEndpoint": {"serviceName": "cart"},
    "remoteEndpoint": {"serviceName": "shop"},
    "tags": {"http.method": "GET", "error": "no"},
    "annotations": [{"timestamp": 1700000000000001, "value": "sent"}],
}
FORMATS = {
    "otlp": (OTLP, "resourceSpans", otlp.read_json, otlp.read_json_rows),
    "jaeger": (JAEGER, "data", jaeger.read, jaeger.read_rows),
    "zipkin": (ZIPKIN, "", zipkin.read, zipkin.read_rows),
}
scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=9)
)
anything = st.recursive(
    scalars | st.sampled_from(["0" * 16, "0" * 32, "ABCDEF0123456789", "t2UZFs1D3YRI6yEcgDGcAA==", "1e3", "-1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", CHUNK)


def places_in(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places_in(child, (*path, key))


def with_changed(document, path, value, *, delete):
    changed = copy.deepcopy(document)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    if not path:
        return value
    if delete:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return changed


@st.composite
def elements_of(draw, element):
    """A few, most of them as they should be."""
    found = []
    for _ in range(draw(st.integers(1, 10))):
        if draw(st.booleans()):
            found.append(element)
        else:
            path = draw(st.sampled_from(list(places_in(element))))
            found.append(with_changed(element, path, draw(anything), delete=draw(st.booleans())))
    return found


def laid_out(elements, array, layout):
    documents = [{"more": 1, array: elements, "total": None}] if array else [elements]
    indent = 1 if layout == "indented" else None
    if layout in ("lines", "concatenated"):
        documents = [{array: [element]} for element in elements] if array else elements
    elif layout == "bare lines":
        documents = elements
    separator = "" if layout == "concatenated" else "\n"
    return separator.join(json.dumps(document, indent=indent) for document in documents).encode()


LAYOUTS = ["one document", "indented", "lines", "bare lines", "concatenated"]
damages = st.lists(
    st.tuples(st.integers(0, 10**6), st.sampled_from(["cut", "insert"]), st.binary(max_size=3)), max_size=2
)


def damaged(content, changes):
    for where, how, inserted in changes:
        at = where % (len(content) + 1)
        content = content[:at] if how == "cut" else content[:at] + inserted + content[at + len(inserted) // 2 :]
    return content


def plain(read, content):
    tally = ReadTally()
    return [row_of(span) for span in read(io.BytesIO(content), tally)], tally


def in_batches(read_rows, content, position=(), tally=None):
    """Batches, and after each the position and the tally."""
    tally = tally or ReadTally()
    stream = io.BytesIO(content[int(position[0]) if position else 0 :])
    found = [(batch, behind, tally.copy()) for batch, behind in read_rows(stream, tally, position)]
    return found, tally


def check(read, read_rows, content):
    expected, counted = plain(read, content)
    found, tally = in_batches(read_rows, content)
    assert [row for batch, _, _ in found for row in batch] == expected
    assert tally == counted
    for number, (_, position, at_position) in enumerate(found, start=1):
        stored = json.loads(json.dumps(position))
        rest, in_all = in_batches(read_rows, content, stored, at_position.copy())
        assert [row for batch, _, _ in rest for row in batch] == [
            row for batch, _, _ in found[number:] for row in batch
        ]
        assert in_all == counted


@pytest.mark.parametrize("name", FORMATS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_blocks_and_positions_give_what_the_plain_reader_gives(name, data):
    element, array, read, read_rows = FORMATS[name]
    elements = data.draw(elements_of(element))
    content = laid_out(elements, array, data.draw(st.sampled_from(LAYOUTS)))
    check(read, read_rows, damaged(content, data.draw(damages)))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_files_in_order_are_decoded_in_blocks(name, layout, monkeypatch):
    element, array, read, read_rows = FORMATS[name]
    content = laid_out([element] * 40, array, layout)
    expected = plain(read, content)[0]
    decode, of_blocks = json_stream._Reader._from_block, []

    def recorded(*given):
        before = given[0]._at
        found = decode(*given)
        of_blocks.append(given[0]._at - before)
        return found

    monkeypatch.setattr(json_stream._Reader, "_from_block", recorded)
    found, tally = in_batches(read_rows, content)

    assert [row for batch, _, _ in found for row in batch] == expected
    assert not tally.skipped
    assert len(found) > 2  # some at a time
    # Not the first of an array, by which the others are known, and not the last, which none follows.
    if layout != "concatenated" and (name, layout) != ("otlp", "bare lines"):
        assert sum(of_blocks) > 0.7 * len(content)


def protobuf_of(*resource_spans):
    return trace_pb2.TracesData(resource_spans=resource_spans).SerializeToString()


def resource_spans(service="cart", **changed):
    span = trace_pb2.Span(
        **{
            "trace_id": bytes.fromhex(TRACE),
            "span_id": bytes.fromhex(SPAN),
            "name": "GET /",
            "kind": 3,
            "start_time_unix_nano": 7,
            "end_time_unix_nano": 9,
        }
        | changed
    )
    for key, value in (("http.request.method", "GET"), ("server.address", "shop")):
        span.attributes.add(key=key).value.string_value = value
    found = trace_pb2.ResourceSpans(scope_spans=[trace_pb2.ScopeSpans(spans=[span, span])])
    found.resource.attributes.add(key="service.name").value.string_value = service
    return found


@given(
    st.lists(st.sampled_from([{}, {"span_id": b""}, {"start_time_unix_nano": 2**63}]), max_size=5),
    damages,
    st.booleans(),
)
@example([{}, {}], [], True)
@example([{}, {}], [], False)
def test_messages_and_positions_give_what_the_plain_reader_gives(changes, broken, framed):
    messages = [protobuf_of(resource_spans(), resource_spans("shop", **change)) for change in changes]
    content = b"".join((len(message).to_bytes(4) if framed else b"") + message for message in messages)
    check(otlp.read_protobuf, otlp.read_protobuf_rows, damaged(content, broken))


def test_a_resource_in_two_parts_is_one():
    both = (
        resource_spans("cart").SerializeToString()
        + trace_pb2.ResourceSpans(
            resource={"attributes": [{"key": "service.name", "value": {"string_value": "shop"}}]}
        ).SerializeToString()
    )
    check(otlp.read_protobuf, otlp.read_protobuf_rows, b"\x0a" + bytes([len(both) & 127 | 128, len(both) >> 7]) + both)


TABLES = {
    "alibaba": (alibaba.read, "traceid,timestamp,rpcid,um,rpctype,dm,interface,rt"),
    "nezha": (nezha.read, ",".join(nezha.COLUMNS)),
}
cells = st.sampled_from(
    ["0", "0.1", "0.1.1", "-3", "7", "rpc", "mc", "mq", "(?)", "root", "a", "1e9", " 5 ", "1_0", '"', TRACE, SPAN, ""]
)


@pytest.mark.parametrize("name", TABLES)
@given(st.lists(st.lists(cells, min_size=8, max_size=8), min_size=1, max_size=12), st.integers(1, 4))
def test_tables_go_on_where_they_were(name, table, size):
    read, header = TABLES[name]
    content = "\n".join([header, *(",".join(row) for row in table)]).encode()
    tally = ReadTally()
    expected = list(read(io.BytesIO(content), tally))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("cutset.traces.files.in_order._BATCH_ROWS", size)
        found, counted = in_batches(by_reading_again(read), content)
        assert [row for batch, _, _ in found for row in batch] == expected
        assert counted == tally
        for number, (_, position, at_position) in enumerate(found, start=1):
            rest, in_all = in_batches(by_reading_again(read), content, position, at_position.copy())
            assert [row for batch, _, _ in rest for row in batch] == [
                row for batch, _, _ in found[number:] for row in batch
            ]
            assert in_all == tally


@given(st.lists(st.lists(cells, min_size=8, max_size=8), min_size=1, max_size=8))
def test_a_table_in_blocks_is_what_it_is_line_by_line(table):
    content = "\n".join([",".join(nezha.COLUMNS), *(",".join(row) for row in table)]).encode()
    in_blocks, one_by_one = ReadTally(), ReadTally()
    found = list(nezha.read(io.BytesIO(content), in_blocks))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(nezha, "BLOCK_LINES", 1)
        assert list(nezha.read(io.BytesIO(content), one_by_one)) == found
    assert in_blocks == one_by_one


def test_a_time_that_no_store_holds_is_left_to_the_plain_reader():
    label = ("cart", "GET /", "client", False)
    with pytest.raises(UnlikeError):
        rows([TRACE], [SPAN], [""], [2**63], [0], [label])
