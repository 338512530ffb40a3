"""A small real shop to experiment on: HTTP and gRPC services with habits good and bad, behind a real mesh.

Each service is a server of its own; all run in the event loop of the tests, but for one that may die.
"""

import asyncio
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import aiohttp
import grpc
import requests
from aiohttp import web
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract, inject
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer, set_span_in_context

from cutset.app.demo import free_ports
from cutset.experiment.trial import Bench
from cutset.inject.local.mesh import Mesh, run_mesh
from cutset.lineage.path import Level
from cutset.model.fault import Cut, Fault
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.outcome import Points
from cutset.model.point import Point
from cutset.model.request import Request, Step
from cutset.model.span import Span
from cutset.model.target import Receiver, Target
from cutset.traces.collector import Collector, collect
from cutset.traces.encodings import Encoding
from cutset.workload.send import open_client

KEY = b"a key for tests that nobody guesses"
HOST = "127.0.0.1"
EXPORT_SECONDS = 0.15  # services and mesh export every 20 ms; the rest is for a busy machine
PATIENCE_SECONDS = 20  # how long an event may take before a test gives up; none takes a tenth of it


@dataclass(frozen=True)
class Call:
    service: str
    api: str  # a path, or a gRPC method
    optional: bool = False
    shown: bool = True  # whether the answer has a part that comes from it
    seconds: float = PATIENCE_SECONDS  # the caller's deadline
    instead: "Call | None" = None  # what is called when this fails
    fresh: bool = False  # made in a new context: without trace, without plan
    direct: bool = False  # made past the mesh, at the callee's real port
    every: int = 1  # made by every so many requests only: a cache answers the others
    worth: float = 0.0  # added to the `total` of the answer; nothing if the call fails


ITEMS = Call("cart", "/items")
# What services hand on that merely copy the headers of a tracer which does not know W3C's.
COPIED = {
    "jaeger": ("uber-trace-id", "uberctx-cutset"),
    "datadog": ("x-datadog-trace-id", "x-datadog-parent-id", "x-datadog-sampling-priority", "x-datadog-tags"),
    "zipkin": ("x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled"),
    "b3baggage": ("b3", "baggage"),
}
SERVICES: Mapping[str, Mapping[str, tuple[Call, ...]]] = {  # service -> API -> what it calls
    "web": {
        "/page": (ITEMS, Call("ad", "/ads", optional=True)),
        "/quiet": (ITEMS, Call("ad", "/ads", optional=True, shown=False)),
        "/slow": (Call("cart", "/slow"), Call("ad", "/ads", optional=True, shown=False)),
        "/stock": (Call("stock", "Count", instead=ITEMS, seconds=0.25),),
        "/hasty": (Call("ad", "/ads", instead=ITEMS, seconds=0.25),),
        "/patient": (Call("stock", "Count"),),
        "/nested": (Call("middle", "/wait", optional=True, shown=False, seconds=0.25), ITEMS),
        "/forgetful": (Call("forgetful", "/pass"),),
        "/mixed": (Call("relay", "/pass"),),
        "/fresh": (ITEMS, Call("currency", "/convert", fresh=True)),
        "/direct": (ITEMS, Call("ad", "/ads", direct=True)),
        "/rescued": (
            Call("currency", "/convert", direct=True, shown=False),
            Call("cart", "/items", shown=False, instead=Call("ad", "/ads", direct=True, shown=False)),
        ),
        "/people": (Call("users", "/users/alice"), Call("users", "/users/bob", optional=True), ITEMS),
        "/leaf": (),
        "/twins": (Call("twins", "/one"),),
        "/balanced": (Call("balanced", "/one"),),
        "/cached": (ITEMS, Call("currency", "/convert", shown=False, every=2)),
        "/priced": (ITEMS, Call("ad", "/ads", optional=True, shown=False, worth=19.99)),
        "/deadly": (Call("mortal", "/risk"), ITEMS),
        "/tolerant": (Call("mortal", "/risk", optional=True, shown=False), ITEMS),
        "/vital": (Call("mortal", "/safe"), Call("ad", "/ads", optional=True, shown=False)),
        "/wide": (
            Call("parts", "/a"),
            Call("parts", "/b", optional=True, shown=False),
            Call("parts", "/c", optional=True),
            Call("parts", "/d", shown=False, instead=Call("parts", "/e", shown=False)),
            Call("parts", "/f", optional=True, shown=False),
        ),
    },
    **{f"{kind}1": {"/page": (Call(f"{kind}2", "/pass"), Call("ad", "/ads", optional=True))} for kind in COPIED},
    **{f"{kind}2": {"/pass": (ITEMS,)} for kind in COPIED},
    "relay": {"/page": (ITEMS, Call("ad", "/ads", optional=True)), "/pass": (ITEMS,)},
    "forgetful": {"/pass": (ITEMS,)},
    "middle": {"/wait": (Call("stock", "Count"),)},
    **{name: {} for name in ("cart", "ad", "stock", "currency", "twins", "balanced", "vault", "parts", "users")},
}
REPLICAS = Counter({"twins": 2, "balanced": 2})
RETRIES = {"balanced": 0}  # round robin and nothing more
GRPC = ("stock",)
FORWARDED = {  # what services without an SDK hand on
    "relay": ("traceparent", "tracestate", "baggage"),
    "forgetful": ("traceparent",),
    **{f"{kind}{number}": names for kind, names in COPIED.items() for number in (1, 2)},
}
SLOW_SECONDS = {"cart/slow": 0.2}

