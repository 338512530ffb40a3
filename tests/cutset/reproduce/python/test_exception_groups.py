import asyncio
import traceback

from hypothesis import given
from hypothesis import strategies as st
from tests.samples.small_programs import read_python_log

from cutset.reproduce.python.exception_groups import PART, without_trees
from cutset.reproduce.python.logged_exceptions import exceptions_in


def printed_group() -> list[str]:
    """As Python prints it: a group within a group."""

    async def fail(number: int) -> None:
        raise OSError(f"disk {number} is full")

    async def inner() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail(2))

    async def outer() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail(1))
            group.create_task(inner())

    try:
        asyncio.run(outer())
    except ExceptionGroup as error:
        return "".join(traceback.format_exception(error)).splitlines()
    raise AssertionError


def test_a_group_is_read_as_it_and_then_each_of_its_parts():
    lines = [line for _, line in without_trees(enumerate(printed_group(), 1))]
    assert lines.count("Traceback (most recent call last):") == 4
    assert lines.count(PART) == 3
    assert [line for line in lines if line.startswith("OSError")] == [
        "OSError: disk 1 is full",
        "OSError: disk 2 is full",
    ]
    assert not any("|" in line for line in lines)


def test_a_part_of_a_group_is_what_was_raised():
    line = "2026-11-16 03:00:00,001 ERROR [MainThread] shop: cannot save"
    (record,) = read_python_log([line, *printed_group()])
    assert (record.raised, record.reason) == ("OSError raised in fail", "disk 2 is full")
    assert exceptions_in([record]) == [("builtins.OSError", "disk 1 is full"), ("builtins.OSError", "disk 2 is full")]


def test_what_follows_a_group_is_a_record_of_its_own():
    after = "2026-11-16 03:00:00,001 INFO [MainThread] shop: down"
    before = after.replace("INFO", "ERROR").replace("down", "lost")
    assert [each.message for each in read_python_log([before, *printed_group(), after])] == ["lost", "down"]


@given(st.lists(st.sampled_from(["  | x", "+ y", "  +---- 1 ----", "Traceback (most recent call last):", "", "| z"])))
def test_what_is_no_group_is_left_alone(lines: list[str]):
    numbered = list(enumerate(lines, 1))
    assert list(without_trees(numbered)) == numbered
