"""Feeds damaged files to the readers of traces, to find inputs that crash them, hang them or fill the memory.

    python tests/fuzz/fuzz_readers.py --seconds 60 [--reader otlp-json] [--seed 1]

With atheris installed, it drives the mutations by coverage; without, they are random. A reader may leave out and count
anything, and may refuse a file with an error for the user. All else is a finding: the input is kept, and the exit code
is 1.
"""

import argparse
import contextlib
import faulthandler
import gc
import gzip
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import zstandard
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, TracesData

from cutset.errors import CutsetError
from cutset.traces.files.read import Format, read_file
from cutset.traces.tally import ReadTally

try:
    import atheris
except ImportError:
    atheris = None

MAX_BYTES = 64 * 1024
MAX_SECONDS = 5  # for one input
MAX_GROWTH_MB = 100  # once the readers are warm

TRACE, OTHER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
MAPPING = """\
{trace_id: trace, span_id: span, parent_id: parent, service: who, name: what, start: when, attributes: {http.url: url}}
"""


def json_attribute(key, value):
    return {"key": key, "value": value}


def otlp_json():
    span = {
        "traceId": TRACE,
        "spanId": OTHER,
        "parentSpanId": "",
        "name": "GET /",
        "kind": 2,
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": "1700000000000001000",
        "attributes": [
            json_attribute("http.url", {"stringValue": "http://cart:80/items?x=1"}),
            json_attribute("http.status_code", {"intValue": "503"}),
            json_attribute("db.statement", {"stringValue": "SELECT * FROM items"}),
            json_attribute("rpc.service", {"stringValue": "shop.Cart"}),
            json_attribute("rpc.method", {"stringValue": "Get"}),
        ],
        "status": {"code": "STATUS_CODE_ERROR"},
    }
    resource_spans = {"resource": {"attributes": [json_attribute("service.name", {"stringValue": "cart"})]}}
    new, old = (
        {**resource_spans, key: [{"spans": [span, {**span, "spanId": "t61rcWkgMzE="}]}]}
        for key in ("scopeSpans", "instrumentationLibrarySpans")
    )
    line = json.dumps({"resourceSpans": [new, new]}).encode()
    return [line, line + b"\n" + line, json.dumps({"trace": {"batches": [old, new]}}, indent=1).encode()]


def otlp_protobuf():
    pair = KeyValue(key="service.name", value=AnyValue(string_value="cart"))
    span = Span(trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(OTHER), name="GET /", kind=3, attributes=[pair])
    resource_spans = ResourceSpans(resource=Resource(attributes=[pair]), scope_spans=[ScopeSpans(spans=[span] * 3)])
    message = TracesData(resource_spans=[resource_spans] * 2).SerializeToString()
    return [message, (len(message).to_bytes(4) + message) * 2]


def jaeger_json():
    span = {
        "traceID": TRACE,
        "spanID": OTHER,
        "operationName": "GET /",
        "references": [{"refType": "CHILD_OF", "traceID": TRACE, "spanID": "1"}],
        "startTime": 1700000000000000,
        "duration": 1000,
        "tags": [{"key": "span.kind", "type": "string", "value": "client"}, {"key": "error", "value": True}],
        "processID": "p1",
    }
    process = {"serviceName": "cart", "tags": []}
    trace = {"traceID": TRACE, "spans": [span, {**span, "spanID": "1"}], "processes": {"p1": process}, "warnings": None}
    return [json.dumps({"data": [trace, trace]}).encode(), json.dumps(trace, indent=1).encode()]


