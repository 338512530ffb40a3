import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.samples.recorded_campaign import recorded_campaign

from cutset.errors import InputError, UsageError
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.ledger import NAME, open_ledger
from cutset.web.reading import MOST_KEPT, Reading


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[Reading]:
    with ExitStack() as stack:
        yield Reading(tmp_path / "store", stack)


def record(store: Path, run: str, *, loop: Loop = Loop.CAMPAIGN, part_of: str = "") -> None:
    with open_ledger(store) as ledger:
        ledger.append(run, RunStarted(loop=loop, run=run, part_of=part_of))


def test_where_nothing_was_recorded_there_is_nothing_and_nothing_is_made(reading: Reading) -> None:
    assert reading.refreshed() is None
    assert (reading.runs(), reading.events("one"), reading.position("one")) == ([], [], 0)
    with pytest.raises(UsageError, match="There is no campaign in this store") as told:
        reading.campaign()
    assert told.value.hint == "Nothing of that kind was recorded yet"
    assert not reading.store.exists()


def test_a_ledger_that_appears_later_is_read_as_it_grows(reading: Reading) -> None:
    assert reading.runs() == []
    record(reading.store, "one")
    assert [run.id for run in reading.runs()] == ["one"]
    with open_ledger(reading.store) as ledger:
        before = reading.position("one")
        ledger.append("one", RunFinished())
        assert reading.position("one") > before
        assert [run.finished for run in reading.runs()] == [True]


def test_a_ledger_that_was_deleted_is_gone_and_another_takes_its_place(reading: Reading) -> None:
    record(reading.store, "one")
    assert [run.id for run in reading.runs()] == ["one"]
    assert reading.computed("events", "one", lambda: "of the first") == "of the first"
    shutil.rmtree(reading.store)
    assert reading.runs() == []
    record(reading.store, "one", loop=Loop.DRILL)
    assert [run.started.loop for run in reading.runs()] == [Loop.DRILL]
    assert reading.computed("events", "one", lambda: "of the second") == "of the second"


def test_a_ledger_that_another_was_moved_over_is_the_other_one(reading: Reading, tmp_path: Path) -> None:
    record(reading.store, "one")
    assert [run.id for run in reading.runs()] == ["one"]
    record(tmp_path / "other", "two")
    (tmp_path / "other" / NAME).replace(reading.store / NAME)
    assert [run.id for run in reading.runs()] == ["two"]


def test_damage_is_told_each_time_until_the_ledger_is_restored(reading: Reading, tmp_path: Path) -> None:
    record(reading.store, "one")
    assert [run.id for run in reading.runs()] == ["one"]
    record(reading.store, "two")
    database = sqlite3.connect(reading.store / NAME, isolation_level=None)
    database.execute("VACUUM INTO ?", (str(tmp_path / "copy"),))
    database.execute("UPDATE events SET fields = replace(fields, 'campaign', 'drill') WHERE run = 'two'")
    database.close()

    for _ in range(2):
        with pytest.raises(InputError, match=r"Record 2 of the ledger .* is not as it was written"):
            reading.runs()
    shutil.copy(tmp_path / "copy", reading.store / NAME)
    assert [run.id for run in reading.runs()] == ["one", "two"]


def test_a_run_is_the_one_asked_for_or_the_latest_that_serves_no_other(reading: Reading) -> None:
    record(reading.store, "one")
    record(reading.store, "two")
    record(reading.store, "three", part_of="two")
    record(reading.store, "four", loop=Loop.DRILL)

    assert reading.run(Loop.CAMPAIGN).id == "two"
    assert reading.run(Loop.CAMPAIGN, "three").id == "three"
    with pytest.raises(UsageError, match="There is no campaign `four`") as told:
        reading.run(Loop.CAMPAIGN, "four")
    assert told.value.hint == "Known: `one`, `two`, `three`"


def test_a_campaign_is_composed_again_only_when_it_went_on(reading: Reading) -> None:
    recorded_campaign(reading.store)
    campaign = reading.campaign()
    assert campaign.summary.requests
    record(reading.store, "two", loop=Loop.DRILL)  # of no concern to it
    assert reading.campaign() is campaign
    with open_ledger(reading.store) as ledger:
        ledger.append("only", RunFinished(reason="the budget is spent"))
    assert reading.campaign() is not campaign


def test_what_was_computed_is_kept_within_bounds_those_asked_for_last(reading: Reading) -> None:
    record(reading.store, "one")
    computed: list[int] = []

    def ask(number: int) -> int:
        return reading.computed(f"{number}", "one", lambda: computed.append(number) or number)

    for number in range(MOST_KEPT):
        ask(number)
    ask(0)
    ask(MOST_KEPT)
    ask(0)
    ask(1)
    assert computed == [*range(MOST_KEPT + 1), 1]
