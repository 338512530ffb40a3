import htpy as h
from tests.cutset.report.campaign.test_changes import ADS, CART, campaign, survived
from tests.samples.campaign import experiment
from tests.samples.hostile import HOSTILE, HOSTILE_POINT, text_of

from cutset.model.effect import EffectChoice
from cutset.model.outcome import Verdict
from cutset.report.campaign.changes import changes_between
from cutset.report.campaign.changes_list import changes_list


def shown(before, now) -> str:  # type: ignore[no-untyped-def]
    changes = changes_between(before, now)
    return str(h.div[changes_list(changes, EffectChoice(), lambda finding: f"/at/{finding.id}")])


def test_what_is_proven_is_shown_and_what_cannot_be_compared_is_folded_with_the_reason_once() -> None:
    page = shown(campaign("one", survived("cart/GetCart"), ADS), campaign("two", CART))
    text = text_of(page)

    assert "✗ new cart/GetCart" in text
    assert "1 found before, and not known now" in text
    assert page.index("✗") < page.index("<details>")
    assert 'href="/at/' in page


def test_where_nothing_changed_that_is_said_with_what_stays() -> None:
    assert "Nothing is known to have changed; 1 finding stay" in text_of(
        shown(campaign("one", CART), campaign("two", CART))
    )


def test_what_spans_say_stays_text() -> None:
    evil = experiment("GET /", Verdict.FAILED, HOSTILE, HOSTILE_POINT)
    page = shown(campaign("one", survived("cart/GetCart"), requests=("GET /", HOSTILE)), campaign("two", evil))

    assert "<script>alert(1)" in text_of(page)
