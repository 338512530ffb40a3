import re
from dataclasses import replace

from tests.samples.campaign import EVENTS, REPLAY, RUN, audited, experiment
from tests.samples.hostile import HOSTILE, HOSTILE_POINT, text_of

from cutset.model.campaign import Campaign
from cutset.model.event import CampaignEvent, CampaignStarted
from cutset.model.outcome import Verdict
from cutset.model.summary import summarise
from cutset.report.campaign.baseline import accept, compare
from cutset.report.campaign.standalone import MOST_IN_FULL, campaign_page


def page_of(events: list[CampaignEvent]) -> str:
    return campaign_page(Campaign(RUN.run, (RUN, *events)), REPLAY)


def test_each_finding_has_a_place_in_the_file_that_its_cut_leads_to() -> None:
    page = page_of(EVENTS)
    places = set(re.findall(r'id="(finding-\w+)"', page))

    assert places == set(re.findall(r'href="#(finding-\w+)"', page))
    assert len(places) == 3
    assert all(f"{REPLAY} {each.id}" in page for each in summarise(EVENTS).findings)
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_compared_with_a_baseline_what_is_new_comes_first() -> None:
    campaign = Campaign(RUN.run, (RUN, *EVENTS))
    accepted = [each for each in accept(campaign.summary) if each.finding.request == "GET /"]
    page = campaign_page(campaign, REPLAY, compare(accepted, campaign.events))

    assert "Against what was accepted New, worse, better 1 ✗ new" in text_of(page)


def test_what_spans_and_answers_say_stays_text() -> None:
    started = CampaignStarted(requests=(HOSTILE,), max_size=2)
    failing = experiment(HOSTILE, Verdict.FAILED, HOSTILE, HOSTILE_POINT)
    unknown = experiment(HOSTILE, Verdict.UNKNOWN, HOSTILE, "a/b")
    page = page_of([started, replace(audited(HOSTILE), varies=HOSTILE), failing, unknown])

    assert "<script>alert(1)</script>" in text_of(page)
    assert "<script>alert" not in page


def test_the_services_are_drawn_once() -> None:
    page = page_of(EVENTS)

    assert page.count("<svg") >= 1
    assert 'aria-label="Services, their calls, and how each call matters"' in page


def test_what_there_is_no_room_for_is_told_in_short_the_smallest_cuts_last() -> None:
    pairs = [experiment("GET /", Verdict.FAILED, "500", f"s/{number}", f"t/{number}") for number in range(MOST_IN_FULL)]
    alone = experiment("GET /", Verdict.FAILED, "500", "a/1")
    page = page_of([CampaignStarted(requests=("GET /",), max_size=2), audited("GET /"), *pairs, alone])
    articles = page.split("<article")[1:]
    short = [each for each in articles if "are left out, for the size of this file" in each]

    assert (len(articles), len(short)) == (MOST_IN_FULL + 1, 1)
    assert "a/1" not in short[0]
    assert all(REPLAY in each for each in articles)
