"""Whether the servers are still there: a fault in one request can kill a process that serves many.

Sock Shop's front-end exits on a 503 from its catalogue; header-scoped injection does not change that.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

GATHER_SECONDS = 0.05  # failures within this time share a check
CONNECT_SECONDS = 2.0  # a server on the same network that takes longer to accept is as good as gone


class Liveness:
    """Checks the servers on behalf of all experiments that failed: one round of connections answers for many."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses
        self._next: asyncio.Future[tuple[str, ...]] | None = None

    async def dead(self) -> tuple[str, ...]:
        """The servers that do not answer now, by a check that began after this was called."""
        if not self._addresses:
            return ()
        if self._next is None:
            self._next = asyncio.ensure_future(self._check_soon())
        return await asyncio.shield(self._next)

    async def _check_soon(self) -> tuple[str, ...]:
        await asyncio.sleep(GATHER_SECONDS)
        self._next = None  # who comes from now on needs a check of its own
        return await dead_servers(self._addresses)


async def dead_servers(addresses: Sequence[str]) -> tuple[str, ...]:
    """Those of the `host:port` addresses that do not accept connections."""
    alive = await asyncio.gather(*(_accepts(address) for address in addresses))
    return tuple(address for address, accepted in zip(addresses, alive, strict=True) if not accepted)


async def _accepts(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    except (OSError, TimeoutError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
