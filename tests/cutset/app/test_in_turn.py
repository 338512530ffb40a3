import asyncio
from collections.abc import AsyncGenerator

import pytest

from cutset.app.in_turn import in_turn


async def numbers(closed: list[bool], last: int = 3) -> AsyncGenerator[int]:
    try:
        for number in range(last):
            await asyncio.sleep(0)
            yield number
    finally:
        await asyncio.sleep(0)
        closed.append(True)


def test_events_come_in_order_to_who_does_not_wait() -> None:
    closed: list[bool] = []
    assert list(in_turn(numbers(closed))) == [0, 1, 2]
    assert closed == [True]


def test_who_has_enough_ends_it() -> None:
    closed: list[bool] = []
    events = in_turn(numbers(closed))
    assert next(events) == 0
    events.close()
    assert closed == [True]


def test_an_error_comes_out_as_it_is() -> None:
    async def failing() -> AsyncGenerator[int]:
        yield 1
        raise ValueError("no more")

    events = in_turn(failing())
    assert next(events) == 1
    with pytest.raises(ValueError, match="no more"):
        next(events)
