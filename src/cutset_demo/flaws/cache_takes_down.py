"""Serves product names from Redis, and from PostgreSQL what Redis does not have.

The bug: when Redis fails, so does the request, although everything is in the database.
"""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cutset_demo.flaws.database import create_tables, execute, open_pool
from cutset_demo.flaws.serving import HEALTH, FlawSettings, unavailable

CACHE_SECONDS = 0.2  # a cache that is slower than the database is of no use
KEPT_SECONDS = 60
SCHEMA = """
    CREATE TABLE IF NOT EXISTS cached_products (sku text PRIMARY KEY, name text NOT NULL);
    INSERT INTO cached_products VALUES ('4711', 'Mug'), ('4712', 'Lamp') ON CONFLICT DO NOTHING;
"""

logger = logging.getLogger(__name__)


def application(settings: FlawSettings) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await create_tables(settings.postgres, SCHEMA)
        async with open_pool(settings.postgres) as app.state.pool, open_cache(settings.redis) as app.state.cache:
            yield

    async def show_product(request: Request) -> JSONResponse:
        sku = request.path_params["sku"]
        kept = await look_up(request.app.state.cache, sku, settings)
        if kept is not None:
            return JSONResponse(kept)
        rows = await execute(request.app.state.pool, "SELECT name FROM cached_products WHERE sku = %s", sku)
        if not rows:
            return JSONResponse({"error": f"no product {sku}"}, 404)
        product = {"sku": sku, "name": rows[0][0]}
        await keep(request.app.state.cache, product, settings)
        return JSONResponse(product)

    return Starlette(
        routes=[HEALTH, Route("/products/{sku}", show_product)],
        lifespan=lifespan,
        exception_handlers={psycopg.Error: unavailable, RedisError: unavailable, TimeoutError: unavailable},
    )


def open_cache(url: str) -> Redis:
    return Redis.from_url(
        url, socket_timeout=CACHE_SECONDS, socket_connect_timeout=CACHE_SECONDS, retry=Retry(NoBackoff(), 0)
    )


async def look_up(cache: Redis, sku: str, settings: FlawSettings) -> dict[str, str] | None:
    try:
        kept = await cache.get(f"flaws:product:{sku}")
        return None if kept is None else json.loads(kept)
    except (RedisError, ValueError) as error:
        if settings.broken:
            raise
        logger.warning("could not read the cache: %r", error)
        return None


async def keep(cache: Redis, product: dict[str, str], settings: FlawSettings) -> None:
    try:
        await cache.set(f"flaws:product:{product['sku']}", json.dumps(product), ex=KEPT_SECONDS)
    except RedisError as error:
        if settings.broken:
            raise
        logger.warning("could not fill the cache: %r", error)
