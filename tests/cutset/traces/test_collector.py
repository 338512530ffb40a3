import asyncio
import gzip
import json
import signal
import socket
from contextlib import asynccontextmanager

import grpc
import grpc.aio
import httpx
import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtobufSpan
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from tests.samples.jaeger_payloads import BATCH, BINARY, COMPACT

from cutset.errors import CutsetError, TargetError
from cutset.model.span import SpanKind
from cutset.model.target import OtherPorts
from cutset.traces import collector as collector_module
from cutset.traces.collector import Collector, collect, not_received
from cutset.traces.encodings import JSON, PROTOBUF

LONG = 30  # seconds: a limit that no test that passes comes near
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
PROTOBUF_TYPE = {"content-type": "application/x-protobuf"}


def trace_id_of(number):
    return f"{number:032x}"


def payload_of(trace, *spans):
    """A protobuf payload of the numbered spans of a numbered trace."""
    messages = [
        ProtobufSpan(trace_id=trace.to_bytes(16, "big"), span_id=span.to_bytes(8, "big"), name=f"span {span}")
        for span in spans
    ]
    resource_spans = ResourceSpans(scope_spans=[ScopeSpans(spans=messages)])
    return ExportTraceServiceRequest(resource_spans=[resource_spans]).SerializeToString()


def names(spans):
    return [span.name for span in spans]


def at_least(number):
    return lambda spans: len(spans) >= number


async def held(collector, trace):
    spans, _ = await collector.trace(trace_id_of(trace), at_least(0), timeout=LONG)
    return names(spans)


@asynccontextmanager
async def collector_and_client():
    async with collect() as collector, httpx.AsyncClient(base_url=collector.http_url, timeout=LONG) as client:
        yield collector, client


async def export_with_grpc(collector, payload, **options):
    async with grpc.aio.insecure_channel(collector.grpc_address) as channel:
        return await channel.unary_unary(EXPORT)(payload, timeout=LONG, **options)


def test_a_protobuf_payload_over_http_is_acknowledged_and_kept():
    async def scenario():
        async with collector_and_client() as (collector, client):
            response = await client.post("/v1/traces", content=payload_of(1, 1, 2), headers=PROTOBUF_TYPE)

            assert (response.status_code, response.content) == (200, b"")
            assert response.headers["content-type"] == "application/x-protobuf"
            assert await held(collector, 1) == ["span 1", "span 2"]
            assert (collector.stats.payloads, collector.stats.traces, collector.stats.spans) == (1, 1, 2)

    asyncio.run(scenario())


def test_a_json_payload_over_http_is_answered_in_json():
    async def scenario():
        async with collector_and_client() as (collector, client):
            response = await client.post(
                "/v1/traces",
                content=PROTOBUF.line(payload_of(1, 1)),
                headers={"content-type": "application/json; charset=utf-8"},
            )

            assert (response.status_code, response.json()) == (200, {})
            assert response.headers["content-type"] == "application/json"
            assert await held(collector, 1) == ["span 1"]

    asyncio.run(scenario())


def test_a_gzip_payload_is_inflated():
    async def scenario():
        async with collector_and_client() as (collector, client):
            headers = {**PROTOBUF_TYPE, "content-encoding": "gzip"}
            response = await client.post(
                "/v1/traces", content=gzip.compress(payload_of(1, 1), mtime=0), headers=headers
            )

            assert response.status_code == 200
            assert await held(collector, 1) == ["span 1"]

    asyncio.run(scenario())


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_a_payload_over_grpc_is_acknowledged_and_kept(compression):
    async def scenario():
        async with collect() as collector:
            assert await export_with_grpc(collector, payload_of(1, *range(1, 100)), compression=compression) == b""
            assert len(await held(collector, 1)) == 99

    asyncio.run(scenario())


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_the_opentelemetry_sdk_delivers_its_spans(compression, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", compression)

    def send(endpoint):
        provider = TracerProvider(resource=Resource({"service.name": "shop", "service.instance.id": "shop-1"}))
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint)))
        tracer = provider.get_tracer("test")
        with tracer.start_as_current_span("parent") as parent, tracer.start_as_current_span("child") as child:
            child.set_attribute("items", ["a", "b"])
        provider.shutdown()
        return f"{parent.get_span_context().trace_id:032x}"

    async def scenario():
        async with collect() as collector:
            trace_id = await asyncio.to_thread(send, f"{collector.http_url}/v1/traces")
            spans, complete = await collector.trace(trace_id, at_least(2), timeout=LONG)
        assert complete
        child, parent = sorted(spans, key=lambda span: span.name)
        assert (child.parent_id, child.service, child.kind) == (parent.span_id, "shop", SpanKind.INTERNAL)
        assert child.attributes == {"items": '["a","b"]', "service.instance.id": "shop-1"}
        assert parent.parent_id == ""

    asyncio.run(scenario())


