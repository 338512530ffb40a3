"""Reads spans from a collector inside a cluster, as if they had been sent here.

Connections break: then reading goes on where it was, and nothing is missing. Where that cannot be (another collector
took over, or it was too long), the collector counts a loss, and what was under way meanwhile proves nothing. Silence
counts only when all that the other side had received by then has been read.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import aiohttp

from cutset.errors import CutsetError, TargetError
from cutset.traces.collector import MAX_SPANS, Collector
from cutset.traces.encodings import JSON
from cutset.traces.relaying import HEARTBEAT_SECONDS, POSITION

CONNECT_SECONDS = 10.0
QUIET_SECONDS = 5 * HEARTBEAT_SECONDS  # without as much as a sign of life: the connection is dead
AGAIN_SECONDS = 0.5  # between two tries to connect
PATIENCE_SECONDS = 30.0  # for a collector that is away
GATHER_SECONDS = 0.05  # who asks within this time shares an answer
MAX_LINE_BYTES = 256 * 1024 * 1024  # what the other side takes at once is smaller

Connect = Callable[[], AbstractAsyncContextManager[str]]  # gives the URL of a relay, for as long as it leads there


@asynccontextmanager
async def relayed(connect: Connect, *, max_spans: int = MAX_SPANS) -> AsyncIterator[Collector]:
    """A collector that gets what another one receives. Raises TargetError if that is not there to begin with."""
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=QUIET_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout, read_bufsize=2**20) as session:
        reader = _Reader(connect, session, Collector(max_spans=max_spans))
        following = asyncio.ensure_future(reader.follow())
        try:
            await reader.first(following)
            reader.collector.up_to_date = reader.up_to_date
            yield reader.collector
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following


class _Reader:
    def __init__(self, connect: Connect, session: aiohttp.ClientSession, collector: Collector) -> None:
        self.collector = collector
        self._connect = connect
        self._session = session
        self._url = ""  # empty: not connected
        self._instance = ""  # of the relay; empty: never connected
        self._number = 0  # of the next line
        self._connected = asyncio.Event()  # once
        self._progress = asyncio.Event()
        self._check: asyncio.Future[None] | None = None

    async def first(self, following: asyncio.Future[None]) -> None:
        """Until it is connected."""
        connected = asyncio.ensure_future(self._connected.wait())
        either: list[asyncio.Future[Any]] = [connected, following]
        done, _ = await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        connected.cancel()
        if following in done:
            await following  # raises

    async def follow(self) -> None:
        while True:
            try:
                async with self._connect() as url:
                    await self._read(url)
            except (aiohttp.ClientError, TimeoutError, OSError, CutsetError) as error:
                if not self._instance:
                    raise _not_there(error) from error
            finally:
                self._url = ""
            await asyncio.sleep(AGAIN_SECONDS)

    async def up_to_date(self) -> None:
        """Until all is read that has arrived over there by now; a loss if that takes too long."""
        if self._check is None:
            self._check = asyncio.ensure_future(self._catch_up())
        await asyncio.shield(self._check)

    async def _catch_up(self) -> None:
        await asyncio.sleep(GATHER_SECONDS)
        self._check = None  # who comes from now on needs an answer of its own
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not await self._has_read_all():  # noqa: ASYNC110 -- asks somebody else
                    await asyncio.sleep(AGAIN_SECONDS)
        except TimeoutError:
            self.collector.losses += 1

    async def _has_read_all(self) -> bool:
        """Waits for what is under way. False if it cannot tell now."""
        if not self._url:
            return False
        try:
            async with self._session.get(f"{self._url}/ready") as response:
                instance, _, number = str((await response.json())["position"]).partition("/")
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError, KeyError):
            return False
        while self._url and instance == self._instance and self._number < int(number):
            await self._progress.wait()
        return bool(self._url) and instance == self._instance

    async def _read(self, url: str) -> None:
        after = f"{self._instance}/{self._number}" if self._instance else ""
        async with self._session.get(f"{url}/spans", params={"after": after}) as response:
            response.raise_for_status()
            position = response.headers.get(POSITION, "")
            if after and position != after:
                self.collector.losses += 1
            self._instance, _, number = position.partition("/")
            self._number, self._url = int(number), url
            self._connected.set()
            self._wake()
            async for line in _lines(response.content):
                if line.startswith(b'{"cutset"'):
                    return  # cut off; where we begin again will tell what we missed
                if line:
                    self._receive(line)
                self._wake()

    def _receive(self, line: bytes) -> None:
        self._number += 1
        try:
            self.collector.receive(line, JSON)
        except CutsetError:
            self.collector.stats.refused += 1
            self.collector.losses += 1

    def _wake(self) -> None:
        self._progress.set()
        self._progress.clear()


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """However long they are."""
    pieces: list[bytes] = []
    async for chunk in content.iter_any():
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            yield b"".join([*pieces, part])
            pieces.clear()
        if rest:
            pieces.append(rest)
        if sum(map(len, pieces)) > MAX_LINE_BYTES:
            raise TargetError(f"The relay sends a line of more than {MAX_LINE_BYTES} bytes")


def _not_there(error: Exception) -> TargetError:
    if isinstance(error, TargetError):
        return error
    return TargetError(
        f"The collector in the cluster does not answer: {str(error) or type(error).__name__}",
        hint="See whether its pod is ready, with `cutset status`; `cutset install` creates it",
    )
