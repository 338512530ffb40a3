"""Receives exchanges over HTTP and writes them into a recording, masked; an answer of 200 means that they are on disk.

    POST /v1/exchanges      JSON lines as in `exchange_lines`, one exchange a line, plain or with gzip
    200 {"accepted": 3}     all of them are synced to the disk
    400 {"message": …}      malformed, and what is wrong in which line; nothing of the batch was kept
    413, 415                too large; an encoding that is not gzip
    503                     the disk failed: the batch may be sent again
    507                     the recording is full: it takes no more

A batch may be sent twice: who reads the recording sees each id once.
"""

import asyncio
import errno
import socket
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from cutset.errors import HaltedError, InputError, TargetError
from cutset.model.exchange import Exchange
from cutset.workload.recording.exchange_lines import exchange_from_line
from cutset.workload.recording.folder import Recording

PATH = "/v1/exchanges"
MAX_BATCH_BYTES = 64 * 1024 * 1024  # as received and as inflated: 200 exchanges with long bodies and many operations
_STATUSES = {InputError: 400, HaltedError: 507, TargetError: 503}
GRACE_SECONDS = 0.3  # for answers under way when the recorder closes; the rest is cut off, unacknowledged


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
    listener = _listen(host, port)
    config = uvicorn.Config(
        _application(recorder),
        http="h11",  # the parser that always comes with uvicorn
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        log_level="error",
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    # Not `server.serve()`, which takes over the process's signal handlers.
    await server.startup(sockets=[listener])

    def cut_off() -> None:
        for connection in tuple(server.server_state.connections):
            connection.transport.abort()

    bound = listener.getsockname()[1]
    recorder.url = f"http://[{host}]:{bound}" if ":" in host else f"http://{host}:{bound}"
    try:
        yield recorder
    finally:
        cutting_off = asyncio.get_running_loop().call_later(GRACE_SECONDS, cut_off)
        await server.shutdown(sockets=[listener])
        cutting_off.cancel()


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        problem = "the port is in use" if error.errno == errno.EADDRINUSE else error.strerror
        raise TargetError(
            f"Cannot receive exchanges on `{host}:{port}`: {problem}",
            hint="Choose another address with `--listen` (port 0 takes any free one)",
        ) from None


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
    body = await _read(request)
    if request.url.path != PATH or request.method != "POST":
        return 404, {"message": f"Nothing is served at `{request.method} {request.url.path}`: POST to `{PATH}`"}
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding not in {"identity", "gzip"}:
        return 415, {"message": f"Unsupported content encoding `{encoding}`: send plain lines, or gzip"}
    try:
        batch = _inflate(body) if body is not None and encoding == "gzip" else body
        if batch is None:
            return 413, {"message": f"The batch exceeds {MAX_BATCH_BYTES} bytes: send smaller ones"}
        return 200, {"accepted": recorder.receive(batch)}
    except (InputError, HaltedError, TargetError) as error:
        return _STATUSES[type(error)], {"message": error.message}


async def _read(request: Request) -> bytes | None:
    """The body, or None if it is too large. It is read to its end even then: else the sender may miss our answer."""
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= MAX_BATCH_BYTES:
            chunks.append(chunk)
        else:
            chunks.clear()
    return b"".join(chunks) if size <= MAX_BATCH_BYTES else None


def _inflate(body: bytes) -> bytes | None:
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)  # 16: with gzip's header
    try:
        inflated = stream.decompress(body, MAX_BATCH_BYTES + 1)
    except zlib.error as error:
        raise InputError(f"The batch is not gzip, as its content encoding says: {error}") from None
    if len(inflated) > MAX_BATCH_BYTES:
        return None
    if not stream.eof:
        raise InputError(f"The gzip batch of {len(body)} bytes is truncated")
    return inflated