TRUNCATED = payload_of(1, 1)[:-3]
BAD_ID = payload_of(1, 1, 0)
GZIP = {**PROTOBUF_TYPE, "content-encoding": "gzip"}


@pytest.mark.parametrize(
    ("content", "headers", "status", "message"),
    [
        (TRUNCATED, PROTOBUF_TYPE, 400, "not an OTLP protobuf message"),
        (BAD_ID, PROTOBUF_TYPE, 400, "resourceSpans[0].scopeSpans[0].spans[1].spanId: expected 16 hex digits"),
        (b"{", {"content-type": "application/json"}, 400, "not JSON"),
        (b"not gzip", GZIP, 400, "not gzip"),
        (gzip.compress(payload_of(1, 1), mtime=0)[:-5], GZIP, 400, "truncated"),
        (gzip.compress(payload_of(1, 1), mtime=0) + b"more", GZIP, 400, "bytes after its end"),
        (gzip.compress(bytes(5000), mtime=0), GZIP, 413, "exceeds 4000 bytes"),
        (bytes(5000), PROTOBUF_TYPE, 413, "exceeds 4000 bytes"),
        (payload_of(1, 1), {"content-type": "text/plain"}, 415, "content type `text/plain`"),
        (payload_of(1, 1), {}, 415, "content type ``"),
        (payload_of(1, 1), {**PROTOBUF_TYPE, "content-encoding": "br"}, 415, "content encoding `br`"),
    ],
)
def test_a_payload_that_cannot_be_read_is_refused_and_counted(content, headers, status, message, monkeypatch):
    monkeypatch.setattr(collector_module, "MAX_PAYLOAD_BYTES", 4000)

    async def scenario():
        async with collector_and_client() as (collector, client):
            response = await client.post("/v1/traces", content=content, headers=headers)

            assert response.status_code == status
            if response.headers["content-type"] == "application/json":
                assert message in response.json()["message"]
            else:
                assert message in Status.FromString(response.content).message
            assert (collector.stats.refused, collector.stats.payloads, collector.stats.spans) == (1, 0, 0)
            assert await held(collector, 1) == []

    asyncio.run(scenario())


def test_a_refusal_comes_in_the_encoding_of_the_request():
    async def scenario():
        async with collector_and_client() as (_, client):
            in_json = await client.post("/v1/traces", content=b"[]", headers={"content-type": "application/json"})
            in_protobuf = await client.post("/v1/traces", content=TRUNCATED, headers=PROTOBUF_TYPE)

        assert in_json.headers["content-type"] == "application/json"
        assert in_protobuf.headers["content-type"] == "application/x-protobuf"

    asyncio.run(scenario())


def test_a_gzip_bomb_is_refused_without_inflating_it():
    bomb = gzip.compress(bytes(65 * 1024 * 1024), compresslevel=1, mtime=0)

    async def scenario():
        async with collector_and_client() as (collector, client):
            response = await client.post("/v1/traces", content=bomb, headers=GZIP)

            assert response.status_code == 413
            assert collector.stats.refused == 1

    asyncio.run(scenario())


