import gzip
import io
import json
import sys

import pytest
import zstandard
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, TracesData
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtobufSpan

from cutset.errors import InputError, UsageError
from cutset.traces.files.find import STDIN
from cutset.traces.files.read import NO_SPANS, Format, identity, read_file, read_rows
from cutset.traces.tally import ReadTally

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
OTLP_SPAN = {"traceId": TRACE, "spanId": SPAN, "name": "GET /"}
OTLP = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [OTLP_SPAN]}]}]}
PROTOBUF_SPAN = ProtobufSpan(trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(SPAN), name="GET /")
PROTOBUF = TracesData(
    resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=[PROTOBUF_SPAN])])]
).SerializeToString()
JAEGER = {
    "data": [
        {
            "traceID": TRACE,
            "spans": [
                {
                    "traceID": TRACE,
                    "spanID": SPAN,
                    "operationName": "GET /",
                    "references": [],
                    "startTime": 1,
                    "duration": 1,
                    "tags": [],
                    "processID": "p1",
                }
            ],
            "processes": {"p1": {"serviceName": "cart", "tags": []}},
        }
    ]
}
ZIPKIN = [
    {
        "traceId": TRACE,
        "id": SPAN,
        "name": "get",
        "timestamp": 1,
        "duration": 1,
        "localEndpoint": {"serviceName": "cart"},
    }
]
NEZHA = (
    "TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration\n"
    f"{TRACE},{SPAN},root,cart-7c4f8d6b5-x2x2x,GET /,1,2,1\n"
)
ALIBABA_2021 = "traceid,timestamp,rpcid,um,rpctype,dm,interface,rt\n0b0127,1,0.1,aa,rpc,bb,cc,3\n"
ALIBABA_2022 = (
    "timestamp,traceid,service,rpc_id,um,uminstanceid,rpctype,interface,dm,dminstanceid,rt\n"
    "1,T_1,S_1,0.1,MS_1,MS_1_POD_0,rpc,x,MS_2,MS_2_POD_0,3\n"
)
CONTENTS = {
    Format.OTLP_JSON: json.dumps(OTLP).encode(),
    Format.OTLP_PROTO: PROTOBUF,
    Format.JAEGER: json.dumps(JAEGER).encode(),
    Format.ZIPKIN: json.dumps(ZIPKIN).encode(),
    Format.NEZHA: NEZHA.encode(),
    Format.ALIBABA_2021: ALIBABA_2021.encode(),
    Format.ALIBABA_2022: ALIBABA_2022.encode(),
}


def read(path, *arguments):
    tally = ReadTally()
    return list(read_file(path, tally, *arguments)), tally


def framed(message):
    return len(message).to_bytes(4) + message


@pytest.mark.parametrize(
    "compress", [bytes, gzip.compress, zstandard.compress, lambda content: framed(zstandard.compress(content))]
)
@pytest.mark.parametrize("known", CONTENTS)
def test_format_and_compression_are_known_by_the_content(known, compress, tmp_path):
    path = tmp_path / "traces"
    path.write_bytes(compress(CONTENTS[known]))

    spans, tally = read(path)

    assert len(spans) == tally.spans > 0
    assert not tally.skipped
    assert read(path, known)[0] == spans


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (json.dumps(OTLP, indent=2).encode(), Format.OTLP_JSON),
        (b"\xef\xbb\xbf\n" + json.dumps(OTLP).encode(), Format.OTLP_JSON),
        (json.dumps({"batches": OTLP["resourceSpans"]}).encode(), Format.OTLP_JSON),
        (b"starting up\n" + json.dumps(OTLP).encode(), Format.OTLP_JSON),
        (framed(PROTOBUF), Format.OTLP_PROTO),
        (json.dumps(JAEGER["data"][0]).encode(), Format.JAEGER),
        (json.dumps(ZIPKIN[0]).encode(), Format.ZIPKIN),
        (json.dumps([ZIPKIN]).encode(), Format.ZIPKIN),
        (b"," + ALIBABA_2021.replace("\n0b", "\n0,0b").encode(), Format.ALIBABA_2021),
    ],
)
def test_every_layout_of_a_format_is_known(content, known, tmp_path):
    path = tmp_path / "traces"
    path.write_bytes(content)

    spans, _ = read(path)

    assert spans
    assert read(path, known)[0] == spans


