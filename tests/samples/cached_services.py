"""The services of `cached_shop`. As a program, one of them: `python -m tests.samples.cached_services web PORT`."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress

import httpx
import redis.asyncio
import uvicorn
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


def _web() -> Starlette:
    quick = redis.asyncio.Redis.from_url(
        f"redis://{os.environ['REDIS']}", socket_timeout=0.2, retry=Retry(NoBackoff(), 0), protocol=2
    )
    patient = redis.asyncio.Redis.from_url(f"redis://{os.environ['REDIS']}", retry=Retry(NoBackoff(), 0), protocol=2)
    client = httpx.AsyncClient(timeout=0.5)

    async def products() -> object:
        answer = await client.get(f"{os.environ['CATALOGUE']}/products")
        answer.raise_for_status()
        return answer.json()

    async def tolerant(_request: Request) -> JSONResponse:
        """Works without its cache."""
        with suppress(RedisError):
            await quick.get("greeting")
        return JSONResponse({"products": await products()})

    async def fragile(_request: Request) -> JSONResponse:
        """Does not."""
        await quick.get("greeting")
        return JSONResponse({"products": await products()})

    async def unhurried(_request: Request) -> JSONResponse:
        """Works without its cache, but waits for it as long as that takes."""
        with suppress(RedisError):
            await patient.get("greeting")
        return JSONResponse({"hello": "you"})

    async def fallback(_request: Request) -> JSONResponse:
        """Shows what it has in the cache when there is no catalogue."""
        try:
            return JSONResponse({"products": await products()})
        except httpx.HTTPError:
            kept = await quick.get("products")
            return JSONResponse({"products": kept or ["mug"]})

    async def charge(_request: Request) -> JSONResponse:
        """Asks a third party, once again if that fails."""
        for _ in range(2):
            answer = await client.post(f"{os.environ['THIRD']}/v1/charges")
            if answer.status_code == 200:
                break
        answer.raise_for_status()
        return JSONResponse({"charged": True})

    pages = (tolerant, fragile, unhurried, fallback, charge, *_writing_pages(quick, client))
    return Starlette(routes=[Route(f"/{page.__name__}", page) for page in pages])


def _writing_pages(
    quick: redis.asyncio.Redis, client: httpx.AsyncClient
) -> tuple[Callable[[Request], Awaitable[JSONResponse]], ...]:
    async def forgetful(_request: Request) -> JSONResponse:
        """Confirms orders, whether or not they are in the queue."""
        with suppress(RedisError):
            await quick.rpush("orders", "17")
        return JSONResponse({"ordered": True})

    async def careful(_request: Request) -> JSONResponse:
        """Keeps them elsewhere, if they are not."""
        try:
            await quick.rpush("orders", "17")
        except RedisError:
            await quick.xadd("outbox", {"order": "17"})
        return JSONResponse({"ordered": True})

    async def trusting(_request: Request) -> JSONResponse:
        """Leaves it to another service, and does not ask whether that did it."""
        await client.get(f"{os.environ['CATALOGUE']}/reserve")
        return JSONResponse({"ordered": True})

    return forgetful, careful, trusting


def _catalogue() -> Starlette:
    async def products(_request: Request) -> JSONResponse:
        return JSONResponse(["mug"])

    store = redis.asyncio.Redis.from_url(f"redis://{os.environ['REDIS']}", protocol=2)

    async def reserve(_request: Request) -> JSONResponse:
        await store.hincrby("reserved", "mug")
        return JSONResponse({})

    return Starlette(routes=[Route("/products", products), Route("/reserve", reserve)])


def _third() -> Starlette:
    async def charges(_request: Request) -> JSONResponse:
        return JSONResponse({"id": 1})

    return Starlette(routes=[Route("/v1/charges", charges, methods=["POST"])])


class _Server(uvicorn.Server):
    async def startup(self, sockets: object = None) -> None:
        await super().startup(sockets)  # type: ignore[arg-type]
        sys.stdout.write("ready\n")
        sys.stdout.flush()


def main(name: str, port: str) -> None:
    application = {"web": _web, "catalogue": _catalogue, "third": _third}[name]()
    asyncio.run(_Server(uvicorn.Config(application, port=int(port), log_level="error")).serve())


if __name__ == "__main__":
    main(*sys.argv[1:])
