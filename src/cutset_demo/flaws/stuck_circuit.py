"""Charges cards at a bank, behind a circuit breaker that spares both sides when the bank fails.

The bug: the circuit that was opened by failures closes on a success, but an open circuit lets nothing through that
could succeed. The correct variant lets one call through from time to time.
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
FAILURES_TO_OPEN = 5
OPEN_SECONDS = 0.2  # before the next call may try


class CircuitOpen(Exception):  # noqa: N818 - a state, not an error
    pass


class Circuit:
    def __init__(self, *, lets_one_try: bool) -> None:
        self._lets_one_try = lets_one_try
        self._failures = 0
        self._next_try = 0.0

    def enter(self) -> None:
        if self._failures < FAILURES_TO_OPEN:
            return
        if not self._lets_one_try or time.monotonic() < self._next_try:
            raise CircuitOpen("the bank failed too often; not asked again yet")
        self._next_try = time.monotonic() + OPEN_SECONDS

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self) -> None:
        self._failures += 1
        self._next_try = time.monotonic() + OPEN_SECONDS


def application(settings: FlawSettings) -> Starlette:
    circuit = Circuit(lets_one_try=not settings.broken)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        timeout = aiohttp.ClientTimeout(total=QUESTION_SECONDS)
        async with aiohttp.ClientSession(settings.dependency, timeout=timeout) as app.state.bank:
            yield

    async def charge(request: Request) -> JSONResponse:
        order = await request.json()
        circuit.enter()
        try:
            approved = await ask(request.app.state.bank, order)
        except (aiohttp.ClientError, TimeoutError, ValueError):
            circuit.failed()
            raise
        circuit.succeeded()
        return JSONResponse({"charge_id": order["charge_id"], "approved": approved}, 201)

    return Starlette(
        routes=[HEALTH, Route("/charges", charge, methods=["POST"])],
        lifespan=lifespan,
        exception_handlers={
            aiohttp.ClientError: unavailable,
            CircuitOpen: unavailable,
            TimeoutError: unavailable,
            ValueError: unavailable,
        },
    )


async def ask(bank: aiohttp.ClientSession, order: dict[str, object]) -> bool:
    async with bank.post("/charges", json={"charge_id": order["charge_id"], "cents": order["cents"]}) as answer:
        answer.raise_for_status()
        found = await answer.json()
    match found:
        case {"approved": bool(approved)}:
            return approved
        case _:
            raise ValueError(f"the bank says neither yes nor no: {found}")
