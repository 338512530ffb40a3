"""Whether the servers are still there: a fault in one request can kill a process that serves many.

Sock Shop's front-end exits on a 503 from its catalogue; header-scoped injection does not change that.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

CONNECT_SECONDS = 2.0  # a server on the same network that takes longer to accept is as good as gone


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
