"""A port in a cluster whose connections are answered outside of it, by whoever holds the other end of the tunnel.

Nothing in a cluster can connect to the machine of a user, but the user can, by a port-forward, to the loopback of a
pod. There one connection *holds* the tunnel and shows a sign of life again and again; others wait until somebody
connects to the public port, and are joined with it. Without a holder, or without its signs of life, all is closed and
stays closed: whoever asks learns at once that nobody answers.
"""

import asyncio
import secrets
import statistics
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from cutset.errors import TargetError

LOOPBACK, ANYWHERE = "127.0.0.1", "0.0.0.0"  # noqa: S104 -- all addresses of the pod
SIGN_SECONDS = 0.4  # between two signs of life
LEASE_SECONDS = 1.5  # without one, the holder counts as gone: also if it only hangs
WAITING = 4  # connections that wait: each thread of the proxy that asks opens one
JOIN_SECONDS = 1.0  # for one that waits to come
TRIES = 5  # signs by which the distance is measured
_CHUNK_BYTES = 64 * 1024
_HOLD, _TAKE, _HELD, _TAKEN, _SIGN = b"hold", b"take", b"held\n", b"taken\n", b"."
_MAX_LINE_BYTES = 128
_BROKEN = (OSError, asyncio.IncompleteReadError, TimeoutError)

