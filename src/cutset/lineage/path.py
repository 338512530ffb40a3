"""What one execution did, in terms of points: its path, what failed, and what proves that the plan worked.

LDFI's lineage (FastFI §2.1, §3.1): the path of a successful execution is what it relied on. A call that failed and was
tolerated is not on it, nor is anything that was called on behalf of such a call.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from cutset.lineage.calls import Attempt, attempts_with_callers, calls_of, status_of
from cutset.model.fault import Cut, Fault
from cutset.model.outcome import CallSeen, Points
from cutset.model.point import Point
from cutset.model.span import Span

_NO_DRIVER = "none"  # no span has this for a parent


class Level(StrEnum):
    """How finely points are told apart."""

    API = "api"
    REPLICA = "replica"


@dataclass(frozen=True, slots=True)
class Lineage:
    path: Points
    failed: Points  # points whose call failed after all its attempts
    calls: Points
    retried: Points  # points of calls whose attempts went to several replicas
    unplanned: Points  # calls that the plan did not reach, though the trace did
    fired: frozenset[Fault]  # faults that the mesh says it executed
    escaped: frozenset[Fault]  # faults whose point was called, but not faulted
    seen: tuple[CallSeen, ...]  # each attempt, in the order of time


def read_lineage(spans: Sequence[Span], root_id: str, cut: Cut, level: Level) -> Lineage:
    path: set[Point] = set()
    failed: set[Point] = set()
    called: set[Point] = set()
    retried: set[Point] = set()
    unplanned: set[Point] = set()
    fired: set[Fault] = set()
    escaped: set[Fault] = set()
    for call in calls_of(spans, root_id):
        points = [_at(level, attempt.point) for attempt in call.attempts]
        called.update(points)
        if len(set(points)) > 1:
            retried.update(points)
        if call.failed:
            failed.update(points)
        elif not call.within_failure:
            path.add(points[-1])
        for attempt in call.attempts:
            if not attempt.planned:
                unplanned.add(_at(level, attempt.point))
            for fault in cut:
                if _addresses(fault.point, attempt.point):
                    (fired if attempt.injected else escaped).add(fault)
    return Lineage(
        path=frozenset(path),
        failed=frozenset(failed),
        calls=frozenset(called),
        retried=frozenset(retried),
        unplanned=frozenset(unplanned),
        fired=frozenset(fired),
        # By their own terms these may leave an attempt alone.
        escaped=frozenset(fault for fault in escaped if fault.percent == 100 and fault.attempts == 0),
        seen=tuple(_seen(spans, root_id, level)),
    )


def _seen(spans: Sequence[Span], root_id: str, level: Level) -> Iterator[CallSeen]:
    for attempt, caller in attempts_with_callers(spans, root_id):
        milliseconds = (attempt.span.end_ns - attempt.span.start_ns) // 1_000_000
        yield CallSeen(_at(level, attempt.point), str(caller or ""), status_of(attempt.span), milliseconds)


def foreign_attempts(spans: Iterable[Span]) -> Iterator[tuple[Point, Attempt]]:
    """The first attempts of all calls in traces that are not of the driver's making, each with what was called."""
    for call in calls_of(spans, root_id=_NO_DRIVER):
        yield _at(Level.API, call.attempts[0].point), call.attempts[0]


def _at(level: Level, point: Point) -> Point:
    return point if level is Level.REPLICA else replace(point, replica="")


def _addresses(wanted: Point, called: Point) -> bool:
    return wanted.of_api == called.of_api and wanted.replica in ("", called.replica)
