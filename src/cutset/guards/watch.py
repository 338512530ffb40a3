"""Guards look every second, each for itself, and pull the brake. One that cannot look any more pulls it, too."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial

import aiohttp

from cutset.guards.brake import Brake
from cutset.guards.budget import spent_budget
from cutset.guards.error_rate import too_many_errors
from cutset.guards.hours import out_of_hours
from cutset.guards.latency import too_slow
from cutset.guards.prometheus import PrometheusGuard
from cutset.guards.settings import GuardSettings
from cutset.guards.telemetry import blind
from cutset.guards.url import bad_answer
from cutset.guards.vital_signs import VitalSigns

LOOK_SECONDS = 1.0

Look = Callable[[], Awaitable[str]]  # why injection must end; empty if it need not


@asynccontextmanager
async def watched(brake: Brake, settings: GuardSettings, signs: VitalSigns) -> AsyncIterator[None]:
    """Until the block ends. All guards have looked once before it begins; raises HaltedError if that was enough."""
    brake.check()
    async with aiohttp.ClientSession() as client:
        guards = list(_guards(settings, signs, client))
        await asyncio.gather(*(_look(brake, name, look) for name, look in guards))
        brake.check()
        watching = asyncio.ensure_future(_watch_all(brake, guards))
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)


async def watch(brake: Brake, settings: GuardSettings, signs: VitalSigns) -> None:
    """Until it is cancelled, or the brake is pulled."""
    async with aiohttp.ClientSession() as client:
        await _watch_all(brake, list(_guards(settings, signs, client)))


async def _watch_all(brake: Brake, guards: list[tuple[str, Look]]) -> None:
    async with asyncio.TaskGroup() as group:
        for name, look in guards:
            group.create_task(_watch(brake, name, look))


async def _watch(brake: Brake, name: str, look: Look) -> None:
    while brake.pulled is None:
        await _look(brake, name, look)
        await asyncio.sleep(LOOK_SECONDS)


async def _look(brake: Brake, name: str, look: Look) -> None:
    try:
        reason = await look()
    except Exception as error:  # noqa: BLE001 -- whatever keeps it from looking
        reason = f"it cannot look any more: {type(error).__name__}: {error}"
    if reason:
        brake.pull(name, reason)


def _guards(settings: GuardSettings, signs: VitalSigns, client: aiohttp.ClientSession) -> Iterator[tuple[str, Look]]:
    seen: dict[str, Callable[[], str]] = {
        "error-rate": lambda: too_many_errors(signs.lately(), settings),
        "latency": lambda: too_slow(signs.lately(), settings),
        "budget": lambda: spent_budget(signs, settings),
        "hours": lambda: out_of_hours(settings.hours, settings.timezone, datetime.now(UTC)),
        "telemetry": lambda: blind(signs.silence(), settings),
    }
    for name, condition in seen.items():
        yield name, partial(_at_once, condition)
    for query in settings.prometheus:
        yield "prometheus", PrometheusGuard(query, client, settings.patience).look
    for url in settings.urls:
        yield "url", partial(bad_answer, url, client)


async def _at_once(condition: Callable[[], str]) -> str:
    return condition()
