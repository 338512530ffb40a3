"""Moves money between accounts, each transfer in a transaction, over a few connections of its own.

The bug: when a statement fails, the connection goes back with its transaction still open, and whoever gets it next
cannot begin one. The correct variant rolls back first.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from psycopg import AsyncConnection, IsolationLevel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cutset_demo.flaws.database import POOL_SECONDS, STATEMENT_SECONDS, Connection, create_tables
from cutset_demo.flaws.serving import HEALTH, FlawSettings, unavailable

CONNECTIONS = 4
SCHEMA = """
    CREATE TABLE IF NOT EXISTS money_moves (
        id bigserial PRIMARY KEY, transfer_id text NOT NULL, account text NOT NULL, cents integer NOT NULL,
        CHECK (cents <> 0), UNIQUE (transfer_id, account)
    )
"""
INSERT = "INSERT INTO money_moves (transfer_id, account, cents) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"


def application(settings: FlawSettings) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await create_tables(settings.postgres, SCHEMA)
        app.state.free = free = asyncio.Queue[Connection]()
        for _ in range(CONNECTIONS):
            free.put_nowait(await AsyncConnection.connect(settings.postgres))
        yield
        while not free.empty():
            await free.get_nowait().close()

    @asynccontextmanager
    async def transaction(free: asyncio.Queue[Connection]) -> AsyncIterator[Connection]:
        connection = await asyncio.wait_for(free.get(), POOL_SECONDS)
        try:
            if connection.closed:
                connection = await AsyncConnection.connect(settings.postgres)
            # Later statements of a transfer do not see what others commit meanwhile.
            await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)
            yield connection
            await connection.commit()
        except BaseException:
            if not settings.broken and not connection.closed:
                await connection.rollback()
            raise
        finally:
            free.put_nowait(connection)

    async def transfer(request: Request) -> JSONResponse:
        order = await request.json()
        async with asyncio.timeout(STATEMENT_SECONDS), transaction(request.app.state.free) as connection:
            await connection.execute(INSERT, [order["transfer_id"], order["from"], -order["cents"]])
            await connection.execute(INSERT, [order["transfer_id"], order["to"], order["cents"]])
        return JSONResponse({"transfer_id": order["transfer_id"], "status": "done"}, 201)

    async def refuse(_request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": f"the transfer was refused: {error}"}, 422)

    return Starlette(
        routes=[HEALTH, Route("/transfers", transfer, methods=["POST"])],
        lifespan=lifespan,
        exception_handlers={
            psycopg.IntegrityError: refuse,
            psycopg.Error: unavailable,
            TimeoutError: unavailable,
        },
    )
