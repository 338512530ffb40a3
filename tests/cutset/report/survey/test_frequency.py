import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from cutset.report.survey.frequency import ALPHA, ANECDOTE_BELOW, interval_in_words, is_anecdote, share_document


def exact_lower_bound(number: int) -> float:
    """Garwood's (1936) of a Poisson number."""
    return float(chi2.ppf(ALPHA / 2, 2 * number) / 2)


def test_an_anecdote_is_what_may_happen_less_than_half_as_often_as_it_was_seen() -> None:
    assert exact_lower_bound(ANECDOTE_BELOW) >= ANECDOTE_BELOW / 2
    assert exact_lower_bound(ANECDOTE_BELOW - 1) < (ANECDOTE_BELOW - 1) / 2
    assert [is_anecdote(number) for number in (1, ANECDOTE_BELOW - 1, ANECDOTE_BELOW)] == [True, True, False]


@given(st.integers(1, 10**9), st.data())
def test_a_share_lies_within_its_interval(of: int, data: st.DataObject) -> None:
    document = share_document(data.draw(st.integers(0, of)), of)
    assert 0 <= document["share_low"] <= document["share"] + 1e-9
    assert document["share"] - 1e-9 <= document["share_high"] <= 1


def test_of_nothing_nothing_is_known() -> None:
    assert share_document(0, 0) == {"share": 0.0, "share_low": 0.0, "share_high": 1.0}


@pytest.mark.parametrize(
    ("seen", "of", "words"),
    [
        (4, 29, "5–31 %"),
        (3_631, 6_247, "56.9–59.3 %"),
        (58_100_000, 100_000_000, "58.09–58.11 %"),
        (20, 20, "84–100 %"),
        (1, 6_247, "0.003–0.09 %"),
    ],
)
def test_an_interval_has_as_many_digits_as_it_is_worth(seen: int, of: int, words: str) -> None:
    assert interval_in_words(seen, of) == words
