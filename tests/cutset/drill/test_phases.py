import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.gates import gate_of

from cutset.drill.observe import Observer
from cutset.drill.phases import ENVIRONMENT, MAX_PLAN_SECONDS, Drill, SendFlow, marked, planned_faults, run_phases
from cutset.drill.settings import Pace
from cutset.errors import HaltedError
from cutset.guards.settings import GuardSettings
from cutset.model.drill import DrillTest, Phase, Thresholds, point_of
from cutset.model.request import Response
from cutset.model.span import Span, SpanKind
from cutset.store.audit import audit_entries
from cutset.workload.recording.masking import field_masker
from cutset.workload.replay import Sent
from cutset_agent import carriers, wire

KEY = b"a key for tests that nobody guesses"


def planned(fault: str, occurrence: int) -> list[int]:
    test = DrillTest("GET /", 0, point_of("shop", "db/psycopg/execute", occurrence), fault)
    return [wire_fault.occurrence for _, wire_fault in planned_faults(test)]


def test_a_lasting_fault_hits_the_last_call_and_its_repetitions() -> None:
    assert planned("connection-lost", 1) == [0]  # every call
    assert planned("connection-lost", 3) == list(range(3, 19))
    assert planned("connection-lost", 98) == [98, 99]


def test_a_test_at_a_peer_hits_no_other() -> None:
    test = DrillTest("GET /", 0, point_of("shop", "cache/redis/get", 2, "sessions:6379/0"), "moved")
    target = wire.WireTarget("shop", "cache/redis/get", "sessions:6379/0")
    assert [(where, fault.occurrence) for where, fault in planned_faults(test)] == [(target, 2)]


def test_a_fault_of_a_moment_hits_one_call() -> None:
    assert planned("lost-answer", 1) == [1]
    assert planned("deadlock", 3) == [3]


@pytest.mark.parametrize("occurrence", [1, 2, 19])
def test_the_plan_in_the_headers_is_the_one_that_the_agent_reads(occurrence: int) -> None:
    test = DrillTest("GET /", 0, point_of("shop", "db/psycopg/execute", occurrence), "connection-lost")
    headers = marked(planned_faults(test), "a" * 32, KEY, 5)

    values = dict.fromkeys(member.partition("=")[2] for member in headers["baggage"].split(","))
    parts = [wire.decode(value, KEY, ENVIRONMENT, "a" * 32, time.time()) for value in values]
    found = [fault for part in parts for fault in part.faults_at(wire.WireTarget("shop", "db/psycopg/execute"))]
    assert tuple((wire.WireTarget("shop", "db/psycopg/execute"), fault) for fault in found) == planned_faults(test)
    assert headers["traceparent"].startswith(f"00-{'a' * 32}-")


def drill_of(send: SendFlow, observer: Observer) -> Drill:
    test = DrillTest("GET /", 0, point_of("shop", "cache/redis/get"), "no-answer")
    pace = Pace(startup=0.05, fault=0.05, recovery=0.05, rate=100)
    return Drill(test, send, None, observer, KEY, pace, Thresholds(limit_seconds=1.0), field_masker())  # type: ignore[arg-type]


def phases_of(drill: Drill) -> list[Phase]:
    async def run() -> list[Phase]:
        return [phase async for phase in run_phases(drill)]

    return asyncio.run(run())


def test_where_nothing_is_called_nothing_is_injected_and_secrets_of_answers_are_not_kept() -> None:
    async def send(_client: object, headers: Callable[[int], Mapping[str, str]], _seconds: float) -> list[Sent]:
        headers(0)
        return [Sent("GET /", Response(200, "application/json", b'{"token": "s3cr3t", "price": 12}'))]

    drill = drill_of(send, Observer())

    assert phases_of(drill) == [Phase.STARTUP]
    assert {sample.phase for sample in drill.samples} == {Phase.STARTUP}
    assert all(b'"price":12' in sample.body and b"s3cr3t" not in sample.body for sample in drill.samples)


def test_the_plan_is_in_the_fault_phase_alone_and_the_fault_that_fired_leads_to_recovery() -> None:
    observer = Observer()
    planned: list[int] = []

    async def send(_client: object, headers: Callable[[int], Mapping[str, str]], _seconds: float) -> list[Sent]:
        sent = headers(0)
        values = [member.partition("=")[2] for member in sent["baggage"].split(",")]
        trace = sent["traceparent"].split("-")[1]
        parts = [wire.decode(value, KEY, ENVIRONMENT, trace, time.time()) for value in values]
        planned.append(sum(len(part.faults_at(wire.WireTarget("shop", "cache/redis/get"))) for part in parts))
        facts = {"cutset.endpoint": "cache/redis/get", "cutset.fault": "no-answer" if planned[-1] else ""}
        kinds = ((SpanKind.CLIENT, facts), (SpanKind.SERVER, {}))
        for number, (kind, attributes) in enumerate(kinds):
            observer.receive([Span(trace, str(number), "", "shop", "x", kind, 1, 2, attributes=attributes)])
        return [Sent("GET /", Response(200))]

    drill = drill_of(send, observer)

    assert phases_of(drill) == list(Phase)
    counts = [len(drill.of(phase)) for phase in Phase]
    assert all(counts)
    assert planned == [0] * counts[0] + [1] * counts[1] + [0] * counts[2]


@pytest.mark.parametrize(("limit", "life"), [(5.0, 5.0), (3600.0, MAX_PLAN_SECONDS)])
def test_a_plan_lives_no_longer_than_its_request(limit: float, life: float) -> None:
    before = time.time()
    headers = marked((), "a" * 32, KEY, limit)
    (part,) = carriers.read_plan(headers.items(), key=KEY, environment=ENVIRONMENT, now=time.time())
    assert before + life - 0.001 <= part.expires <= time.time() + life + 0.001  # it is told in milliseconds


def test_where_the_brake_is_pulled_the_test_ends_there(tmp_path: Path) -> None:
    observer = Observer()

    async def send(_client: object, headers: Callable[[int], Mapping[str, str]], _seconds: float) -> list[Sent]:
        trace = headers(0)["traceparent"].split("-")[1]
        for number, kind in enumerate((SpanKind.CLIENT, SpanKind.SERVER)):
            told = {"cutset.endpoint": "cache/redis/get"} if kind is SpanKind.CLIENT else {}
            observer.receive([Span(trace, str(number), "", "shop", "x", kind, 1, 2, attributes=told)])
        return [Sent("GET /", Response(200))]

    drill = replace(drill_of(send, observer), gate=gate_of(tmp_path, GuardSettings(max_marked=2)))

    with pytest.raises(HaltedError, match="2 requests were marked"):
        phases_of(drill)

    assert [entry.cut for entry in audit_entries(tmp_path)] == [str(drill.test)] * 2
