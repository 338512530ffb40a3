"""Hands spans on as they arrive, to whoever reads them over HTTP: from inside a cluster to where experiments run.

`GET /spans` is a stream of OTLP/JSON, one payload a line, of all that arrives from then on; an empty line now and then
says that it is alive. Lines are numbered, so that a reader whose connection broke goes on where it was, with
`?after=POSITION`; the header `x-cutset-position` says where the stream really begins. `GET /ready` tells the position
of now: who has read up to there has missed nothing.

There is one bounded memory for all readers: who is too slow for it is cut off, and told.
"""

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Send

POSITION = "x-cutset-position"
HEARTBEAT_SECONDS = 1.0
STALL_SECONDS = 30.0  # a reader that takes nothing for so long is gone
MAX_BYTES = 64 * 1024 * 1024  # of lines that readers may still ask for: some minutes of experiments
MAX_READERS = 16
CUT_OFF = json.dumps({"cutset": "cut off: this reader is too slow, so that lines were dropped"}).encode() + b"\n"

_POSITION = re.compile(r"(?P<instance>[0-9a-f]{16})/(?P<number>\d{1,18})")


class Relay:
    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        self.instance = secrets.token_hex(8)  # numbers begin anew with each process
        self.readers = 0
        self._max_bytes = max_bytes
        self._lines: dict[int, bytes] = {}
        self._held = 0  # bytes
        self._end = 0  # the number of the next line
        self._closed = False
        self._arrival = asyncio.Event()

    @property
    def position(self) -> str:
        return f"{self.instance}/{self._end}"

    def publish(self, line: str) -> None:
        """A payload of OTLP/JSON, without plans."""
        content = line.encode(errors="replace") + b"\n"
        self._lines[self._end] = content
        self._end += 1
        self._held += len(content)
        while self._held > self._max_bytes and len(self._lines) > 1:
            self._held -= len(self._lines.pop(self._end - len(self._lines)))
        self._wake()

    def close(self) -> None:
        """Ends all streams."""
        self._closed = True
        self._wake()

    def start(self, after: str) -> int:
        """The number of the line to begin with: the next one, unless all since the reader's position are still here."""
        match = _POSITION.fullmatch(after)
        wanted = int(match["number"]) if match and match["instance"] == self.instance else -1
        return wanted if self._end - len(self._lines) <= wanted <= self._end else self._end

    async def lines(self, number: int) -> AsyncIterator[bytes]:
        """From that line on, with empty ones where nothing arrives."""
        while not self._closed:
            if number < self._end:
                line = self._lines.get(number)
                if line is None:
                    yield CUT_OFF
                    return
                number += 1
                yield line
                continue
            arrival = asyncio.ensure_future(self._arrival.wait())
            await asyncio.wait([arrival], timeout=HEARTBEAT_SECONDS)
            arrival.cancel()
            if number == self._end:
                yield b"\n"

    def _wake(self) -> None:
        self._arrival.set()  # wakes all who wait now …
        self._arrival.clear()  # … and nobody who comes later


def relay_routes(relay: Relay) -> list[Route]:
    async def ready(_: Request) -> Response:
        return JSONResponse({"position": relay.position, "readers": relay.readers})

    async def spans(request: Request) -> Response:
        if relay.readers >= MAX_READERS:
            return JSONResponse({"message": f"There are {MAX_READERS} readers already"}, 503)
        number = relay.start(request.query_params.get("after", ""))
        return _Stream(relay, number)

    return [Route("/ready", ready), Route("/spans", spans)]


class _Stream(StreamingResponse):
    """Ends when its reader takes nothing for long, instead of holding on to what nobody reads."""

    def __init__(self, relay: Relay, number: int) -> None:
        headers = {POSITION: f"{relay.instance}/{number}"}
        super().__init__(relay.lines(number), headers=headers, media_type="application/x-ndjson")
        self._relay = relay

    async def stream_response(self, send: Send) -> None:
        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(STALL_SECONDS):
                await send(message)

        self._relay.readers += 1
        try:
            with suppress(TimeoutError):
                await super().stream_response(send_in_time)
        finally:
            self._relay.readers -= 1