@pytest.mark.parametrize("payload", [TRUNCATED, BAD_ID])
def test_a_malformed_payload_over_grpc_is_an_invalid_argument(payload):
    async def scenario():
        async with collect() as collector:
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await export_with_grpc(collector, payload)

            assert raised.value.code() == grpc.StatusCode.INVALID_ARGUMENT
            assert "expected 16 hex digits" in raised.value.details() or "protobuf" in raised.value.details()
            assert (collector.stats.refused, collector.stats.spans) == (1, 0)

    asyncio.run(scenario())


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_a_payload_over_grpc_that_is_too_large_is_refused(compression, monkeypatch):
    monkeypatch.setattr(collector_module, "MAX_PAYLOAD_BYTES", 4000)

    async def scenario():
        async with collect() as collector:
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await export_with_grpc(collector, bytes(5000), compression=compression)

            assert raised.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED

    asyncio.run(scenario())


def test_other_paths_and_methods_are_not_served():
    async def scenario():
        async with collector_and_client() as (collector, client):
            elsewhere = await client.post("/v1/metrics", content=b"", headers=PROTOBUF_TYPE)
            reading = await client.get("/v1/traces")

            assert elsewhere.status_code == 404
            assert (reading.status_code, reading.headers["allow"]) == (405, "POST")
            assert collector.stats.refused == 0

    asyncio.run(scenario())


def test_a_recorder_gets_each_payload_as_a_json_line_before_it_is_acknowledged():
    lines = []

    async def scenario():
        async with collect(record=lines.append) as collector:
            await export_with_grpc(collector, payload_of(1, 1))

    asyncio.run(scenario())

    [line] = lines
    assert names(JSON.spans(line.encode())) == ["span 1"]


def test_a_recorder_gets_no_plan():
    plan = "2h.dGpSiB7A~A503.Wwhp.fZvPbyk3hXSILZQ8"
    span = ProtobufSpan(trace_id=b"\1" * 16, span_id=b"\2" * 8, trace_state=f"a=1,cutset={plan}")
    span.attributes.add(key="http.request.header.baggage").value.string_value = f"cutset={plan},user=1"
    payload = ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=[span])])])
    lines = []

    Collector(record=lines.append).receive(payload.SerializeToString(), PROTOBUF)

    assert plan not in lines[0]
    assert "a=1,cutset=plan-removed" in lines[0]
    assert "cutset=plan-removed,user=1" in lines[0]


def test_a_payload_that_cannot_be_recorded_is_not_acknowledged():
    def record(line):
        raise CutsetError("The disk is full")

    async def scenario():
        async with collect(record=record) as collector, httpx.AsyncClient(base_url=collector.http_url) as client:
            response = await client.post("/v1/traces", content=payload_of(1, 1), headers=PROTOBUF_TYPE)
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await export_with_grpc(collector, payload_of(1, 1))

            assert (response.status_code, Status.FromString(response.content).message) == (503, "The disk is full")
            assert raised.value.code() == grpc.StatusCode.UNAVAILABLE
            assert (collector.stats.refused, collector.stats.spans) == (2, 0)

    asyncio.run(scenario())


def test_a_trace_that_is_there_already_is_returned_at_once():
    async def scenario():
        collector = Collector()
        collector.receive(payload_of(1, 1, 2), PROTOBUF)

        spans, complete = await collector.trace(trace_id_of(1), at_least(2), timeout=0)

        assert (names(spans), complete) == (["span 1", "span 2"], True)

    asyncio.run(scenario())


def test_a_waiter_is_asked_again_only_when_spans_of_its_trace_arrive():
    sizes = []

    def complete(spans):
        sizes.append(len(spans))
        return len(spans) == 3

    async def scenario():
        collector = Collector()
        async with asyncio.TaskGroup() as group:
            waiter = group.create_task(collector.trace(trace_id_of(1), complete, timeout=LONG))
            for payload in (payload_of(1, 1), payload_of(2, 5), payload_of(1, 1), payload_of(1, 2, 3)):
                await asyncio.sleep(0)
                collector.receive(payload, PROTOBUF)
        assert waiter.result()[1]

    asyncio.run(scenario())

    assert sizes == [0, 1, 3]


