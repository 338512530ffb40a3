from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.impacts import BEGIN, impact_events

from cutset.app.impact_results import (
    exit_code,
    impacts_in,
    is_impact,
    list_impacts,
    read_recorded_impact,
    recorded_in,
    repeat_of,
    write_impact_page,
)
from cutset.app.report import list_campaigns
from cutset.errors import TargetError, UsageError
from cutset.model.impact import ApiVerdict, GuardTripped
from cutset.model.run import Loop, RunStarted
from cutset.report.impact.comparison import compare
from cutset.store.ledger import open_ledger

EVENTS = list(impact_events())


def test_events_of_several_runs_are_told_apart() -> None:
    second = [replace(event, run="second") if isinstance(event, RunStarted) else event for event in EVENTS]
    first, other = impacts_in([*EVENTS, *second])
    assert (first.verdict, other.run) == (ApiVerdict.AFFECTED, "second")
    assert [len(each.events) for each in recorded_in([*EVENTS, *second])] == [len(EVENTS)] * 2
    assert impacts_in(EVENTS[:1]) == []


def test_the_exit_code_is_that_of_the_worst() -> None:
    (affected,) = impacts_in(EVENTS)
    fine = replace(affected, apis=tuple(replace(api, verdict=ApiVerdict.RESILIENT) for api in affected.apis))
    unknown = replace(affected, apis=())
    halted = replace(fine, guard=GuardTripped(guard="halt", reason="", at=0.0))
    assert [exit_code([impact]) for impact in (fine, affected, unknown, halted)] == [0, 1, 3, 4]
    assert exit_code([fine, unknown]) == 3
    assert exit_code([fine, unknown, affected]) == 1
    assert exit_code([halted, affected]) == 4
    assert exit_code([]) == 3


def test_compared_with_an_earlier_run_only_what_got_worse_counts() -> None:
    (affected,) = impacts_in(EVENTS)
    comparison = compare(affected, affected)
    assert exit_code([affected], comparison) == comparison.exit_code != 1
    halted = replace(affected, guard=GuardTripped(guard="halt", reason="", at=0.0))
    assert exit_code([halted], comparison) == 4


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with open_ledger(tmp_path / "store") as ledger:
        ledger.append("campaign", RunStarted(loop=Loop.CAMPAIGN, command="explore"))
        for run, marked in (("first", 40), ("second", 4)):
            for event in impact_events(marked_per_second=marked, others_per_second=20):
                ledger.append(run, event, at=BEGIN)
        ledger.append("broken off", RunStarted(loop=Loop.IMPACT, command="impact"))
    return tmp_path / "store"


def test_impacts_are_listed_with_when_they_began_and_what_came_of_them(store: Path) -> None:
    impacts = list_impacts(store)

    assert [at for at, _ in impacts] == [BEGIN, BEGIN]
    assert impacts[0][1].verdict is ApiVerdict.AFFECTED
    assert [run.id for run in list_campaigns(store)] == ["campaign"]


def test_an_impact_is_read_as_it_was_recorded_and_can_be_repeated(store: Path) -> None:
    recorded = read_recorded_impact(store, "first")

    assert list(recorded.events) == list(impact_events(others_per_second=20))
    assert repeat_of(recorded, store) == (
        f"cutset impact -c /shop/cutset.yaml --store {store} 'currency/Convert:abort(503)' --rate 30% --share 5%"
    )
    assert [is_impact(store, run) for run in ("first", "campaign", "nothing")] == [True, False, False]
    with pytest.raises(UsageError, match="no impact `campaign`"):
        read_recorded_impact(store, "campaign")


def test_a_page_that_cannot_be_written_does_not_lose_what_was_measured(tmp_path: Path) -> None:
    (recorded,) = recorded_in(EVENTS)
    write_impact_page(tmp_path / "new" / "impact.html", recorded, links="jaeger+http://jaeger")

    assert "http://jaeger/trace/" in (tmp_path / "new" / "impact.html").read_text()
    with pytest.raises(TargetError, match="Cannot write") as caught:
        write_impact_page(tmp_path, recorded)
    assert recorded.impact.run in caught.value.hint
