"""Receives spans inside the caller's event loop, and hands out traces as they complete.

They come over OTLP/HTTP and OTLP/gRPC, and as clients of Jaeger and Zipkin send them, over HTTP and in datagrams.

Everything runs on one loop, so nothing here is locked. What is acknowledged has been recorded (if a recorder is
given), kept, and shown to every listener; a payload that is refused leaves nothing behind.
"""

import asyncio
import socket
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import grpc
import grpc.aio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cutset.errors import CutsetError, InputError, TargetError
from cutset.model.span import Span
from cutset.model.target import OtherPorts
from cutset.receive.body import BodyError, read_body
from cutset.receive.server import GRACE_SECONDS, address, listen, serve, url_of
from cutset.traces.encodings import DATAGRAM, ENCODINGS, JSON, PROTOBUF, Encoding
from cutset_agent.wire import without_plans

MAX_SPANS = 200_000  # held at once: about 300 MB with ten attributes each
MAX_PAYLOAD_BYTES = 64 * 1024 * 1024  # as received and as inflated: exporters send at most a few MB, gzip bombs more
MAX_FORGOTTEN = 10_000  # trace ids: late spans arrive within seconds, and no campaign runs this many traces in those
DATAGRAM_BUFFER_BYTES = 4 * 1024 * 1024  # what may wait while the event loop is busy: datagrams are not sent again
NO_OTHERS = OtherPorts()

_TRACE_SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"


@dataclass(slots=True)
class CollectorStats:
    payloads: int = 0  # accepted
    refused: int = 0  # payloads that were malformed, too large, or could not be recorded
    traces: int = 0
    spans: int = 0  # accepted, each once
    duplicates: int = 0  # spans that were sent again
    late: int = 0  # spans of a trace that had been forgotten
    dropped: int = 0  # spans that memory had no room for


@dataclass(slots=True, eq=False)
class _Trace:
    spans: dict[str, Span] = field(default_factory=dict)  # by span id
    waiting: int = 0
    arrival: asyncio.Event | None = None  # made for the first who waits: most traces nobody waits for


async def _at_once() -> None:
    """What is sent to us is here as soon as it arrives."""