def test_a_trace_that_stays_incomplete_is_returned_as_far_as_it_came():
    async def scenario():
        collector = Collector()
        collector.receive(payload_of(1, 1), PROTOBUF)

        spans, complete = await collector.trace(trace_id_of(1), at_least(2), timeout=0.01)

        assert (names(spans), complete) == (["span 1"], False)

    asyncio.run(scenario())


def test_waiting_for_a_trace_that_never_comes_leaves_nothing_behind():
    async def scenario():
        collector = Collector()

        assert await collector.trace(trace_id_of(1), at_least(1), timeout=0.01) == ((), False)
        assert not collector._traces

    asyncio.run(scenario())


def test_waiters_for_the_same_trace_do_not_disturb_each_other():
    async def scenario():
        collector = Collector()
        async with asyncio.TaskGroup() as group:
            one = group.create_task(collector.trace(trace_id_of(1), at_least(1), timeout=LONG))
            two = group.create_task(collector.trace(trace_id_of(1), at_least(2), timeout=LONG))
            none = group.create_task(collector.trace(trace_id_of(1), at_least(3), timeout=0.01))
            await none
            collector.receive(payload_of(1, 1), PROTOBUF)
            await one
            collector.receive(payload_of(1, 2), PROTOBUF)

        assert none.result() == ((), False)
        assert (names(one.result()[0]), one.result()[1]) == (["span 1"], True)
        assert (names(two.result()[0]), two.result()[1]) == (["span 1", "span 2"], True)

    asyncio.run(scenario())


def test_an_error_in_the_question_reaches_the_asker():
    def complete(spans):
        raise TimeoutError("mine")

    async def scenario():
        with pytest.raises(TimeoutError, match="mine"):
            await Collector().trace(trace_id_of(1), complete, timeout=LONG)

    asyncio.run(scenario())


def test_a_span_that_is_sent_again_counts_once():
    async def scenario():
        collector = Collector()
        collector.receive(payload_of(1, 1, 2), PROTOBUF)
        collector.receive(payload_of(1, 2, 3), PROTOBUF)

        assert await held(collector, 1) == ["span 1", "span 2", "span 3"]
        assert (collector.stats.spans, collector.stats.duplicates) == (3, 1)

    asyncio.run(scenario())


def test_a_forgotten_trace_does_not_come_back_with_late_spans():
    async def scenario():
        collector = Collector()
        collector.receive(payload_of(1, 1), PROTOBUF)
        collector.forget(trace_id_of(1))
        collector.receive(payload_of(1, 2), PROTOBUF)

        assert not collector._traces
        assert collector._held == 0
        assert collector.stats.late == 1

    asyncio.run(scenario())


def test_asking_for_a_forgotten_trace_revives_it():
    async def scenario():
        collector = Collector()
        collector.forget(trace_id_of(1))
        async with asyncio.TaskGroup() as group:
            waiter = group.create_task(collector.trace(trace_id_of(1), at_least(1), timeout=LONG))
            await asyncio.sleep(0)
            collector.receive(payload_of(1, 2), PROTOBUF)

        assert names(waiter.result()[0]) == ["span 2"]

    asyncio.run(scenario())


def test_only_the_latest_forgotten_traces_are_remembered(monkeypatch):
    monkeypatch.setattr(collector_module, "MAX_FORGOTTEN", 2)
    collector = Collector()

    for trace in (1, 2, 3):
        collector.forget(trace_id_of(trace))
    for trace in (1, 2, 3):
        collector.receive(payload_of(trace, 1), PROTOBUF)

    assert list(collector._traces) == [trace_id_of(1)]


def test_the_least_recently_touched_trace_makes_room():
    async def scenario():
        collector = Collector(max_spans=4)
        collector.receive(payload_of(1, 1), PROTOBUF)
        collector.receive(payload_of(2, 1), PROTOBUF)
        collector.receive(payload_of(1, 2), PROTOBUF)
        collector.receive(payload_of(3, 1, 2), PROTOBUF)

        assert [await held(collector, trace) for trace in (1, 2, 3)] == [
            ["span 1", "span 2"],
            [],
            ["span 1", "span 2"],
        ]
        assert (collector.stats.dropped, collector._held) == (1, 4)

    asyncio.run(scenario())


