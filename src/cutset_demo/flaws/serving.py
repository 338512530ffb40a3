"""What the small services have in common: settings, how they are served, how they answer when something failed."""

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

GRACE_SECONDS = 1  # for requests in flight on SIGTERM
WORKERS = 16  # threads of a WSGI service
BACKLOG = 512  # connections waiting for one of them

WsgiApplication = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class FlawSettings:
    broken: bool
    redis: str
    postgres: str
    nats: str
    dependency: str


async def health(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok")


HEALTH = Route("/health", health)


async def unavailable(_request: Request, error: Exception) -> JSONResponse:
    """The handler of errors that the service does not deal with itself: a clean failure."""
    return JSONResponse({"error": f"{type(error).__name__}: {error}"}, 503)


def serve(application: Starlette, port: int) -> None:
    server = _AnnouncingServer(
        uvicorn.Config(
            application,
            host="127.0.0.1",
            port=port,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )
    asyncio.run(server.serve())


class _AnnouncingServer(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            _announce()


def serve_by_workers(application: WsgiApplication, port: int) -> None:
    """A fixed number of threads that take one connection after the other: a pre-threaded WSGI server."""
    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # `sigwait` takes them
    server = _WorkerServer(("127.0.0.1", port), _QuietHandler)
    server.set_app(application)
    for number in range(WORKERS):
        # A daemon: a worker that hangs must not keep the process alive.
        threading.Thread(target=_work, args=(server,), name=f"worker-{number}", daemon=True).start()
    _announce()
    signal.sigwait(ends)


class _WorkerServer(WSGIServer):
    request_queue_size = BACKLOG


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def _work(server: WSGIServer) -> None:
    while True:
        server.handle_request()


def _announce() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
