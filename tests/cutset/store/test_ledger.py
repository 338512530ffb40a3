import sqlite3
from pathlib import Path

import pytest

from cutset.errors import InputError, TargetError
from cutset.model.event import CampaignFinished, CampaignStarted, RequestFinished
from cutset.store.ledger import open_ledger

STARTED = CampaignStarted(requests=("GET /",), settings="s", max_size=3, replay="")
ENDED = RequestFinished(request="GET /", complete_up_to=3, reason="")


def test_events_come_back_in_order_and_by_campaign(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "store") as ledger:
        for campaign, event in (("one", STARTED), ("two", STARTED), ("one", ENDED)):
            ledger.append(campaign, 1.0, event)

    with open_ledger(tmp_path / "store") as ledger:
        assert ledger.events("one") == [STARTED, ENDED]
        assert ledger.events("two") == [STARTED]
        assert ledger.events("three") == []


def test_a_campaign_is_finished_only_when_it_ended_without_a_reason(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        for campaign, reason in (("done", ""), ("stopped", "the budget is spent")):
            ledger.append(campaign, 1.0, STARTED)
            ledger.append(campaign, 2.0, CampaignFinished(reason=reason))
        ledger.append("killed", 3.0, STARTED)

        records = ledger.campaigns()

    assert [(record.id, record.finished) for record in records] == [
        ("done", True),
        ("stopped", False),
        ("killed", False),
    ]
    assert records[0].settings == "s"


def test_the_folder_explains_itself_and_keeps_out_of_version_control(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "store"):
        pass

    assert "Cutset" in (tmp_path / "store" / "README.md").read_text()
    assert (tmp_path / "store" / ".gitignore").read_text() == "*\n"


def test_a_ledger_of_another_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "ledger.sqlite") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()

    with pytest.raises(InputError, match="format 99"), open_ledger(tmp_path):
        pass


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("this is not a database, but is long enough to look like one" * 9)

    with pytest.raises(InputError, match="not a readable ledger"), open_ledger(tmp_path):
        pass

    assert (tmp_path / "ledger.sqlite").read_text().startswith("this is not")


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(TargetError, match="Cannot open the ledger"), open_ledger(tmp_path / "file"):
        pass


def test_a_full_disk_is_a_clear_error_and_loses_nothing(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.append("one", 1.0, STARTED)
        (pages,) = ledger._database.execute("PRAGMA page_count").fetchone()
        ledger._database.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own way to run out of room

        large = CampaignStarted(requests=("x" * 100_000,), settings="", max_size=1, replay="")
        with pytest.raises(TargetError, match="full"):
            ledger.append("one", 2.0, large)

        assert ledger.events("one")[0] == STARTED
