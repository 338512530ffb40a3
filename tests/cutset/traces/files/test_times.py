import pytest

from cutset.traces.files.times import end_after, nanoseconds


@pytest.mark.parametrize(
    ("value", "unit_ns", "expected"),
    [
        (1_700_000_000_000_001, 1_000, 1_700_000_000_000_001_000),
        ("1661258203788591288", 1, 1661258203788591288),
        ("1661258203.788591288", 1_000_000_000, 1661258203788591288),
        (" 12 ", 1, 12),
        (2.5, 1_000_000, 2_500_000),
        ("1e3", 1, 1000),
        (0, 1, 0),
    ],
)
def test_reads_numbers_and_texts_without_losing_digits(value, unit_ns, expected):
    assert nanoseconds(value, unit_ns) == expected


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, [], {}, "", "soon", "-1", -1, "NaN", float("nan"), float("inf"), "Infinity", "1e999999999"),
        *("9" * 5000, 2**63, 10**30, "١٢ x"),
    ],
)
def test_what_is_no_time_is_none(value):
    assert nanoseconds(value, 1) is None


@pytest.mark.parametrize("duration", [None, -5, "x", float("nan"), [], 2**70])
def test_a_nonsensical_duration_counts_as_none(duration):
    assert end_after(100, duration, 1000) == 100


def test_an_end_stays_within_64_bits():
    assert end_after(2**63 - 2, 1, 1000) == 2**63 - 1
