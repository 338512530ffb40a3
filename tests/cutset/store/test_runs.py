from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.campaign import experiment

from cutset.errors import UsageError
from cutset.model.impact import GuardTripped
from cutset.model.outcome import Verdict
from cutset.model.request import FunctionStep, Request, Response, Step, WorkloadStep
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.ledger import open_ledger
from cutset.store.runs import fingerprint, impact_events, is_held, latest_run, new_run, resumed_run, tried_by_hand

STARTED = RunStarted(loop=Loop.DRILL, fingerprint=fingerprint(command=["serve"], pace=2.0), command="drill")


def test_a_run_that_was_not_finished_is_resumed_and_a_finished_one_is_not(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        with new_run(ledger, STARTED) as run:
            pass
        with resumed_run(ledger, STARTED) as again:
            assert again == run
        ledger.append(run, RunFinished())
        with pytest.raises(UsageError, match="no unfinished drill to resume"), resumed_run(ledger, STARTED):
            pass


def test_the_first_event_tells_the_id(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger, new_run(ledger, STARTED) as run:
        (event,) = ledger.events(run)

    assert isinstance(event, RunStarted)
    assert event.run == run


def test_what_changed_since_then_is_named(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        with new_run(ledger, STARTED):
            pass
        now = RunStarted(loop=Loop.DRILL, fingerprint=fingerprint(command=["other"], pace=2.0), command="drill")
        with pytest.raises(UsageError, match="begun with other command, so"), resumed_run(ledger, now):
            pass


def test_a_run_that_is_under_way_is_nobody_elses(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger, new_run(ledger, STARTED):  # noqa: SIM117 -- one is inside the other
        with pytest.raises(UsageError, match="still running"), resumed_run(ledger, STARTED):
            pass


def test_whoever_looks_can_tell_whether_a_run_is_under_way(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        with new_run(ledger, STARTED) as run:
            assert is_held(tmp_path, run)
        assert not is_held(tmp_path, run)
    assert not is_held(tmp_path, "nothing")


def test_an_impact_that_was_killed_is_in_nobodys_way(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        with new_run(ledger, STARTED) as drill:
            pass
        with new_run(ledger, RunStarted(loop=Loop.IMPACT, command="impact")) as run:
            ledger.append(run, GuardTripped(guard="halt", reason="", at=1.0))

        with resumed_run(ledger, STARTED) as again:
            assert again == drill
        assert [type(event) for event in impact_events(ledger, run)] == [RunStarted, GuardTripped]


def test_the_latest_run_is_one_that_serves_no_other(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        with pytest.raises(UsageError, match="holds no campaign"):
            latest_run(ledger, Loop.CAMPAIGN)
        ledger.append("first", RunStarted(loop=Loop.CAMPAIGN))
        ledger.append("verification", RunStarted(loop=Loop.CAMPAIGN, part_of="hardening"))

        assert latest_run(ledger, Loop.CAMPAIGN).id == "first"
        assert latest_run(ledger, Loop.CAMPAIGN, "verification").id == "verification"
        with pytest.raises(UsageError, match="no campaign `third`") as caught:
            latest_run(ledger, Loop.CAMPAIGN, "third")
        assert caught.value.hint == "Known: `first`, `verification`"


def test_a_run_that_serves_another_is_resumed_for_that_one_only(tmp_path: Path) -> None:
    served = replace(STARTED, part_of="hardening")
    with open_ledger(tmp_path) as ledger:
        with new_run(ledger, served) as run:
            pass
        with pytest.raises(UsageError, match="no unfinished drill"), resumed_run(ledger, STARTED):
            pass
        other = replace(STARTED, part_of="another")
        with pytest.raises(UsageError, match="no unfinished drill"), resumed_run(ledger, other):
            pass
        with resumed_run(ledger, served) as again:
            assert again == run


def test_a_fingerprint_tells_requests_apart_and_holds_nothing_of_them() -> None:
    secret = Request("GET /", Step("GET", "/", headers={"authorization": "Bearer hunter2"}))
    other = Request("GET /", Step("GET", "/", headers={"authorization": "Bearer hunter3"}))

    assert fingerprint(requests=[secret]) != fingerprint(requests=[other])
    assert fingerprint(requests=[secret]) == fingerprint(requests=[secret])
    assert "hunter2" not in str(fingerprint(requests=[secret]))


def test_code_that_makes_a_request_is_known_by_its_name_and_version() -> None:
    async def run(_: object) -> Response:
        return Response()

    first, again, changed = (
        fingerprint(requests=(Request("buy", step),))
        for step in (
            WorkloadStep("flows:buy", run, "1"),
            WorkloadStep("flows:buy", print, "1"),
            WorkloadStep("flows:buy", run, "2"),
        )
    )
    assert first == again != changed
    assert fingerprint(requests=(Request("buy", FunctionStep("a", run)),)) != fingerprint(
        requests=(Request("buy", FunctionStep("b", run)),)
    )


def test_experiments_by_hand_are_those_of_runs_that_serve_the_campaign(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        for run, part_of in (("campaign", ""), ("by-hand", "campaign"), ("other", "hardening")):
            ledger.append(run, RunStarted(loop=Loop.CAMPAIGN, run=run, part_of=part_of))
            ledger.append(run, experiment(run, Verdict.SURVIVED, "200", "cart/GetCart"), at=7.0)
            ledger.append(run, RunFinished())

        assert [(at, event.request) for at, event in tried_by_hand(ledger, "campaign")] == [(7.0, "by-hand")]