_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Tunnel:
    """The inner end: whom it is held by, and what waits or is joined for that one."""

    def __init__(self) -> None:
        self._holder = ""
        self._waiting: asyncio.Queue[_Connection] = asyncio.Queue()
        self._open: set[asyncio.StreamWriter] = set()  # of the holder
        self._serving: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    def served(
        self, answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]
    ) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
        def start(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(answer(reader, writer))
            self._serving[task] = writer
            task.add_done_callback(self._serving.pop)

        return start

    async def close(self) -> None:
        for writer in (*self._open, *self._serving.values()):
            writer.transport.abort()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def public(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Not joined before something is sent: probes of a pod only connect."""
        with suppress(*_BROKEN):
            first = await reader.read(_CHUNK_BYTES) if self._holder else b""
            if first and self._holder:
                inner_reader, inner_writer = await asyncio.wait_for(self._waiting.get(), JOIN_SECONDS)
                self._open |= {writer, inner_writer}
                inner_writer.write(first)
                await _joined((reader, writer), (inner_reader, inner_writer))
                self._open -= {writer, inner_writer}
        writer.transport.abort()

    async def private(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(*_BROKEN):
            line = await asyncio.wait_for(reader.readline(), LEASE_SECONDS)
            word, _, holder = line.strip().partition(b" ")
            if word == _HOLD and holder:
                await self._hold(holder.decode(), reader, writer)
            elif word == _TAKE and self._holder and holder == self._holder.encode():
                self._open.add(writer)
                self._waiting.put_nowait((reader, writer))
                return  # stays open: `public` takes it from here
        writer.transport.abort()

    async def _hold(self, holder: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._holder:
            writer.write(_TAKEN)
            await writer.drain()
            return
        self._holder = holder
        try:
            writer.write(_HELD)
            while await asyncio.wait_for(reader.read(len(_SIGN)), LEASE_SECONDS):
                writer.write(_SIGN)
                await writer.drain()
        finally:
            self._holder, self._waiting = "", asyncio.Queue()
            for each in self._open:
                each.transport.abort()
            self._open.clear()


@asynccontextmanager
async def serve_tunnel(port: int, private_port: int, *, host: str = ANYWHERE) -> AsyncIterator[tuple[int, int]]:
    """The ports; 0 takes any free one."""
    tunnel = _Tunnel()
    outer = await asyncio.start_server(tunnel.served(tunnel.public), host, port)
    inner = await asyncio.start_server(tunnel.served(tunnel.private), LOOPBACK, private_port, limit=_MAX_LINE_BYTES)
    try:
        yield outer.sockets[0].getsockname()[1], inner.sockets[0].getsockname()[1]
    finally:
        outer.close()
        inner.close()
        await tunnel.close()


class TunnelEnd:
    """The outer end, as its holder sees it."""

    def __init__(self, seconds_away: float) -> None:
        self.seconds_away = seconds_away  # for a sign of life to go there and come back, the median of some
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()  # done: nobody is asked any more


@asynccontextmanager
async def hold_tunnel(private_port: int, target_port: int, *, host: str = LOOPBACK) -> AsyncIterator[TunnelEnd]:
    """What comes through the tunnel is led to a port of this machine. Raises TargetError if somebody else holds it."""
    session = secrets.token_hex(8)
    try:
        reader, writer = await asyncio.open_connection(host, private_port)
    except OSError as error:
        raise _unreachable(error) from error
    tasks: list[asyncio.Task[None]] = []
    try:
        end = TunnelEnd(await _distance(reader, writer, session))
        tasks = [
            asyncio.ensure_future(_keep_holding(reader, writer, end)),
            *(asyncio.ensure_future(_keep_waiting(host, private_port, session, target_port)) for _ in range(WAITING)),
        ]
        yield end
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        writer.transport.abort()


async def _distance(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, session: str) -> float:
    """Once it is held."""
    try:
        writer.write(_HOLD + b" " + session.encode() + b"\n")
        said = await asyncio.wait_for(reader.readline(), LEASE_SECONDS * TRIES)
        if said == _HELD:
            return statistics.median([await _sign(reader, writer) for _ in range(TRIES)])
    except _BROKEN as error:
        raise _unreachable(error) from error
    if said == _TAKEN:
        raise TargetError("Somebody else marks requests there at this moment", hint="Wait until that has ended")
    raise _unreachable(said)


def _unreachable(why: object) -> TargetError:
    return TargetError(
        f"The tunnel in the cluster does not answer: {why!r}",
        hint="`cutset install --marking` creates it, and `cutset status` says how it is",
    )


async def _sign(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> float:
    sent = time.perf_counter()
    writer.write(_SIGN)
    await asyncio.wait_for(reader.readexactly(len(_SIGN)), LEASE_SECONDS)
    return time.perf_counter() - sent


async def _keep_holding(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, end: TunnelEnd) -> None:
    try:
        while True:
            await _sign(reader, writer)
            await asyncio.sleep(SIGN_SECONDS)
    except _BROKEN:
        if not end.lost.done():
            end.lost.set_result(None)


async def _keep_waiting(host: str, private_port: int, session: str, target_port: int) -> None:
    """One that waits; when it is taken, the next waits in its place."""
    joined: set[asyncio.Task[None]] = set()
    try:
        while True:
            with suppress(*_BROKEN):
                reader, writer = await asyncio.open_connection(host, private_port)
                try:
                    writer.write(_TAKE + b" " + session.encode() + b"\n")
                    first = await reader.read(_CHUNK_BYTES)
                except BaseException:
                    writer.transport.abort()
                    raise
                if first:
                    _start(joined, _answered((reader, writer), first, target_port))
                    continue
                writer.transport.abort()
            await asyncio.sleep(SIGN_SECONDS)
    finally:
        for task in tuple(joined):
            task.cancel()
        await asyncio.gather(*joined, return_exceptions=True)


def _start(tasks: set[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _answered(asking: _Connection, first: bytes, target_port: int) -> None:
    try:
        with suppress(*_BROKEN):
            answering = await asyncio.open_connection(LOOPBACK, target_port)
            answering[1].write(first)
            await _joined(asking, answering)  # closes both
    finally:
        asking[1].transport.abort()


async def _joined(one: _Connection, other: _Connection) -> None:
    """Until either ends; then both do."""
    ways = [asyncio.ensure_future(_copied(one[0], other[1])), asyncio.ensure_future(_copied(other[0], one[1]))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        for _, writer in (one, other):
            writer.transport.abort()


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(*_BROKEN):
        while data := await reader.read(_CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
