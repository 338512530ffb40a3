"""All services of a system in one process, each with a server and a port of its own, HTTP or gRPC.

    python -m benchmarks.impact.servers   with its configuration on stdin, as `cutset_demo.children` has it

They have no SDK: what tracers carry on is handed on as it came, which is all that a mesh needs. `POST /` at `control`
makes weather: a share of requests that fails for nobody's fault, and seconds that everybody is slower by.
"""

import asyncio
import gc
import json
import random
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import aiohttp
import grpc
import uvloop
from aiohttp import web
from benchmarks.impact.habits import WHOLE_PATIENCE_SECONDS, CallFailedError, Services

from cutset_demo.children import read_configuration, report_ready, when_told_to_go

HANDED_ON = ("traceparent", "tracestate", "baggage", "x-user")
CHANNEL_OPTIONS = [("grpc.enable_http_proxy", 0)]
BACKLOG = 2048  # connections waiting to be accepted: on a busy machine the mesh would answer 503 for us else
COLLECT_AFTER_ALLOCATIONS = 50_000  # with Python's 700, every second request would wait for it


@dataclass(slots=True)
class Weather:
    """By service: what happens to requests that nobody injected anything into."""

    failing: float = 0.0  # share of its requests
    unlucky: float = 0.0  # share of users of whose requests half fail
    seconds: float = 0.0  # that it takes longer


@dataclass(slots=True)
class World:
    services: Services
    upstreams: Mapping[str, str]
    session: aiohttp.ClientSession
    channels: Mapping[str, grpc.aio.Channel]
    weather: dict[str, Weather] = field(default_factory=dict)
    chance: random.Random = field(default_factory=random.Random)
    under_way: set[asyncio.Task[None]] = field(default_factory=set)

    async def answer(self, service: str, api: str, headers: Mapping[str, str], query: Mapping[str, str]) -> None:
        handed_on = {name: headers[name] for name in HANDED_ON if name in headers}
        if weather := self.weather.get(service):
            await self._suffer(weather, headers.get("x-user", ""))
        await self.services[service][api](ServedExchange(self, handed_on, query))

    async def _suffer(self, weather: Weather, user: str) -> None:
        if weather.seconds:
            await asyncio.sleep(weather.seconds)
        is_unlucky = zlib.crc32(user.encode()) % 1000 < 1000 * weather.unlucky
        if self.chance.random() < (0.5 if is_unlucky else weather.failing):
            raise CallFailedError("bad weather")


@dataclass(frozen=True, slots=True)
class ServedExchange:
    world: World
    headers: Mapping[str, str]
    query: Mapping[str, str]

    async def call(self, service: str, api: str, *, seconds: float = WHOLE_PATIENCE_SECONDS) -> None:
        try:
            if channel := self.world.channels.get(service):
                invoke = channel.unary_unary(f"/impact.{service}/{api}")
                await invoke(b"", metadata=tuple(self.headers.items()), timeout=seconds)
                return
            url = f"http://{self.world.upstreams[service]}{api}"
            async with asyncio.timeout(seconds), self.world.session.get(url, headers=self.headers) as response:
                await response.read()
        except (aiohttp.ClientError, grpc.aio.AioRpcError, TimeoutError) as error:
            raise CallFailedError(f"{service}: {error}") from error
        if response.status >= 500:
            raise CallFailedError(f"{service} answered {response.status}")

    def begin(self, work: Awaitable[None]) -> None:
        assert isinstance(work, Coroutine)
        task = asyncio.get_running_loop().create_task(work)
        self.world.under_way.add(task)
        task.add_done_callback(self.world.under_way.discard)


async def serve_http(world: World, service: str, address: str, stack: AsyncExitStack) -> None:
    async def handle(request: web.BaseRequest) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        try:
            await world.answer(service, request.path, headers, request.query)
        except CallFailedError as error:
            return web.Response(status=500, text=str(error))
        except KeyError:
            return web.Response(status=404)
        return web.Response(text="{}", content_type="application/json")

    await listen(handle, address, stack)


async def listen(
    handle: Callable[[web.BaseRequest], Awaitable[web.Response]], address: str, stack: AsyncExitStack
) -> None:
    host, port = address.split(":")
    server = await asyncio.get_running_loop().create_server(
        web.Server(handle, access_log=None), host, int(port), backlog=BACKLOG
    )
    stack.callback(server.close)


async def serve_grpc(world: World, service: str, address: str, stack: AsyncExitStack) -> None:
    class Handler(grpc.GenericRpcHandler):
        def service(self, details: Any) -> Any:
            headers = {name: value for name, value in details.invocation_metadata if isinstance(value, str)}
            api = details.method.rpartition("/")[2]

            async def handle(_request: bytes, context: Any) -> bytes:
                try:
                    await world.answer(service, api, headers, {})
                except CallFailedError as error:
                    await context.abort(grpc.StatusCode.INTERNAL, str(error))
                return b""

            return grpc.unary_unary_rpc_method_handler(handle)

    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Handler(),))
    server.add_insecure_port(address)
    await server.start()
    stack.push_async_callback(server.stop, None)


async def serve_control(world: World, address: str, stack: AsyncExitStack) -> None:
    async def handle(request: web.BaseRequest) -> web.Response:
        wanted = json.loads(await request.read())
        world.weather = {service: Weather(**settings) for service, settings in wanted.items()}
        return web.Response()

    await listen(handle, address, stack)


async def serve(configuration: Mapping[str, Any]) -> None:
    """`services`: a function that makes them, as `module:function`; `grpc`: the names of those that speak it."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    when_told_to_go(lambda: loop.call_soon_threadsafe(ended.set))
    module, _, function = configuration["services"].partition(":")
    services: Services = getattr(import_module(module), function)()
    upstreams, grpc_names = configuration["upstreams"], configuration["grpc"]
    async with AsyncExitStack() as stack:
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=600),
            trust_env=False,
            skip_auto_headers=["User-Agent"],
        )
        await stack.enter_async_context(session)
        channels = {
            name: await stack.enter_async_context(grpc.aio.insecure_channel(upstreams[name], CHANNEL_OPTIONS))
            for name in grpc_names
        }
        world = World(services, upstreams, session, channels)
        for name, address in configuration["listen"].items():
            await (serve_grpc if name in grpc_names else serve_http)(world, name, address, stack)
        await serve_control(world, configuration["control"], stack)
        gc.freeze()
        gc.set_threshold(COLLECT_AFTER_ALLOCATIONS)
        report_ready()
        await ended.wait()


if __name__ == "__main__":
    uvloop.run(serve(read_configuration()))
