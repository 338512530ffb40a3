import asyncio
from collections.abc import AsyncIterator

import pytest

from cutset.app.api.waiting import collected, waited_for
from cutset.errors import UsageError


async def numbers() -> AsyncIterator[int]:
    for number in range(3):
        await asyncio.sleep(0)
        yield number


async def answer() -> int:
    return 42


def test_all_events_are_told_as_they_happen_and_come_back_together() -> None:
    told: list[int] = []

    assert collected(numbers(), told.append) == told == [0, 1, 2]
    assert collected(numbers()) == [0, 1, 2]


def test_work_is_waited_for() -> None:
    assert waited_for(answer()) == 42


def test_inside_a_running_event_loop_it_says_what_to_use_instead() -> None:
    async def inside() -> None:
        waited_for(answer())

    with pytest.raises(UsageError, match="An event loop is running already"):
        asyncio.run(inside())
