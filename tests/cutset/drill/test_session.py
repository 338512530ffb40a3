"""Drills on a real service with the agent in it; what a circuit breaker does after the fault decides."""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from tests.samples.stuck_circuit import CHARGE, POINT, settings

from cutset.drill.flows import flows_of
from cutset.drill.plan import Flow, make_plan
from cutset.drill.session import run_session
from cutset.drill.settings import DrillSettings
from cutset.errors import TargetError
from cutset.model.drill import (
    DrillEvent,
    DrillFinished,
    DrillsPlanned,
    DrillTest,
    DrillVerdict,
    Phase,
    PhaseBegan,
    ServiceStarted,
    Symptom,
    results_of,
)


def session(
    chosen: DrillSettings, logs: Path, past: Sequence[DrillEvent] = (), record: list[DrillEvent] | None = None
) -> AsyncGenerator[DrillEvent, None]:
    def choose(flows: Sequence[Flow]) -> DrillsPlanned:
        return DrillsPlanned(tests=tuple(each.test for each in make_plan(flows, chosen.selection).tests))

    flows = {flow.name: flow for flow in flows_of([CHARGE])}
    recorded = [] if record is None else record
    return run_session(flows, chosen, choose, past=past, record=recorded.append, logs=logs)


def drill(chosen: DrillSettings, logs: Path, past: Sequence[DrillEvent] = ()) -> list[DrillEvent]:
    async def run() -> list[DrillEvent]:
        recorded: list[DrillEvent] = []
        async for event in session(chosen, logs, past, recorded):
            assert recorded[-1] is event
        return recorded

    return asyncio.run(run())


def test_a_circuit_that_never_closes_is_found_and_the_service_started_afresh_for_the_next_test(tmp_path: Path) -> None:
    events = drill(settings("broken", "connection-refused", "status-503"), tmp_path)

    results = results_of(events)
    assert [result.judgement.verdict for result in results] == [DrillVerdict.FAILED, DrillVerdict.FAILED]
    assert {finding.symptom for result in results for finding in result.judgement.findings} == {Symptom.NO_RECOVERY}
    assert [event.number for event in events if isinstance(event, ServiceStarted)] == [1, 2]
    assert sorted(log.name for log in tmp_path.iterdir()) == ["service-1.log", "service-2.log"]


def test_a_circuit_that_closes_again_passes_on_the_start_on_which_the_service_was_asked(tmp_path: Path) -> None:
    events = drill(settings("correct", "connection-refused", "status-503"), tmp_path)

    results = results_of(events)
    assert [result.judgement.verdict for result in results] == [DrillVerdict.PASSED, DrillVerdict.PASSED]
    assert all(result.judgement.phases[1].fired for result in results)
    assert {point.phase for point in results[0].timeline} == set(Phase)
    begun = [type(event) for event in events]
    of_one_test = [PhaseBegan, PhaseBegan, PhaseBegan, DrillFinished]
    assert begun == [ServiceStarted, DrillsPlanned, *of_one_test, *of_one_test]


def test_a_session_goes_on_with_the_tests_that_are_left_of_its_plan_and_asks_no_more(tmp_path: Path) -> None:
    tests = tuple(DrillTest("POST /charges", 0, POINT, fault) for fault in ("connection-refused", "status-503"))
    before = drill(settings("correct", "connection-refused"), tmp_path)
    [done] = [event for event in before if isinstance(event, DrillFinished)]
    past = [ServiceStarted(number=1), DrillsPlanned(tests=tests), done]

    events = drill(settings("correct"), tmp_path, past)

    assert [result.test for result in results_of(events)] == [tests[1]]
    assert [event for event in events if isinstance(event, ServiceStarted | DrillsPlanned)] == [
        ServiceStarted(number=2)
    ]
    assert drill(settings("correct"), tmp_path, [*past, *events]) == []


def test_a_service_without_the_agent_is_named_as_the_cause(tmp_path: Path) -> None:
    chosen = settings("correct", "status-503")
    service = replace(chosen.service, command=("env", "-u", "CUTSET_AGENT", *chosen.service.command))

    with pytest.raises(TargetError, match="the agent in it reported no call"):
        drill(replace(chosen, service=service), tmp_path)


def test_whoever_stops_listening_ends_the_service(tmp_path: Path) -> None:
    us = psutil.Process(os.getpid())
    others = set(us.children(recursive=True))  # servers that tests share

    async def first_phase() -> set[psutil.Process]:
        async with aclosing(session(settings("correct", "status-503"), tmp_path)) as events:
            async for event in events:
                if isinstance(event, PhaseBegan):
                    return set(us.children(recursive=True)) - others
        raise AssertionError

    children = asyncio.run(first_phase())

    assert children
    assert not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)