def test_a_trace_that_somebody_waits_for_is_not_dropped():
    async def scenario():
        collector = Collector(max_spans=2)
        collector.receive(payload_of(1, 1), PROTOBUF)
        async with asyncio.TaskGroup() as group:
            waiter = group.create_task(collector.trace(trace_id_of(1), at_least(2), timeout=LONG))
            await asyncio.sleep(0)
            for trace in (2, 3, 4):
                collector.receive(payload_of(trace, 1), PROTOBUF)
            collector.receive(payload_of(1, 2), PROTOBUF)

        assert names(waiter.result()[0]) == ["span 1", "span 2"]
        assert collector.stats.dropped == 3

    asyncio.run(scenario())


def test_a_trace_larger_than_the_memory_keeps_its_first_spans():
    async def scenario():
        collector = Collector(max_spans=2)
        collector.receive(payload_of(1, 1, 2, 3, 4), PROTOBUF)

        assert await held(collector, 1) == ["span 1", "span 2"]
        assert (collector.stats.spans, collector.stats.dropped) == (4, 2)

    asyncio.run(scenario())


def test_a_listener_gets_every_accepted_payload_until_it_unsubscribes():
    batches = []
    collector = Collector()
    unsubscribe = collector.subscribe(lambda spans: batches.append(names(spans)))

    collector.receive(payload_of(1, 1, 2), PROTOBUF)
    collector.receive(payload_of(2, 3), PROTOBUF)
    unsubscribe()
    unsubscribe()
    collector.receive(payload_of(3, 4), PROTOBUF)

    assert batches == [["span 1", "span 2"], ["span 3"]]


@pytest.mark.parametrize("kind", ["http", "grpc"])
def test_a_port_in_use_is_named_with_the_hint_of_the_caller(kind):
    async def scenario(port):
        async with collect(**{f"{kind}_port": port}, hint="take another"):
            pass

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(TargetError) as raised:
            asyncio.run(scenario(port))

    assert raised.value.message == f"Cannot receive traces on `127.0.0.1:{port}`: the port is in use"
    assert raised.value.hint == "take another"


def test_the_given_ports_are_used():
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        http_port, grpc_port = one.getsockname()[1], other.getsockname()[1]

    async def scenario():
        async with collect(http_port=http_port, grpc_port=grpc_port) as collector:
            assert collector.http_url == f"http://127.0.0.1:{http_port}"
            assert collector.grpc_address == f"127.0.0.1:{grpc_port}"
            await export_with_grpc(collector, payload_of(1, 1))
            assert collector.stats.spans == 1

    asyncio.run(scenario())


def test_closing_does_not_wait_for_clients_that_keep_connections_open():
    async def scenario():
        async with asyncio.timeout(LONG), httpx.AsyncClient() as client:
            async with collect() as collector:
                await client.post(f"{collector.http_url}/v1/traces", content=payload_of(1, 1), headers=PROTOBUF_TYPE)
                channel = grpc.aio.insecure_channel(collector.grpc_address)
                await channel.unary_unary(EXPORT)(payload_of(1, 2))
                host, port = collector.http_url.removeprefix("http://").split(":")
                reader, writer = await asyncio.open_connection(host, int(port))
                head = "POST /v1/traces HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 100\r\n"
                writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode())
                assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
            assert await reader.read() == b""
            writer.close()
            await channel.close()
            assert collector.stats.spans == 2

    asyncio.run(scenario())


def test_an_error_inside_the_context_comes_out_as_it_is():
    async def scenario():
        async with collect():
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(scenario())


def test_signal_handlers_are_left_alone():
    async def scenario():
        before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        async with collect():
            assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before

    asyncio.run(scenario())


def test_json_refusals_are_json():
    assert json.loads(JSON.refusal('with "quotes"')) == {"message": 'with "quotes"'}


