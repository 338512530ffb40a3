import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from cutset.errors import TargetError
from cutset.receive.tunnel import LOOPBACK, hold_tunnel, serve_tunnel

HOLDER = """
import asyncio, sys
from cutset.receive.tunnel import hold_tunnel
async def main():
    async with hold_tunnel(int(sys.argv[1]), int(sys.argv[2])):
        print("held", flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


@asynccontextmanager
async def shouting() -> AsyncIterator[int]:
    """A server that says all it hears in capitals."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while heard := await reader.read(100_000):
            writer.write(heard.upper())
        writer.close()

    async with await asyncio.start_server(answer, LOOPBACK, 0) as server:
        yield server.sockets[0].getsockname()[1]


async def said(port: int, text: bytes) -> bytes:
    """What is answered to it; nothing, if the connection is closed instead."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        writer.write(text)
        return await reader.readexactly(len(text))
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""
    finally:
        writer.close()


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await condition():  # noqa: ASYNC110 -- another process is waited for
            await asyncio.sleep(0.02)


def test_who_connects_inside_is_answered_outside_by_many_connections_at_once() -> None:
    async def run() -> None:
        async with (
            shouting() as target,
            serve_tunnel(0, 0, host=LOOPBACK) as (public, private),
            hold_tunnel(private, target) as end,
        ):
            texts = [bytes([97 + number]) * 50_000 for number in range(20)]
            assert await asyncio.gather(*(said(public, text) for text in texts)) == [text.upper() for text in texts]
            assert end.seconds_away > 0
            assert not end.lost.done()

    asyncio.run(run())


def test_without_a_holder_connections_are_closed_at_once() -> None:
    async def run() -> None:
        async with shouting() as target, serve_tunnel(0, 0, host=LOOPBACK) as (public, private):
            assert await said(public, b"x") == b""
            async with hold_tunnel(private, target):
                assert await said(public, b"x") == b"X"
            await until(lambda: _is(said(public, b"x"), b""))
            async with hold_tunnel(private, target):
                assert await said(public, b"x") == b"X"

    asyncio.run(run())


async def _is(answer: Awaitable[bytes], wanted: bytes) -> bool:
    return await answer == wanted


def test_one_holds_it_at_a_time_and_the_second_is_told() -> None:
    async def run() -> None:
        async with (
            shouting() as target,
            serve_tunnel(0, 0, host=LOOPBACK) as (public, private),
            hold_tunnel(private, target),
        ):
            with pytest.raises(TargetError, match="Somebody else marks requests"):
                async with hold_tunnel(private, target):
                    pass
            assert await said(public, b"x") == b"X"

    asyncio.run(run())


def test_where_no_tunnel_is_that_is_said() -> None:
    async def run() -> None:
        async with shouting() as target, serve_tunnel(0, 0, host=LOOPBACK) as (_, private):
            pass
        with pytest.raises(TargetError, match="does not answer"):
            async with hold_tunnel(private, target):
                pass

    asyncio.run(run())


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGSTOP])
def test_a_holder_that_dies_or_hangs_holds_no_more_and_what_was_open_is_closed(ended_by: signal.Signals) -> None:
    async def run() -> None:
        async with shouting() as target, serve_tunnel(0, 0, host=LOOPBACK) as (public, private):
            command = [sys.executable, "-c", HOLDER, str(private), str(target)]
            holder = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
            try:
                assert holder.stdout is not None
                await holder.stdout.readline()
                reader, writer = await asyncio.open_connection(LOOPBACK, public)
                writer.write(b"x")
                assert await reader.readexactly(1) == b"X"
                os.kill(holder.pid, ended_by)
                async with asyncio.timeout(30):
                    with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                        await reader.readexactly(1)
                assert await said(public, b"x") == b""
                writer.close()
            finally:
                with suppress(ProcessLookupError):
                    holder.kill()
                await holder.wait()

    asyncio.run(run())


def test_the_holder_learns_that_the_tunnel_is_gone() -> None:
    async def run() -> None:
        command = [sys.executable, "-c", TUNNEL]
        tunnel = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
        assert tunnel.stdout is not None
        private = int(await tunnel.stdout.readline())
        async with shouting() as target, hold_tunnel(private, target) as end:
            tunnel.kill()
            await tunnel.wait()
            async with asyncio.timeout(30):
                await end.lost

    asyncio.run(run())


TUNNEL = """
import asyncio
from cutset.receive.tunnel import serve_tunnel
async def main():
    async with serve_tunnel(0, 0, host="127.0.0.1") as (_, private):
        print(private, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""
