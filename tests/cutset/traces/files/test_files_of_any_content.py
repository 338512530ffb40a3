"""Whatever Jaeger's, Zipkin's and tabular files hold, their readers do not fail, and what they give can be stored."""

import copy
import io

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.model.span import KEPT_ATTRIBUTES, SpanKind, span_of_row
from cutset.traces.files import alibaba, csv_table, jaeger, nezha, zipkin
from cutset.traces.tally import ReadTally

ENDPOINT = {"serviceName": "cart", "ipv4": "10.0.0.1"}
JAEGER = {
    "data": [
        {
            "traceID": "a1",
            "spans": [
                {
                    "traceID": "a1",
                    "spanID": "b1",
                    "operationName": "get",
                    "references": [{"refType": "CHILD_OF", "traceID": "a1", "spanID": "b2"}],
                    "startTime": 1000,
                    "duration": 5,
                    "tags": [{"key": "span.kind", "value": "client"}, {"key": "component", "value": "proxy"}],
                    "processID": "p1",
                    "process": {"serviceName": "cart"},
                }
            ],
            "processes": {"p1": {"serviceName": "cart"}},
        }
    ]
}
ZIPKIN = [
    {
        "traceId": "a1",
        "id": "b1",
        "parentId": "b2",
        "kind": "CLIENT",
        "name": "get",
        "timestamp": 1000,
        "duration": 5,
        "localEndpoint": ENDPOINT,
        "remoteEndpoint": ENDPOINT,
        "tags": {"http.method": "GET", "error": "no"},
    },
    [
        {
            "traceId": "a1",
            "id": "b3",
            "annotations": [{"value": "cs", "timestamp": 1000, "endpoint": ENDPOINT}],
            "binaryAnnotations": [{"key": "sa", "value": True, "endpoint": ENDPOINT}],
        }
    ],
]
TABLE = csv_table.Mapping(
    trace_id="t", span_id="s", service="a", name="n", start="b", end="e", kind="k", attributes={"http.url": "u"}
)
HEADERS = {
    "alibaba": "traceid,timestamp,rpcid,um,rpctype,dm,interface,rt",
    "nezha": ",".join(nezha.COLUMNS),
    "csv": "t,s,a,n,b,e,k,u",
}
READERS = {
    "alibaba": lambda stream, tally: map(span_of_row, alibaba.read(stream, tally)),
    "nezha": lambda stream, tally: map(span_of_row, nezha.read(stream, tally)),
    "csv": lambda stream, tally: csv_table.read(stream, tally, TABLE),
    "jaeger": jaeger.read,
    "zipkin": zipkin.read,
}

scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=9)
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
cells = st.text(max_size=12) | st.sampled_from(
    ["0", "0.1", "0.1.1", "-3", "7", "rpc", "mc", "mq", "NaN", "(?)", "root", "a", "1e9", "\0", '"', "9" * 400, "."]
)


def places_in(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places_in(child, (*path, key))


def with_replaced(document, path, value):
    if not path:
        return value
    changed = copy.deepcopy(document)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return changed


def check(reader, content):
    for span in READERS[reader](io.BytesIO(content), ReadTally()):
        texts = [span.trace_id, span.span_id, span.parent_id, span.service, span.name]
        assert span.trace_id
        assert span.span_id
        assert span.service
        assert isinstance(span.kind, SpanKind)
        assert isinstance(span.error, bool)
        assert 0 <= span.start_ns <= span.end_ns < 2**63
        assert span.attributes.keys() <= KEPT_ATTRIBUTES.keys()
        for text in [*texts, *span.attributes.values()]:
            assert len(text) <= 800
            assert "\0" not in text
            text.encode()  # no half of a surrogate pair


@given(st.sampled_from(list(places_in(JAEGER))), anything)
def test_anything_in_place_of_any_part_of_a_jaeger_document(path, value):
    check("jaeger", orjson.dumps(with_replaced(JAEGER, path, value)))


@given(st.sampled_from(list(places_in(ZIPKIN))), anything)
def test_anything_in_place_of_any_part_of_a_zipkin_document(path, value):
    check("zipkin", orjson.dumps(with_replaced(ZIPKIN, path, value)))


@pytest.mark.parametrize("reader", sorted(HEADERS))
@given(st.lists(st.lists(cells, min_size=8, max_size=8), max_size=6))
def test_anything_in_the_cells_of_a_table(reader, table):
    text = "\n".join([HEADERS[reader], *(",".join(row) for row in table)])
    check(reader, text.encode(errors="surrogatepass"))


@pytest.mark.parametrize("reader", sorted(READERS))
@given(st.binary(max_size=200))
def test_any_bytes(reader, content):
    check(reader, content)
    check(reader, HEADERS.get(reader, "").encode() + b"\n" + content)


@pytest.mark.parametrize("reader", ["jaeger", "zipkin"])
def test_surrogates_nul_and_huge_texts_in_json(reader):
    document = orjson.dumps(JAEGER if reader == "jaeger" else ZIPKIN)
    for text in (rb"\ud800", rb"\u0000", b"x" * 100_000):
        check(reader, document.replace(b"get", text).replace(b"cart", text).replace(b"b2", text))
