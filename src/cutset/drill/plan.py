"""Which tests to run, and why not the others (CAST §3.3, §3.4.2, §3.5.1).

The most complex request classes, each by its most complex recorded flow; of these the points, pruned: the last call
of several, a few services of many, and what data flow says of the rest. Every candidate that is left out has a reason.
"""

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean

from cutset.drill.faults import check_faults, faults_at
from cutset.drill.settings import Selection
from cutset.judge.symptoms import is_repeatable
from cutset.model.drill import DrillTest, endpoint_of, point_of
from cutset.model.exchange import Exchange, Operation
from cutset.model.point import Point
from cutset.select.complexity import DEFAULT_WEIGHTS, complexity
from cutset.select.dataflow import Dependency, Pattern, dependencies, is_write, statement_of
from cutset.workload.templates.template import Template
from cutset_agent.catalogue import catalogue

LOST_ANSWER = "lost-answer"


CalledPlace = tuple[str, str, str]  # the service that calls, its endpoint, and the peer if it is known


@dataclass(frozen=True, slots=True)
class FlowStep:
    name: str  # its request class
    exchange: Exchange
    consequences: tuple[Exchange, ...] = ()  # what happened because of it, in the same trace: messages handled, …
    called: frozenset[CalledPlace] | None = None  # as the service runs now; None: not known


@dataclass(frozen=True, slots=True)
class Flow:
    """Requests of one client that belong together, as they were recorded."""

    steps: tuple[FlowStep, ...]
    template: Template = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        return ", ".join(step.name for step in self.steps)

    @property
    def score(self) -> float:
        exchanges = [each for step in self.steps for each in (step.exchange, *step.consequences)]
        calls = [operation for exchange in exchanges for operation in exchange.operations]
        components = {tuple(operation.endpoint.split("/")[:2]) for operation in calls}
        seconds = sum(step.exchange.seconds for step in self.steps)
        return complexity(len(exchanges) + len(calls), len(components), 1e9 * seconds, DEFAULT_WEIGHTS)


@dataclass(frozen=True, slots=True)
class PlannedTest:
    test: DrillTest
    priority: int  # the higher, the sooner
    reason: str


