"""One shop for all tests. Between its services stand small proxies that fail the calls named in a request's own
tracestate, as a mesh would, and keep what they saw; a small OTLP server keeps the spans.
"""

import contextlib
import http.server
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import grpc
import httpx
import pytest
from google.protobuf.message import Message
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from cutset_demo.methods import Method
from cutset_demo.node import GRPC_SERVICES
from cutset_demo.shop import SERVICES, Shop, free_addresses, run_shop

TRACE_SECONDS = 20.0  # spans come within a fraction of a second, if at all
PROXY_THREADS = 16
POINTS = sorted(f"{service}/{method.name}" for service, methods in GRPC_SERVICES.items() for method in methods)


@dataclass(frozen=True)
class SeenCall:
    service: str
    method: str
    metadata: dict[str, str]


@dataclass
class Boutique:
    url: str
    addresses: Mapping[str, str]  # of the first replicas
    shop: Shop | None = None
    spans: list[tuple[str, str, Span]] = field(default_factory=list)  # service, replica, span
    calls: list[SeenCall] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def client(self, fail: Iterable[str] = (), **headers: str) -> httpx.Client:
        """A fresh session. Its requests make the calls in `fail` fail, each written `service/Method`."""
        trace = {"traceparent": f"00-{secrets.token_hex(16)}-00000000000000aa-01", "tracestate": plan(fail)}
        return httpx.Client(base_url=self.url, headers={**trace, **headers}, trust_env=False, timeout=30)

    def call(self, service: str, method: Method, request: Message, fail: Iterable[str] = ()) -> Message:
        """A gRPC call of one service, as another would make it; what it calls may fail as in `client`."""
        with grpc.insecure_channel(self.addresses[service], options=[("grpc.enable_http_proxy", 0)]) as channel:
            invoke = channel.unary_unary(
                f"/{method.full_name}", method.request.SerializeToString, method.reply.FromString
            )
            trace = (("traceparent", f"00-{secrets.token_hex(16)}-00000000000000aa-01"), ("tracestate", plan(fail)))
            return invoke(request, timeout=20, metadata=trace)

    def wait_for_spans(self, trace_id: str, enough: Callable[[list[tuple[str, str, Span]]], bool]) -> list:
        def of_trace() -> list[tuple[str, str, Span]]:
            return [entry for entry in self.spans if entry[2].trace_id.hex() == trace_id]

        with self.arrived:
            assert self.arrived.wait_for(lambda: enough(of_trace()), TRACE_SECONDS), of_trace()
            return of_trace()


def plan(fail: Iterable[str]) -> str:
    # By number: a tracestate value of more than 256 characters is dropped, and with it the plan.
    return f"fail={';'.join(str(POINTS.index(point)) for point in fail) or 'nothing'}"


@pytest.fixture(scope="session")
def boutique(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Boutique]:
    listen, proxies = free_addresses(), {name: addresses[0] for name, addresses in free_addresses(1).items()}
    state = Boutique(f"http://{listen['frontend'][0]}", {name: places[0] for name, places in listen.items()})
    with contextlib.ExitStack() as stack:
        otlp_endpoint = stack.enter_context(_span_sink(state))
        work_dir = tmp_path_factory.mktemp("shop")
        state.shop = stack.enter_context(run_shop(listen, proxies, otlp_endpoint=otlp_endpoint, work_dir=work_dir))
        for service, kind in SERVICES.items():
            if kind == "grpc":
                stack.enter_context(_proxy(state, service, proxies[service], listen[service][0]))
        yield state


@contextlib.contextmanager
def _span_sink(state: Boutique) -> Iterator[str]:
    class Sink(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            export = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["content-length"])))
            with state.arrived:
                for group in export.resource_spans:
                    resource = {item.key: item.value.string_value for item in group.resource.attributes}
                    names = resource["service.name"], resource["service.instance.id"]
                    state.spans += [(*names, span) for scope in group.scope_spans for span in scope.spans]
                state.arrived.notify_all()
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@contextlib.contextmanager
def _proxy(state: Boutique, service: str, address: str, target: str) -> Iterator[None]:
    class Forward(grpc.GenericRpcHandler):
        def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
            method = details.method.rsplit("/", 1)[1]
            metadata = {name: str(value) for name, value in details.invocation_metadata}
            state.calls.append(SeenCall(service, method, metadata))
            failing = metadata.get("tracestate", "").removeprefix("fail=").split(";")

            def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
                if str(POINTS.index(f"{service}/{method}")) in failing:
                    context.abort(grpc.StatusCode.UNAVAILABLE, "failed on purpose")
                onward = [pair for pair in metadata.items() if pair[0] != "user-agent"]
                try:
                    return channel.unary_unary(details.method)(request, timeout=20, metadata=onward)
                except grpc.RpcError as failure:
                    context.abort(failure.code(), failure.details())

            return grpc.unary_unary_rpc_method_handler(answer)

    with grpc.insecure_channel(target) as channel, ThreadPoolExecutor(PROXY_THREADS) as threads:
        server = grpc.server(threads, handlers=[Forward()])
        server.add_insecure_port(address)
        server.start()
        yield
        server.stop(None).wait()
