"""The service of the zoo: every way we know in which the work of several requests meets, in one process with the agent.

    python -m benchmarks.truth.zoo_service '{"port": 8000, "redis": …, "nats": …, "postgres": …, "quotes": …}'

Workers, batchers and consumers are started by whichever request comes first, keep that one's context, and serve
everybody; each ends after a while, so that others come first, too. What is done after an answer is counted, apart for
requests with a plan and without: `/counts`.
"""

import asyncio
import contextlib
import json
import queue
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import grpc
import nats
import psycopg_pool
import redis
import redis.asyncio
import uvicorn
from google.protobuf.wrappers_pb2 import StringValue
from opentelemetry import context, propagate
from opentelemetry.sdk.trace import TracerProvider
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

ITEMS_EACH = 40  # that a worker serves before another is started
PATIENCE_SECONDS = 20  # with everything: a busy machine is no fault
LATE_SECONDS = 1.0  # after the answer: beyond any grace
TRACER = TracerProvider().get_tracer("zoo")
CODECS = (StringValue.SerializeToString, StringValue.FromString)

counts: Counter[str] = Counter()


class LazyWorker:
    """A task that the first caller starts and that works for all."""

    def __init__(self, work: Callable[[], Awaitable[Any]]) -> None:
        self.work = work
        self.items: asyncio.Queue[asyncio.Future[Any]] = asyncio.Queue()
        self.task: asyncio.Task[None] | None = None

    async def ask(self) -> Any:
        done = asyncio.get_running_loop().create_future()
        self.items.put_nowait(done)
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._serve())  # noqa: TID251 -- the mistake that is looked for
        return await done

    async def _serve(self) -> None:
        served = 0
        while served < ITEMS_EACH or not self.items.empty():
            done = await self.items.get()
            await settle(done, self.work)
            served += 1


class LazyThread:
    """The same with a thread, for callers on a loop and for threads."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.items: queue.Queue[Any] = queue.Queue()
        self.lock = threading.Lock()
        self.running = False

    async def ask(self) -> Any:
        return await asyncio.wrap_future(self.put())

    def put(self) -> Future[Any]:
        done: Future[Any] = Future()
        with self.lock:
            self.items.put(done)
            if not self.running:
                self.running = True
                threading.Thread(target=self._serve, daemon=True).start()
        return done

    def _serve(self) -> None:
        served = 0
        while True:
            done = self.items.get()
            try:
                done.set_result(self.work())
            except Exception as problem:  # noqa: BLE001 -- for who asked
                done.set_exception(problem)
            served += 1
            with self.lock:
                if served >= ITEMS_EACH and self.items.empty():
                    self.running = False
                    return


class Batcher:
    """Whoever asks first in a turn of the loop has the batch of all sent: as data loaders do."""

    def __init__(self, work: Callable[[], Awaitable[Any]]) -> None:
        self.work = work
        self.waiting: list[asyncio.Future[Any]] = []
        self.sending: set[asyncio.Task[None]] = set()

    async def ask(self) -> Any:
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        self.waiting.append(done)
        if len(self.waiting) == 1:
            loop.call_later(0.002, self._dispatch)
        return await done

    def _dispatch(self) -> None:
        batch, self.waiting = self.waiting, []
        task = asyncio.create_task(self._send(batch))  # noqa: TID251 -- as above
        self.sending.add(task)
        task.add_done_callback(self.sending.discard)

    async def _send(self, batch: list[asyncio.Future[Any]]) -> None:
        try:
            result, error = await self.work(), None
        except Exception as problem:  # noqa: BLE001 -- for who asked
            result, error = None, problem
        for done in batch:
            answer(done, result, error)


async def subscribed(broker: Any) -> None:
    """Until the server knows: a client's first ping may overtake what waits to be written, its second does not."""
    await broker.flush()
    await broker.flush()


async def settle(done: asyncio.Future[Any], work: Callable[[], Awaitable[Any]]) -> None:
    try:
        answer(done, await work(), None)
    except Exception as problem:  # noqa: BLE001 -- for who asked
        answer(done, None, problem)


