"""Takes orders and announces each on NATS, for those who pack and ship it (CAST §4.4, case 2).

The bug: when the announcement fails, the error is logged, the customer is told that all is well, and nobody packs.
The correct variant leaves the announcement in an outbox, which a relay empties as soon as NATS is back.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import nats
import nats.errors
import psycopg
from nats.aio.client import Client as NatsClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cutset_demo.flaws.database import Pool, create_tables, execute, open_pool
from cutset_demo.flaws.serving import HEALTH, FlawSettings, unavailable

SUBJECT = "flaws.orders.placed"
PUBLISH_SECONDS = 0.5
RELAY_SECONDS = 0.3
SCHEMA = """
    CREATE TABLE IF NOT EXISTS placed_orders (order_id text PRIMARY KEY, item text NOT NULL);
    CREATE TABLE IF NOT EXISTS order_outbox (id bigserial PRIMARY KEY, body text NOT NULL);
"""

logger = logging.getLogger(__name__)


def application(settings: FlawSettings) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await create_tables(settings.postgres, SCHEMA)
        async with open_pool(settings.postgres) as pool, asyncio.TaskGroup() as tasks:
            # Nothing is buffered while NATS is away: an order is announced, or it is known that it was not.
            events = await nats.connect(
                settings.nats, pending_size=0, max_reconnect_attempts=-1, reconnect_time_wait=0.1, error_cb=_log
            )
            app.state.pool, app.state.events = pool, events
            closing = asyncio.Event()
            relay = tasks.create_task(empty_outbox(pool, events, closing))
            yield
            closing.set()
            await relay
            await events.close()

    async def place_order(request: Request) -> JSONResponse:
        order = await request.json()
        pool, events = request.app.state.pool, request.app.state.events
        await execute(
            pool,
            "INSERT INTO placed_orders (order_id, item) VALUES (%s, %s) ON CONFLICT (order_id) DO NOTHING",
            order["order_id"],
            order["item"],
        )
        body = json.dumps({"order_id": order["order_id"], "item": order["item"]})
        try:
            await announce(events, body)
        except (nats.errors.Error, TimeoutError, OSError) as error:
            logger.warning("order %s was not announced: %r", order["order_id"], error)
            if not settings.broken:
                await execute(pool, "INSERT INTO order_outbox (body) VALUES (%s)", body)
        return JSONResponse({"order_id": order["order_id"], "status": "placed"}, 201)

    return Starlette(
        routes=[HEALTH, Route("/orders", place_order, methods=["POST"])],
        lifespan=lifespan,
        exception_handlers={psycopg.Error: unavailable, TimeoutError: unavailable},
    )


async def announce(events: NatsClient, body: str) -> None:
    async with asyncio.timeout(PUBLISH_SECONDS):
        await events.publish(SUBJECT, body.encode())
        await events.flush()  # now the server has it


async def empty_outbox(pool: Pool, events: NatsClient, closing: asyncio.Event) -> None:
    while not closing.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(closing.wait(), RELAY_SECONDS)
        try:
            for number, body in await execute(pool, "SELECT id, body FROM order_outbox ORDER BY id"):
                await announce(events, body)
                await execute(pool, "DELETE FROM order_outbox WHERE id = %s", number)
        except (nats.errors.Error, psycopg.Error, TimeoutError, OSError) as error:
            logger.warning("the outbox has to wait: %r", error)


async def _log(error: Exception) -> None:
    logger.warning("NATS: %r", error)
