"""An inn that knows nothing of Cutset: one page over HTTP, plain gRPC behind it, calls without deadlines.

It hands on the trace context and exports nothing, so that the mesh alone tells what happens.
"""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import yaml
from aiohttp import web
from tests.samples.small_shop import free_port

from cutset.app.mesh import run_mesh_file

KEY = b"a key of thirty-two bytes or more, for tests"
USER_AGENT = "inn/1"
_CONTEXT = ("traceparent", "tracestate", "baggage")
_SERVICES = {"rooms": "GetRoom", "rates": "GetRate", "guests": "CheckGuest"}


@dataclass
class Inn:
    config_file: Path
    mesh_file: Path
    url: str
    picky: str = ""  # the service that answers nobody but the inn itself, by its user agent


@contextmanager
def open_inn(folder: Path, *, key: bytes = KEY, requests: Sequence[object] = ()) -> Iterator[Inn]:
    """Behind its mesh, with requests of its own to explore."""
    with ExitStack() as open_:
        ports = {name: free_port() for name in ("front", "mesh_front", "collector", "http", *_SERVICES)}
        meshed = {name: free_port() for name in _SERVICES}
        mesh_file, config_file = folder / "mesh.yaml", folder / "cutset.yaml"
        inn = Inn(config_file, mesh_file, f"http://127.0.0.1:{ports['mesh_front']}")
        for name in _SERVICES:
            open_.enter_context(_grpc_service(ports[name], name, inn))
        open_.enter_context(_front(ports["front"], meshed))
        services: dict[str, object] = {
            name: {"protocol": "grpc", "port": meshed[name], "replicas": [f"127.0.0.1:{ports[name]}"]}
            for name in _SERVICES
        }
        services["front"] = {
            "protocol": "http",
            "port": ports["mesh_front"],
            "replicas": [f"127.0.0.1:{ports['front']}"],
        }
        mesh = {"entry": "front", "collector": f"127.0.0.1:{ports['collector']}", "services": services}
        config = {
            "target": {"url": inn.url},
            "collector": {"grpc_port": ports["collector"], "http_port": ports["http"], "export_interval": 0.1},
            "requests": list(requests) or [{"path": "/room"}, {"path": "/bill"}],
            "limits": {"max_size": 2},
        }
        mesh_file.write_text(yaml.safe_dump(mesh))
        config_file.write_text(yaml.safe_dump(config))
        open_.enter_context(run_mesh_file(mesh_file, key=key))
        yield inn


class _Method(grpc.GenericRpcHandler):
    def __init__(self, name: str, inn: Inn) -> None:
        self._name, self._api, self._inn = name, _SERVICES[name], inn

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        if not details.method.endswith(f"/{self._api}"):
            return None

        def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
            asking = dict(context.invocation_metadata())
            if self._inn.picky == self._name and not asking["user-agent"].startswith(USER_AGENT):
                context.abort(grpc.StatusCode.PERMISSION_DENIED, "who are you?")
            return self._api.encode() + b" of " + request + b" for " + asking["tenant"].encode()

        return grpc.unary_unary_rpc_method_handler(answer)


@contextmanager
def _grpc_service(port: int, name: str, inn: Inn) -> Iterator[None]:
    server = grpc.server(ThreadPoolExecutor(8), handlers=[_Method(name, inn)])
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    try:
        yield
    finally:
        server.stop(0).wait()


@contextmanager
def _front(port: int, meshed: dict[str, int]) -> Iterator[None]:
    """`/room` needs rooms and rates, `/bill` rates and guests."""
    loop, ready = asyncio.new_event_loop(), threading.Event()

    async def serve() -> web.AppRunner:
        options = [("grpc.primary_user_agent", USER_AGENT)]
        channels = {name: grpc.aio.insecure_channel(f"127.0.0.1:{meshed[name]}", options) for name in meshed}

        async def ask(name: str, request: web.Request) -> str:
            context = [(header, request.headers[header]) for header in _CONTEXT if header in request.headers]
            call = channels[name].unary_unary(f"/inn.{name.title()}/{_SERVICES[name]}")
            return (await call(b"7", metadata=[*context, ("tenant", "ada")], wait_for_ready=True)).decode()

        async def page(request: web.Request) -> web.Response:
            wanted = ("rooms", "rates") if request.path == "/room" else ("rates", "guests")
            try:
                return web.json_response({name: await ask(name, request) for name in wanted})
            except grpc.aio.AioRpcError as error:  # and repeats what it was asked, as servers do when they fail
                asked = f"{request.query_string} {dict(request.headers)} {await request.text()}"
                return web.Response(status=503, text=f"{error.code()} for {asked}")

        app = web.Application()
        app.add_routes([web.route("*", "/room", page), web.route("*", "/bill", page)])
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        ready.set()
        return runner

    def run() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(serve())
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(30)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
