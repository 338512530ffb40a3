from dataclasses import replace
from pathlib import Path

from tests.cutset.report.campaign.test_changes import CART, campaign, survived
from tests.samples.campaign import EVENTS, audited, experiment
from tests.samples.campaign_under_way import campaign_under_way, record
from tests.samples.hostile import HOSTILE, HOSTILE_POINT, text_of
from tests.samples.impacts import Truth, impact_events
from tests.samples.opened_dashboard import opened_dashboard

from cutset.model.event import CampaignStarted
from cutset.model.outcome import Verdict
from cutset.model.run import Loop, RunStarted
from cutset.store.ledger import open_ledger


def test_where_nothing_was_explored_it_says_what_to_do(tmp_path: Path) -> None:
    with opened_dashboard(tmp_path) as (_, client):
        text = text_of(client.get("/").text)

        assert "Nothing was explored yet" in text
        assert "cutset demo --ui" in text


def test_it_shows_how_requests_stand_what_changed_and_what_to_fix_first(tmp_path: Path) -> None:
    record(tmp_path, "one", campaign("one", survived("cart/GetCart"), requests=("GET /", "GET /other")).events[1:])
    record(tmp_path, "two", campaign("two", CART).events[1:])
    with opened_dashboard(tmp_path) as (_, client):
        page = client.get("/").text
        text = text_of(page)

        assert "Latest campaign two" in text
        assert "GET / ✓ complete up to size 3 ✗ 1 minimal cut" in text
        assert 'href="/campaigns/two#request-1"' in page
        assert "From one GET /other ✓ complete up to size 3" in text  # which the latest one leaves out
        assert 'href="/campaigns/one#request-2"' in page
        assert "What changed since one ✗ new cart/GetCart" in text
        assert "What to fix first cart/GetCart fails alone in 1 minimal cut; GET /" in text


def test_while_the_latest_is_under_way_it_is_not_compared_and_the_page_goes_along(tmp_path: Path) -> None:
    record(tmp_path, "one")
    with opened_dashboard(tmp_path) as (_, client), campaign_under_way(tmp_path, "now") as (run, ledger):
        for event in EVENTS[:8]:
            ledger.append(run, event)
        page = client.get("/").text

        assert "it is compared when it has ended" in text_of(page)
        assert 'data-live="/live/overview"' in page
        assert 'href="/campaigns/now"' in page


def test_what_serves_a_hardening_is_not_the_latest_campaign(tmp_path: Path) -> None:
    record(tmp_path, "one")
    record(tmp_path, "again", part_of="hardened")
    with opened_dashboard(tmp_path) as (_, client):
        assert "Latest campaign one" in text_of(client.get("/").text)


def test_the_latest_of_each_other_kind_is_a_line_with_a_link(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        for event in impact_events(Truth()):
            ledger.append("hurt", event)
        for loop in (Loop.DRILL, Loop.REPRODUCTION):
            ledger.append(loop, RunStarted(loop=loop, run=loop))
    with opened_dashboard(tmp_path) as (_, client):
        page = client.get("/").text
        text = text_of(page)

        assert 'href="/impacts/hurt"' in page
        assert "Latest impact ✗ affected" in text
        assert "Latest drill no drill has finished" in text
        assert "Latest reproduction ? unfinished" in text


def test_what_spans_and_answers_say_stays_text(tmp_path: Path) -> None:
    evil = experiment(HOSTILE, Verdict.FAILED, HOSTILE, HOSTILE_POINT)
    started = CampaignStarted(requests=(HOSTILE,), max_size=1)
    record(tmp_path, "one", [started, replace(audited(HOSTILE), varies=HOSTILE), evil])
    with opened_dashboard(tmp_path) as (_, client):
        assert "<script>alert(1)" in text_of(client.get("/").text)