def zipkin_json():
    new = {
        "traceId": TRACE,
        "id": OTHER,
        "parentId": "1",
        "kind": "SERVER",
        "shared": True,
        "name": "get",
        "timestamp": 1700000000000000,
        "duration": 1000,
        "localEndpoint": {"serviceName": "cart", "ipv4": "10.0.0.1"},
        "remoteEndpoint": {"serviceName": "front"},
        "tags": {"http.path": "/items", "error": "503"},
    }
    endpoint = {"serviceName": "cart", "ipv4": "10.0.0.1", "port": 80}
    annotations = [
        {"timestamp": 1700000000000000 + i, "value": v, "endpoint": endpoint}
        for i, v in enumerate(("cs", "sr", "ss", "cr"))
    ]
    binary = [{"key": "sa", "value": True, "endpoint": endpoint}, {"key": "error", "value": "x", "endpoint": endpoint}]
    old = {"traceId": "a1", "id": "b1", "name": "get", "annotations": annotations, "binaryAnnotations": binary}
    return [
        json.dumps([new, new]).encode(),
        json.dumps([[new], [new]], indent=1).encode(),
        json.dumps([old, old]).encode(),
    ]


def lines(*texts):
    return "".join(text + "\n" for text in texts).encode()


SEEDS = {
    Format.OTLP_JSON: otlp_json(),
    Format.OTLP_PROTO: otlp_protobuf(),
    Format.JAEGER: jaeger_json(),
    Format.ZIPKIN: zipkin_json(),
    Format.ALIBABA_2021: [
        lines(
            "traceid,timestamp,rpcid,um,rpctype,dm,interface,rt",
            "0b01,1,0,(?),http,aa,x,9",
            "0b01,2,0.1,aa,rpc,bb,y,3",
            "0b01,2,0.1,aa,rpc,bb,y,-3",
            "0b01,3,0.1.1,bb,db,cc,,0",
        )
    ],
    Format.ALIBABA_2022: [
        lines(
            "timestamp,traceid,service,rpc_id,um,uminstanceid,rpctype,interface,dm,dminstanceid,rt",
            "1,T_1,S_1,0,USER,UNKNOWN,http,x,MS_1,MS_1_POD_0,9",
            "2,T_1,S_1,0.1,MS_1,MS_1_POD_0,mc,y,MS_2,MS_2_POD_0,3",
        )
    ],
    Format.NEZHA: [
        lines(
            "TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration",
            f"{TRACE},{OTHER},root,front-7c4f8d6b5-x2x2x,hipstershop.Frontend/Recv.,1700000000000000000,1700000000000000009,9",
            f"{TRACE},a1,{OTHER},cart-7c4f8d6b5-x2x2x,/hipstershop.CartService/GetCart,1700000000000000000,,9",
        )
    ],
    Format.CSV: [
        lines("trace,span,parent,who,what,when,url", "a1,b1,,cart,get,1,http://cart/x", 'a1,b2,b1,"a ""b""",get,2,/x?y')
    ],
}
TOKENS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b"\\",
    b",",
    b":",
    b"\n",
    b"\r",
    b"\0",
    b"\xff",
    b"null",
    b"-1",
    b"1e999",
    b"9" * 30,
]
TOKENS += [
    b'"\\ud800"',
    b"\xef\xbb\xbf",
    b"[[[[",
    b'{"a":',
    b"\x0a\xff\xff\xff\xff\x0f",
    b'""',
    b"true",
    b"NaN",
    b"\x1f\x8b",
    b"0" * 16,
]


def mutated(dice, seeds):
    """A seed, or two spliced, damaged in a few places; some are compressed, before or after."""
    content = bytearray(dice.choice(seeds))
    if dice.random() < 0.2:
        other = dice.choice(seeds)
        content[dice.randrange(len(content)) :] = other[dice.randrange(len(other)) :]
    if compressed := dice.random() < 0.1:
        content = bytearray(dice.choice([gzip.compress, zstandard.compress])(bytes(content)))
    for _ in range(dice.choice([0, 1, 1, 2, 3, 10])):
        at = dice.randrange(len(content) + 1)
        size = dice.choice([0, 1, 1, 4, 30])
        match dice.randrange(5):
            case 0:
                content[at : at + size] = dice.randbytes(size)
            case 1:
                content[at : at + size] = dice.choice(TOKENS) * dice.choice([1, 1, 2, 2000])
            case 2:
                del content[at : at + dice.choice([1, 1, 10, 1000])]
            case 3:
                content[at:at] = content[at : at + dice.choice([1, 50, 500])] * dice.choice([1, 1, 30])
            case 4:
                del content[at:]
    if not compressed and dice.random() < 0.1:
        content = bytearray(dice.choice([gzip.compress, zstandard.compress])(bytes(content[:MAX_BYTES])))
    return bytes(content[:MAX_BYTES])


