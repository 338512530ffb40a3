import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from cutset.experiment.liveness import Liveness, dead_servers


@dataclass
class Visited:
    """A server that counts its visitors."""

    address: str = ""
    visits: int = 0
    server: asyncio.Server | None = field(default=None, repr=False)

    async def close(self) -> None:
        self.server.close()
        await self.server.wait_closed()


@asynccontextmanager
async def visited(host: str = "127.0.0.1") -> AsyncIterator[Visited]:
    state = Visited()

    def visit(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        state.visits += 1
        writer.close()

    state.server = await asyncio.start_server(visit, host, 0)
    name, port = state.server.sockets[0].getsockname()[:2]
    state.address = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
    try:
        yield state
    finally:
        await state.close()


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize(
    "host", ["127.0.0.1", pytest.param("::1", marks=pytest.mark.skipif(not has_ipv6(), reason="no IPv6 here"))]
)
def test_a_server_that_accepts_is_alive_and_one_that_closed_is_dead(host):
    async def check() -> None:
        async with visited(host) as here, visited(host) as gone:
            assert await dead_servers((here.address, gone.address)) == ()
            await gone.close()
            assert await dead_servers((here.address, gone.address)) == (gone.address,)

    asyncio.run(check())


def test_those_who_ask_at_once_share_one_check():
    async def check() -> int:
        async with visited() as server:
            liveness = Liveness((server.address,))
            assert await asyncio.gather(*(liveness.dead() for _ in range(20))) == [()] * 20
            return server.visits

    assert asyncio.run(check()) == 1


def test_who_asks_while_a_check_is_under_way_gets_one_that_began_later():
    checked, may_answer = asyncio.Event(), asyncio.Event()

    class Slow(Liveness):
        """Knows the answer, but keeps it to itself for as long as we like."""

        async def _check_soon(self) -> tuple[str, ...]:
            dead = await super()._check_soon()
            checked.set()
            await may_answer.wait()
            return dead

    async def ask_twice() -> tuple[bool, bool]:
        async with visited() as server, asyncio.TaskGroup() as group:
            liveness = Slow((server.address,))
            early = group.create_task(liveness.dead())
            await checked.wait()
            await server.close()
            late = group.create_task(liveness.dead())
            may_answer.set()
            return await early == (), await late == (server.address,)

    assert asyncio.run(ask_twice()) == (True, True)


def test_who_stops_waiting_leaves_the_check_to_the_others():
    async def check() -> tuple[str, ...]:
        async with visited() as server:
            liveness = Liveness((server.address,))
            async with asyncio.TaskGroup() as group:
                impatient = group.create_task(liveness.dead())
                patient = group.create_task(liveness.dead())
                await asyncio.sleep(0)
                impatient.cancel()
            return patient.result()

    assert asyncio.run(check()) == ()


def test_without_addresses_nothing_is_checked():
    liveness = Liveness(())

    assert asyncio.run(liveness.dead()) == ()
    assert liveness._next is None