ANY_OTHERS = OtherPorts(0, 0, 0, 0)
ZIPKIN_SPANS = json.dumps([{"traceId": trace_id_of(5), "id": "1" * 16, "name": "zipkin's"}]).encode()


@asynccontextmanager
async def collector_for_others():
    async with collect(others=ANY_OTHERS) as collector, httpx.AsyncClient(timeout=LONG) as client:
        yield collector, client


def test_clients_of_jaeger_and_zipkin_send_over_http_to_their_ports_or_ours():
    async def scenario():
        async with collector_for_others() as (collector, client):
            jaegers, zipkins = collector.others["Jaeger, Thrift over HTTP"], collector.others["Zipkin"]
            for base in (jaegers, collector.http_url):
                thrift = {"content-type": "application/x-thrift"}
                sent = await client.post(f"{base}/api/traces?format=jaeger.thrift", content=BATCH, headers=thrift)
                assert (sent.status_code, sent.content) == (202, b"")
            json_type = {"content-type": "application/json; charset=utf-8", "content-encoding": "gzip"}
            sent = await client.post(f"{zipkins}/api/v2/spans", content=gzip.compress(ZIPKIN_SPANS), headers=json_type)
            assert sent.status_code == 202
            assert (collector.stats.spans, collector.stats.duplicates) == (3, 2)
            assert await held(collector, 5) == ["zipkin's"]

    asyncio.run(scenario())


@pytest.mark.parametrize("payload", [COMPACT, BINARY])
@pytest.mark.parametrize("name", ["Jaeger, compact Thrift over UDP", "Jaeger, binary Thrift over UDP"])
def test_clients_of_jaeger_send_datagrams_and_a_bad_one_loses_no_other(payload, name):
    async def scenario():
        async with collector_for_others() as (collector, _):
            host, _, port = collector.others[name].rpartition(":")
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
                for datagram in (b"", b"\xff" * 1000, payload[:-1], payload):
                    client.sendto(datagram, (host, int(port)))
            spans, arrived = await collector.trace("0" * 16 + "f" * 15 + "e", at_least(1), timeout=LONG)
            assert (arrived, names(spans)) == (True, ["GET"])
            assert (collector.stats.payloads, collector.stats.refused) == (1, 3)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("path", "content", "content_type", "status", "problem"),
    [
        ("/api/traces", BATCH[:-1], "application/x-thrift", 400, "is not Thrift"),
        ("/api/traces", BATCH, "application/json", 415, "send application/x-thrift or"),
        ("/api/v2/spans", b"[{}]", "application/json", 400, "[0]: Zipkin span without ids"),
        ("/api/v2/spans", b"", "application/x-protobuf", 415, "send application/json"),
        ("/api/v1/spans", b"[]", "application/json", 404, "send traces to `/v1/traces` or `/api/traces` or"),
    ],
)
def test_what_cannot_be_read_of_others_is_refused_with_the_reason(path, content, content_type, status, problem):
    async def scenario():
        async with collector_and_client() as (collector, client):
            answer = await client.post(path, content=content, headers={"content-type": content_type})
            assert (answer.status_code, problem in answer.json()["message"]) == (status, True)
            assert collector.stats.spans == 0

    asyncio.run(scenario())


def test_a_port_of_others_that_is_in_use_keeps_nobody_from_the_rest():
    async def scenario():
        async with collector_for_others() as (first, _):
            ports = {name: int(at.rpartition(":")[2]) for name, at in first.others.items()}
            async with collect(others=OtherPorts(*ports.values())) as second:
                assert second.others == {}
                assert set(second.not_received) == set(ports)
                assert not_received({"Zipkin": "127.0.0.1:9411"}) == (
                    "Ports are in use, so not received: Zipkin on 127.0.0.1:9411"
                )
                async with httpx.AsyncClient(base_url=second.http_url, timeout=LONG) as client:
                    answer = await client.post("/v1/traces", content=payload_of(1, 1), headers=PROTOBUF_TYPE)
                    assert answer.status_code == 200

    asyncio.run(scenario())