def check(content, path, reader, mapping):
    """Read the content in the given format and in the one that it seems to have."""
    path.write_bytes(content)
    faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
    try:
        for known in (reader, None):
            tally = ReadTally()
            with contextlib.suppress(CutsetError):
                for span in read_file(path, tally, known, mapping if known is Format.CSV else None):
                    texts = (
                        span.trace_id,
                        span.span_id,
                        span.parent_id,
                        span.service,
                        span.name,
                        *span.attributes.values(),
                    )
                    assert all(len(text.encode()) < 4096 and "\0" not in text for text in texts), span
                    assert span.trace_id, span
                    assert 0 <= span.start_ns <= span.end_ns < 2**63, span
            assert len(tally.skipped) < 30, tally.skipped
    finally:
        faulthandler.cancel_dump_traceback_later()


def resident_mb():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def fuzz_randomly(readers, seconds, dice, directory):
    path, mapping = directory / "input", directory / "mapping.yaml"
    mapping.write_text(MAPPING)
    began, warm_mb, executions = time.monotonic(), 0.0, Counter()
    while (passed := time.monotonic() - began) < seconds:
        reader = dice.choice(readers)
        content = mutated(dice, SEEDS[reader])
        try:
            check(content, path, reader, mapping)
        except BaseException:
            sys.stdout.write(f"FAILED: {reader}: the input is {path}\n")
            raise
        executions[reader] += 1
        if not warm_mb and passed > seconds / 5:
            gc.collect()
            warm_mb = resident_mb()
    gc.collect()
    growth = resident_mb() - warm_mb
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    for reader in readers:
        sys.stdout.write(f"{reader}: {executions[reader]} inputs, {executions[reader] / seconds:.0f} a second in all\n")
    sys.stdout.write(f"peak {peak_mb:.0f} MB, growth after warming up {growth:.0f} MB\n")
    return growth > MAX_GROWTH_MB


def fuzz_by_coverage(readers, seconds, directory):
    path, mapping, corpus = directory / "input", directory / "mapping.yaml", directory / "corpus"
    mapping.write_text(MAPPING)
    corpus.mkdir()
    for reader in readers:
        for number, seed in enumerate(SEEDS[reader]):
            (corpus / f"{reader}-{number}").write_bytes(bytes([readers.index(reader)]) + seed)

    def check_input(content):
        if content:
            check(content[1:], path, readers[content[0] % len(readers)], mapping)

    limits = [f"-max_total_time={seconds}", f"-max_len={MAX_BYTES}", f"-timeout={MAX_SECONDS}", "-rss_limit_mb=1024"]
    limits += [f"-artifact_prefix={directory}/"]
    atheris.instrument_all()
    atheris.Setup([sys.argv[0], *limits, "-print_final_stats=1", str(corpus)], check_input)
    atheris.Fuzz()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--reader", type=Format, choices=list(Format))
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    readers = [arguments.reader] if arguments.reader else list(Format)
    directory = Path(tempfile.mkdtemp(prefix="fuzz-readers-"))
    sys.stdout.write(f"{'atheris' if atheris else 'random mutations'}; inputs in {directory}\n")
    sys.stdout.flush()
    if atheris:
        fuzz_by_coverage(readers, arguments.seconds, directory)
        return 0
    has_grown = fuzz_randomly(readers, arguments.seconds, random.Random(arguments.seed), directory)
    shutil.rmtree(directory)
    return has_grown


if __name__ == "__main__":
    sys.exit(main())