# Exits when its dependency fails, as Sock Shop's front-end does.
MORTAL = """
import http.client, http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    def do_GET(self):
        if self.path == "/risk":
            dependency = http.client.HTTPConnection(sys.argv[2])
            dependency.request("GET", "/open", headers={
                name: self.headers[name] for name in ("traceparent", "tracestate", "baggage") if self.headers[name]
            })
            if dependency.getresponse().status >= 500:
                os._exit(1)
            dependency.close()
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print("ready", flush=True)
server.serve_forever()
"""


class CallFailedError(Exception):
    pass


@dataclass
class Mortal:
    """A service in a process of its own."""

    port: int
    dependency: str = ""
    process: asyncio.subprocess.Process | None = None

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    async def start(self) -> None:
        """Again, once it has died."""
        if self.process is not None:
            await self.process.communicate()
        command = (sys.executable, "-I", "-S", "-c", MORTAL, str(self.port), self.dependency)
        self.process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        assert await self.process.stdout.readline() == b"ready\n"

    async def stop(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.communicate()


@dataclass
class Shop:
    collector: Collector
    client: object  # for `send`
    session: aiohttp.ClientSession  # of the services among each other
    tracers: Mapping[str, Tracer]
    mortal: Mortal
    mesh: Mesh | None = None
    stumbles: Counter[str] = field(default_factory=Counter)  # service and API -> how often it answers 500 from now on
    flakes: dict[str, float] = field(default_factory=dict)  # service and API -> the share of answers that are 500
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    answered: Counter[str] = field(default_factory=Counter)  # service and API
    channels: dict[str, grpc.aio.Channel] = field(default_factory=dict)
    real_ports: dict[str, str] = field(default_factory=dict)  # of services, past the mesh

    def bench(self, entry: str = "web", *, level: Level = Level.API, **changes: object) -> Bench:
        bench = Bench(
            target=Target(url=f"http://{self.mesh.addresses[entry]}", health=(self.mortal.address,)),
            key=KEY,
            collector=self.collector,
            client=self.client,
            level=level,
            trace_timeout=PATIENCE_SECONDS,
            export_interval=EXPORT_SECONDS,
        )
        return replace(bench, **changes)

    @contextmanager
    def losing(self, lost: Callable[[Span], bool], *, found_after_seconds: float = 0) -> Iterator[None]:
        """Spans that are lost on their way to the collector, for good unless they are found."""
        receive = self.collector.receive

        def receive_some(payload: bytes, encoding: Encoding) -> None:
            spans = encoding.spans(payload)
            receive(payload, replace(encoding, spans=lambda _: [span for span in spans if not lost(span)]))
            if found_after_seconds:
                found = replace(encoding, spans=lambda _: [span for span in spans if lost(span)])
                asyncio.get_running_loop().call_later(found_after_seconds, receive, payload, found)

        self.collector.receive = receive_some
        try:
            yield
        finally:
            del self.collector.receive

    async def serve(self, service: str, api: str, headers: Mapping[str, str]) -> dict[str, object]:
        if service in FORWARDED:
            kept = {name: headers[name] for name in FORWARDED[service] if name in headers}
            return await self._answer(service, api, partial(self._exchange, headers=kept))
        tracer = self.tracers[service]
        with _span(tracer, api, SpanKind.SERVER, extract(headers)) as context:
            return await self._answer(service, api, partial(self._call, tracer, context))

    async def _answer(self, service: str, api: str, make: Callable[[Call], Awaitable[None]]) -> dict[str, object]:
        if self.stumbles[f"{service}{api}"] > 0:
            self.stumbles[f"{service}{api}"] -= 1
            raise CallFailedError(f"{service} stumbled")
        if self.chance.random() < self.flakes.get(f"{service}{api}", 0):
            raise CallFailedError(f"{service} is flaky")
        self.answered[service + api] += 1
        total = 0.0
        await asyncio.sleep(SLOW_SECONDS.get(f"{service}{api}", 0))
        parts: dict[str, object] = {}
        for call in SERVICES[service].get(api, ()):
            if self.answered[service + api] % call.every:
                continue
            try:
                await make(call)
            except CallFailedError:
                if call.instead is not None:
                    await make(call.instead)
                elif call.optional:
                    continue
                else:
                    raise
            total += call.worth
            if call.shown:
                parts[call.service + call.api] = {"answered": True}
        number = self.answered[service + api]
        return {"parts": parts} | ({"total": total, "number": number} if api == "/priced" else {})

    async def _call(self, tracer: Tracer, context: Context, call: Call) -> None:
        if call.fresh:
            return await self._exchange(call, headers={})
        address = self.real_ports[call.service] if call.direct else ""
        with _span(tracer, call.api, SpanKind.CLIENT, context, address) as inside:
            headers: dict[str, str] = {}
            inject(headers, inside)
            return await self._exchange(call, headers=headers)

    async def _exchange(self, call: Call, headers: Mapping[str, str]) -> None:
        try:
            if call.service in GRPC:
                invoke = self.channels[call.service].unary_unary(f"/shop.Shop/{call.api}")
                await invoke(b"", metadata=tuple(headers.items()), timeout=call.seconds)
            else:
                addresses = self.real_ports if call.direct else self.mesh.addresses
                url = f"http://{addresses[call.service]}{call.api}"
                async with asyncio.timeout(call.seconds), self.session.get(url, headers=headers) as response:
                    await response.read()
                    response.raise_for_status()
        except (aiohttp.ClientError, grpc.aio.AioRpcError, TimeoutError) as error:
            raise CallFailedError(f"{call.service} failed") from error


@asynccontextmanager
async def open_shop(work_dir: Path, receiver: Receiver | None = None, *, entry: str = "") -> AsyncIterator[Shop]:
    """With a collector of its own, or for one that somebody else will open; users come in by the entry, if any."""
    async with AsyncExitStack() as stack:
        collector = Collector() if receiver else await stack.enter_async_context(collect())
        spans_to = f"http://{HOST}:{receiver.http_port}" if receiver else collector.http_url
        tracers = await stack.enter_async_context(_tracers(spans_to))
        client = await stack.enter_async_context(open_client(64))
        connector = aiohttp.TCPConnector(limit=0)
        session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector, trust_env=False))
        shop = Shop(collector, client, session, tracers, Mortal(free_port()))
        services = [MeshService("mortal", "http", (shop.mortal.address,))]
        for name in SERVICES:
            start, protocol = (_start_grpc, "grpc") if name in GRPC else (_start_http, "http")
            replicas = [await stack.enter_async_context(start(shop, name)) for _ in range(REPLICAS[name] or 1)]
            shop.real_ports[name] = replicas[0]
            services.append(MeshService(name, protocol, tuple(replicas), retries=RETRIES.get(name)))
        mesh_spans_to = f"{HOST}:{receiver.grpc_port}" if receiver else collector.grpc_address
        spec = MeshSpec(tuple(services), entry=entry, collector=mesh_spans_to)
        shop.mesh = stack.enter_context(run_mesh(spec, key=KEY, work_dir=work_dir))
        for name in GRPC:
            channel = grpc.aio.insecure_channel(shop.mesh.addresses[name], [("grpc.enable_http_proxy", 0)])
            shop.channels[name] = await stack.enter_async_context(channel)
        shop.mortal.dependency = shop.mesh.addresses["vault"]
        await shop.mortal.start()
        stack.push_async_callback(shop.mortal.stop)
        yield shop


