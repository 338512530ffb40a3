from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cutset.model.effect import UNAVAILABLE
from cutset.model.fault import cut_of
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.quoting import LENGTH, quoted_tellingly, telling_piece

BEGIN = "could not place the order (checkout/PlaceOrder: the order of this very user could not be placed for a reason: "


def finding(service: str, says: str, reason: str = "") -> Finding:
    quoted = says[:LENGTH] + ("…" if len(says) > LENGTH else "")
    cut = cut_of([Point(service, "Get")], UNAVAILABLE)
    return Finding("r", Outcome(cut, Verdict.FAILED, reason or f"500 with `{quoted}`", says=says))


def reasons(*findings: Finding) -> list[str]:
    return [each.outcome.reason for each in quoted_tellingly(findings)]


def test_what_differs_is_quoted_and_what_all_share_is_not() -> None:
    assert reasons(
        finding("shipping", BEGIN + "could not quote the shipping (shipping/GetQuote: 503 fault))"),
        finding("payment", BEGIN + "could not charge the card (payment/Charge: 503 fault))"),
    ) == [
        "500 with `…could not quote the shipping (shipping/GetQuote: 503 fault))`",
        "500 with `…could not charge the card (payment/Charge: 503 fault))`",
    ]


def test_what_most_share_is_not_quoted_although_one_does_not() -> None:
    texts = [BEGIN + f"could not {what}" for what in ("quote the shipping", "charge the card", "read the cart")]
    found = reasons(*(finding(str(n), text) for n, text in enumerate([*texts, "could not list the currencies"])))
    assert found[0] == "500 with `…could not quote the shipping`"
    assert found[3] == "500 with `could not list the currencies`"


def test_what_follows_the_quotation_stays() -> None:
    says = BEGIN + "no card for this order"
    share = f"500 with `{says[:LENGTH]}…`; fails a share of requests: 5 of 10"
    assert reasons(finding("a", says, share), finding("b", BEGIN + "no stock for this order"))[0] == (
        "500 with `…reason: no card for this order`; fails a share of requests: 5 of 10"
    )


def test_what_all_say_or_one_alone_says_stays_as_it_was() -> None:
    alike = [finding("a", "sorry " * 50), finding("b", "sorry " * 50)]
    assert reasons(*alike) == [each.outcome.reason for each in alike]
    assert reasons(alike[0]) == [alike[0].outcome.reason]
    silent = finding("c", "", "no answer: connection lost")
    assert reasons(silent, *alike)[0] == "no answer: connection lost"


def test_a_text_that_can_be_quoted_as_a_whole_is() -> None:
    short = [finding("a", "Delivery had an error."), finding("b", "Delivery is not there.")]
    assert reasons(*short) == ["500 with `Delivery had an error.`", "500 with `Delivery is not there.`"]


def test_identifiers_are_new_in_each_answer_and_tell_nothing() -> None:
    texts = [f"{BEGIN} {why}. Your reference is 20261116-{number}" for why, number in (("no card", 1), ("no tea", 2))]
    assert ["card" in reasons(*[finding(str(n), text) for n, text in enumerate(texts)])[0]] == [True]


@given(st.lists(st.text("ab `…1", max_size=400), min_size=1, max_size=4))
def test_a_piece_is_bounded_and_out_of_the_text(texts: list[str]) -> None:
    said_by = Counter(word for text in set(texts) for word in set(text.split()))
    for text in texts:
        piece = telling_piece(text, said_by, len(set(texts)))
        assert len(piece) <= LENGTH + 2
        assert piece.removeprefix("…").removesuffix("…") in " ".join(text.split())
