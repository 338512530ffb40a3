import json
from pathlib import Path

import pytest
from tests.samples.campaign import EVENTS, RUN

from cutset.app.report import (
    ForCi,
    campaign_document,
    compare_with_baseline,
    exit_code,
    explain,
    list_campaigns,
    loop_of,
    read_campaign,
    write_for_ci,
)
from cutset.errors import UsageError
from cutset.model.outcome import Verdict
from cutset.model.run import Loop, RunStarted
from cutset.store.ledger import open_ledger


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with open_ledger(tmp_path / "store") as ledger:
        for event in [RUN, *EVENTS]:
            ledger.append("one", event)
        ledger.append("two", RunStarted(loop=Loop.CAMPAIGN, command="explore", part_of="hardening"))
    return tmp_path / "store"


def test_the_latest_campaign_is_one_of_its_own_and_every_one_can_be_named(store: Path) -> None:
    assert [run.id for run in list_campaigns(store)] == ["one", "two"]
    assert read_campaign(store).id == "one"
    assert read_campaign(store, "two").id == "two"
    assert list(read_campaign(store).events) == [RUN, *EVENTS]
    with pytest.raises(UsageError, match="no campaign `three`"):
        read_campaign(store, "three")


def test_a_run_tells_by_itself_what_kind_it_is(store: Path) -> None:
    assert loop_of(store, "one") is Loop.CAMPAIGN
    assert loop_of(store, "nothing") is None


def test_a_campaign_tells_its_findings_and_whether_it_is_complete(store: Path) -> None:
    campaign = read_campaign(store)

    assert [finding.request for finding in campaign.findings] == ["GET /", "POST /pay"]
    assert not campaign.complete
    assert exit_code(campaign.summary) == 1


def test_ci_gets_its_files_and_the_replay_commands_say_where_the_ledger_is(store: Path, tmp_path: Path) -> None:
    campaign = read_campaign(store)
    wanted = ForCi(junit_file=tmp_path / "ci" / "junit.xml", sarif_file=tmp_path / "ci" / "cutset.sarif")
    write_for_ci(campaign, store, wanted, compare_with_baseline(campaign, wanted))

    command = f"cutset explore --store {store} --replay {campaign.findings[0].id}"
    assert command in (tmp_path / "ci" / "junit.xml").read_text()
    assert command in (tmp_path / "ci" / "cutset.sarif").read_text()
    assert command in json.dumps(campaign_document(campaign, store, wanted, None))


def test_a_cut_is_explained_from_the_ledger(store: Path) -> None:
    campaign, (answer,) = explain(store, "", "cart/GetCart", ["GET /"])

    assert (campaign, answer.explanation.verdict) == ("one", Verdict.FAILED)