def get(path: str, *, setup: tuple[str, ...] = (), **expect: object) -> Request:
    request = Request(f"GET {path}", Step("GET", path), tuple(Step("GET", step) for step in setup))
    return replace(request, expect=replace(request.expect, **expect))


def points(*texts: str) -> Points:
    return frozenset(map(Point.parse, texts))


def cut(*texts: str) -> Cut:
    return frozenset(map(Fault.parse, texts))


@asynccontextmanager
async def _tracers(collector_url: str) -> AsyncIterator[Mapping[str, Tracer]]:
    with requests.Session() as session:
        session.trust_env = False
        exporter = OTLPSpanExporter(f"{collector_url}/v1/traces", session=session)
        processor = BatchSpanProcessor(exporter, schedule_delay_millis=20)
        tracers = {}
        for name in SERVICES.keys() - FORWARDED.keys():
            provider = TracerProvider(resource=Resource({"service.name": name}), shutdown_on_exit=False)
            provider.add_span_processor(processor)
            tracers[name] = provider.get_tracer("small_shop")
        try:
            yield tracers
        finally:
            await asyncio.to_thread(processor.shutdown)  # exports the rest to a collector in this very loop


@contextmanager
def _span(tracer: Tracer, name: str, kind: SpanKind, context: Context, address: str = "") -> Iterator[Context]:
    told = {"http.request.method": "GET"} | ({"url.full": f"http://{address}{name}"} if address else {})
    if kind is SpanKind.SERVER and name.startswith("/users/"):
        told["http.route"] = "/users/{name}"
    span = tracer.start_span(name, context, kind, told)
    try:
        yield set_span_in_context(span, context)
    except BaseException as error:
        span.set_status(Status(StatusCode.ERROR, str(error)))
        raise
    finally:
        span.end()


@asynccontextmanager
async def _start_http(shop: Shop, service: str) -> AsyncIterator[str]:
    async def handle(request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        try:
            return web.json_response(await shop.serve(service, request.path, headers))
        except CallFailedError as error:
            return web.Response(status=500, text=str(error))

    application = web.Application()
    application.router.add_get("/{path:.*}", handle)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, 0).start()
        yield f"{HOST}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def _start_grpc(shop: Shop, service: str) -> AsyncIterator[str]:
    class Handler(grpc.GenericRpcHandler):
        def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
            async def handle(_request: bytes, context: grpc.aio.ServicerContext) -> bytes:
                try:
                    await shop.serve(service, details.method.rpartition("/")[2], dict(details.invocation_metadata))
                except CallFailedError as error:
                    await context.abort(grpc.StatusCode.INTERNAL, str(error))
                return b""

            return grpc.unary_unary_rpc_method_handler(handle)

    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Handler(),))
    port = server.add_insecure_port(f"{HOST}:0")
    await server.start()
    try:
        yield f"{HOST}:{port}"
    finally:
        await server.stop(None)


def free_port() -> int:
    return free_ports(1)[0]