def test_a_table_needs_an_explanation(tmp_path):
    path, mapping = tmp_path / "table.csv", tmp_path / "mapping.yaml"
    path.write_text("trace,span,who,what,when\n1,2,cart,GET /,5\n")
    mapping.write_text("{trace_id: trace, span_id: span, service: who, name: what, start: when}")

    assert [span.service for span in read(path, None, mapping)[0]] == ["cart"]
    with pytest.raises(UsageError, match=r"table\.csv is a table whose columns need an explanation"):
        read(path, Format.CSV)
    with pytest.raises(InputError) as raised:
        read(path)
    assert "table.csv is not known: it starts with b'trace,span" in raised.value.message
    assert "otlp-json, otlp-proto, jaeger" in raised.value.hint
    assert "--format" in raised.value.hint


@pytest.mark.parametrize("content", [b"", b" \n", b"[]", b'{"data": []}', gzip.compress(b"", mtime=0)])
def test_a_file_without_spans_is_counted(content, tmp_path):
    path = tmp_path / "traces.json"
    path.write_bytes(content)

    spans, tally = read(path)

    assert not spans
    assert tally.skipped == {NO_SPANS: 1}
    assert tally.first_at == {NO_SPANS: str(path)}


@pytest.mark.parametrize("said", [Format.OTLP_JSON, Format.OTLP_PROTO, Format.JAEGER, Format.ZIPKIN, Format.NEZHA])
@pytest.mark.parametrize("known", CONTENTS)
def test_a_wrong_format_is_answered_with_what_the_file_looks_like(known, said, tmp_path):
    path = tmp_path / "traces"
    path.write_bytes(CONTENTS[known])
    if said is known:
        return

    with pytest.raises(InputError) as raised:
        read(path, said)
    assert raised.value.message == f"{path} has no spans in the format `{said}`: it looks like `{known}`"
    assert f"`--format {known}`" in raised.value.hint


def test_of_a_wrong_format_for_what_is_no_file_of_traces_its_start_is_shown(tmp_path):
    path = tmp_path / "notes"
    path.write_text("what I meant to say")

    with pytest.raises(InputError, match="`jaeger`: it starts with b'what I meant"):
        read(path, Format.JAEGER)


def test_a_file_that_only_looks_like_traces_is_refused_with_the_reasons(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text(json.dumps([{"colour": "green"}] * 3))

    with pytest.raises(InputError, match="looks like `zipkin`, but has no spans: 3 × Zipkin span without ids"):
        read(path)


def test_progress_is_in_bytes_of_the_file_as_it_lies_on_the_disk(tmp_path):
    path = tmp_path / "traces.jsonl.gz"
    path.write_bytes(gzip.compress((json.dumps(OTLP) + "\n").encode() * 50_000))

    told = [batch.bytes_read for batch in read_rows(path, ReadTally())]

    assert len(told) > 2
    assert told == sorted(told)
    assert told[-1] == path.stat().st_size


def test_a_file_is_known_again_until_it_changes(tmp_path):
    path = tmp_path / "traces"
    path.write_bytes(b"a")
    known = identity(path, None, None)

    assert known == identity(path, None, None)
    assert known != identity(path, Format.ZIPKIN, None)
    path.write_bytes(b"b")
    assert known != identity(path, None, None)
    assert not identity(STDIN)
    assert not identity(tmp_path / "gone")


def test_what_could_not_be_read_is_said_with_its_file(tmp_path):
    path = tmp_path / "traces.json"
    path.write_bytes(gzip.compress((json.dumps(OTLP) + "\n").encode() * 500)[:-20])

    spans, tally = read(path)

    assert 0 < len(spans) == tally.spans <= 500
    assert tally.first_at["truncated gzip"].startswith(f"{path}: byte ")


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CONTENTS[Format.ZIPKIN] + b"[{")))

    spans, tally = read(STDIN)

    assert len(spans) == 1
    assert tally.first_at["truncated JSON"].startswith("standard input: ")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match="missing cannot be read: No such file"):
        read(tmp_path / "missing")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read(tmp_path)
