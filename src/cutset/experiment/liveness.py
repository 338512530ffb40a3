"""Whether the servers are still there, and the same: a fault in one request can kill a process that serves many.

Sock Shop's front-end exits on a 503 from its catalogue; header-scoped injection does not change that.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

GATHER_SECONDS = 0.05  # failures within this time share a check
CONNECT_SECONDS = 2.0  # a server on the same network that takes longer to accept is as good as gone


@dataclass(frozen=True, slots=True)
class Disturbance:
    """What happened to servers while a request was under way."""

    changed: str = ""  # by whose hand ever: what was seen meanwhile proves nothing
    dead: tuple[str, ...] = ()  # those that died, if it was by themselves


UNDISTURBED = Disturbance()


class Servers(Protocol):
    """The servers of the system under test, however one can tell whether they are there."""

    @property
    def problem(self) -> str:
        """Of one that is not there, in words."""
        ...

    @property
    def remedy(self) -> str: ...

    @property
    def required(self) -> bool:
        """Whether nothing can be explored unless all of them are there."""
        ...

    @property
    def patience(self) -> float:
        """Seconds that what is away may take to come back; 0: as long as usual."""
        ...

    async def dead(self) -> tuple[str, ...]:
        """Those that are not there now, by a check that began after this was called."""
        ...

    def mark(self) -> object:
        """How they are now, for `since`."""
        ...

    async def since(self, mark: object) -> Disturbance: ...


class Liveness:
    """Servers that can be connected to.

    Checks them on behalf of all experiments that failed: one round of connections answers for many.
    """

    problem = "does not accept connections"
    remedy = "Start it, or correct `target.health` or the replicas of the mesh"
    required = True
    patience = 0.0

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

    def mark(self) -> object:
        return None

    async def since(self, mark: object) -> Disturbance:  # noqa: ARG002 -- who dies is seen by who asks afterwards
        return UNDISTURBED

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
