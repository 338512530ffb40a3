"""A system that exists only as a tree of calls: for unit tests of search and campaign, and for benchmarks.

It answers a cut at once and exactly, with the path, the failed calls and all calls of the execution, so that a search
can be compared with brute force. It covers what makes real systems hard: nested calls, replicas with retries, optional
calls, fallbacks, and a call that is made only if an optional one answered.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

from cutset.model.outcome import Points
from cutset.model.point import Point


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an API, which fails when all its replicas are faulted or when its body fails."""

    api: str
    body: "Node | None" = None
    replicas: int = 1


@dataclass(frozen=True, slots=True)
class All:
    """Each of these is needed, in this order."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class FirstOf:
    """A primary and its fallbacks."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Optional:
    """Tolerated when it fails. `then` is needed, but only if this answered."""

    part: "Node"
    then: "Node | None" = None


Node = Call | All | FirstOf | Optional


@dataclass(slots=True)
class Execution:
    """One request's execution under a set of faulted points."""

    faulted: Points
    turn: int = 0  # which replica is tried first, as a load balancer would vary it
    failed: set[Point] = field(default_factory=set)
    calls: set[Point] = field(default_factory=set)

    def run(self, node: Node) -> Points | None:
        """The path if the node succeeds, otherwise None."""
        match node:
            case Call():
                return self._call(node)
            case All(parts):
                path: Points = frozenset()
                for part in parts:
                    taken = self.run(part)
                    if taken is None:
                        return None
                    path |= taken
                return path
            case FirstOf(parts):
                return next((taken for part in parts if (taken := self.run(part)) is not None), None)
            case Optional(part, then):
                taken = self.run(part)
                if taken is None or then is None:
                    return taken or frozenset()
                rest = self.run(then)
                return None if rest is None else taken | rest

    def _call(self, call: Call) -> Points | None:
        replicas = list(points_of_call(call))
        start = self.turn % len(replicas)
        tried = []
        for point in replicas[start:] + replicas[:start]:
            tried.append(point)
            self.calls.add(point)
            if point not in self.faulted:
                taken = self.run(call.body) if call.body is not None else frozenset()
                return None if taken is None else taken | {point}
        self.failed.update(tried)
        return None


def points_of_call(call: Call) -> Iterator[Point]:
    for replica in range(1, call.replicas + 1):
        yield Point("simulated", call.api, replica=str(replica) if call.replicas > 1 else "")


def all_points(node: Node) -> Points:
    match node:
        case Call(_, body):
            return frozenset(points_of_call(node)) | (all_points(body) if body is not None else frozenset())
        case All(parts) | FirstOf(parts):
            return frozenset().union(*(all_points(part) for part in parts))
        case Optional(part, then):
            return all_points(part) | (all_points(then) if then is not None else frozenset())


def minimal_cuts_by_brute_force(node: Node, max_size: int) -> set[Points]:
    """Tries every set of at most `max_size` points, so it is exact and slow."""
    found: set[Points] = set()
    points = sorted(all_points(node))
    for size in range(max_size + 1):
        for chosen in combinations(points, size):
            cut = frozenset(chosen)
            if not any(known <= cut for known in found) and Execution(cut).run(node) is None:
                found.add(cut)
    return found
