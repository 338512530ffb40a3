"""An HTTP server inside the caller's event loop, which leaves the process's signal handlers alone."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp

from cutset.errors import TargetError

GRACE_SECONDS = 0.3  # for answers under way when a server closes; the rest is cut off, unacknowledged


@asynccontextmanager
async def serve(application: ASGIApp, listener: socket.socket) -> AsyncIterator[None]:
    """Serves while inside; the listener is closed then."""
    config = uvicorn.Config(
        application,
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

    try:
        yield
    finally:
        cutting_off = asyncio.get_running_loop().call_later(GRACE_SECONDS, cut_off)
        await server.shutdown(sockets=[listener])
        cutting_off.cancel()


def listen(host: str, port: int, *, for_what: str, hint: str, datagrams: bool = False) -> socket.socket:
    """A socket that listens; port 0 stands for any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return _datagram_socket(host, port, family) if datagrams else socket.create_server((host, port), family=family)
    except OSError as error:
        problem = "the port is in use" if error.errno == errno.EADDRINUSE else error.strerror
        raise TargetError(f"Cannot receive {for_what} on `{address(host, port)}`: {problem}", hint=hint) from None


def _datagram_socket(host: str, port: int, family: socket.AddressFamily) -> socket.socket:
    bound = socket.socket(family, socket.SOCK_DGRAM)
    try:
        bound.bind((host, port))
    except OSError:
        bound.close()
        raise
    bound.setblocking(False)
    return bound


def address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def url_of(host: str, listener: socket.socket) -> str:
    return f"http://{address(host, listener.getsockname()[1])}"
