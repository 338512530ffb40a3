"""Sessions of drills on a real service, recorded in a real ledger, ended at any moment."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import yaml
from tests.samples.stuck_circuit import CHARGE, command, record_charge, settings

from cutset.app.drill import (
    DrillCase,
    drill,
    old_history,
    plan_drills,
    read_case,
    replay_drill,
    write_page,
)
from cutset.drill.settings import DrillSettings
from cutset.errors import HaltedError, TargetError, UsageError
from cutset.guards.halting import HaltOrder, give_order, lift_order
from cutset.model.drill import (
    DrillEvent,
    DrillFinished,
    DrillsPlanned,
    DrillVerdict,
    Phase,
    PhaseBegan,
    ServiceStarted,
    Thresholds,
    results_of,
)
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.active import active_injections
from cutset.store.audit import audit_entries
from cutset.store.ledger import open_ledger
from cutset.workload.recording.folder import open_recording


def case_of(folder: Path, variant: str, *faults: str) -> DrillCase:
    record_charge(folder)
    return read_case(settings(variant, *faults, folder=folder))


def run(events: AsyncGenerator[DrillEvent, None], *, until: type | None = None) -> list[DrillEvent]:
    """All of them, or those before the first of a kind, at which it is interrupted."""

    async def collected() -> list[DrillEvent]:
        found = []
        async for event in events:
            if until and isinstance(event, until):
                await events.aclose()
                break
            found.append(event)
        return found

    return asyncio.run(collected())


def verdicts(events: list[DrillEvent]) -> dict[str, str]:
    return {result.test.fault: result.judgement.verdict for result in results_of(events)}


def recorded(store: Path) -> list[list[DrillEvent]]:
    with open_ledger(store) as ledger:
        return [ledger.events(each.id) for each in ledger.runs(Loop.DRILL)]


def test_a_session_that_is_halted_keeps_what_it_has_and_goes_on_once_that_is_lifted(tmp_path: Path) -> None:
    case, store = case_of(tmp_path, "correct", "connection-refused", "status-503"), tmp_path / "store"

    first: list[DrillEvent] = []

    async def until_halted() -> None:
        async for event in drill(case, store=store):
            first.append(event)
            if isinstance(event, PhaseBegan) and event.phase is Phase.FAULT and results_of(first):
                (active,) = active_injections(store)
                assert (active.loop, active.process) == ("drill", os.getpid())
                give_order(store, HaltOrder("anna@laptop"))

    with pytest.raises(HaltedError, match="halted by anna@laptop"):
        asyncio.run(until_halted())
    (before,) = {entry.cut for entry in audit_entries(store)}  # of the second test nothing was injected
    assert before == str(results_of(first)[0].test)
    with pytest.raises(HaltedError):
        run(drill(case, store=store, resume=True))
    assert recorded(store) == [first]
    assert active_injections(store) == []

    lift_order(store)
    events = run(drill(case, store=store, resume=True))

    assert events[: len(first)] == first
    assert len(results_of(events)) == 2
    assert {entry.cut for entry in audit_entries(store)} == {str(result.test) for result in results_of(events)}
    assert {entry.loop for entry in audit_entries(store)} == {"drill"}


def test_a_session_is_recorded_from_its_start_to_its_end(tmp_path: Path) -> None:
    case = case_of(tmp_path, "broken", "connection-refused", "status-503")

    events = run(drill(case, store=tmp_path / "store"))

    assert [events] == recorded(tmp_path / "store")
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)
    assert verdicts(events) == {"connection-refused": "failed", "status-503": "failed"}
    page = write_page(tmp_path / "store", events)
    assert page == tmp_path / "store" / "drills" / events[0].run / "index.html"
    assert page.read_text().count("<svg") == 2
    assert b"s3cr3t" in CHARGE.request_body
    assert not any(b"s3cr3t" in file.read_bytes() for file in (tmp_path / "store").rglob("*") if file.is_file())


def test_what_passed_is_not_repeated_unless_the_service_changes_or_again_is_said(tmp_path: Path) -> None:
    case, store = case_of(tmp_path, "correct", "status-503"), tmp_path / "store"
    [test] = [each.test for each in plan_drills(case, store=store).tests]
    assert not store.exists()
    assert verdicts(run(drill(case, store=store))) == {"status-503": "passed"}

    assert not plan_drills(case, store=store).tests
    assert [each.test for each, _ in plan_drills(case, store=store).not_repeated] == [test]
    assert [each.test for each in plan_drills(case, store=store, again=True).tests] == [test]
    service = replace(case.settings.service, env={"LEVEL": "debug"})
    changed = replace(case, settings=replace(case.settings, service=service))
    assert [each.test for each in plan_drills(changed, store=store).tests] == [test]
    events = run(drill(case, store=store))
    assert [event for event in events if isinstance(event, DrillsPlanned)] == [DrillsPlanned(tests=(), not_repeated=1)]


def test_a_session_that_was_interrupted_goes_on_and_repeats_no_finished_test(tmp_path: Path) -> None:
    case, store = case_of(tmp_path, "correct", "connection-refused", "status-503"), tmp_path / "store"
    before = run(drill(case, store=store), until=DrillFinished)

    events = run(drill(case, store=store, resume=True))

    assert [events] == recorded(store)
    assert events[: len(before)] == before
    assert verdicts(events) == {"connection-refused": "passed", "status-503": "passed"}
    assert len(results_of(events)) == 2
    assert [event.number for event in events if isinstance(event, ServiceStarted)] == [1, 2]
    with pytest.raises(UsageError, match="no unfinished drill"):
        run(drill(case, store=store, resume=True))


def test_a_session_does_not_go_on_with_another_service(tmp_path: Path) -> None:
    case, store = case_of(tmp_path, "correct", "status-503"), tmp_path / "store"
    run(drill(case, store=store), until=PhaseBegan)
    others = settings("broken", "status-503", folder=tmp_path)

    with pytest.raises(UsageError, match="begun with other command, so it cannot be resumed"):
        run(drill(read_case(others), store=store, resume=True))


def test_a_test_is_replayed_as_a_run_of_its_own_which_is_not_resumed(tmp_path: Path) -> None:
    case, store = case_of(tmp_path, "broken", "status-503"), tmp_path / "store"
    first = run(drill(case, store=store))
    [failed] = results_of(first)
    fixed = read_case(settings("correct", folder=tmp_path))

    run(replay_drill(fixed, failed.test.id, store=store), until=PhaseBegan)
    events = run(replay_drill(fixed, failed.test.id, store=store))

    assert events[0].part_of == first[0].run
    assert verdicts(events) == {"status-503": "passed"}
    with pytest.raises(UsageError, match="no unfinished drill"):
        run(drill(fixed, store=store, resume=True))
    with pytest.raises(UsageError, match="There is no test `12345678`"):
        run(replay_drill(fixed, "12345678", store=store))


def test_a_session_that_could_not_begin_is_not_what_is_resumed(tmp_path: Path) -> None:
    case, store = case_of(tmp_path, "correct", "status-503"), tmp_path / "store"
    run(drill(case, store=store), until=PhaseBegan)
    service = replace(case.settings.service, command=(sys.executable, "-c", "raise SystemExit('no database')"))

    with pytest.raises(TargetError, match="no database"):
        run(drill(replace(case, settings=replace(case.settings, service=service)), store=store))

    assert verdicts(run(drill(case, store=store, resume=True))) == {"status-503": "passed"}


def test_thresholds_of_a_class_that_does_not_exist_are_refused(tmp_path: Path) -> None:
    record_charge(tmp_path)
    mistaken = replace(settings("correct", folder=tmp_path), classes={"POST /charge": Thresholds()})

    with pytest.raises(UsageError, match=r"`drill\.classes` names `POST /charge`") as caught:
        read_case(mistaken)

    assert caught.value.hint.startswith("Did you mean `POST /charges`? Known: `POST /charges`")


def test_a_recording_without_requests_is_refused(tmp_path: Path) -> None:
    with open_recording(tmp_path / "recording") as recording:
        recording.append([replace(CHARGE, method="MESSAGE")])

    with pytest.raises(UsageError, match="has no request that can be sent again"):
        read_case(settings("correct", folder=tmp_path))


def test_points_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    case = case_of(tmp_path, "correct")
    selection = replace(case.settings.selection, only=("db/",))

    with pytest.raises(UsageError, match="No point of the recording begins with `db/`") as caught:
        plan_drills(replace(case, settings=replace(case.settings, selection=selection)), store=tmp_path)

    assert caught.value.hint == "There are bank-client>rpc/aiohttp/POST /charges"


def test_what_earlier_versions_wrote_is_noticed(tmp_path: Path) -> None:
    assert old_history(tmp_path) is None
    (tmp_path / "drills.jsonl").write_text('{"format": 1}\n')
    assert old_history(tmp_path) == tmp_path / "drills.jsonl"


def configured(folder: Path, chosen: DrillSettings) -> None:
    record_charge(folder)
    section = {
        "command": list(chosen.service.command),
        "ready_line": "ready",
        "faults": list(chosen.selection.faults),
        "phases": {name: getattr(chosen.pace, name) for name in ("startup", "fault", "recovery", "patience", "rate")},
    }
    (folder / "cutset.yaml").write_text(yaml.safe_dump({"drill": section}))


def start(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    # In a session of its own, as if a user had started it: a signal is for the command alone.
    arguments = [sys.executable, "-m", "cutset", "drill", *options]
    with (folder / "stderr").open("ab") as errors:
        return subprocess.Popen(arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)


def test_killed_at_any_instant_a_session_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    faults = ("connection-refused", "status-503", "status-429")
    configured(tmp_path, settings("broken", *faults))
    known: list[DrillEvent] = []
    for options in ((), ("--resume",), ("--resume",)):
        _kill_at_some_moment(tmp_path, len(known), *options)
        assert events_in(tmp_path)[: len(known)] == known
        known = events_in(tmp_path)
    if not isinstance(known[-1], RunFinished):  # it may have been faster than the last kill
        assert start(tmp_path, "--resume").wait(120) == 1, (tmp_path / "stderr").read_text()

    events = events_in(tmp_path)
    assert events[: len(known)] == known
    assert isinstance(events[-1], RunFinished)
    assert sorted((result.test.fault, result.judgement.verdict) for result in results_of(events)) == sorted(
        (fault, DrillVerdict.FAILED) for fault in faults
    )
    assert wait_for(lambda: not services(tmp_path))


def _kill_at_some_moment(folder: Path, known: int, *options: str) -> None:
    """After it has recorded something new, or ended."""
    process = start(folder, *options)
    try:
        assert wait_for(lambda: process.poll() is not None or len(events_in(folder)) > known)
        time.sleep(random.uniform(0, 2.5))
    finally:
        process.kill()
        process.wait()


def events_in(folder: Path) -> list[DrillEvent]:
    if not (folder / ".cutset" / "ledger.sqlite").exists():
        return []
    with open_ledger(folder / ".cutset") as ledger:
        runs = ledger.runs(Loop.DRILL)
        assert len(runs) <= 1
        return [event for each in runs for event in ledger.events(each.id)]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_nothing_is_left_behind_when_the_command_is_ended_and_it_says_how_to_go_on(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    configured(tmp_path, settings("correct", "status-503"))
    process = start(tmp_path, "--store", "kept")
    try:
        assert wait_for(lambda: any(tmp_path.glob("kept/drills/*/service-1.log")) and services(tmp_path))
        os.kill(process.pid, number)
        assert process.wait(20) == code
        assert wait_for(lambda: not services(tmp_path))
    finally:
        process.kill()
        process.wait()
    told = "Stopped; results kept: 0. Go on with `cutset drill --store kept --resume`"
    assert (told in (tmp_path / "stderr").read_text()) is (number is signal.SIGINT)


def services(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            ours = process.cmdline()[1:4] == list(command("broken")[1:4]) and process.cwd() == str(folder)
            if ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, IndexError):
            continue
    return found


def wait_for(condition, seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False
