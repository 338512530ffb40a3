import csv
import gzip
import json
from collections import Counter
from dataclasses import replace
from io import BytesIO
from itertools import islice

import pytest
import zstandard
from benchmarks.request_classes import PROFILES
from benchmarks.trace_generator import generate
from benchmarks.trace_writers import BATCH, FORMATS, write

from cutset.model.span import Span, SpanKind, span_of_row
from cutset.traces import otlp
from cutset.traces.conventions import kept
from cutset.traces.files import alibaba, jaeger, nezha, zipkin
from cutset.traces.files import otlp as otlp_file
from cutset.traces.tally import ReadTally

TRACES = list(islice(generate(1, replace(PROFILES["small"], failure_rate=0.02)), 60))
SPANS = [span for trace in TRACES for span in trace]
CALLS = [span for span in SPANS if span.kind in (SpanKind.CLIENT, SpanKind.PRODUCER)]


def written(format_name, tmp_path, **options) -> bytes:
    path = tmp_path / "traces"
    assert write(TRACES, format_name, path, **options) == len(SPANS)
    return path.read_bytes()


def by_id(spans) -> dict[str, Span]:
    """With the attributes that Cutset keeps, as readers give them."""
    return {span.span_id: replace(span, attributes=kept(span.attributes)) for span in spans}


