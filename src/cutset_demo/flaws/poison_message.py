"""Sorts parcels onto belts: the web side asks over NATS, workers of one queue group write down where a parcel goes.

The bug: a worker tries a message until it succeeds. One that never will keeps the worker for good, and a few of them
keep all. The correct variant gives up after some tries, puts the message aside, and goes on with the next.
"""

import asyncio
import itertools
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import nats
import nats.errors
import psycopg
from nats.aio.msg import Msg
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cutset_demo.flaws.database import Pool, create_tables, execute, open_pool
from cutset_demo.flaws.serving import HEALTH, FlawSettings, unavailable

DEAD_LETTERS = "flaws.parcels.dead"
WORKERS = 32
TRIES = 3
TRY_SECONDS = 0.15
BACKOFF_SECONDS = 0.02
REPLY_SECONDS = 1.0
BELTS = 4
SCHEMA = "CREATE TABLE IF NOT EXISTS sorted_parcels (parcel_id text PRIMARY KEY, weight integer, belt integer)"

logger = logging.getLogger(__name__)


def subject(settings: FlawSettings) -> str:
    """One per variant: both may run beside each other, and neither is to get the other's messages."""
    return f"flaws.parcels.{'broken' if settings.broken else 'correct'}"


def application(settings: FlawSettings) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await create_tables(settings.postgres, SCHEMA)
        async with open_pool(settings.postgres) as pool:
            app.state.messages = messages = await nats.connect(
                settings.nats, max_reconnect_attempts=-1, reconnect_time_wait=0.1, error_cb=_log
            )

            async def work(message: Msg) -> None:
                if not await handle(message, pool, None if settings.broken else TRIES):
                    await messages.publish(DEAD_LETTERS, message.data)
                    await reply(message, {"error": "the parcel could not be sorted"})

            for _ in range(WORKERS):
                await messages.subscribe(subject(settings), queue="sorters", cb=work)
            await messages.flush()  # the server knows of the workers before the first request
            yield
            await messages.close()

    async def take_parcel(request: Request) -> JSONResponse:
        parcel = await request.json()
        body = json.dumps({"parcel_id": parcel["parcel_id"], "weight": int(parcel["weight"])})
        async with asyncio.timeout(REPLY_SECONDS):
            answer = await request.app.state.messages.request(subject(settings), body.encode(), timeout=REPLY_SECONDS)
        found = json.loads(answer.data)
        if "belt" not in found:
            return JSONResponse(found, 503)
        return JSONResponse({"parcel_id": parcel["parcel_id"], "belt": found["belt"]}, 201)

    return Starlette(
        routes=[HEALTH, Route("/parcels", take_parcel, methods=["POST"])],
        lifespan=lifespan,
        exception_handlers={nats.errors.Error: unavailable, OSError: unavailable},
    )


async def handle(message: Msg, pool: Pool, tries: int | None) -> bool:
    """Whether the parcel was sorted, after so many tries at the most."""
    for number in itertools.count(1):
        try:
            belt = await sort(message.data, pool)
        except (psycopg.Error, TimeoutError, ValueError, KeyError) as error:
            logger.warning("try %d to sort a parcel failed: %r", number, error)
            if number == tries:
                break
            await asyncio.sleep(BACKOFF_SECONDS)
        else:
            await reply(message, {"belt": belt})
            return True
    return False


async def reply(message: Msg, answer: dict[str, object]) -> None:
    if message.reply:  # not everybody who sends a parcel wants to know its belt
        await message.respond(json.dumps(answer).encode())


async def sort(data: bytes, pool: Pool) -> int:
    parcel = json.loads(data)
    belt = int(parcel["weight"]) % BELTS
    async with asyncio.timeout(TRY_SECONDS):
        await execute(
            pool,
            "INSERT INTO sorted_parcels (parcel_id, weight, belt) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            parcel["parcel_id"],
            parcel["weight"],
            belt,
        )
    return belt


async def _log(error: Exception) -> None:
    logger.warning("NATS: %r", error)
