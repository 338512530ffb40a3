"""A task keeps orders, and ends at one that cannot be kept: nobody takes those after it."""

import asyncio
import logging
from pathlib import Path

log = logging.getLogger("tasks")


async def consume(queue: asyncio.Queue[int]) -> None:
    while True:
        number = await queue.get()
        try:
            await keep(number)
        except OSError:
            log.exception("cannot keep order %d", number)
            return
        log.info("kept order %d", number)


async def keep(number: int) -> None:
    await asyncio.sleep(0)
    path = Path(f"order-{number}")
    path.write_text("an order")  # noqa: ASYNC240
