"""Who may experiment at the same time: all, but for those that must be alone to know what they see."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Floor:
    """Experiments share the system, but for those that must be alone for a server's death to be put down to them."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._sharing = 0
        self._taken = False

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: not self._taken)
            self._sharing += 1
        try:
            yield
        finally:
            async with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: not self._taken)
            self._taken = True
        try:
            async with self._changed:
                await self._changed.wait_for(lambda: not self._sharing)
            yield
        finally:
            async with self._changed:
                self._taken = False
                self._changed.notify_all()
