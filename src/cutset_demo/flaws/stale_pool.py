"""Serves product names from PostgreSQL.

The bug: the one connection that was opened at the start is used for good, also after it broke, as it does when the
database restarts. The correct variant has a pool, which replaces broken connections.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import psycopg
from psycopg import AsyncConnection
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cutset_demo.flaws.database import STATEMENT_SECONDS, Connection, create_tables, open_pool
from cutset_demo.flaws.serving import HEALTH, FlawSettings, unavailable

SCHEMA = """
    CREATE TABLE IF NOT EXISTS pooled_products (sku text PRIMARY KEY, name text NOT NULL);
    INSERT INTO pooled_products VALUES ('4711', 'Mug'), ('4712', 'Lamp') ON CONFLICT DO NOTHING;
"""


class KeptConnection:
    """Hands out the same connection to everybody, one after the other; psycopg sees to the order."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        yield self._connection


def application(settings: FlawSettings) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await create_tables(settings.postgres, SCHEMA)
        if settings.broken:
            async with await AsyncConnection.connect(settings.postgres, autocommit=True) as connection:
                app.state.database = KeptConnection(connection)
                yield
        else:
            async with open_pool(settings.postgres) as pool:
                app.state.database = pool
                yield

    async def show_product(request: Request) -> JSONResponse:
        sku = request.path_params["sku"]
        borrowed: AbstractAsyncContextManager[Connection] = request.app.state.database.connection()
        async with asyncio.timeout(STATEMENT_SECONDS), borrowed as connection:
            cursor = await connection.execute("SELECT name FROM pooled_products WHERE sku = %s", [sku])
            row = await cursor.fetchone()
        if row is None:
            return JSONResponse({"error": f"no product {sku}"}, 404)
        return JSONResponse({"sku": sku, "name": row[0]})

    return Starlette(
        routes=[HEALTH, Route("/products/{sku}", show_product)],
        lifespan=lifespan,
        exception_handlers={psycopg.Error: unavailable, TimeoutError: unavailable},
    )
