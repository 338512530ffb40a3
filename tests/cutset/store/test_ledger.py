import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from cutset.errors import InputError, TargetError, UsageError
from cutset.model.event import CampaignStarted, RequestFinished
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.ledger import open_existing_ledger, open_ledger

BEGUN = RunStarted(loop=Loop.CAMPAIGN, fingerprint={"requests": "ab"}, command="explore")
STARTED = CampaignStarted(requests=("GET /",), max_size=3)
ENDED = RequestFinished(request="GET /", complete_up_to=3, reason="")


def change(store: Path, statement: str) -> None:
    with sqlite3.connect(store / "ledger.sqlite") as database:
        database.execute(statement)
    database.close()


def test_events_come_back_in_order_and_by_run(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "store") as ledger:
        for run, event in (("one", STARTED), ("two", STARTED), ("one", ENDED)):
            ledger.append(run, event, at=1.5)

    with open_ledger(tmp_path / "store") as ledger:
        assert ledger.dated_events("one") == [(1.5, STARTED), (1.5, ENDED)]
        assert ledger.events("two") == [STARTED]
        assert ledger.events("three") == []


def test_a_run_is_finished_only_when_it_ended_without_a_reason(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        for run, reason in (("done", ""), ("stopped", "the budget is spent")):
            ledger.append(run, BEGUN, at=1.0)
            ledger.append(run, RunFinished(reason=reason), at=2.0)
        ledger.append("killed", BEGUN, at=3.0)
        ledger.append("drilled", RunStarted(loop=Loop.DRILL), at=4.0)

        records = ledger.runs(Loop.CAMPAIGN)

        assert [(record.id, record.started_at, record.finished) for record in records] == [
            ("done", 1.0, True),
            ("stopped", 1.0, False),
            ("killed", 3.0, False),
        ]
        assert records[0].started == BEGUN
        assert len(ledger.runs()) == 4


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET fields = replace(fields, 'GET', 'PUT') WHERE id = 2",
        "UPDATE events SET at = at + 1 WHERE id = 2",
        "UPDATE events SET kind = 'RunFinished', fields = '{}' WHERE id = 2",
        "DELETE FROM events WHERE id = 1",
        "UPDATE events SET id = 9 WHERE id = 1",
    ],
)
def test_a_record_that_was_changed_moved_or_taken_out_is_found_and_named(tmp_path: Path, statement: str) -> None:
    with open_ledger(tmp_path) as ledger:
        for event in (BEGUN, STARTED, ENDED):
            ledger.append("one", event)
        ledger.append("two", STARTED)
    change(tmp_path, statement)

    with open_ledger(tmp_path) as ledger:
        with pytest.raises(InputError, match=r"Record 2 of the ledger at .* run `one`\) is not as it was written"):
            ledger.events("one")
        assert ledger.events("two") == [STARTED]


def test_two_writers_share_a_ledger_and_each_run_keeps_its_chain(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as first, open_ledger(tmp_path) as second:
        for _ in range(5):
            first.append("one", STARTED)
            second.append("two", STARTED)
            second.append("one", ENDED)

        assert first.events("one") == [STARTED, ENDED] * 5
        assert first.events("two") == [STARTED] * 5


def test_a_ledger_that_is_opened_twice_loses_nothing_to_another_process(tmp_path: Path) -> None:
    """As when a hardening has a campaign explored while somebody looks at the report."""
    look = "import sys, pathlib; from cutset.store.ledger import open_ledger\n"
    look += "with open_ledger(pathlib.Path(sys.argv[1])) as ledger: print(len(ledger.events('one')))"

    def seen_by_another() -> int:
        return int(subprocess.run([sys.executable, "-c", look, tmp_path], capture_output=True, check=True).stdout)

    with open_ledger(tmp_path) as outer:
        outer.append("one", RunStarted(loop=Loop.HARDENING))
        with open_ledger(tmp_path) as inner:
            assert seen_by_another() == 1
            inner.append("one", RunFinished(reason="inner"))
            assert seen_by_another() == 2
            outer.append("one", RunFinished())
            assert seen_by_another() == 3


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "store") as ledger:
        ledger.append("one", STARTED)
        files = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "store").glob("ledger*")}

    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o700
    assert len(files) == 3
    assert set(files.values()) == {0o600}


def test_the_folder_explains_itself_and_keeps_out_of_version_control(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "store"):
        pass

    assert "Cutset" in (tmp_path / "store" / "README.md").read_text()
    assert (tmp_path / "store" / ".gitignore").read_text() == "*\n"


def test_a_ledger_of_an_older_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "ledger.sqlite") as database:
        database.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, campaign TEXT)")
        database.execute("PRAGMA user_version = 1")
    database.close()
    before = (tmp_path / "ledger.sqlite").read_bytes()

    with pytest.raises(InputError, match="has format 1; this version of Cutset reads format 2"), open_ledger(tmp_path):
        pass
    assert (tmp_path / "ledger.sqlite").read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("this is not a database, but is long enough to look like one" * 9)

    with pytest.raises(InputError, match="not a readable ledger"), open_ledger(tmp_path):
        pass

    assert (tmp_path / "ledger.sqlite").read_text().startswith("this is not")


def test_a_ledger_that_was_cut_short_is_a_clear_error(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        for _ in range(200):
            ledger.append("one", STARTED)
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    with pytest.raises(InputError, match=r"damaged|not a readable ledger"), open_ledger(tmp_path) as ledger:
        ledger.events("one")


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(TargetError, match="Cannot open the ledger"), open_ledger(tmp_path / "file"):
        pass


def test_who_only_reads_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no ledger in"), open_existing_ledger(tmp_path / "store"):
        pass

    assert not (tmp_path / "store").exists()


def test_a_full_disk_is_a_clear_error_and_loses_nothing(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.append("one", STARTED)
        (pages,) = ledger._database.execute("PRAGMA page_count").fetchone()
        ledger._database.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own way to run out of room

        with pytest.raises(TargetError, match="full"):
            ledger.append("one", CampaignStarted(requests=("x" * 100_000,), max_size=1))

        assert ledger.events("one") == [STARTED]
