import asyncio
import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web
from aiohttp.test_utils import TestServer

from cutset.inject.local.mesh import run_mesh
from cutset.inject.plan import plan_headers
from cutset.model.fault import BASELINE
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.request import Request, Response, WorkloadStep
from cutset.workload.send import open_client, send
from cutset.workload.sockets import SocketRequest, run_socket

KEY = b"a key for tests that nobody guesses"
PLAN = {"tracestate": "the plan"}


async def serve(request: web.Request) -> web.StreamResponse:
    """Repeats what it gets, after what it was opened with; some paths are not served well."""
    if request.path == "/closed":
        return web.Response(status=403)
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    if request.path == "/silent":
        await socket.close(code=1011)
        return socket
    await socket.send_str(
        json.dumps({"plan": request.headers.get("tracestate"), "user": request.headers.get("x-user")})
    )
    async for message in socket:
        if message.type is WSMsgType.TEXT:
            await socket.send_bytes(f"got {message.data}".encode())
    return socket


def answer(request: SocketRequest, *, url: str = "", address: Callable[[str], str] = str, plan: Any = None) -> Response:
    async def run() -> Response:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", serve)
        async with TestServer(application) as server, open_client(1) as client:
            step = WorkloadStep("live", partial(run_socket, request))
            return await send(
                client,
                Request("live", step),
                base_url=url or address(f"http://127.0.0.1:{server.port}"),
                plan=lambda: plan or PLAN,
                setup_headers=dict,
                timeout=20.0,
                session="s1",
            )

    return asyncio.run(run())


def test_the_upgrade_carries_the_plan_and_the_first_message_is_the_answer():
    response = answer(SocketRequest("/live", {"x-user": "{session}"}))
    assert (response.status, response.content_type, response.exchanges) == (101, "application/json", 1)
    assert json.loads(response.body) == {"plan": "the plan", "user": "s1"}


def test_messages_are_sent_and_as_many_answers_read_as_are_wanted():
    response = answer(SocketRequest("/live", message=["hello {session}", {"a": 1}], answers=3))
    assert json.loads(response.body)[1:] == ["got hello s1", 'got {"a": 1}']


def test_an_upgrade_that_is_refused_is_an_answer_and_a_socket_that_closes_is_none():
    refused, closed = (answer(SocketRequest(path)) for path in ("/closed", "/silent"))
    assert (refused.status, refused.body) == (403, b"the upgrade to WebSocket was answered 403")
    assert (closed.status, closed.error) == (0, "the WebSocket was closed with 1011 before it answered")


def test_nobody_there_is_no_experiment():
    response = answer(SocketRequest("/"), url="http://127.0.0.1:1")
    assert (response.sent, response.status) == (False, 0)
    assert response.error.startswith("could not connect")


def test_a_mesh_lets_sockets_pass_with_their_plan(tmp_path: Path):
    plan = plan_headers(
        BASELINE, trace_id="0" * 16 + "1" * 16, span_id="2" * 16, key=KEY, environment="local", expires=time.time() + 60
    )
    with ExitStack() as stack:

        def behind_mesh(url: str) -> str:
            spec = MeshSpec((MeshService("live", "http", (url.removeprefix("http://"),)),), entry="live")
            return stack.enter_context(run_mesh(spec, key=KEY, work_dir=tmp_path)).entry_url

        response = answer(SocketRequest("/live"), address=behind_mesh, plan=plan)
    assert response.status == 101
    assert "cutset" in json.loads(response.body)["plan"]
