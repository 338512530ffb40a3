import hashlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples.recorded_campaign import recorded_campaign

from cutset.errors import InputError, UsageError
from cutset.model.event import CampaignStarted
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.follow import MOST_RUNS_DECODED, followed_ledger, ledger_mark
from cutset.store.ledger import NAME, Ledger, open_ledger

BEGUN = RunStarted(loop=Loop.CAMPAIGN)
STARTED = CampaignStarted(requests=("GET /",), max_size=1)


def change(store: Path, statement: str) -> None:
    with sqlite3.connect(store / NAME) as database:
        database.execute(statement)
    database.close()


def test_it_tells_the_same_as_the_ledger_itself(tmp_path: Path) -> None:
    recorded_campaign(tmp_path)
    with open_ledger(tmp_path) as ledger, followed_ledger(tmp_path) as followed:
        assert followed.runs() == ledger.runs()
        assert followed.runs(Loop.CAMPAIGN) == ledger.runs(Loop.CAMPAIGN)
        assert followed.runs(Loop.DRILL) == []
        assert followed.dated_events("only") == ledger.dated_events("only")
        assert followed.events("only") == ledger.events("only")
        assert followed.last_at("only") == ledger.dated_events("only")[-1][0]
        assert followed.folder == tmp_path


def test_what_is_added_is_there_after_the_next_refresh_and_not_before(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.append("one", BEGUN)
        with followed_ledger(tmp_path) as followed:
            assert followed.events("one") == [BEGUN]
            before = followed.last_record("one")
            ledger.append("one", STARTED)
            ledger.append("two", BEGUN)
            ledger.append("one", RunFinished())
            assert followed.events("one") == [BEGUN]
            assert [run.id for run in followed.runs()] == ["one"]

            followed.refresh()

            assert followed.events("one") == [BEGUN, STARTED, RunFinished()]
            assert [(run.id, run.finished) for run in followed.runs()] == [("one", True), ("two", False)]
            assert followed.last_record("one") > before
            assert followed.last_record() >= followed.last_record("one")


def test_each_record_is_verified_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verified: list[int] = []
    as_it_is = Ledger.verified

    def noting(ledger: Ledger, links: dict[str, str], *, after: int) -> Iterator[tuple[int, str, float, str, str]]:
        for record in as_it_is(ledger, links, after=after):
            verified.append(record[0])
            yield record

    monkeypatch.setattr(Ledger, "verified", noting)
    with open_ledger(tmp_path) as ledger:
        ledger.append("one", BEGUN)
        with followed_ledger(tmp_path) as followed:
            ledger.append("one", STARTED)
            followed.refresh()
            followed.refresh()
    assert verified == [1, 2]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET fields = replace(fields, 'GET', 'PUT') WHERE id = 3",
        "UPDATE events SET at = at + 1 WHERE id = 3",
        "UPDATE events SET run = 'two' WHERE id = 3",
        "UPDATE events SET link = '' WHERE id = 3",
        "UPDATE events SET fields = CAST(fields AS BLOB) WHERE id = 3",
        "DELETE FROM events WHERE id = 2",  # then the third does not continue the chain
    ],
)
def test_damage_to_what_was_added_is_found_at_every_refresh(tmp_path: Path, damage: str) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.append("one", BEGUN)
        with followed_ledger(tmp_path) as followed:
            ledger.append("one", STARTED)
            ledger.append("one", STARTED)
            change(tmp_path, damage)
            for _ in range(3):
                with pytest.raises(InputError, match="Record 3 of the ledger"):
                    followed.refresh()


def test_a_record_that_nobody_can_read_is_told_again_and_again(tmp_path: Path) -> None:
    """In a chain that is whole: another version of Cutset wrote it, or somebody who knows how."""
    fields = '{"loop":"dance"}'
    link = hashlib.sha256("\n".join(("", "two", "1.0", "RunStarted", fields)).encode()).hexdigest()
    with open_ledger(tmp_path) as ledger:
        ledger.append("one", BEGUN)
    with followed_ledger(tmp_path) as followed:
        values = f"'two', 1.0, 'RunStarted', '{fields}', '{link}'"
        change(tmp_path, f"INSERT INTO events (run, at, kind, fields, link) VALUES ({values})")
        for _ in range(3):
            with pytest.raises(InputError, match="an event that cannot be read: RunStarted"):
                followed.refresh()


def test_only_the_runs_that_were_looked_at_last_are_kept_decoded(tmp_path: Path) -> None:
    names = [f"{number}" for number in range(MOST_RUNS_DECODED + 1)]
    with open_ledger(tmp_path) as ledger:
        for name in names:
            ledger.append(name, BEGUN)
    with followed_ledger(tmp_path) as followed:
        first = followed.dated_events(names[0])
        assert followed.dated_events(names[0]) is first
        for name in names[1:]:
            followed.dated_events(name)
        again = followed.dated_events(names[0])
        assert again is not first
        assert again == first


def test_a_run_that_is_not_there_has_no_events(tmp_path: Path) -> None:
    recorded_campaign(tmp_path)
    with followed_ledger(tmp_path) as followed:
        assert (followed.events("none"), followed.last_record("none"), followed.last_at("none")) == ([], 0, 0.0)
        assert followed.number_of("none", RunStarted) == 0


def test_a_folder_without_a_ledger_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no ledger"), followed_ledger(tmp_path):
        pass


def test_the_mark_stays_while_a_ledger_grows_and_changes_with_the_ledger(tmp_path: Path) -> None:
    assert ledger_mark(tmp_path / "nowhere") is None
    (tmp_path / "file").touch()
    assert ledger_mark(tmp_path / "file") is None
    with open_ledger(tmp_path) as ledger:
        mark = ledger_mark(tmp_path)
        assert mark is not None
        for _ in range(100):
            ledger.append("one", BEGUN)
    assert ledger_mark(tmp_path) == mark
    shutil.copy(tmp_path / NAME, tmp_path / "copy")
    (tmp_path / "copy").replace(tmp_path / NAME)
    assert ledger_mark(tmp_path) != mark


FOLLOW = """
import os, pathlib, sys
from contextlib import ExitStack
from cutset.web.reading import Reading
if os.geteuid() == 0:  # who may write anywhere
    os.setuid(65534)
with ExitStack() as stack:
    reading = Reading(pathlib.Path(sys.argv[1]), stack)
    for line in sys.stdin:
        print(len(reading.events("one")), flush=True)
"""


def test_who_may_only_read_sees_what_others_add() -> None:
    with tempfile.TemporaryDirectory() as outside:  # where others may look, too
        store = Path(outside, "store")
        with open_ledger(store) as ledger:
            ledger.append("one", STARTED)
            Path(outside).chmod(0o755)
            for path in (*store.iterdir(), store):
                path.chmod(0o755 if path.is_dir() else 0o644)
            command = [sys.executable, "-c", FOLLOW, str(store)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
                assert reader.stdin
                assert reader.stdout

                def seen() -> int:
                    reader.stdin.write("\n")
                    reader.stdin.flush()
                    return int(reader.stdout.readline())

                assert seen() == 1
                ledger.append("one", STARTED)
                assert seen() == 2
                assert seen() == 2
                reader.stdin.close()
