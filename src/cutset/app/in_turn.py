"""Asynchronous events for callers that are not."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import TypeVar

Told = TypeVar("Told")


def in_turn(events: AsyncGenerator[Told]) -> Iterator[Told]:
    """One after the other; between two of them nothing goes on. Ctrl-C is a cancellation, as with `asyncio.run`."""

    async def following() -> Told:
        return await anext(events)

    with asyncio.Runner() as runner:
        try:
            while True:
                try:
                    event = runner.run(following())
                except StopAsyncIteration:
                    return
                yield event
        finally:
            runner.run(events.aclose())
