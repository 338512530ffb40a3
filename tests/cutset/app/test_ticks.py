import asyncio

from cutset.app.ticks import ticks


def test_it_goes_on_until_the_event_is_set() -> None:
    async def scenario() -> int:
        ended, number = asyncio.Event(), 0
        async for _ in ticks(ended):
            number += 1
            if number == 2:
                ended.set()
        return number

    assert asyncio.run(scenario()) == 2


def test_it_ends_when_something_else_is_over() -> None:
    async def scenario() -> int:
        over, number = [False, True], 0
        async for _ in ticks(asyncio.Event(), lambda: over.pop(0)):
            number += 1
        return number

    assert asyncio.run(scenario()) == 1
