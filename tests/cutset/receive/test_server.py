import asyncio
import signal
from contextlib import suppress

import aiohttp
import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from cutset.errors import TargetError
from cutset.receive.server import address, listen, serve, url_of

LOOPBACK = "127.0.0.1"


def test_an_application_is_served_while_inside_and_no_longer() -> None:
    async def scenario() -> None:
        listener = listen(LOOPBACK, 0, for_what="greetings", hint="")
        url = url_of(LOOPBACK, listener)
        async with aiohttp.ClientSession() as client:
            async with serve(PlainTextResponse("hello"), listener), client.get(url) as response:
                assert await response.text() == "hello"
            with pytest.raises(aiohttp.ClientConnectionError):
                await client.get(url)

    asyncio.run(scenario())


def test_signal_handlers_are_left_alone() -> None:
    async def scenario() -> None:
        before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        async with serve(PlainTextResponse(""), listen(LOOPBACK, 0, for_what="", hint="")):
            assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before

    asyncio.run(scenario())


def test_a_request_that_never_ends_does_not_keep_the_server() -> None:
    async def scenario() -> None:
        begun = asyncio.Event()

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            begun.set()
            with suppress(ClientDisconnect):
                await Request(scope, receive).body()

        async with serve(application, listener := listen(LOOPBACK, 0, for_what="", hint="")):
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
            await begun.wait()
        assert await reader.read() == b""
        writer.close()

    asyncio.run(scenario())


def test_a_taken_port_is_named_with_what_it_is_for() -> None:
    with listen(LOOPBACK, 0, for_what="traces", hint="") as listener:
        port = listener.getsockname()[1]
        with pytest.raises(TargetError, match=f"Cannot receive traces on `127.0.0.1:{port}`: the port is in use"):
            listen(LOOPBACK, port, for_what="traces", hint="")


def test_an_address_of_version_six_is_bracketed() -> None:
    assert address("::1", 80) == "[::1]:80"
    assert address("localhost", 80) == "localhost:80"
