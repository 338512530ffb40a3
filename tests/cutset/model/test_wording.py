import pytest

from cutset.model.wording import count, did_you_mean, known_names, plural, sentences, visible


@pytest.mark.parametrize(
    ("number", "noun", "expected"),
    [
        (0, "trace", "0 traces"),
        (1, "request class", "1 request class"),
        (1200, "request class", "1,200 request classes"),
    ],
)
def test_things_are_counted_with_their_number(number: int, noun: str, expected: str) -> None:
    assert count(number, noun) == expected


@pytest.mark.parametrize(
    ("noun", "expected"),
    [("entry", "entries"), ("day", "days"), ("batch", "batches"), ("API", "APIs"), ("call site", "call sites")],
)
def test_plurals_are_english(noun: str, expected: str) -> None:
    assert plural(noun) == expected


def test_what_is_close_is_asked_for_and_nothing_is_when_nothing_is_close() -> None:
    known = ["payment", "cart", "payments"]
    assert did_you_mean("paymant", known) == "Did you mean `payment`?"
    assert did_you_mean("paymant", known, most=2) == "Did you mean `payment` or `payments`?"
    assert did_you_mean("zzz", known) == ""
    assert did_you_mean("pay", ["frontend>pay"], cutoff=0.4) == "Did you mean `frontend>pay`?"


def test_a_hint_is_put_together_from_what_there_is_to_say() -> None:
    assert sentences(did_you_mean("zzz", ["a"]), known_names(["a", "b"])) == "Known: `a`, `b`"
    assert sentences("One.", "", "Two.") == "One. Two."


def test_what_is_not_printable_is_shown_and_lines_stay() -> None:
    assert visible("a\r\x9b31m\u202eb\ud800\n\tc") == "a\\r\\x9b31m\\u202eb\\ud800\n\\tc"
    assert visible("plain ü 漢") == "plain ü 漢"
