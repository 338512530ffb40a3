"""What one execution did, in terms of points: its path, what failed, and what proves that the plan worked.

LDFI's lineage (FastFI §2.1, §3.1): the path of a successful execution is what it relied on. A call that failed and was
tolerated is not on it, nor is anything that was called on behalf of such a call.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from cutset.lineage.agent_calls import MeshSides, agent_calls_of, calls_of_others, sides_of
from cutset.lineage.agent_spans import has_failed
from cutset.lineage.calls import Attempt, AttemptedCall, attempts_with_callers, calls_of, is_good, status_of
from cutset.model.effect import SPOILS_ANSWER, EffectChoice
from cutset.model.fault import Cut, Fault, points_of
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
    retried: Points  # points of calls whose attempts went to several replicas, of which one stood in for the others
    unplanned: Points  # calls that the plan did not reach, though the trace did
    fired: frozenset[Fault]  # faults that the mesh or an agent says it executed
    escaped: frozenset[Fault]  # faults whose point was called, but not faulted
    void: frozenset[Fault]  # faults that spoil answers, of calls that had none to spoil
    seen: tuple[CallSeen, ...]  # each attempt, in the order of time
    why_escaped: tuple[str, ...] = ()  # as agents say


def read_lineage(
    spans: Sequence[Span],
    root_id: str,
    cut: Cut,
    level: Level,
    *,
    sides: MeshSides = MappingProxyType({}),
    effects: EffectChoice = EffectChoice(),  # noqa: B008 -- frozen
) -> Lineage:
    """The caller's own side of a call that the mesh covers is a point only if one of the effects needs it."""
    path: set[Point] = set()
    failed: set[Point] = set()
    called: set[Point] = set()
    retried: set[Point] = set()
    unplanned: set[Point] = set()
    calls = [*calls_of(spans, root_id), *_at_agents(spans, root_id, points_of(cut), sides, effects)]
    in_vain = {mesh for mesh, agent in sides_of(spans, root_id).items() if has_failed(agent)}
    for call in calls:
        points = [_at(level, attempt.point) for attempt in call.attempts]
        called.update(points)
        # Who refuses what another should have done does not stand in for it.
        if len(set(points)) > 1 and is_good(call.attempts[-1].span):
            retried.update(points)
        if call.failed:
            failed.update(points)
        elif not call.within_failure and call.attempts[0].span.span_id not in in_vain:
            path.add(points[-1])
        unplanned.update(_at(level, attempt.point) for attempt in call.attempts if not attempt.planned)
    fired, escaped, void, why = _proof(cut, _attempts(calls, spans, sides))
    return Lineage(
        path=frozenset(path),
        failed=frozenset(failed),
        calls=frozenset(called),
        retried=frozenset(retried),
        unplanned=frozenset(unplanned),
        fired=fired,
        escaped=escaped,
        void=void,
        seen=tuple(_seen(calls, spans, level)),
        why_escaped=why,
    )


def fired_at(
    spans: Sequence[Span], root_id: str, cut: Cut, *, sides: MeshSides = MappingProxyType({})
) -> dict[str, Fault]:
    """Which fault of the cut happened where, by the id of the span that tells of it."""
    calls = [*calls_of(spans, root_id), *agent_calls_of(spans, root_id, sides)]
    return {
        attempt.span.span_id: fault
        for attempt in _attempts(calls, spans, sides)
        for fault in sorted(cut)
        if attempt.injected and _addresses(fault.point, attempt.point)
    }


def _attempts(calls: Sequence[AttemptedCall], spans: Sequence[Span], sides: MeshSides) -> list[Attempt]:
    return [*(attempt for call in calls for attempt in call.attempts), *calls_of_others(spans, sides)]


def _at_agents(
    spans: Sequence[Span], root_id: str, planned: Points, sides: MeshSides, effects: EffectChoice
) -> Iterator[AttemptedCall]:
    for call in agent_calls_of(spans, root_id, sides):
        point = call.attempts[0].point
        if point.is_endpoint or point in planned or effects.at(point):
            yield call


def _proof(
    cut: Cut, attempts: Sequence[Attempt]
) -> tuple[frozenset[Fault], frozenset[Fault], frozenset[Fault], tuple[str, ...]]:
    """Which faults fired, which should have, which had nothing to spoil, and why not as far as agents tell."""
    fired: set[Fault] = set()
    escaped: set[Fault] = set()
    void: set[Fault] = set()
    why: dict[str, None] = {}
    for fault in sorted(cut):
        for attempt in attempts:
            if not _addresses(fault.point, attempt.point):
                continue
            (void if _is_void(fault, attempt) else fired if attempt.injected else escaped).add(fault)
            if attempt.not_faulted:
                why[f"{fault.point}: {attempt.not_faulted}"] = None
    # By their own terms some may leave an attempt alone, unless an agent says that it was not for that.
    told = {fault for fault in escaped if any(each.startswith(f"{fault.point}: ") for each in why)}
    missed = frozenset(fault for fault in escaped if fault.always or fault in told)
    return frozenset(fired), missed, frozenset(void - fired - escaped), tuple(why)


def _seen(calls: Sequence[AttemptedCall], spans: Sequence[Span], level: Level) -> Iterator[CallSeen]:
    for attempt, caller in attempts_with_callers(calls, spans):
        milliseconds = (attempt.span.end_ns - attempt.span.start_ns) // 1_000_000
        yield CallSeen(_at(level, attempt.point), str(caller or ""), status_of(attempt.span), milliseconds)


def foreign_attempts(spans: Iterable[Span]) -> Iterator[tuple[Point, Attempt]]:
    """The first attempts of all calls in traces that are not of the driver's making, each with what was called."""
    for call in calls_of(spans, root_id=_NO_DRIVER):
        yield _at(Level.API, call.attempts[0].point), call.attempts[0]


def _at(level: Level, point: Point) -> Point:
    return point if level is Level.REPLICA else replace(point, replica="")


def _is_void(fault: Fault, attempt: Attempt) -> bool:
    """Because there was no answer to spoil: the call went as it would have gone without this fault."""
    return fault.effect.kind in SPOILS_ANSWER and not attempt.injected and attempt.without_answer


def _addresses(wanted: Point, called: Point) -> bool:
    if wanted.caller != called.caller or wanted.replica not in ("", called.replica):
        return False
    if wanted.is_endpoint and not wanted.peer:  # that is: at whichever peer
        return called.is_endpoint and wanted.endpoint == called.endpoint
    return wanted.of_api == called.of_api
