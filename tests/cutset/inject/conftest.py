"""One real mesh for all tests of the folder: real Envoy, small real services behind it, a real OTLP receiver."""

import itertools
import json
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent import futures
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import grpc
import httpx
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from cutset.inject.local.mesh import Mesh, run_mesh
from cutset.inject.plan import plan_headers
from cutset.model.fault import Fault
from cutset.model.mesh import MeshService, MeshSpec

KEY = b"a key for tests that nobody guesses"
PATIENCE_SECONDS = 20  # how long an event may take before a test gives up; none takes a tenth of it


class _Echo(BaseHTTPRequestHandler):
    """Answers with what it saw; `/status/500` with that status."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one write per answer, or Nagle's algorithm costs 40 ms

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.calls.append(self.path)
        seen = {"replica": self.server.replica, "headers": {k.lower(): v for k, v in self.headers.items()}}
        body = json.dumps(seen).encode()
        status = int(self.path.rpartition("/")[2]) if self.path.startswith("/status/") else 200
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = _answer  # noqa: N815 -- the names that http.server looks for

    def log_message(self, *_args: object) -> None:
        pass


class _GrpcEcho(grpc.GenericRpcHandler):
    """Any method answers with what it saw; `/shop.Cart/Fail13` with that status."""

    def __init__(self, replica: str) -> None:
        self.replica = replica

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        seen = {"replica": self.replica, "headers": dict(details.invocation_metadata)}
        method = details.method.rpartition("/")[2]

        def answer(_request: bytes, context: grpc.ServicerContext) -> bytes:
            if method.startswith("Fail"):
                context.abort(next(code for code in grpc.StatusCode if code.value[0] == int(method[4:])), "as asked")
            return json.dumps(seen, default=repr).encode()

        return grpc.unary_unary_rpc_method_handler(answer)


class Sink(trace_service_pb2_grpc.TraceServiceServicer):
    def __init__(self) -> None:
        self._arrived = threading.Condition()
        self._spans: list[Span] = []

    def Export(self, request: object, context: object) -> object:  # noqa: N802 -- the name that gRPC generates
        with self._arrived:
            for resource in request.resource_spans:
                self._spans += [span for scope in resource.scope_spans for span in scope.spans]
            self._arrived.notify_all()
        return trace_service_pb2.ExportTraceServiceResponse()

    def wait_for(self, trace_id: str, count: int = 1) -> list[dict[str, str]]:
        """The attributes of a trace's spans in the order of their starts, once there are `count`."""
        return [
            {item.key: item.value.string_value for item in span.attributes} for span in self.spans_of(trace_id, count)
        ]

    def spans_of(self, trace_id: str, count: int = 1) -> list[Span]:
        def mine() -> list[Span]:
            return [span for span in self._spans if span.trace_id.hex() == trace_id]

        with self._arrived:
            assert self._arrived.wait_for(lambda: len(mine()) >= count, PATIENCE_SECONDS), f"{len(mine())} spans"
            return sorted(mine(), key=lambda span: span.start_time_unix_nano)


@dataclass(frozen=True)
class Lab:
    mesh: Mesh
    sink: Sink
    servers: Mapping[str, list[ThreadingHTTPServer]]
    client: httpx.Client
    channels: dict[str, grpc.Channel] = field(default_factory=dict)
    _trace_numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def new_trace_id(self) -> str:
        return f"{next(self._trace_numbers):032x}"

    def headers(self, *faults: str, **options: object) -> dict[str, str]:
        given = {
            "trace_id": self.new_trace_id(),
            "span_id": "00f067aa0ba902b7",
            "key": KEY,
            "environment": "test",
            "expires": time.time() + 60,
        } | options
        return plan_headers(frozenset(map(Fault.parse, faults)), **given)

    def get(self, service: str, path: str, *faults: str, method: str = "GET", **options: object) -> httpx.Response:
        url = f"http://{self.mesh.addresses[service]}{path}"
        return self.client.request(method, url, headers=self.headers(*faults, **options))

    def call(self, service: str, method: str, headers: Mapping[str, str]) -> tuple[int, dict[str, object], grpc.Call]:
        """The status, what the replica saw, and the call itself."""
        address = self.mesh.addresses[service]
        if address not in self.channels:
            self.channels[address] = grpc.insecure_channel(address, options=[("grpc.enable_retries", 0)])
        invoke = self.channels[address].unary_unary(f"/shop.Cart/{method}")
        try:
            answer, call = invoke.with_call(b"", metadata=list(headers.items()), timeout=PATIENCE_SECONDS)
        except grpc.RpcError as error:
            return error.code().value[0], {}, error
        return 0, json.loads(answer), call

    def statistic(self, name: str) -> int:
        """The sum over all listeners or clusters."""
        lines = self.client.get(f"{self.mesh.admin_url}/stats", params={"filter": name}).text.splitlines()
        return sum(int(line.rpartition(": ")[2]) for line in lines)


def _start_http(replica: str) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    server.daemon_threads = True
    server.replica, server.calls = replica, []
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    return server


def _start_grpc(replica: str) -> tuple[grpc.Server, str]:
    server = grpc.server(futures.ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((_GrpcEcho(replica),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, f"127.0.0.1:{port}"


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    names = {"web": 3, "solo": 1, "hasty": 1, "guarded": 2}
    http = {name: [_start_http(str(n + 1)) for n in range(count)] for name, count in names.items()}
    grpc_servers = [_start_grpc(str(n + 1)) for n in range(3)]
    sink = Sink()
    receiver = grpc.server(futures.ThreadPoolExecutor(2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(sink, receiver)
    collector = f"127.0.0.1:{receiver.add_insecure_port('127.0.0.1:0')}"
    receiver.start()

    def addresses(name: str) -> tuple[str, ...]:
        return tuple(f"127.0.0.1:{server.server_port}" for server in http[name])

    replicas = tuple(address for _, address in grpc_servers)
    services = (
        MeshService("web", "http", addresses("web")),
        MeshService("solo", "http", addresses("solo")),
        MeshService("hasty", "http", addresses("hasty"), timeout_seconds=0.3),
        MeshService("guarded", "http", addresses("guarded"), retries=0, outlier_detection=True),
        MeshService("cart", "grpc", replicas),
        MeshService("ledger", "grpc", replicas[:2], retries=0, outlier_detection=True),
        MeshService("stock", "grpc", replicas[:2], outlier_detection=True),
    )
    spec = MeshSpec(services, entry="web", environment="test", collector=collector)
    with run_mesh(spec, key=KEY, work_dir=tmp_path_factory.mktemp("mesh")) as mesh, httpx.Client() as client:
        lab = Lab(mesh, sink, http, client)
        yield lab
        for channel in lab.channels.values():
            channel.close()
    for server in itertools.chain.from_iterable(http.values()):
        server.shutdown()
        server.server_close()
    for server in (receiver, *(server for server, _ in grpc_servers)):
        server.stop(None)


@pytest.fixture
def mesh_dir(tmp_path: Path) -> Path:
    return tmp_path / "mesh"
