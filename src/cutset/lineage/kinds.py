"""What the traces of one request class tell without any injection: which calls it makes, and when.

A call that is only made when another call of the same caller failed is a fallback, seen in the wild; a call that failed
while its caller answered well is a failure that was tolerated in the wild.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cutset.model.call_tree import CallTree, Component, Role
from cutset.model.point import Point


@dataclass(frozen=True, slots=True)
class CallUse:
    """How the requests of a class use one API, as called by one other."""

    caller: Point
    callee: Point
    component: Component
    role: Role
    traces: int  # in which it was called
    calls: int
    failures: int
    tolerated: int  # of the failures: the caller answered well all the same
    instead_of: frozenset[Point]  # for a fallback: what had failed whenever it was called


@dataclass(slots=True)
class _Count:
    component: Component
    traces: int = 0
    in_good_traces: int = 0
    calls: int = 0
    failures: int = 0
    tolerated: int = 0
    without_failure: bool = False  # it was called although nothing else had failed
    instead_of: frozenset[Point] | None = None


def call_uses(kinds: Mapping[CallTree, int]) -> tuple[CallUse, ...]:
    """Of a class's kinds of executions, with the number of traces of each; sorted by caller and callee.

    What is always called is judged by the requests that succeeded: those that failed may have ended early.
    """
    counts: dict[tuple[Point, Point], _Count] = {}
    # Without an execution in which nothing failed, nobody knows whether a call was made because of a failure.
    undisturbed = {
        call.point for tree in kinds for call in tree.walk() if not any(inner.failed for inner in call.calls)
    }
    good_traces = sum(traces for tree, traces in kinds.items() if not tree.failed)
    for tree, traces in kinds.items():
        seen: set[tuple[Point, Point]] = set()
        for caller, callee in tree.edges():
            key = (caller.point, callee.point)
            count = counts.setdefault(key, _Count(callee.component))
            if key not in seen:
                seen.add(key)
                count.traces += traces
                count.in_good_traces += 0 if tree.failed else traces
            count.calls += traces
            if callee.failed:
                count.failures += traces
                count.tolerated += 0 if caller.failed else traces
            failed_beside = _failed_beside(caller, callee)
            count.without_failure = count.without_failure or not failed_beside
            count.instead_of = failed_beside if count.instead_of is None else count.instead_of & failed_beside
    return tuple(
        _use(key, count, good_traces, comparable=key[0] in undisturbed) for key, count in sorted(counts.items())
    )


def _use(key: tuple[Point, Point], count: _Count, good_traces: int, *, comparable: bool) -> CallUse:
    role = Role.SOMETIMES
    if comparable and not count.without_failure:
        role = Role.AFTER_FAILURE
    elif good_traces and count.in_good_traces == good_traces:
        role = Role.ALWAYS
    return CallUse(
        *key,
        count.component,
        role,
        count.traces,
        count.calls,
        count.failures,
        count.tolerated,
        (count.instead_of or frozenset()) if role is Role.AFTER_FAILURE else frozenset(),
    )


def _failed_beside(caller: CallTree, callee: CallTree) -> frozenset[Point]:
    """What else the caller called that failed. The same API again would be a repetition, not a fallback."""
    return frozenset(call.point for call in caller.calls if call.failed and call.point != callee.point)
