"""Drills made up for tests: what a well-behaved service shows, to be changed where a test says so."""

from collections.abc import Callable, Sequence

from cutset.judge.phases import judge_drill
from cutset.model.drill import DrillResult, DrillTest, ObservedOperation, Phase, Sample, TimelinePoint
from cutset.model.point import Point

TEST = DrillTest("POST /orders", 0, Point.parse("shop>db/psycopg/execute"), "connection-lost")


def operation(
    endpoint: str = "db/psycopg/execute",
    *,
    occurrence: int = 1,
    at: float = 0.0,
    failed: bool = False,
    fault: str = "",
    payload: str = "",
    **facts: str,
) -> ObservedOperation:
    return ObservedOperation(endpoint, occurrence, at, 0.001, failed or bool(fault), fault, payload, facts)


def sample(
    phase: Phase,
    number: int,
    *operations: ObservedOperation,
    status: int = 200,
    seconds: float = 0.01,
    error: str = "",
    body: bytes = b'{"price": 12, "name": "Mug"}',
) -> Sample:
    started = {Phase.STARTUP: 0.0, Phase.FAULT: 3.0, Phase.RECOVERY: 8.0}[phase]
    return Sample(
        phase,
        started + number / 20,
        seconds,
        status == 200,
        status,
        error,
        "application/json" if status else "",
        body,
        operations,
        f"{phase}-{number}",
    )


def drill(
    *,
    startup: Callable[[int], Sample] | None = None,
    fault: Callable[[int], Sample] | None = None,
    recovery: Callable[[int], Sample] | None = None,
    counts: Sequence[int] = (60, 100, 100),
) -> list[Sample]:
    """By default one statement per request, which fails cleanly, with a 503, while the fault lasts."""
    usual = operation(verb="SELECT")
    startup = startup or (lambda number: sample(Phase.STARTUP, number, usual))
    fault = fault or (lambda number: sample(Phase.FAULT, number, operation(fault=TEST.fault), status=503))
    recovery = recovery or (lambda number: sample(Phase.RECOVERY, number, usual))
    return [make(n) for make, count in zip((startup, fault, recovery), counts, strict=True) for n in range(count)]


def result(samples: Sequence[Sample]) -> DrillResult:
    points = tuple(TimelinePoint(s.phase, s.sent_at, s.seconds, s.ok, s.fired(TEST.fault)) for s in samples)
    return DrillResult(TEST, judge_drill(TEST, samples), points)


PASSED = result(drill())
FAILED = result(drill(recovery=lambda number: sample(Phase.RECOVERY, number, operation(), status=503)))
UNKNOWN = result(drill(fault=lambda number: sample(Phase.FAULT, number, operation(verb="SELECT"))))
