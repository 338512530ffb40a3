import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cutset.errors import InputError, TargetError, UsageError
from cutset.model.event import CampaignStarted, RequestFinished
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.ledger import open_existing_ledger, open_ledger
from cutset.store.runs import new_run
from cutset.store.spans import begin_ingest

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


def test_all_that_is_put_into_a_folder_of_the_users_own_is_for_the_owner_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with open_ledger(tmp_path) as ledger, new_run(ledger, BEGUN), begin_ingest(tmp_path) as ingest:
        ingest.add("test", [])
        inside = {path.name: path.stat().st_mode & 0o077 for path in tmp_path.iterdir()}
        inside |= {f"{path.parent.name}/{path.name}": path.stat().st_mode & 0o077 for path in tmp_path.glob("*/*")}

    assert {"README.md", ".gitignore", "locks", "traces", "traces/lock", "traces/.gitignore"} < inside.keys()
    others = {name for name, mode in inside.items() if mode and not name.startswith("traces/staging")}
    assert others == set()


def test_where_one_run_is_damaged_no_list_of_runs_is_believed(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        for run in ("one", "two"):
            for event in (BEGUN, STARTED, RunFinished(reason="the budget is spent")):
                ledger.append(run, event)
    change(tmp_path, "UPDATE events SET fields = replace(fields, 'the budget is spent', '') WHERE id = 3")

    with open_ledger(tmp_path) as ledger, pytest.raises(InputError, match="Record 3 of the ledger"):
        ledger.runs()


def test_a_table_that_lost_its_name_is_no_empty_ledger(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.append("one", BEGUN)
    change(tmp_path, "ALTER TABLE events RENAME TO evenus")

    with pytest.raises(InputError, match="no such table"), open_ledger(tmp_path):
        pass


READ_AND_WRITE = """
import os, pathlib, sys
from cutset.store.ledger import open_existing_ledger, open_ledger
if os.geteuid() == 0:  # who may write anywhere
    os.setuid(65534)
store = pathlib.Path(sys.argv[1])
with open_existing_ledger(store) as ledger:
    print(len(ledger.events("one")), ledger.path)
with open_ledger(store):
    pass
"""


def test_a_read_only_folder_is_read_and_called_that_by_who_wants_to_write() -> None:
    """Also what was written last, which SQLite has in a second file while the ledger is open."""
    with tempfile.TemporaryDirectory() as outside:  # where others may look, too
        store = Path(outside, "store")
        with open_ledger(store) as ledger:
            ledger.append("one", STARTED)
            Path(outside).chmod(0o755)
            for path in (*store.iterdir(), store):
                path.chmod(0o555 if path.is_dir() else 0o444)
            command = [sys.executable, "-c", READ_AND_WRITE, str(store)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            store.chmod(0o755)
    assert done.stdout.split() == ["1", str(store / "ledger.sqlite")], done.stderr
    assert f"TargetError: `{store}` is read-only, so that nothing can be recorded there" in done.stderr


FILL = """
import resource, signal
from cutset.errors import TargetError
from cutset.model.event import CampaignStarted
from cutset.store.ledger import open_ledger
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open_ledger(store) as ledger:
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))  # of each file: the disk ends there
    try:
        for number in range(1000):
            ledger.append("one", CampaignStarted(requests=(f"{number}",) + ("x" * 5000,), max_size=1))
    except TargetError as error:
        print(number, error.message, error.hint)
"""


def test_a_disk_that_fills_up_loses_nothing_and_resuming_works(tmp_path: Path) -> None:
    with open_ledger(tmp_path):
        pass
    done = subprocess.run(
        [sys.executable, "-c", f"import pathlib\nstore = pathlib.Path({str(tmp_path)!r})\n{FILL}"],
        capture_output=True,
        text=True,
        check=True,
    )
    number, _, message = done.stdout.partition(" ")
    assert "Cannot write to the ledger" in message
    assert "Everything recorded so far is kept" in message
    with open_ledger(tmp_path) as ledger:
        kept = [event.requests[0] for event in ledger.events("one") if isinstance(event, CampaignStarted)]
        assert kept == [str(each) for each in range(int(number))]
        ledger.append("one", ENDED)
        assert ledger.events("one")[-1] == ENDED


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

    with pytest.raises(InputError, match="has format 1; this version of Cutset reads format 3"), open_ledger(tmp_path):
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
