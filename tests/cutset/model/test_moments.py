import pytest

from cutset.errors import UsageError
from cutset.model.moments import parse_duration_ns, parse_moment_ns, show_moment

SECOND_NS = 1_000_000_000
NOW_NS = 1_700_000_000 * SECOND_NS


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("6h", 21_600), ("30d", 2_592_000), ("4w", 2_419_200)]
)
def test_durations_have_a_unit(text: str, seconds: int) -> None:
    assert parse_duration_ns(text) == seconds * SECOND_NS
    assert parse_moment_ns(text, NOW_NS) == NOW_NS - seconds * SECOND_NS


@pytest.mark.parametrize(
    "text", ["2023-11-14T22:13:20", "2023-11-14T22:13:20+00:00", "2023-11-14 23:13:20+01:00", "2023-11-14T22:13:20Z"]
)
def test_a_moment_without_a_zone_is_utc(text: str) -> None:
    assert parse_moment_ns(text, 0) == NOW_NS


@pytest.mark.parametrize("text", ["", "6", "h", "-6h", "1.5h", "yesterday", "9999999h"])
def test_what_is_neither_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no duration"):
        parse_duration_ns(text)
    with pytest.raises(UsageError, match="is no moment"):
        parse_moment_ns(text, NOW_NS)


def test_moments_are_shown_to_the_second() -> None:
    assert show_moment(NOW_NS + SECOND_NS - 1) == "2023-11-14 22:13:20"
