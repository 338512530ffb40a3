"""What the traces of one request class tell without any injection: which calls it makes, and when.

A call that is only made when another call of the same caller failed is a fallback, seen in the wild; a call that failed
while its caller answered well, without having asked the same again, is a failure that was tolerated in the wild.
Of a call whose caller is unknown, neither can be told.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from cutset.model.call_tree import UNKNOWN_CALLER, CallTree, Component, Role, calls_inside, gathering, occurrences
from cutset.model.point import Point

_CHANCE = 0.05  # that what looks like a fallback is none: a false one misleads more than a missing one


@dataclass(frozen=True, slots=True)
class CallUse:
    """How the requests of a class use one API, as called by one other."""

    caller: Point  # or UNKNOWN_CALLER
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
    in_calm_traces: int = 0
    in_good_traces: int = 0
    calls: int = 0
    failures: int = 0
    tolerated: int = 0
    without_failure: bool = False  # it was called although nothing else had failed
    failed_beside: frozenset[Point] | None = None  # what had failed whenever it was called
    instead_of: frozenset[Point] | None = None  # the same, of executions that succeeded


@dataclass(slots=True)
class _Caller:
    executions: int = 0
    disturbed: int = 0  # those in which some call failed
    failed: Counter[Point] = field(default_factory=Counter)  # those in which this one did

    def add(self, call: CallTree, traces: int) -> None:
        failed = {inner.point for inner in call.calls if inner.failed}
        self.executions += traces
        self.disturbed += traces * bool(failed)
        for point in failed:
            self.failed[point] += traces

    def chance(self, failed_beside: Collection[Point] | None, traces: int) -> float:
        """At most how likely it is that a call that has nothing to do with failures was seen beside them alone."""
        if self.disturbed == self.executions:
            return 1.0  # without an execution in which nothing failed, nobody knows what a failure changes
        beside = [len(self.failed) * (self.failed[point] / self.executions) ** traces for point in failed_beside or ()]
        return min([(self.disturbed / self.executions) ** traces, *beside])


def call_uses(kinds: Mapping[CallTree, int]) -> tuple[CallUse, ...]:
    """Of a class's kinds of executions, with the number of traces of each; sorted by caller and callee.

    What is always called is judged by executions in which no call failed, or else by requests that succeeded: after a
    failure, tolerated or not, calls are left out.
    """
    counts: dict[tuple[Point, Point], _Count] = {}
    callers: dict[Point, _Caller] = {}
    calm = good = 0
    edges_of = gathering(_edges, calls_inside)
    failed_in = gathering(lambda call: [True] if call.failed else [], calls_inside)
    alike: Counter[tuple[frozenset[tuple[Point, Point]], bool, bool]] = Counter()
    for tree, traces in kinds.items():
        alike[edges_of(tree), not failed_in(tree), not tree.failed] += traces
    for (edges, is_calm, is_good), traces in alike.items():
        calm += traces * is_calm
        good += traces * is_good
        for key in edges:
            count = counts.setdefault(key, _Count(Component.UNKNOWN))
            count.traces += traces
            count.in_calm_traces += traces * is_calm
            count.in_good_traces += traces * is_good
    for call, traces in occurrences(kinds, calls_inside).items():
        callers.setdefault(call.point, _Caller()).add(call, traces)
        _add(counts, call, traces)
        for orphan in call.known_orphans:
            count = counts[UNKNOWN_CALLER, orphan.point]
            count.component, count.without_failure = orphan.component, True
            count.calls += traces
            count.failures += traces * orphan.failed
    uses = []
    for (calling, called), count in sorted(counts.items()):
        role = Role.SOMETIMES
        if not count.without_failure and callers[calling].chance(count.failed_beside, count.traces) <= _CHANCE:
            role = Role.AFTER_FAILURE
        elif (count.in_calm_traces == calm) if calm else good and count.in_good_traces == good:
            role = Role.ALWAYS
        uses.append(_use(calling, called, role, count))
    return _with_calls_of_fallbacks(uses)


def _edges(caller: CallTree) -> list[tuple[Point, Point]]:
    known = [(caller.point, callee.point) for callee in caller.calls]
    return [*known, *((UNKNOWN_CALLER, orphan.point) for orphan in caller.known_orphans)]


def _add(counts: Mapping[tuple[Point, Point], _Count], caller: CallTree, traces: int) -> None:
    made = Counter(call.point for call in caller.calls)
    failures = Counter(call.point for call in caller.calls if call.failed)
    failed = frozenset(failures)
    for callee in {call.point: call for call in caller.calls}.values():
        count, point = counts[caller.point, callee.point], callee.point
        failed_beside = failed - {point}
        count.component = callee.component
        count.calls += traces * made[point]
        count.failures += traces * failures[point]
        if not caller.failed and failures[point] == made[point]:  # else it was asked again, with success
            count.tolerated += traces * failures[point]
        count.without_failure = count.without_failure or not failed_beside
        count.failed_beside = failed_beside if count.failed_beside is None else count.failed_beside & failed_beside
        if not caller.failed:  # else it may have been called to undo or to report, not in place of something
            count.instead_of = failed_beside if count.instead_of is None else count.instead_of & failed_beside


def _use(caller: Point, callee: Point, role: Role, count: _Count) -> CallUse:
    instead_of = count.instead_of if role is Role.AFTER_FAILURE and count.instead_of else frozenset()
    numbers = (count.traces, count.calls, count.failures, count.tolerated)
    return CallUse(caller, callee, count.component, role, *numbers, instead_of)


def _with_calls_of_fallbacks(uses: list[CallUse]) -> tuple[CallUse, ...]:
    """What only a fallback calls is part of the fallback."""
    while True:
        firm = {use.callee for use in uses if use.role is not Role.AFTER_FAILURE}
        fallbacks = {use.callee for use in uses} - firm
        inside = [use for use in uses if use.caller in fallbacks and use.role is Role.SOMETIMES]
        if not inside:
            return tuple(uses)
        uses = [replace(use, role=Role.AFTER_FAILURE) if use in inside else use for use in uses]
