from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from cutset.report.drawing.text import amount, calls_in_words, classes, escaped, shortened, text_width, tooltip


@given(st.text(max_size=50))
def test_any_name_is_well_formed_text(name: str) -> None:
    assert len(ET.fromstring(f"<text>{escaped(name)}</text>").text or "") == len(name)


@given(st.text(max_size=50), st.integers(3, 20))
def test_a_name_loses_its_middle_and_never_its_ends(name: str, letters: int) -> None:
    short = shortened(name, letters)
    assert len(short) == min(len(name), letters)
    assert short[:1] == name[:1]
    assert short[-1:] == name[-1:]


def test_wide_letters_are_wider() -> None:
    assert text_width("iii") < text_width("abc") < text_width("MWM")
    assert text_width("漢字") == 2.0


def test_numbers_are_short_in_pictures_and_exact_in_tooltips() -> None:
    assert [amount(number) for number in (7, 999, 1000, 12_345, 999_500, 10**9, 10**13)] == [
        *("7", "999", "1k", "12.3k", "1M", "1G", "10T")
    ]
    assert calls_in_words(1, 0) == "1 call"
    assert calls_in_words(12_345, 1) == "12.3k calls, <0.01 % failed"
    assert calls_in_words(12_345, 1234, exact=True) == "12,345 calls, 10 % failed"
    assert calls_in_words(100, 1) == "100 calls, 1 % failed"


def test_tooltips_have_lines_and_classes_no_gaps() -> None:
    assert tooltip("a<b", "c") == "a&lt;b\nc"
    assert classes("edge", "", "n1") == 'class="edge n1"'