class Collector:
    def __init__(self, *, max_spans: int = MAX_SPANS, record: Callable[[str], None] | None = None) -> None:
        self.stats = CollectorStats()
        self.http_url = ""
        self.grpc_address = ""
        self.others: dict[str, str] = {}  # what else is received, with its address
        self.not_received: dict[str, str] = {}  # what else would be, if its port were free
        self.losses = 0  # how often spans may have been missed: what was under way then proves nothing
        self.up_to_date: Callable[[], Awaitable[None]] = _at_once  # until all that arrived elsewhere is here, too
        self._max_spans = max_spans
        self._record = record
        self._held = 0  # spans in all traces
        self._traces: OrderedDict[str, _Trace] = OrderedDict()  # least recently touched first
        self._forgotten: OrderedDict[str, None] = OrderedDict()  # longest ago first
        self._listeners: dict[object, Callable[[Sequence[Span]], None]] = {}

    async def trace(
        self,
        trace_id: str,
        complete: Callable[[Sequence[Span]], bool],
        *,
        timeout: float,  # noqa: ASYNC109 – running out of time is an answer here, not an error
    ) -> tuple[tuple[Span, ...], bool]:
        """Wait until `complete(spans so far)` or the time is up; returns the spans and whether they were complete.

        Asks again only when spans of that trace arrive. A trace that somebody waits for is never dropped.
        """
        self._forgotten.pop(trace_id, None)
        trace = self._traces.setdefault(trace_id, _Trace())
        self._traces.move_to_end(trace_id)
        trace.waiting += 1
        arrival = trace.arrival = trace.arrival or asyncio.Event()
        try:
            async with asyncio.timeout(timeout) as limit:
                while not complete(spans := tuple(trace.spans.values())):
                    await arrival.wait()
        except TimeoutError:
            if not limit.expired():
                raise
            await self.up_to_date()  # before that, silence says nothing
            spans = tuple(trace.spans.values())
            return spans, complete(spans)
        else:
            return spans, True
        finally:
            trace.waiting -= 1
            if not trace.spans and not trace.waiting and self._traces.get(trace_id) is trace:
                del self._traces[trace_id]

    def held(self, trace_id: str) -> tuple[Span, ...]:
        """What is there of a trace now."""
        trace = self._traces.get(trace_id)
        return tuple(trace.spans.values()) if trace else ()

    def forget(self, trace_id: str) -> None:
        """Free a trace. Its late spans do not bring it back; asking for it again does."""
        trace = self._traces.pop(trace_id, None)
        if trace is not None:
            self._held -= len(trace.spans)
        self._forgotten[trace_id] = None
        if len(self._forgotten) > MAX_FORGOTTEN:
            self._forgotten.popitem(last=False)

    def subscribe(self, listener: Callable[[Sequence[Span]], None]) -> Callable[[], None]:
        """Call the listener with the spans of every accepted payload as they came; returns how to stop that."""
        subscription = object()
        self._listeners[subscription] = listener

        def unsubscribe() -> None:
            self._listeners.pop(subscription, None)

        return unsubscribe

    def receive(self, payload: bytes, encoding: Encoding) -> None:
        """Accept a payload, or raise and keep nothing of it."""
        spans = encoding.spans(payload)
        if self._record is not None:
            self._record(without_plans(encoding.line(payload).encode(errors="replace")).decode())
        self.stats.payloads += 1
        self.accept(spans)

    def accept(self, spans: Sequence[Span]) -> None:
        self._keep(spans)
        for listener in tuple(self._listeners.values()):
            listener(spans)

    def _keep(self, spans: Sequence[Span]) -> None:
        touched: dict[str, _Trace] = {}
        for span in spans:
            trace = self._traces.get(span.trace_id)
            if trace is not None and span.span_id in trace.spans:
                self.stats.duplicates += 1
                continue
            self.stats.spans += 1
            if trace is None and span.trace_id in self._forgotten:
                self.stats.late += 1
                continue
            if self._held >= self._max_spans and not self._make_room(span.trace_id):
                self.stats.dropped += 1
                continue
            if trace is None:
                trace = self._traces[span.trace_id] = _Trace()
            if not trace.spans:
                self.stats.traces += 1
            trace.spans[span.span_id] = span
            self._held += 1
            touched[span.trace_id] = trace
        for trace_id, trace in touched.items():
            if trace_id in self._traces:
                self._traces.move_to_end(trace_id)
            if trace.arrival is not None:
                trace.arrival.set()  # wakes all who wait now …
                trace.arrival.clear()  # … and nobody who comes later

    def _make_room(self, for_trace: str) -> bool:
        """Drop the least recently touched trace that nobody waits for, other than the one that needs the room."""
        for trace_id, trace in self._traces.items():
            if not trace.waiting and trace_id != for_trace:
                del self._traces[trace_id]
                self._held -= len(trace.spans)
                self.stats.dropped += len(trace.spans)
                return True
        return False


@asynccontextmanager
async def collect(
    *,
    host: str = "127.0.0.1",
    http_port: int = 0,
    grpc_port: int = 0,
    max_spans: int = MAX_SPANS,
    record: Callable[[str], None] | None = None,
    others: OtherPorts = NO_OTHERS,
    hint: str = "",
) -> AsyncIterator[Collector]:
    """Receive spans while inside. Port 0 stands for any free one.

    `record` gets each payload as one line of OTLP/JSON before it is acknowledged; if it raises a `CutsetError`, the
    sender is told to try again later. `hint` says how to choose another address, if this one cannot be had.
    """
    collector = Collector(max_spans=max_spans, record=record)
    async with (
        _serve_http(collector, host, http_port, hint) as collector.http_url,
        _serve_grpc(collector, host, grpc_port, hint) as collector.grpc_address,
        AsyncExitStack() as stack,
    ):
        for name, serving, port in (
            ("Jaeger, compact Thrift over UDP", _serve_datagrams, others.jaeger_compact_port),
            ("Jaeger, binary Thrift over UDP", _serve_datagrams, others.jaeger_binary_port),
            ("Jaeger, Thrift over HTTP", _serve_http, others.jaeger_http_port),
            ("Zipkin", _serve_http, others.zipkin_port),
        ):
            if port is None:
                continue
            try:
                collector.others[name] = await stack.enter_async_context(serving(collector, host, port, hint))
            except TargetError:  # others than us are at home there: that must not keep anybody from what matters
                collector.not_received[name] = address(host, port)
        yield collector


