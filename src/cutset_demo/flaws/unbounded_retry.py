"""Serves stock levels from PostgreSQL, and asks again when the database fails.

The bug: it asks again without end. While the database is in trouble, each request goes on asking, also when its client
has long gone, and all of them together are the next trouble. The correct variant asks three times, with pauses.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from psycopg.rows import TupleRow
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cutset_demo.flaws.database import Pool, create_tables, execute, open_pool
from cutset_demo.flaws.serving import HEALTH, FlawSettings, unavailable

TRIES = 3
BACKOFF_SECONDS = 0.02
SCHEMA = """
    CREATE TABLE IF NOT EXISTS stock_levels (sku text PRIMARY KEY, pieces integer NOT NULL);
    INSERT INTO stock_levels VALUES ('4711', 12), ('4712', 3) ON CONFLICT DO NOTHING;
"""


def application(settings: FlawSettings) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await create_tables(settings.postgres, SCHEMA)
        async with open_pool(settings.postgres) as app.state.pool:
            yield

    async def show_stock(request: Request) -> JSONResponse:
        sku = request.path_params["sku"]
        rows = await find_stock(request.app.state.pool, sku)
        if not rows:
            return JSONResponse({"error": f"no product {sku}"}, 404)
        return JSONResponse({"sku": sku, "pieces": rows[0][0]})

    async def find_stock(pool: Pool, sku: str) -> list[TupleRow]:
        tries = 0
        while True:
            try:
                return await execute(pool, "SELECT pieces FROM stock_levels WHERE sku = %s", sku)
            except psycopg.OperationalError:
                tries += 1
                if tries == TRIES and not settings.broken:
                    raise
                await asyncio.sleep(BACKOFF_SECONDS)

    return Starlette(
        routes=[HEALTH, Route("/stock/{sku}", show_stock)],
        lifespan=lifespan,
        exception_handlers={psycopg.Error: unavailable, TimeoutError: unavailable},
    )
