"""A look at something now and then, until it is over."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

TICK_SECONDS = 0.2  # often enough to see that something arrives


async def ticks(ended: asyncio.Event, is_over: Callable[[], bool] = lambda: False) -> AsyncIterator[None]:
    """Until the event is set, of which it hears at once, or something else is over."""
    while not ended.is_set() and not is_over():
        yield
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), TICK_SECONDS)
