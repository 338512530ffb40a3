from dataclasses import replace
from pathlib import Path

from tests.cutset.web.test_exploring import armed
from tests.samples.campaign import EVENTS, audited, experiment
from tests.samples.campaign_under_way import campaign_under_way, record
from tests.samples.hostile import HOSTILE, HOSTILE_POINT, text_of
from tests.samples.opened_dashboard import opened_dashboard

from cutset.model.event import CampaignStarted
from cutset.model.outcome import Verdict
from cutset.model.summary import summarise
from cutset.report.campaign.scope import totals


def test_a_finished_campaign_has_no_script_and_its_cuts_lead_to_findings(tmp_path: Path) -> None:
    record(tmp_path, "one")
    with opened_dashboard(tmp_path) as (_, client):
        page = client.get("/campaigns/one").text
        summary = summarise(EVENTS)

        assert totals(summary) in text_of(page)
        assert "live.js" not in page
        for finding in summary.findings:
            assert client.get(f"/campaigns/one/findings/{finding.id}").status_code == 200
            assert f'href="/campaigns/one/findings/{finding.id}"' in page
        assert 'href="/graph?campaign=one&amp;request=GET+%2F"' in page
        assert 'href="/harden?campaign=one"' in page


def test_one_that_is_under_way_shows_what_happens_first_and_can_be_watched_not_stopped(tmp_path: Path) -> None:
    with armed(tmp_path) as (_, client), campaign_under_way(tmp_path / "store", "now") as (run, ledger):
        for event in EVENTS[:8]:
            ledger.append(run, event)
        page = client.get("/campaigns/now").text

        assert page.index('id="experiments"') < page.index('id="requests"')
        assert 'data-live="/live/campaigns/now"' in page
        assert "/static/live.js" in page
        assert "it can be watched here, and stopped there, or with cutset halt" in text_of(page)
        assert "/campaigns/stop" not in page
        assert "/campaigns/resume" not in page
        assert "interrupted" not in text_of(page)


def test_one_that_was_interrupted_can_be_resumed_here_or_in_a_terminal(tmp_path: Path) -> None:
    with armed(tmp_path) as (_, client):
        record(tmp_path / "store", "older", EVENTS[:8])
        record(tmp_path / "store", "latest", EVENTS[:8])

        assert 'action="/campaigns/resume"' in client.get("/campaigns/latest").text
        older = client.get("/campaigns/older").text
        assert "/campaigns/resume" not in older
        assert "Go on with cutset explore" in text_of(older)


def test_what_there_is_not_is_told(tmp_path: Path) -> None:
    record(tmp_path, "one")
    with opened_dashboard(tmp_path) as (_, client):
        answer = client.get("/campaigns/absent")

        assert answer.status_code == 404
        assert "There is no campaign absent in this store" in text_of(answer.text)


def test_what_spans_and_answers_say_stays_text(tmp_path: Path) -> None:
    evil = experiment(HOSTILE, Verdict.FAILED, HOSTILE, HOSTILE_POINT)
    started = CampaignStarted(requests=(HOSTILE,), max_size=1)
    with opened_dashboard(tmp_path) as (_, client), campaign_under_way(tmp_path, "now") as (run, ledger):
        for event in (started, replace(audited(HOSTILE), varies=HOSTILE), evil):
            ledger.append(run, event)

        assert "<script>alert(1)" in text_of(client.get("/campaigns/now").text)
