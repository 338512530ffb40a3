"""What callers do about a call that fails: one function per habit, from which the systems of these benchmarks are made.

A habit is made once per API and serves all its requests, so that what it keeps (a cache, a circuit) is shared by all.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

WHOLE_PATIENCE_SECONDS = 20.0  # for a caller without a limit of its own: a busy machine is no fault


class CallFailedError(Exception):
    pass


class Exchange(Protocol):
    """A request that a service is about to answer."""

    query: Mapping[str, str]

    async def call(self, service: str, api: str, *, seconds: float = WHOLE_PATIENCE_SECONDS) -> None:
        """Raises CallFailedError; carries on what tracers carry on."""

    def begin(self, work: Awaitable[None]) -> None:
        """Goes on after the answer, and whatever becomes of it, nobody asks."""


Habit = Callable[[Exchange], Awaitable[None]]
Services = Mapping[str, Mapping[str, Habit]]  # service -> API (a path, or a gRPC method) -> what it does


async def at_once(_exchange: Exchange) -> None:
    """Calls nobody."""


def taking(seconds: float) -> Habit:
    async def answer(_exchange: Exchange) -> None:
        await asyncio.sleep(seconds)

    return answer


def needs(*calls: tuple[str, str]) -> Habit:
    """One after the other; any that fails is fatal."""

    async def answer(exchange: Exchange) -> None:
        for service, api in calls:
            await exchange.call(service, api)

    return answer


def tolerates(service: str, api: str) -> Habit:
    """Answers without it, at once."""

    async def answer(exchange: Exchange) -> None:
        try:
            await exchange.call(service, api)
        except CallFailedError:
            return

    return answer


def both(*habits: Habit) -> Habit:
    async def answer(exchange: Exchange) -> None:
        for habit in habits:
            await habit(exchange)

    return answer


def retries(service: str, api: str, *, times: int) -> Habit:
    """At once, and fails if the last attempt does."""

    async def answer(exchange: Exchange) -> None:
        for _ in range(times):
            try:
                return await exchange.call(service, api)
            except CallFailedError:
                continue
        return await exchange.call(service, api)

    return answer


def waits_out(service: str, api: str, *, seconds: float) -> Habit:
    """Hopes until its limit is over that it comes yet, and answers without it then."""

    async def answer(exchange: Exchange) -> None:
        end = time.monotonic() + seconds
        try:
            await exchange.call(service, api, seconds=seconds)
        except CallFailedError:
            await asyncio.sleep(end - time.monotonic())

    return answer


def falls_back(service: str, api: str, *, instead: tuple[str, str]) -> Habit:
    async def answer(exchange: Exchange) -> None:
        try:
            await exchange.call(service, api)
        except CallFailedError:
            await exchange.call(*instead)

    return answer


def only_if(name: str, value: str, habit: Habit) -> Habit:
    """Only requests of one kind go this way."""

    async def answer(exchange: Exchange) -> None:
        if exchange.query.get(name) == value:
            await habit(exchange)

    return answer


def caches(service: str, api: str, *, every: int) -> Habit:
    """Answers from memory; every so many requests it is refreshed, behind the scenes; a failure leaves it as it is."""
    answered = 0

    async def refresh(exchange: Exchange) -> None:
        await tolerates(service, api)(exchange)

    async def answer(exchange: Exchange) -> None:
        nonlocal answered
        answered += 1
        if answered % every == 0:
            exchange.begin(refresh(exchange))

    return answer


def forgets(service: str, api: str) -> Habit:
    """Fires, and does not wait."""

    async def answer(exchange: Exchange) -> None:
        exchange.begin(tolerates(service, api)(exchange))

    return answer


def needs_most(quorum: int, *calls: tuple[str, str]) -> Habit:
    """All at once; answers as soon as so many have, and fails once they cannot any more."""

    async def answer(exchange: Exchange) -> None:
        good = bad = 0
        enough = asyncio.Event()

        async def ask(service: str, api: str) -> None:
            nonlocal good, bad
            try:
                await exchange.call(service, api)
                good += 1
            except CallFailedError:
                bad += 1
            if good >= quorum or bad > len(calls) - quorum:
                enough.set()

        for service, api in calls:
            exchange.begin(ask(service, api))
        await enough.wait()
        if good < quorum:
            raise CallFailedError(f"{bad} of {len(calls)} failed")

    return answer


def breaks_circuit(service: str, api: str, *, share: float, of_last: int, seconds: float) -> Habit:
    """Once so many of the last calls failed, all requests fail for a while, whoever they are of."""
    last: deque[bool] = deque(maxlen=of_last)
    closed_again = 0.0

    async def answer(exchange: Exchange) -> None:
        nonlocal closed_again
        if time.monotonic() < closed_again:
            raise CallFailedError(f"the circuit to {service} is open")
        try:
            await exchange.call(service, api)
            last.append(False)
        except CallFailedError:
            last.append(True)
            if len(last) == of_last and sum(last) >= share * of_last:
                closed_again = time.monotonic() + seconds
                last.clear()
            raise

    return answer
