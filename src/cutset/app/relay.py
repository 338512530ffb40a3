"""What a collector inside a cluster offers beyond receiving: its spans as a stream, and probes from inside the mesh.

All of it is on the pod's loopback, where only a port-forward leads to: whoever may not do that there reaches nothing.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router

from cutset.errors import InputError
from cutset.receive.body import BodyError, read_body
from cutset.receive.server import listen, serve, url_of
from cutset.traces.relaying import Relay, relay_routes
from cutset.workload.probe import probe_of, send_to

LOOPBACK = "127.0.0.1"
MAX_PROBE_BYTES = 64 * 1024
PROBES_AT_ONCE = 16


@asynccontextmanager
async def serve_relay(relay: Relay, port: int, hint: str = "") -> AsyncIterator[str]:
    """Its URL. Port 0 takes any free one."""
    listener = listen(LOOPBACK, port, for_what="readers of spans", hint=hint)
    async with serve(Router([*relay_routes(relay), _probe_route()]), listener):
        try:
            yield url_of(LOOPBACK, listener)
        finally:
            relay.close()


def _probe_route() -> Route:
    permits = asyncio.Semaphore(PROBES_AT_ONCE)

    async def probe(request: Request) -> Response:
        try:
            wanted = probe_of(json.loads(await read_body(request, limit=MAX_PROBE_BYTES)))
        except BodyError as error:
            return JSONResponse({"message": error.message}, error.status)
        except (InputError, ValueError) as error:
            return JSONResponse({"message": str(error)}, 400)
        async with permits:
            return JSONResponse(asdict(await send_to(wanted)))

    return Route("/probe", probe, methods=["POST"])