def in_microseconds(span: Span) -> Span:
    start_ns = span.start_ns // 1000 * 1000
    return replace(span, start_ns=start_ns, end_ns=start_ns + (span.end_ns - span.start_ns) // 1000 * 1000)


def read(reader, content: bytes) -> list[Span]:
    tally = ReadTally()
    spans = list(reader(BytesIO(content), tally))
    assert not tally.skipped
    return spans


def _spans(reader):
    """Of a reader that gives rows."""
    return lambda file, tally: map(span_of_row, reader(file, tally))


@pytest.mark.parametrize("old_names", [False, True])
def test_lines_of_otlp_hold_the_same_spans(tmp_path, old_names):
    content = written("otlp-json", tmp_path, old_names=old_names)
    assert by_id(read(otlp_file.read_json, content)) == by_id(SPANS)
    assert {len(otlp.spans_from_json(line)) for line in content.splitlines()[:-1]} == {BATCH}


@pytest.mark.parametrize("old_names", [False, True])
@pytest.mark.parametrize("format_name", ["otlp-proto", "otlp-proto-undelimited"])
def test_messages_of_otlp_hold_the_same_spans(tmp_path, format_name, old_names):
    content = written(format_name, tmp_path, old_names=old_names)
    assert by_id(read(otlp_file.read_protobuf, content)) == by_id(SPANS)


def test_messages_of_otlp_stand_behind_their_length_and_without_it_are_one_message(tmp_path):
    content = written("otlp-proto", tmp_path)
    bare = b""
    while content:
        length = int.from_bytes(content[:4], "big")
        bare += content[4 : 4 + length]
        content = content[4 + length :]
    assert bare == written("otlp-proto-undelimited", tmp_path)
    assert by_id(otlp.spans_from_protobuf(bare)) == by_id(SPANS)


def test_old_and_present_names_differ(tmp_path):
    present, old = (written("otlp-json", tmp_path, old_names=old) for old in (False, True))
    for name in (b"http.request.method", b"rpc.system.name", b"url.full", b"server.address", b"db.operation.name"):
        assert name in present
        assert name not in old
    for name in (b"http.method", b"rpc.service", b"http.url", b"net.peer.name", b"db.statement"):
        assert name in old
        assert name not in present


@pytest.mark.parametrize("old_names", [False, True])
def test_jaeger_has_the_same_spans_in_microseconds(tmp_path, old_names):
    content = written("jaeger", tmp_path, old_names=old_names)
    assert by_id(read(jaeger.read, content)) == by_id(map(in_microseconds, SPANS))
    assert [trace["traceID"] for trace in json.loads(content)["data"]] == [trace[0].trace_id for trace in TRACES]


@pytest.mark.parametrize("old_names", [False, True])
def test_zipkin_has_the_same_spans_with_names_in_lower_case(tmp_path, old_names):
    spans = read(zipkin.read, written("zipkin", tmp_path, old_names=old_names))
    expected = by_id(replace(in_microseconds(span), name=span.name.lower()) for span in SPANS)
    assert by_id(spans) == expected


def test_halves_of_a_call_share_their_id_in_zipkin_if_asked_to(tmp_path):
    documents = json.loads(written("zipkin-shared", tmp_path))
    served = {span.parent_id for span in SPANS if span.kind is SpanKind.SERVER} - {""}
    assert {each["id"] for each in documents if each.get("shared")} == served
    halves = Counter((each["id"], each.get("kind")) for each in documents)
    assert set(halves.values()) == {1}
    ids = {each["id"] for each in documents}
    assert all(each["parentId"] in ids for each in documents if "parentId" in each)
    by_kind = {(each["id"], each.get("kind")): each for each in documents}
    for shared in (each for each in documents if each.get("shared")):
        assert shared["parentId"] == by_kind[shared["id"], "CLIENT"]["parentId"]


def test_the_reader_of_zipkin_sees_shared_halves_apart(tmp_path):
    spans = read(zipkin.read, written("zipkin-shared", tmp_path))
    assert len({(span.trace_id, span.span_id, span.kind) for span in spans}) == len(SPANS)
    assert Counter((span.service, span.kind, span.error) for span in spans) == Counter(
        (span.service, span.kind, span.error) for span in SPANS
    )


def test_the_table_of_nezha_has_the_same_spans_without_kind_and_status(tmp_path):
    spans = read(_spans(nezha.read), written("nezha", tmp_path))

    def known(span: Span) -> tuple[object, ...]:
        return span.trace_id, span.span_id, span.parent_id, span.service, span.start_ns, span.end_ns

    assert list(map(known, spans)) == list(map(known, SPANS))
    kinds = {span.span_id: span.kind for span in SPANS}
    assert all(span.kind in (kinds[span.span_id], SpanKind.INTERNAL) for span in spans)
    assert {span.kind for span in spans} == {*SpanKind} - {SpanKind.CONSUMER}


def test_the_table_of_alibaba_records_calls_of_services_twice_and_of_stores_once(tmp_path):
    rows = list(csv.DictReader(written("alibaba-2021", tmp_path).decode().splitlines()))
    assert len(rows) == sum(span.kind is not SpanKind.INTERNAL for span in SPANS)
    assert {row["rpctype"] for row in rows} == {"rpc", "http", "mc", "db", "mq"}
    records = Counter((row["traceid"], row["rpcid"]) for row in rows)
    assert len(records) == len(CALLS) + len(TRACES)
    for row in rows:
        assert row["rpcid"] == "0" or (row["traceid"], row["rpcid"].rpartition(".")[0]) in records
        assert int(row["timestamp"]) >= 0


def test_the_reader_of_alibaba_sees_each_call_once(tmp_path):
    spans = read(_spans(alibaba.read), written("alibaba-2021", tmp_path))
    assert len(spans) == len(CALLS) + len(TRACES)
    assert {span.service for span in spans} <= {span.service for span in SPANS} | {"kafka"}


@pytest.mark.parametrize("format_name", FORMATS)
def test_compressed_files_hold_the_same_bytes(tmp_path, format_name):
    plain = written(format_name, tmp_path)
    assert gzip.decompress(written(format_name, tmp_path, compress="gzip")) == plain
    compressed = written(format_name, tmp_path, compress="zstd")
    assert zstandard.ZstdDecompressor().stream_reader(BytesIO(compressed)).read() == plain


@pytest.mark.parametrize("format_name", FORMATS)
def test_no_traces_are_an_empty_but_valid_file(tmp_path, format_name):
    path = tmp_path / "traces"
    assert write([], format_name, path) == 0
    if format_name in ("jaeger", "zipkin", "zipkin-shared"):
        json.loads(path.read_bytes())


@pytest.mark.parametrize("format_name", FORMATS)
def test_traces_are_written_as_they_come(tmp_path, format_name):
    path = tmp_path / "traces"
    sizes = []

    def watched():
        for trace in TRACES * 20:
            sizes.append(path.stat().st_size)
            yield trace

    write(watched(), format_name, path)
    assert 0 < sizes[len(sizes) // 2] < sizes[-1]
