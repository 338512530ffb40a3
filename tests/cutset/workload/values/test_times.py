from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.workload.values.times import is_near, moved, time_in

NOW = 1_794_810_795.0  # 2026-11-16T06:33:15Z

FORMATS = [
    "1794810795",
    "1794810795123",
    "1794810795123456",
    "1794810795123456789",
    "1794810795.25",
    "2026-11-16",
    "2026-11-16T06:33:15Z",
    "2026-11-16T06:33:15.123Z",
    "2026-11-16T06:33:15,5+01:00",
    "2026-11-16 06:33",
    "2026-11-16T06:33:15.123456789-0800",
    "20261116T063315Z",
    "Mon, 16 Nov 2026 06:33:15 GMT",
    "Mon, 16 Nov 2026 06:33:15 +0100",
]


@pytest.mark.parametrize("text", FORMATS)
def test_a_time_that_does_not_move_is_the_same_text(text: str) -> None:
    assert moved(text, 0) == text


@given(st.sampled_from(FORMATS), st.integers(-300, 300))
def test_a_moved_time_has_the_same_format_and_is_as_much_later(text: str, days: int) -> None:
    new = moved(text, days * 86_400)
    before, after = time_in(text), time_in(new)
    assert before is not None
    assert after is not None
    assert after.format == before.format
    assert len(new) in range(len(text) - 1, len(text) + 2)  # a day of one or two digits
    assert after.seconds - before.seconds == pytest.approx(days * 86_400, abs=0.001)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)), st.floats(-1e7, 1e7))  # noqa: DTZ001 -- without a zone
def test_moving_there_and_back_is_not_moving(moment: datetime, by: float) -> None:
    text = moment.replace(tzinfo=UTC).isoformat(timespec="seconds")
    assert moved(moved(text, round(by)), -round(by)) == text


@pytest.mark.parametrize(
    "text", ["", "2026", "2026-13-01", "12345", "123456789012", "hello world", "2026-11-16T99:00:00Z"]
)
def test_other_texts_are_no_times(text: str) -> None:
    assert time_in(text) is None
    with pytest.raises(ValueError, match="expected a time"):
        moved(text, 1)


@pytest.mark.parametrize(
    ("text", "near"), [("1794810795", True), ("1234567890", False), ("1984-02-29", False), ("2026-12-24", True)]
)
def test_only_what_a_clock_may_have_shown_is_near(text: str, near: bool) -> None:
    time = time_in(text)
    assert time is not None
    assert is_near(time, NOW) == near
