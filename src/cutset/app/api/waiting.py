"""Asynchronous work, waited for."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from cutset.errors import UsageError

Result = TypeVar("Result")
Told = TypeVar("Told")


def collected(events: AsyncIterator[Told], on_event: Callable[[Told], None] | None = None) -> list[Told]:
    """All of them, each told when it happens."""

    async def collect() -> list[Told]:
        so_far = []
        async for event in events:
            so_far.append(event)
            if on_event:
                on_event(event)
        return so_far

    return waited_for(collect())


def waited_for(work: Coroutine[Any, Any, Result]) -> Result:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise UsageError(
        "An event loop is running already, and this function needs one of its own",
        hint="Iterate over the generator of `cutset.app` that does the same",
    )
