"""Books payments, and books again when the database did not answer.

The bug: an answer may be lost after the row was written, and then the second try writes it a second time. The correct
variant gives the row a key by which the database knows that it has it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import LiteralString

import psycopg
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cutset_demo.flaws.database import Pool, create_tables, execute, open_pool
from cutset_demo.flaws.serving import HEALTH, FlawSettings, unavailable

TRIES = 3
BACKOFF_SECONDS = 0.05
SCHEMA = """
    CREATE TABLE IF NOT EXISTS booked_payments (
        id bigserial PRIMARY KEY, payment_id text NOT NULL, account text NOT NULL, cents integer NOT NULL,
        idempotency_key text UNIQUE
    )
"""
INSERT: LiteralString = "INSERT INTO booked_payments (payment_id, account, cents) VALUES (%s, %s, %s)"
INSERT_ONCE: LiteralString = """
    INSERT INTO booked_payments (payment_id, account, cents, idempotency_key) VALUES (%s, %s, %s, %s)
    ON CONFLICT (idempotency_key) DO NOTHING
"""


def application(settings: FlawSettings) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await create_tables(settings.postgres, SCHEMA)
        async with open_pool(settings.postgres) as app.state.pool:
            yield

    async def book(request: Request) -> JSONResponse:
        payment = await request.json()
        values = (payment["payment_id"], payment["account"], payment["cents"])
        if settings.broken:
            await insert(request.app.state.pool, INSERT, *values)
        else:
            await insert(request.app.state.pool, INSERT_ONCE, *values, payment["payment_id"])
        return JSONResponse({"payment_id": payment["payment_id"], "status": "booked"}, 201)

    async def show_account(request: Request) -> JSONResponse:
        account = request.path_params["account"]
        [(cents,)] = await execute(
            request.app.state.pool,
            "SELECT coalesce(sum(cents), 0)::bigint FROM booked_payments WHERE account = %s",
            account,
        )
        return JSONResponse({"account": account, "cents": cents})

    return Starlette(
        routes=[HEALTH, Route("/payments", book, methods=["POST"]), Route("/accounts/{account}", show_account)],
        lifespan=lifespan,
        exception_handlers={psycopg.Error: unavailable, TimeoutError: unavailable},
    )


async def insert(pool: Pool, statement: LiteralString, *values: object) -> None:
    for number in range(1, TRIES + 1):
        try:
            await execute(pool, statement, *values)
        except psycopg.OperationalError:
            if number == TRIES:
                raise
            await asyncio.sleep(BACKOFF_SECONDS * number)
        else:
            return
