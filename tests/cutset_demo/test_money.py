from hypothesis import given
from hypothesis import strategies as st

from cutset_demo.money import format_money, from_nanos, times, to_nanos


@given(st.integers(0, 10**18))
def test_money_keeps_every_nano(nanos):
    assert to_nanos(from_nanos(nanos, "USD")) == nanos


def test_three_times_a_price_is_exact():
    assert times(from_nanos(8_990_000_000, "USD"), 3) == from_nanos(26_970_000_000, "USD")


def test_money_reads_as_people_write_it():
    assert format_money(from_nanos(1_234_005_000_000, "USD")) == "$1,234.00"
    assert format_money(from_nanos(7_150_000_000, "EUR")) == "€7.15"
    assert format_money(from_nanos(5_000_000_000, "CHF")) == "CHF 5.00"