def not_received(addresses: Mapping[str, str]) -> str:
    """In words, what is not received since somebody else is at home there."""
    return f"Ports are in use, so not received: {', '.join(f'{name} on {at}' for name, at in addresses.items())}"


@asynccontextmanager
async def _serve_http(collector: Collector, host: str, port: int, hint: str) -> AsyncIterator[str]:
    listener = listen(host, port, for_what="traces", hint=hint)
    async with serve(_application(collector), listener):
        yield url_of(host, listener)


@asynccontextmanager
async def _serve_datagrams(collector: Collector, host: str, port: int, hint: str) -> AsyncIterator[str]:
    """Nobody who sends datagrams waits for an answer: what is refused is counted."""

    class Agent(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, _sender: object) -> None:
            try:
                collector.receive(data, DATAGRAM)
            except CutsetError:
                collector.stats.refused += 1

    listener = listen(host, port, for_what="traces", hint=hint, datagrams=True)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, DATAGRAM_BUFFER_BYTES)
    bound = address(host, listener.getsockname()[1])
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(Agent, sock=listener)
    try:
        yield bound
    finally:
        transport.close()


def _application(collector: Collector) -> ASGIApp:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await _answer(collector, Request(scope, receive))
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    return application


async def _answer(collector: Collector, request: Request) -> Response:
    encodings = ENCODINGS.get(request.url.path)
    if encodings is None:
        places = " or ".join(f"`{path}`" for path in ENCODINGS)
        return _refusal(404, f"Nothing is served at `{request.url.path}`: send traces to {places}")
    if request.method != "POST":
        return _refusal(405, f"{request.method} is not supported: send traces with POST", {"Allow": "POST"})
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = encodings.get(media_type)
    try:
        payload = await read_body(request, limit=MAX_PAYLOAD_BYTES)
        if encoding is None:
            raise BodyError(415, f"Unsupported content type `{media_type}`: send {' or '.join(encodings)}")
        collector.receive(payload, encoding)
    except CutsetError as error:
        collector.stats.refused += 1
        return _refusal(_status(error), error.message, of=encoding or JSON)
    return Response(encoding.accepted, encoding.status, media_type=encoding.media_type)


def _status(error: CutsetError) -> int:
    return error.status if isinstance(error, BodyError) else 400 if isinstance(error, InputError) else 503


def _refusal(status: int, message: str, headers: dict[str, str] | None = None, *, of: Encoding = JSON) -> Response:
    return Response(of.refusal(message), status, headers, of.media_type)


@asynccontextmanager
async def _serve_grpc(collector: Collector, host: str, port: int, hint: str) -> AsyncIterator[str]:
    async def export(payload: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        try:
            collector.receive(payload, PROTOBUF)
        except CutsetError as error:
            collector.stats.refused += 1
            malformed = isinstance(error, InputError)
            await context.abort(
                grpc.StatusCode.INVALID_ARGUMENT if malformed else grpc.StatusCode.UNAVAILABLE, error.message
            )
        return PROTOBUF.accepted

    if port:
        listen(host, port, for_what="traces", hint=hint).close()  # gRPC itself would not say why it cannot
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", MAX_PAYLOAD_BYTES), ("grpc.so_reuseport", 0)])
    # Without deserialisers the payload comes raw, so that a malformed one is ours to answer and to count.
    methods: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {"Export": grpc.unary_unary_rpc_method_handler(export)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_TRACE_SERVICE, methods),))
    bound_port = server.add_insecure_port(address(host, port))
    await server.start()
    try:
        yield address(host, bound_port)
    finally:
        await server.stop(GRACE_SECONDS)
