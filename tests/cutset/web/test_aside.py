import asyncio
import threading

import pytest

from cutset.errors import UsageError
from cutset.web.aside import MOST_KEPT, Aside


def test_what_takes_long_holds_nobody_up_and_is_computed_once_for_all_who_wait() -> None:
    computed: list[int] = []
    gate = threading.Event()

    def compute() -> str:
        gate.wait(30)
        computed.append(threading.get_ident())
        return "done"

    async def two_wait() -> list[str]:
        aside = Aside()
        async with asyncio.TaskGroup() as group:
            waiting = [group.create_task(aside.computed("x", 1, compute)) for _ in range(3)]
            await asyncio.sleep(0)  # others run meanwhile
            waiting[0].cancel()  # who goes away does not end it for others
            gate.set()
        return [each.result() for each in waiting[1:]]

    assert asyncio.run(two_wait()) == ["done", "done"]
    assert len(computed) == 1
    assert computed != [threading.get_ident()]


def test_it_is_computed_again_when_what_it_is_of_has_changed() -> None:
    async def three() -> list[int]:
        aside = Aside()
        return [await aside.computed("x", mark, lambda value=value: value) for mark, value in ((1, 1), (1, 2), (2, 3))]

    assert asyncio.run(three()) == [1, 1, 3]


def test_an_error_is_told_to_who_waits_and_the_next_one_tries_again() -> None:
    def fail() -> int:
        raise UsageError("There is none")

    async def twice() -> int:
        aside = Aside()
        with pytest.raises(UsageError, match="There is none"):
            await aside.computed("x", 1, fail)
        return await aside.computed("x", 1, lambda: 5)

    assert asyncio.run(twice()) == 5


def test_few_results_are_kept() -> None:
    async def many() -> int:
        aside, times = Aside(), 0

        def compute() -> None:
            nonlocal times
            times += 1

        for what in [*range(MOST_KEPT + 1), 0]:
            await aside.computed(what, 1, compute)
        return times

    assert asyncio.run(many()) == MOST_KEPT + 2
