"""Receives exchanges over HTTP and writes them into a recording, masked; an answer of 200 means that they are on disk.

    POST /v1/exchanges      JSON lines as in `lines`, one exchange a line, plain or with gzip
    200 {"accepted": 3}     all of them are synced to the disk
    400 {"message": …}      malformed, and what is wrong in which line; nothing of the batch was kept
    413, 415                too large; an encoding that is not gzip
    503                     the disk failed: the batch may be sent again
    507                     the recording is full: it takes no more

A batch may be sent twice: who reads the recording sees each id once.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from cutset.errors import HaltedError, InputError, TargetError
from cutset.model.exchange import Exchange
from cutset.receive.body import BodyError, read_body
from cutset.receive.server import listen, serve, url_of
from cutset.workload.recording.folder import Recording
from cutset.workload.recording.lines import exchange_from_line

PATH = "/v1/exchanges"
MAX_BATCH_BYTES = 64 * 1024 * 1024  # as received and as inflated: 200 exchanges with long bodies and many operations
_STATUSES = {InputError: 400, HaltedError: 507, TargetError: 503}


@dataclass(slots=True, eq=False)
class Recorder:
    recording: Recording
    mask: Callable[[Exchange], Exchange]  # before anything is written
    url: str = ""
    refused: int = 0  # batches
    problem: str = ""  # why the last batch was refused

    def receive(self, batch: bytes) -> int:
        exchanges = []
        for number, line in enumerate(batch.splitlines(), start=1):
            if line.strip():
                try:
                    exchanges.append(self.mask(exchange_from_line(line)))
                except InputError as error:
                    raise InputError(f"line {number}: {error.message}") from None
        self.recording.append(exchanges)
        return len(exchanges)


@asynccontextmanager
async def receive_exchanges(
    recording: Recording, mask: Callable[[Exchange], Exchange], *, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[Recorder]:
    """Receives while inside. Port 0 stands for any free one."""
    recorder = Recorder(recording, mask)
    hint = "Choose another address with `--listen` (port 0 takes any free one)"
    listener = listen(host, port, for_what="exchanges", hint=hint)
    recorder.url = url_of(host, listener)
    async with serve(_application(recorder), listener):
        yield recorder


def _application(recorder: Recorder) -> ASGIApp:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            status, answer = await _answer(recorder, Request(scope, receive))
        except ClientDisconnect:
            return
        if status != 200:
            recorder.refused += 1
            recorder.problem = str(answer["message"])
        await JSONResponse(answer, status)(scope, receive, send)

    return application


async def _answer(recorder: Recorder, request: Request) -> tuple[int, dict[str, object]]:
    try:
        batch = await read_body(request, limit=MAX_BATCH_BYTES)
        if request.url.path != PATH or request.method != "POST":
            return 404, {"message": f"Nothing is served at `{request.method} {request.url.path}`: POST to `{PATH}`"}
        return 200, {"accepted": recorder.receive(batch)}
    except BodyError as error:
        return error.status, {"message": error.message}
    except (InputError, HaltedError, TargetError) as error:
        return _STATUSES[type(error)], {"message": error.message}
