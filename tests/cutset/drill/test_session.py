"""Drills on a real service with the agent in it; what a circuit breaker does after the fault decides."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import yaml

from cutset.drill import history
from cutset.drill.flows import flows_of
from cutset.drill.plan import make_plan
from cutset.drill.session import DrillFinished, ServiceStarted, SessionEvent, run_session
from cutset.drill.settings import DrillSettings, Pace, Selection, ServiceUnderTest
from cutset.model.drill import DrillResult, DrillTest, DrillVerdict, Phase, Symptom
from cutset.model.exchange import Exchange, Operation
from cutset.model.point import Point
from cutset.workload.recording.folder import open_recording

CHARGE = Exchange(
    id="1",
    service="bank-client",
    trace_id="",
    started_at=1.0,
    seconds=0.01,
    method="POST",
    path="/charges",
    request_headers=(("content-type", "application/json"),),
    request_body=b'{"charge_id": "c-1", "cents": 4200}',
    status=201,
    operations=(Operation("rpc/aiohttp/POST /charges", 1, 1.0, 0.005, failed=False),),
)


def command(variant: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "cutset_demo.flaws", "stuck-circuit", "--variant", variant, "--port", "{port}")


def settings(variant: str, *faults: str) -> DrillSettings:
    # Few answers after the fault tell a broken service, a good one takes as many as the machine needs time for.
    patience = 0 if variant == "broken" else 20
    return DrillSettings(
        ServiceUnderTest(command(variant), ready_line="ready"),
        pace=Pace(startup=0.4, fault=0.4, recovery=1.2, patience=patience, rate=80),
        selection=Selection(faults=faults),
    )


def drill(variant: str, *faults: str, store: Path) -> list[SessionEvent]:
    chosen = settings(variant, *faults)
    plan = make_plan(flows_of([CHARGE]), chosen.selection)
    events: list[SessionEvent] = []
    tests = [each.test for each in plan.tests]
    asyncio.run(run_session("s1", tests, plan.flows, chosen, store=store, tell=events.append))
    return events


def results_in(events: list[SessionEvent]) -> list[DrillResult]:
    return [event.result for event in events if isinstance(event, DrillFinished)]


def test_a_circuit_that_never_closes_is_found_and_the_service_started_afresh_for_the_next_test(tmp_path: Path) -> None:
    events = drill("broken", "connection-refused", "status-503", store=tmp_path)

    results = results_in(events)
    assert [result.judgement.verdict for result in results] == [DrillVerdict.FAILED, DrillVerdict.FAILED]
    assert {finding.symptom for result in results for finding in result.judgement.findings} == {Symptom.NO_RECOVERY}
    assert sum(isinstance(event, ServiceStarted) for event in events) == 2
    assert [result for _, result in history.results(tmp_path)] == results
    assert history.unfinished_session(tmp_path) == ""


def test_a_circuit_that_closes_again_passes_on_one_start(tmp_path: Path) -> None:
    events = drill("correct", "connection-refused", "status-503", store=tmp_path)

    results = results_in(events)
    assert [result.judgement.verdict for result in results] == [DrillVerdict.PASSED, DrillVerdict.PASSED]
    assert all(result.judgement.phases[1].fired for result in results)
    assert {point.phase for point in results[0].timeline} == set(Phase)
    assert sum(isinstance(event, ServiceStarted) for event in events) == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_nothing_is_left_behind_when_the_command_is_ended(tmp_path: Path, number: signal.Signals, code: int) -> None:
    with open_recording(tmp_path / "recording") as recording:
        recording.append([CHARGE])
    test = DrillTest("POST /charges", 0, Point.parse("bank-client>rpc/aiohttp/POST /charges"), "status-503")
    section = {"command": list(command("correct")), "ready_line": "ready", "phases": {"startup": 30}}
    (tmp_path / "cutset.yaml").write_text(yaml.safe_dump({"drill": section}))
    # In a session of its own, as if a user had started it: the signal is for the command alone.
    process = subprocess.Popen(
        [sys.executable, "-m", "cutset", "drill", "--replay", test.id],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert wait_for(lambda: "ready" in "".join(log.read_text() for log in tmp_path.glob(".cutset/drills/*/*.log")))
        [service] = _services(process.pid)
        os.kill(process.pid, number)
        assert process.wait(20) == code
        assert wait_for(lambda: not service.is_running() or service.status() == psutil.STATUS_ZOMBIE)
    finally:
        process.kill()
        process.wait()


def _services(parent: int) -> list[psutil.Process]:
    found = []
    for child in psutil.Process(parent).children(recursive=True):
        try:
            if child.cmdline()[1:4] == ["-m", "cutset_demo.flaws", "stuck-circuit"]:
                found.append(child)
        except (psutil.Error, IndexError):
            continue
    return found


def wait_for(condition, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False
