import htpy as h
import pytest
from tests.samples.campaign import EVENTS, MIXED, REPLAY, VARYING, audited, experiment
from tests.samples.hostile import text_of

from cutset.model.event import CampaignEvent, CampaignStarted, RequestFinished
from cutset.model.outcome import Verdict
from cutset.model.run import RunFinished
from cutset.model.summary import summarise
from cutset.report.campaign.page import MOST, SHOWN, CampaignLinks, headline, sections, size_strip
from cutset.report.campaign.scope import completeness, of_effect, totals

LINKS = CampaignLinks(REPLAY, lambda finding: f"#finding-{finding.id}", graph="/graph?campaign=x", harden="/harden")


def page_of(events: list[CampaignEvent]) -> str:
    return str(h.div[sections(summarise(events), LINKS).values()])


@pytest.mark.parametrize("events", [EVENTS, MIXED, VARYING])
def test_it_says_what_the_terminal_says(events: list[CampaignEvent]) -> None:
    summary, text = summarise(events), text_of(page_of(events))

    assert totals(summary) in text
    assert of_effect(summary.started) in text
    for request in summary.requests:
        assert " ".join(completeness(request, summary.started).split()) in text


def test_a_campaign_with_one_of_everything_shows_each_with_a_sign_and_a_word() -> None:
    text = text_of(page_of(EVENTS))

    for said in (
        "✓ complete up to size 3 ✗ 1 minimal cut ~ 1 degraded",
        "? complete up to size 1 of 3 ✗ 1 minimal cut ? 1 unknown ? 3 predicted ! 3 not coverable",
        "? not tested",
        "✗ fails cart/GetCart user sees 500 with no cart",
        "✗ masked cart/GetCart fails, but survives together with flag/Get",
        "~ degraded ad/GetAds 200, but missing section#ads",
        "? not known x/Y never fired: x/Y was not called",
        "· predicted a/1 + a/2",
        "GET /rates called by pay at rates.example:443 past the mesh: no sidecar saw it",
        "✗ killed 127.0.0.1:5001",
        "Proof rests on: behaviour depends on which calls fail",
        "size 0 ✓ decided size 1 ✓ decided size 2 ? open size 3 ? open",
    ):
        assert said in text, said


def test_what_depends_on_the_effect_is_told_effect_by_effect() -> None:
    text = text_of(page_of(MIXED))

    assert "payment/Charge ✗ fails with timeout" in text
    assert "✓ survives abort(503)" in text


def test_what_is_exact_is_told_from_what_is_assumed_and_from_what_is_open() -> None:
    assert text_of(str(size_strip(3, 2, 1))) == "size 0 ✓ exact size 1 ✓ exact size 2 ✓ assumed size 3 ? open"


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([], "? open: 0 minimal cuts in 0 request classes, 0 experiments, interrupted Nothing is known yet"),
        (EVENTS, "Not decided up to size 3 in 2 of 3 request classes: POST /pay, GET /down"),
        (EVENTS[:7], "interrupted"),
    ],
)
def test_the_headline_says_what_is_open(events: list[CampaignEvent], said: str) -> None:
    assert said in text_of(str(headline(summarise(events))))


def test_a_campaign_that_is_under_way_is_not_called_interrupted() -> None:
    assert "interrupted" not in text_of(str(headline(summarise(EVENTS[:7]), under_way=True)))


def test_where_all_is_decided_and_nothing_fails_it_survives() -> None:
    started = CampaignStarted(requests=("GET /",), max_size=2)
    events = [started, audited("GET /"), RequestFinished(request="GET /", complete_up_to=2, reason=""), RunFinished()]

    assert text_of(str(headline(summarise(events)))).startswith("✓ survives: 0 minimal cuts in 1 request class")


def test_of_long_lists_the_rest_is_folded_and_what_is_beyond_is_counted() -> None:
    many = [experiment("GET /", Verdict.FAILED, "500", f"s/{number}") for number in range(MOST + 7)]
    events = [CampaignStarted(requests=("GET /",), max_size=1), audited("GET /"), *many]
    (part,) = (part for name, part in sections(summarise(events), LINKS).items() if name == "request-1")
    text = text_of(str(h.div[part]))

    assert f"{MOST + 7 - SHOWN} more" in text
    assert "7 more are in cutset report --json" in text