def answer(done: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(result)
    else:
        done.set_exception(error)


class Zoo:
    """What all requests share. Connections are made in the lifespan, or by whoever is first."""

    def __init__(self, places: dict[str, str]) -> None:
        self.places = places
        self.cache = redis.asyncio.Redis.from_url(places["redis"], socket_timeout=PATIENCE_SECONDS)
        self.slow_cache = redis.Redis.from_url(places["redis"], socket_timeout=PATIENCE_SECONDS)
        self.pool = ThreadPoolExecutor(8)
        self.broker: Any = None
        self.lazy_broker: Any = None
        self.connecting = asyncio.Lock()
        self.database: Any = None
        self.channel: Any = None
        self.worker, self.thread = LazyWorker(self.read), LazyThread(self.read_blocking)
        self.batcher, self.quote_worker = Batcher(self.read), LazyWorker(self.quote)
        self.puller: asyncio.Task[None] | None = None
        self.traced_worker = LazyWorker(self.quote_in_trace)
        self.later: set[asyncio.Task[None]] = set()

    async def read(self) -> None:
        await self.cache.get("key")

    def read_blocking(self) -> None:
        self.slow_cache.get("key")

    async def quote(self, metadata: tuple[tuple[str, str], ...] = ()) -> None:
        """HTTP/2 through the mesh, many calls on one connection."""
        call = self.channel.unary_unary("/zoo.Quotes/GetQuote", *CODECS)
        await call(StringValue(value="boots"), timeout=PATIENCE_SECONDS, metadata=metadata)

    async def quote_in_trace(self) -> None:
        """As an instrumented client: OpenTelemetry carries its context on, and with it the plan, by itself."""
        headers: dict[str, str] = {}
        propagate.inject(headers)
        await self.quote(tuple(headers.items()))

    async def publish(self) -> None:
        await self.broker.publish("zoo.said", b"1")

    async def ask_consumer(self) -> None:
        """A consumer that the first request subscribes, on a connection that it opens."""
        async with self.connecting:
            if self.lazy_broker is None:
                self.lazy_broker = await nats.connect(self.places["nats"])
                await self.lazy_broker.subscribe("zoo.asked", cb=self.consume)
                await subscribed(self.lazy_broker)
        found = json.loads((await self.broker.request("zoo.asked", b"1", timeout=PATIENCE_SECONDS)).data)
        if found != "ok":
            raise RuntimeError(found)

    async def ask_puller(self) -> None:
        """As `ask_consumer`, of a task that pulls its messages."""
        async with self.connecting:
            if self.puller is None:
                subscription = await self.broker.subscribe("zoo.pulled")
                await subscribed(self.broker)
                self.puller = asyncio.create_task(self._pull(subscription))  # noqa: TID251 -- as above
        found = json.loads((await self.broker.request("zoo.pulled", b"1", timeout=PATIENCE_SECONDS)).data)
        if found != "ok":
            raise RuntimeError(found)

    async def _pull(self, subscription: Any) -> None:
        async for message in subscription.messages:
            await self.consume(message)

    async def consume(self, message: Any) -> None:
        try:
            await self.read()
        except Exception as problem:  # noqa: BLE001 -- the answer tells
            await message.respond(json.dumps(repr(problem)).encode())
        else:
            await message.respond(b'"ok"')

    async def query(self) -> None:
        async with self.database.connection() as connection:
            await connection.execute("SELECT 1")

    async def fan_out(self) -> None:
        await asyncio.gather(self.read(), asyncio.to_thread(self.read_blocking), self.query())

    async def in_pool(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self.pool, self.read_blocking)

    async def read_late(self, whose: str) -> None:
        await asyncio.sleep(LATE_SECONDS)
        try:
            await self.read()
        except redis.RedisError:
            counts[f"late of {whose}"] += 1

    async def forget(self, whose: str) -> None:
        task = asyncio.create_task(self.read_late(whose))  # noqa: TID251 -- as above
        self.later.add(task)
        task.add_done_callback(self.later.discard)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    zoo: Zoo = app.state.zoo
    zoo.broker = await nats.connect(zoo.places["nats"])
    zoo.channel = grpc.aio.insecure_channel(zoo.places["quotes"])
    zoo.database = psycopg_pool.AsyncConnectionPool(zoo.places["postgres"], min_size=4, max_size=8, open=False)
    await zoo.database.open()
    async with quotes(int(zoo.places["quotes_port"])):
        with threaded(zoo, int(zoo.places["wsgi_port"])):
            yield
    await zoo.database.close()


def application(places: dict[str, str]) -> Starlette:
    zoo = Zoo(places)

    async def streamed(_request: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(3):
                try:
                    await zoo.read()
                except redis.RedisError:
                    yield b"failed"
                yield b"."

        return StreamingResponse(pieces())

    async def with_background(request: Request) -> Response:
        await zoo.read()
        return PlainTextResponse("ok", background=BackgroundTask(zoo.read_late, request.headers["x-zoo"]))

    async def forgetting(request: Request) -> Response:
        await zoo.forget(request.headers["x-zoo"])
        return PlainTextResponse("ok")

    def blocking(_request: Request) -> Response:
        zoo.read_blocking()
        return PlainTextResponse("ok")

    async def traced(request: Request) -> Response:
        token = context.attach(propagate.extract(request.headers))
        try:
            with TRACER.start_as_current_span("GET /traced-mesh"):
                return await serving(zoo.traced_worker.ask)(request)
        finally:
            context.detach(token)

    async def count(_request: Request) -> Response:
        return JSONResponse(counts)

    animals: dict[str, Callable[[], Awaitable[Any]]] = {
        "own": zoo.read, "lazy-task": zoo.worker.ask, "lazy-thread": zoo.thread.ask, "batch": zoo.batcher.ask,
        "pool": zoo.in_pool, "fan-out": zoo.fan_out, "publish": zoo.publish, "consumer": zoo.ask_consumer,
        "puller": zoo.ask_puller, "database": zoo.query, "mesh": zoo.quote, "lazy-mesh": zoo.quote_worker.ask,
    }  # fmt: skip
    routes = [Route(f"/{name}", serving(work)) for name, work in animals.items()]
    routes += [Route("/stream", streamed), Route("/background", with_background), Route("/forget", forgetting)]
    routes += [Route("/blocking", blocking), Route("/traced-mesh", traced), Route("/counts", count)]
    app = Starlette(routes=routes, lifespan=lifespan)
    app.state.zoo = zoo
    return app


def serving(work: Callable[[], Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
    async def serve(_request: Request) -> Response:
        try:
            await work()
        except Exception as problem:  # noqa: BLE001 -- the answer tells
            return PlainTextResponse(repr(problem), 503)
        return PlainTextResponse("ok")

    return serve


@contextmanager
def threaded(zoo: Zoo, port: int) -> Iterator[None]:
    """A server with a thread for each request: `/wsgi-own`, `/wsgi-lazy`, `/wsgi-pool`."""
    worker = LazyThread(zoo.read_blocking)
    animals: dict[str, Callable[[], Any]] = {
        "/wsgi-own": zoo.read_blocking,
        "/wsgi-lazy": lambda: worker.put().result(),
        "/wsgi-pool": lambda: zoo.pool.submit(zoo.read_blocking).result(),
    }

    def serve(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterator[bytes]:
        try:
            animals[environ["PATH_INFO"]]()
        except Exception as problem:  # noqa: BLE001 -- the answer tells
            start_response("503 Service Unavailable", [])
            yield repr(problem).encode()
        else:
            start_response("200 OK", [])
            yield b"ok"

    with make_server("127.0.0.1", port, serve, Threading, Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.1,))
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


class Threading(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 128


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@asynccontextmanager
async def quotes(port: int) -> AsyncIterator[None]:
    """The service behind the mesh; it does not know of the agent's faults, and has an entry of its own."""

    async def get_quote(request: Any, _context: Any) -> Any:
        return StringValue(value=f"{request.value}: 12 EUR")

    server = grpc.aio.server()
    handler = grpc.unary_unary_rpc_method_handler(get_quote, CODECS[1], CODECS[0])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("zoo.Quotes", {"GetQuote": handler}),))
    server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    try:
        yield
    finally:
        await server.stop(None)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    with contextlib.suppress(KeyboardInterrupt):
        # Longer than clients keep connections: who closes an idle one as it is used again would fail that request.
        uvicorn.run(
            application(given), port=int(given["port"]), log_level="warning", access_log=False, timeout_keep_alive=600
        )
