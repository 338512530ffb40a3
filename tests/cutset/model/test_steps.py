from collections.abc import Generator

import pytest

from cutset.model.steps import finished


def counted(closed: list[bool]) -> Generator[int, None, str]:
    try:
        yield 1
        yield 2
    finally:
        closed.append(True)
    return "done"


def test_the_result_comes_after_all_events_were_told() -> None:
    told: list[int] = []
    assert finished(counted([]), told.append) == "done"
    assert told == [1, 2]
    assert finished(counted([])) == "done"


def test_who_cannot_be_told_ends_the_work() -> None:
    def refuse(_: int) -> None:
        raise KeyboardInterrupt

    closed: list[bool] = []
    with pytest.raises(KeyboardInterrupt):
        finished(counted(closed), refuse)
    assert closed == [True]
