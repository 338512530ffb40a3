"""Shows prices, which another service knows.

The bug: when that service fails, every product has the same made-up price. The correct variant falls back to the price
that this very product had a moment ago, and says that it has none otherwise.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cutset_demo.flaws.serving import HEALTH, FlawSettings, unavailable

QUESTION_SECONDS = 0.5
KEPT_SECONDS = 60.0  # a price that is older may have changed
DEFAULT_CENTS = 999


def application(settings: FlawSettings) -> Starlette:
    known: dict[str, tuple[int, float]] = {}  # by product: cents, and when they were right

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        timeout = aiohttp.ClientTimeout(total=QUESTION_SECONDS)
        async with aiohttp.ClientSession(settings.dependency, timeout=timeout) as app.state.prices:
            yield

    async def show_price(request: Request) -> JSONResponse:
        product = request.path_params["product"]
        try:
            cents = await ask(request.app.state.prices, product)
            known[product] = cents, time.monotonic()
        except (aiohttp.ClientError, TimeoutError, ValueError):
            cents = fall_back(product)
        return JSONResponse({"product": product, "cents": cents, "currency": "EUR"})

    def fall_back(product: str) -> int:
        if settings.broken:
            return DEFAULT_CENTS
        cents, known_at = known.get(product, (0, float("-inf")))
        if time.monotonic() - known_at > KEPT_SECONDS:
            raise LookupError(f"the price of {product} is not known")
        return cents

    return Starlette(
        routes=[HEALTH, Route("/prices/{product}", show_price)],
        lifespan=lifespan,
        exception_handlers={LookupError: unavailable},
    )


async def ask(prices: aiohttp.ClientSession, product: str) -> int:
    async with prices.get(f"/prices/{product}") as answer:
        answer.raise_for_status()
        found = await answer.json()
    match found:
        case {"cents": int(cents)}:
            return cents
        case _:
            raise ValueError(f"no price in the answer for {product}: {found}")