@dataclass(frozen=True, slots=True)
class Pruned:
    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    tests: tuple[PlannedTest, ...] = ()
    pruned: tuple[Pruned, ...] = ()
    not_repeated: tuple[tuple[PlannedTest, str], ...] = ()  # with the reason: they passed lately


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One endpoint as one service calls it in one request of a flow."""

    flow: str
    step: int
    service: str
    operation: Operation  # the last one
    priority: int = 1
    reason: str = "the last such call in the request"
    only_lost_answers: bool = False

    @property
    def point(self) -> Point:
        return point_of(self.service, self.operation.endpoint, self.operation.occurrence, self.operation.peer)

    def __str__(self) -> str:
        return f"{self.point} in {self.flow}"


def points_in(flows: Iterable[Flow]) -> set[Point]:
    return {point_of(exchange.service, call.endpoint) for exchange, call in _operations(flows)}


def make_plan(flows: Iterable[Flow], selection: Selection) -> Plan:
    chosen, pruned = representatives(flows, selection.top)
    chosen = told_apart(chosen)
    candidates: list[_Candidate] = []
    for flow in chosen.values():
        for number, step in enumerate(flow.steps):
            for exchange in (step.exchange, *step.consequences):
                calls = _called(flow.name, number, step, exchange, pruned)
                candidates += _candidates(flow.name, number, exchange, calls, pruned)
    candidates = _of_interest(candidates, selection.only, pruned)
    candidates = _sampled(candidates, selection, pruned)
    if candidates:
        check_faults(selection.faults, {each.operation.endpoint for each in candidates})
    tests: dict[str, PlannedTest] = {}
    for planned in (test for candidate in candidates for test in _tests(candidate, selection, pruned)):
        tests.setdefault(planned.test.id, planned)  # a request and a message that it causes may make the same call
    return Plan(tuple(_by_coverage(list(tests.values()))), tuple(pruned))


def told_apart(flows: Mapping[str, Flow]) -> dict[str, Flow]:
    """Operations have their peers where an endpoint has several, and are counted for each; else a point is for all,
    so that it is the same wherever a store listens today.
    """
    peers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for exchange, operation in _operations(flows.values()):
        peers[exchange.service, operation.endpoint].add(operation.peer)

    def named(service: str, operation: Operation) -> Operation:
        if operation.peer and len(peers[service, operation.endpoint] - {""}) > 1:
            return replace(operation, occurrence=operation.peer_occurrence or operation.occurrence)
        return replace(operation, peer="")

    def renamed(exchange: Exchange) -> Exchange:
        return replace(exchange, operations=tuple(named(exchange.service, each) for each in exchange.operations))

    return {
        name: replace(
            flow,
            steps=tuple(
                replace(step, exchange=renamed(step.exchange), consequences=tuple(map(renamed, step.consequences)))
                for step in flow.steps
            ),
        )
        for name, flow in flows.items()
    }


def _operations(flows: Iterable[Flow]) -> Iterator[tuple[Exchange, Operation]]:
    for step in (step for flow in flows for step in flow.steps):
        for exchange in (step.exchange, *step.consequences):
            yield from ((exchange, operation) for operation in exchange.operations)


def representatives(flows: Iterable[Flow], top: int) -> tuple[dict[str, Flow], list[Pruned]]:
    """Of the highest-ranking classes the most complex flow each."""
    classes: dict[str, list[Flow]] = defaultdict(list)
    for flow in flows:
        classes[flow.name].append(flow)
    ranked = sorted(classes, key=lambda name: (-mean(flow.score for flow in classes[name]), name))
    pruned = [
        Pruned(name, f"{rank} request classes are more complex; `drill.top` is {top}")
        for rank, name in enumerate(ranked)
        if rank >= top
    ]
    return {name: max(classes[name], key=lambda flow: flow.score) for name in ranked[:top]}, pruned


def _called(flow: str, number: int, step: FlowStep, exchange: Exchange, pruned: list[Pruned]) -> list[Operation]:
    """In order, without what was called when it was recorded and is not now: a cache was cold, the code has changed."""
    kept = []
    for operation in sorted(exchange.operations, key=lambda operation: operation.started_at):
        if step.called is None or _is_called(exchange.service, operation, step.called):
            kept.append(operation)
        else:
            candidate = _Candidate(flow, number, exchange.service, operation)
            pruned.append(Pruned(str(candidate), "the service did not call it when asked now"))
    return kept


def _is_called(service: str, operation: Operation, called: Collection[CalledPlace]) -> bool:
    peers = {peer for caller, endpoint, peer in called if (caller, endpoint) == (service, operation.endpoint)}
    return bool(peers) and (not operation.peer or bool(peers & {"", operation.peer}))


def _candidates(
    flow: str, step: int, exchange: Exchange, operations: Sequence[Operation], pruned: list[Pruned]
) -> list[_Candidate]:
    places = [(operation.endpoint, operation.peer) for operation in operations]
    last = {place: number for number, place in enumerate(places)}
    for operation, (number, place) in zip(operations, enumerate(places), strict=True):
        if last[place] != number:
            earlier = _Candidate(flow, step, exchange.service, operation)
            pruned.append(Pruned(str(earlier), f"call {operations[last[place]].occurrence} is the last one"))
    found = {number: _Candidate(flow, step, exchange.service, operations[number]) for number in last.values()}
    for dependency in dependencies(operations, exchange.request_body + exchange.path.encode()):
        if dependency.first in found and dependency.second in found:
            _apply(dependency, found, pruned)
    return list(found.values())


def _apply(dependency: Dependency, found: dict[int, _Candidate], pruned: list[Pruned]) -> None:
    first, second = found[dependency.first], found[dependency.second]
    shared = ", ".join(f"`{value[:40]}`" for value in dependency.shared)
    if dependency.pattern is Pattern.PRODUCER_CONSUMER:
        found[dependency.first] = _raised(first, 2, f"{second.operation.endpoint} sends what it brings: {shared}")
        if second.operation.endpoint.startswith("db/") and is_write(second.operation):
            return  # it can fail in ways of its own: an answer that is lost, a transaction that stays open
        del found[dependency.second]
        reason = f"it sends what {first.operation.endpoint} brings ({shared}), whose failure reaches it"
        pruned.append(Pruned(str(second), f"producer–consumer: {reason}"))
    else:
        found[dependency.second] = _raised(second, 3, f"{first.operation.endpoint} writes the same data: {shared}")
        found[dependency.first] = replace(first, reason="its answer may be lost", only_lost_answers=True)
        reason = f"{second.operation.endpoint} writes the same data later ({shared}): the two differ if that fails"
        pruned.append(Pruned(f"{first}, but for lost answers", f"dual write: {reason}"))


def _raised(candidate: _Candidate, priority: int, reason: str) -> _Candidate:
    return candidate if candidate.priority >= priority else replace(candidate, priority=priority, reason=reason)


def _of_interest(candidates: Sequence[_Candidate], only: Sequence[str], pruned: list[Pruned]) -> list[_Candidate]:
    kept = [each for each in candidates if not only or _begins(each.point, only)]
    pruned += [Pruned(str(each), f"not asked for: {', '.join(only)}") for each in candidates if each not in kept]
    return kept


def _begins(point: Point, only: Sequence[str]) -> bool:
    """With the service that calls, or whoever calls."""
    return any(text.startswith(tuple(only)) for text in (str(point), endpoint_of(point)))


def _sampled(candidates: Sequence[_Candidate], selection: Selection, pruned: list[Pruned]) -> list[_Candidate]:
    """Each endpoint in a few services: those that share a library share how they deal with its failures."""
    rng = random.Random(selection.seed)  # noqa: S311 -- no secret
    services: dict[str, set[str]] = defaultdict(set)
    for candidate in candidates:
        services[candidate.operation.endpoint].add(candidate.service)
    kept: dict[str, list[str]] = {}
    for endpoint, callers in sorted(services.items()):
        few = len(callers) <= selection.services_each
        kept[endpoint] = sorted(callers) if few else sorted(rng.sample(sorted(callers), selection.services_each))
    for candidate in candidates:
        others = kept[candidate.operation.endpoint]
        if candidate.service not in others:
            pruned.append(Pruned(str(candidate), f"cross-service sampling: {', '.join(others)} stand for it"))
    return [each for each in candidates if each.service in kept[each.operation.endpoint]]


def _tests(candidate: _Candidate, selection: Selection, pruned: list[Pruned]) -> list[PlannedTest]:
    operation = candidate.operation
    faults = faults_at(operation.endpoint, writes=is_write(operation), chosen=selection.faults)
    if candidate.only_lost_answers:
        faults = tuple(fault for fault in faults if fault == LOST_ANSWER)
    elif not faults:
        pruned.append(Pruned(str(candidate), f"none of the faults asked for exists at {operation.endpoint}"))
    if operation.timeout is None:
        without = [fault for fault in faults if catalogue().get(fault, {}).get("needs_timeout")]
        pruned += [Pruned(f"{fault} at {candidate}", "the call site has no timeout") for fault in without]
        faults = tuple(fault for fault in faults if fault not in without)
    # The statement itself may hold secrets, and what is known of a test is written down.
    statement = statement_of(operation.request)
    repeatable = is_repeatable(statement) if statement else None
    point = candidate.point if operation.occurrence > 1 else replace(candidate.point, occurrence="")
    return [
        PlannedTest(
            DrillTest(candidate.flow, candidate.step, point, fault, repeatable), candidate.priority, candidate.reason
        )
        for fault in faults
    ]


def _by_coverage(tests: Sequence[PlannedTest]) -> list[PlannedTest]:
    """Flow after flow, each time the one with the most points that are not covered yet: greedy set cover."""
    by_flow: dict[str, list[PlannedTest]] = defaultdict(list)
    for planned in tests:
        by_flow[planned.test.flow].append(planned)
    covered: set[Point] = set()
    ordered: list[PlannedTest] = []
    while by_flow:
        points = {name: {replace(each.test.point, occurrence="") for each in own} for name, own in by_flow.items()}
        best = min(by_flow, key=lambda name: (-len(points[name] - covered), name))
        covered |= points[best]
        ordered += sorted(by_flow.pop(best), key=lambda each: (-each.priority, each.test))
    return ordered
