import time

import pytest

from cutset.drill.observe import Observer, operation_of
from cutset.drill.phases import ENVIRONMENT, marked, planned_faults
from cutset.model.drill import DrillTest, Phase, Sample, point_of
from cutset.model.span import Span, SpanKind
from cutset_agent import wire


def planned(fault: str, occurrence: int) -> list[int]:
    test = DrillTest("GET /", 0, point_of("shop", "db/psycopg/execute", occurrence), fault)
    return [wire_fault.occurrence for _, wire_fault in planned_faults(test)]


def test_a_lasting_fault_hits_the_last_call_and_its_repetitions() -> None:
    assert planned("connection-lost", 1) == [0]  # every call
    assert planned("connection-lost", 3) == list(range(3, 19))
    assert planned("connection-lost", 98) == [98, 99]


def test_a_fault_of_a_moment_hits_one_call() -> None:
    assert planned("lost-answer", 1) == [1]
    assert planned("deadlock", 3) == [3]


@pytest.mark.parametrize("occurrence", [1, 2, 19])
def test_the_plan_in_the_headers_is_the_one_that_the_agent_reads(occurrence: int) -> None:
    test = DrillTest("GET /", 0, point_of("shop", "db/psycopg/execute", occurrence), "connection-lost")
    headers = marked(planned_faults(test), "a" * 32, b"key")

    values = dict.fromkeys(member.partition("=")[2] for member in headers["baggage"].split(","))
    parts = [wire.decode(value, b"key", ENVIRONMENT, time.time()) for value in values]
    found = [fault for part in parts for fault in part.faults_at(wire.WireTarget("shop", "db/psycopg/execute"))]
    assert tuple((wire.WireTarget("shop", "db/psycopg/execute"), fault) for fault in found) == planned_faults(test)
    assert headers["traceparent"].startswith(f"00-{'a' * 32}-")


def span(span_id: str, kind: SpanKind = SpanKind.CLIENT, trace_id: str = "t", **attributes: str) -> Span:
    named = {f"cutset.{name}": value for name, value in attributes.items()}
    return Span(trace_id, span_id, "", "shop", "x", kind, 2_000_000_000, 2_500_000_000, True, named)


def test_spans_become_operations_with_their_facts() -> None:
    found = operation_of(
        span("1", endpoint="db/psycopg/execute", occurrence="3", fault="deadlock", payload="ab", rows="1"),
        1_000_000_000,
    )

    assert (found.endpoint, found.occurrence, found.fault, found.payload) == ("db/psycopg/execute", 3, "deadlock", "ab")
    assert (found.started_at, found.seconds, found.failed, found.facts) == (1.0, 0.5, True, {"rows": "1"})


def test_only_expected_traces_are_kept_and_what_comes_twice_counts_once() -> None:
    observer = Observer()
    observer.expect("t")
    call = span("1", endpoint="cache/redis/get", occurrence="1")
    observer.receive([call, span("2", trace_id="other", endpoint="cache/redis/get")])
    observer.receive([call])

    assert observer.count == 1
    assert not observer.has_ended("t")
    observer.receive([span("3", SpanKind.SERVER)])
    assert observer.has_ended("t")
    completed = observer.complete(Sample(Phase.FAULT, 0.0, 0.1, ok=True, trace_id="t"), 0)
    assert [operation.endpoint for operation in completed.operations] == ["cache/redis/get"]
