"""Whether traces of our own mesh give the true services and calls: collected, ingested, drawn.

Small services call each other behind a real Envoy mesh. They know of traces in one of three ways:

- `copied`: they hand headers on, and all that anybody hears of is the mesh's spans;
- `told`: they have a tracer, too, which calls each service by another name than the mesh does, and tells routes;
- `apart`: they have a tracer whose spans go elsewhere, so that each of the mesh's spans has lost its parent. Who called
  nobody can know then, and nobody must be named.
"""

import asyncio
import http.client
import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import SpanKind, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from cutset.app.collect import Collected, CollectingAt, collect_traces
from cutset.app.ingest import ingest_traces
from cutset.app.survey import service_graph, survey_traces
from cutset.inject.local.mesh import run_mesh
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.steps import finished
from cutset_demo.ports import HOST, free_port

REQUESTS = 5
CALLS: dict[str, tuple[str, ...]] = {
    "front": ("cart", "stock", "ad"),
    "cart": ("stock",),
    "stock": (),
    "ad": ("cart",),
}
WAYS = ("copied", "told", "apart")
_COPIED = ("traceparent", "tracestate")
_PROPAGATOR = TraceContextTextMapPropagator()


@dataclass(frozen=True, slots=True)
class SeenGraph:
    """What traces say of the mesh, and what they should say."""

    services: frozenset[str]
    entries: frozenset[str]
    calls: frozenset[tuple[str, str, str]]  # caller, callee, API
    expected: frozenset[tuple[str, str, str]]

    @property
    def is_right(self) -> bool:
        return self.services == CALLS.keys() and self.entries == {"front"} and self.calls == self.expected


def mesh_graph_right() -> bool:
    return all(seen_graph(way).is_right for way in WAYS)


def seen_graph(way: str) -> SeenGraph:
    with tempfile.TemporaryDirectory() as folder:
        spans = asyncio.run(collected(way, Path(folder)))
        finished(ingest_traces(Path(folder) / "store", [str(spans)]))
        graph = service_graph(finished(survey_traces(Path(folder) / "store", workers="1")))
    true = frozenset((caller, callee, f"GET /{callee}/*") for caller, callees in CALLS.items() for callee in callees)
    return SeenGraph(
        frozenset(node.name for node in graph.nodes),
        frozenset(node.name for node in graph.nodes if node.entry),
        frozenset((edge.caller, edge.callee, api) for edge in graph.edges for api in edge.apis),
        frozenset() if way == "apart" else true,
    )


async def collected(way: str, folder: Path) -> Path:
    """The file that `cutset collect` wrote while some requests were made."""
    file, ended, grpc_port = folder / "spans.jsonl", asyncio.Event(), free_port()
    served = REQUESTS * _served("front")
    expected = 3 * served - REQUESTS if way == "told" else served  # with the service's own half, and its client's
    with ExitStack() as stack:
        async for event in collect_traces(file, ended, http_port=0, grpc_port=grpc_port):
            if isinstance(event, CollectingAt):
                tracers = {name: _tracer(name, way, event.http_url) for name in CALLS}
                running = _running(tracers, f"{HOST}:{grpc_port}", folder)
                entry = await asyncio.to_thread(stack.enter_context, running)
                for _ in range(REQUESTS):
                    await asyncio.to_thread(_get, entry, "/front/4711", {})
            elif isinstance(event, Collected) and event.stats.spans >= expected:
                ended.set()
    return file


def _served(service: str) -> int:
    """How many requests are served, with all that follow from it, for one to this service."""
    return 1 + sum(map(_served, CALLS[service]))


def _tracer(service: str, way: str, collector: str) -> Tracer | None:
    if way == "copied":
        return None
    provider = TracerProvider(resource=Resource({"service.name": f"shop-{service}"}))
    if way == "told":
        provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{collector}/v1/traces")))
    return provider.get_tracer("shop")


@contextmanager
def _running(tracers: dict[str, Tracer | None], collector: str, folder: Path) -> Iterator[str]:
    """The services behind their mesh; yields the address of the first."""
    addresses: dict[str, str] = {}
    with ExitStack() as stack:
        services = []
        for name, tracer in tracers.items():
            server = ThreadingHTTPServer((HOST, 0), _handler(name, tracer, addresses))
            stack.callback(server.server_close)
            Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
            services.append(MeshService(name, "http", (f"{HOST}:{server.server_port}",)))
        spec = MeshSpec(tuple(services), entry="front", collector=collector)
        mesh = stack.enter_context(run_mesh(spec, work_dir=folder / "mesh"))
        addresses.update(mesh.addresses)
        yield addresses["front"]


def _handler(service: str, tracer: Tracer | None, addresses: dict[str, str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one write per answer, or Nagle's algorithm costs 40 ms

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items() if name.lower() in _COPIED}
            if tracer is None:
                for callee in CALLS[service]:
                    _get(addresses[callee], f"/{callee}/4711", headers)
            else:
                self._traced(tracer, headers)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def _traced(self, tracer: Tracer, headers: dict[str, str]) -> None:
            context = _PROPAGATOR.extract(headers)
            told = {"http.request.method": "GET", "http.route": f"/{service}/{{name}}"}
            with tracer.start_as_current_span("GET", context, SpanKind.SERVER, told):
                for callee in CALLS[service]:
                    with tracer.start_as_current_span("GET", kind=SpanKind.CLIENT):
                        carrier: dict[str, str] = {}
                        _PROPAGATOR.inject(carrier)
                        _get(addresses[callee], f"/{callee}/alice", carrier)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _get(address: str, path: str, headers: dict[str, str]) -> None:
    connection = http.client.HTTPConnection(address)
    connection.request("GET", path, headers=headers)
    assert connection.getresponse().status == 200
    connection.close()


if __name__ == "__main__":
    graphs = {way: seen_graph(way) for way in WAYS}
    for way, graph in graphs.items():
        print(f"{way:7} {'right' if graph.is_right else f'wrong: {graph}'}")
    print(json.dumps({"mesh_graph_right": all(graph.is_right for graph in graphs.values())}))
