from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.guards.hours import WorkingHours, is_timezone, out_of_hours

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)


def at(day: int, hour: int, minute: int = 0) -> datetime:
    """Day 0 is a Monday."""
    return MONDAY.replace(day=16 + day, hour=hour, minute=minute)


@pytest.mark.parametrize(
    ("text", "moment", "holds"),
    [
        ("Mon-Fri 09:00-17:00", at(0, 9), True),
        ("Mon-Fri 09:00-17:00", at(0, 8, 59), False),
        ("Mon-Fri 09:00-17:00", at(4, 16, 59), True),
        ("Mon-Fri 09:00-17:00", at(4, 17), False),
        ("Mon-Fri 09:00-17:00", at(5, 12), False),
        ("mon–fri 9:00–17:00", at(2, 12), True),
        ("9:00-17:00", at(6, 12), True),
        ("Wed 10:00-11:00", at(2, 10, 30), True),
        ("Wed 10:00-11:00", at(3, 10, 30), False),
        ("Mon-Thu 09:00-17:00, Fri 09:00-12:00", at(4, 11), True),
        ("Mon-Thu 09:00-17:00, Fri 09:00-12:00", at(4, 13), False),
        ("Fri 22:00-06:00", at(4, 23), True),
        ("Fri 22:00-06:00", at(5, 5), True),
        ("Fri 22:00-06:00", at(4, 5), False),
        ("Sat-Mon 10:00-12:00", at(6, 11), True),
        ("Sat-Mon 10:00-12:00", at(0, 11), True),
        ("Sat-Mon 10:00-12:00", at(1, 11), False),
        ("Mon 00:00-24:00", at(0, 23, 59), True),
        ("Sun 23:00-01:00", at(0, 0, 30), True),
    ],
)
def test_hours_hold_from_their_beginning_until_before_their_end(text: str, moment: datetime, holds: bool) -> None:
    assert WorkingHours.parse(text).hold(moment) is holds


@pytest.mark.parametrize(
    "text", ["", "Mon", "Mon-Fri", "Mon 9-17", "Foo 09:00-17:00", "9:60-10:00", "25:00-26:00", "9:00-9:00"]
)
def test_what_is_no_hours_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"`|tuple"):
        WorkingHours.parse(text)


@given(st.integers(0, 6), st.integers(0, 1439), st.integers(0, 1439), st.integers(0, 7 * 1440 - 1))
def test_a_span_past_midnight_is_what_its_two_parts_are(day: int, begin: int, end: int, minute: int) -> None:
    if begin <= end:
        return
    names = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    times = f"{begin // 60}:{begin % 60:02}", f"{end // 60}:{end % 60:02}"
    parts = [f"{names[day]} {times[0]}-24:00"] + ([f"{names[(day + 1) % 7]} 0:00-{times[1]}"] if end else [])
    moment = at(minute // 1440, minute % 1440 // 60, minute % 60)

    whole = WorkingHours.parse(f"{names[day]} {times[0]}-{times[1]}")

    assert whole.hold(moment) == WorkingHours.parse(", ".join(parts)).hold(moment)


def test_the_hours_are_those_of_the_time_zone() -> None:
    assert out_of_hours("Mon-Fri 09:00-17:00", "Europe/Berlin", at(0, 8, 30)) == ""
    assert out_of_hours("Mon-Fri 09:00-17:00", "America/New_York", at(0, 8, 30)) == (
        "it is Mon 03:30 (America/New_York), and `hours` are Mon-Fri 09:00-17:00"
    )


def test_without_hours_it_is_always_the_time() -> None:
    assert out_of_hours("", "", at(6, 3)) == ""


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("Europe/Berlin", True), ("UTC", True), ("Mars/Olympus", False), ("../etc", False), ("Europe", False)],
)
def test_time_zones_are_those_that_the_machine_knows(name: str, is_one: bool) -> None:
    assert is_timezone(name) is is_one
