"""A stand-in speaks the protocol of the API server over real websockets; tests/istio forwards through a real one."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from cutset.kubernetes.port_forward import PROTOCOL, port_forward

OPENED = (b"\x00\x90\x1f", b"\x01\x90\x1f")  # the port of each channel


class Credentials:
    proxy = None
    tls_server_name = None

    def __init__(self, server):
        self.server, self.token = str(server.make_url("")), "old"

    async def ssl_context(self):
        return False

    async def reauthenticate(self):
        self.token = "new"


@asynccontextmanager
async def forwarded(pod):
    """A port that leads to what `pod` does with a websocket, and the requests that came."""
    requests = []

    async def lead(request):
        requests.append(request)
        if request.headers["authorization"] != "Bearer new":
            return web.Response(status=401)
        socket = web.WebSocketResponse(protocols=(PROTOCOL,))
        await socket.prepare(request)
        for message in OPENED:
            await socket.send_bytes(message)
        await pod(socket)
        return socket

    application = web.Application()
    application.router.add_get("/{path:.*}", lead)
    async with TestServer(application) as server:
        api = SimpleNamespace(auth=Credentials(server))
        async with port_forward(api, "shop", "cart-1", 8080) as port:
            yield port, requests


async def echo(socket):
    async for message in socket:
        assert message.data[0] == 0
        await socket.send_bytes(b"\x00" + message.data[1:].upper())


def test_what_is_sent_goes_to_the_pod_and_its_answer_comes_back():
    async def scenario():
        async with forwarded(echo) as (port, requests):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"hello")
            assert await reader.readexactly(5) == b"HELLO"
            writer.write(b"x" * 300_000)
            assert await reader.readexactly(300_000) == b"X" * 300_000
            writer.close()
            assert {str(each.rel_url) for each in requests} == {
                "/api/v1/namespaces/shop/pods/cart-1/portforward?ports=8080"
            }
            # The first one was refused, so that credentials were renewed.
            assert [each.headers["authorization"] for each in requests] == ["Bearer old", *["Bearer new"] * 2]

    asyncio.run(scenario())


def test_hundreds_of_connections_are_open_at_once():
    async def scenario():
        async with forwarded(echo) as (port, _):
            opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(200)]
            for number, (_, writer) in enumerate(opened):
                writer.write(b"%03d" % number)
            answers = [await reader.readexactly(3) for reader, _ in opened]
            assert answers == [b"%03d" % number for number in range(200)]
            for _, writer in opened:
                writer.close()

    asyncio.run(scenario())


def test_what_the_pod_refuses_is_closed_at_once():
    async def refuse(socket):
        await socket.send_bytes(b"\x01connection refused")
        await socket.receive()

    async def scenario():
        async with forwarded(refuse) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert await _rest(reader) == b""
            writer.close()

    asyncio.run(scenario())


def test_when_the_pod_ends_the_connection_does_and_when_the_forward_ends_all_do():
    async def answer_and_leave(socket):
        await socket.send_bytes(b"\x00bye")
        await socket.close()

    async def scenario():
        async with forwarded(answer_and_leave) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert await _rest(reader) in (b"bye", b"")
            writer.close()
        async with forwarded(echo) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"a")
            assert await reader.readexactly(1) == b"A"
        assert await _rest(reader) == b""
        writer.close()

    asyncio.run(scenario())


async def _rest(reader):
    try:
        return await reader.read()
    except ConnectionError:
        return b""


def test_what_the_api_server_refuses_is_told_to_begin_with():
    async def scenario():
        async with TestServer(web.Application()) as server:
            api = SimpleNamespace(auth=Credentials(server))
            with pytest.raises(aiohttp.WSServerHandshakeError):
                async with port_forward(api, "shop", "cart-1", 8080):
                    pass
        with pytest.raises(aiohttp.ClientConnectorError):
            async with port_forward(api, "shop", "cart-1", 8080):
                pass

    asyncio.run(scenario())
