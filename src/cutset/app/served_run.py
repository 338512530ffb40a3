"""A campaign that runs where nobody looks on, and tells of itself to whoever asks: each event, once it was recorded.

`GET /events?after=N` is a stream of JSON lines from the N-th event on; an empty line now and then says that it lives.
The last line says how it ended. It is there, on the pod's loopback, until somebody has fetched all of it
(`POST /fetched`), or for a day.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, Router

from cutset.app.relay import LOOPBACK
from cutset.errors import CutsetError
from cutset.model.event import CampaignEvent
from cutset.model.run import RunStarted
from cutset.receive.server import listen, serve
from cutset.store.ledger import open_existing_ledger

HEARTBEAT_SECONDS = 1.0
KEPT_SECONDS = 24 * 3600.0


class ServedRun:
    """What was recorded so far, as lines."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.ended = False
        self.fetched = asyncio.Event()
        self._arrival = asyncio.Event()

    def add(self, document: dict[str, object], *, last: bool = False) -> None:
        self.lines.append(json.dumps(document, separators=(",", ":")).encode() + b"\n")
        self.ended = last
        self._arrival.set()  # wakes all who wait now …
        self._arrival.clear()  # … and nobody who comes later

    async def stream(self, number: int) -> AsyncIterator[bytes]:
        while True:
            while number < len(self.lines):
                yield self.lines[number]
                number += 1
            if self.ended:
                return
            arrival = asyncio.ensure_future(self._arrival.wait())
            await asyncio.wait([arrival], timeout=HEARTBEAT_SECONDS)
            arrival.cancel()
            if number == len(self.lines):
                yield b"\n"


async def serve_run(
    events: AsyncGenerator[CampaignEvent, None], store: Path, port: int
) -> AsyncGenerator[CampaignEvent, None]:
    """The events, each as soon as it can be fetched; ends when all were, and raises what they raised."""
    served, run = ServedRun(), ""
    listener = listen(LOOPBACK, port, for_what="whoever fetches results", hint="Choose another with `--serve-port`")
    async with serve(Router(_routes(served)), listener):
        problem: CutsetError | None = None
        try:
            async with aclosing(events) as recorded:
                async for event in recorded:
                    run = event.run if isinstance(event, RunStarted) else run
                    _add_new(served, store, run)
                    yield event
        except CutsetError as error:
            problem = error
        _add_new(served, store, run)
        served.add({"end": True, **_told(problem)}, last=True)
        with suppress(TimeoutError):
            await asyncio.wait_for(served.fetched.wait(), KEPT_SECONDS)
    if problem is not None:
        raise problem


def _add_new(served: ServedRun, store: Path, run: str) -> None:
    if run:
        with open_existing_ledger(store) as ledger:
            for at, kind, fields in ledger.records(run, after=len(served.lines)):
                served.add({"run": run, "at": at, "kind": kind, "fields": fields})


def _told(problem: CutsetError | None) -> dict[str, object]:
    if problem is None:
        return {}
    return {"error": problem.message, "hint": problem.hint, "kind": type(problem).__name__}


def _routes(served: ServedRun) -> list[Route]:
    async def events(request: Request) -> Response:
        after = request.query_params.get("after", "0")
        number = int(after) if after.isascii() and after.isdigit() and len(after) < 10 else 0
        return StreamingResponse(served.stream(number), media_type="application/x-ndjson")

    async def fetched(_: Request) -> Response:
        served.fetched.set()
        return JSONResponse({})

    return [Route("/events", events), Route("/fetched", fetched, methods=["POST"])]
