"""A system that exists only as a tree of calls: for unit tests of search and campaign, and for benchmarks.

It answers a cut at once, with the path, the failed calls and all calls of the execution, so that a search can be
compared with brute force. It covers what makes real systems hard: nested calls, replicas with retries, quorums, zones,
optional calls, fallbacks, caches, a call that is made only if an optional one answered, load balancers, and requests
that fail for no reason. FastFI §4.1.1 describes both of its benchmarks in these terms: replicas with failover, and
alternative paths that share a skeleton (`grouped_skeletons`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from random import Random
from typing import Protocol

from cutset.model.fault import Cut, points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an API, which fails when all replicas that it tries are faulted or when its body fails."""

    api: str
    body: "System | None" = None
    replicas: int = 1
    times: int = 1  # how often one request makes this call; each is needed
    attempts: int = 0  # only the first so many replicas are tried, in their order; 0: all, as the load balancer likes
    zone: int = 0  # only the replica of this number is tried; 0: any
    service: str = "simulated"


@dataclass(frozen=True, slots=True)
class Quorum:
    """A call of all replicas at once, of which at least `needed` must answer."""

    api: str
    replicas: int
    needed: int
    service: str = "simulated"


@dataclass(frozen=True, slots=True)
class All:
    """Each of these is needed, in this order."""

    parts: tuple["System", ...]


@dataclass(frozen=True, slots=True)
class FirstOf:
    """A primary and its fallbacks, or equals of which any may come first."""

    parts: tuple["System", ...]
    in_any_order: bool = False


@dataclass(frozen=True, slots=True)
class Optional:
    """Tolerated when it fails. `then` is needed, but only if this answered."""

    part: "System"
    then: "System | None" = None


@dataclass(frozen=True, slots=True)
class Cache:
    """At this rate the part is not needed at all, so that paths vary without any fault."""

    part: "System"
    hit_rate: float


@dataclass(frozen=True, slots=True)
class Routes:
    """The first of these paths that is healthy throughout. Routing knows before it calls, so that no call fails."""

    paths: tuple[Points, ...]


System = Call | Quorum | All | FirstOf | Optional | Cache | Routes


class Balance(StrEnum):
    RANDOM = "random"
    ROUND_ROBIN = "round robin"
    STICKY = "sticky"  # stays with a replica until it fails


@dataclass(slots=True)
class Balancer:
    """In which order a call tries replicas; remembers across requests what its policy needs."""

    policy: Balance
    chance: Random
    turns: dict[Point, int] = field(default_factory=dict)

    def order(self, servers: tuple[Point, ...]) -> Iterator[Point]:
        if self.policy is Balance.RANDOM:
            yield from self.chance.sample(servers, len(servers))
            return
        first = self.turns.setdefault(servers[0], self.chance.randrange(len(servers)))
        for turn in range(first, first + len(servers)):
            self.turns[servers[0]] = turn + 1 if self.policy is Balance.ROUND_ROBIN else turn
            yield servers[turn % len(servers)]


@dataclass(slots=True)
class Execution:
    """One request's execution under a set of faulted points."""

    faulted: Points
    turn: int = 0  # without a balancer: which replica is tried first
    balancer: Balancer | None = None
    chance: Random | None = None  # without it caches always miss, and what may come in any order comes in this one
    failed: set[Point] = field(default_factory=set)
    calls: set[Point] = field(default_factory=set)
    retried: set[Point] = field(default_factory=set)

    def run(self, node: System) -> Points | None:  # noqa: PLR0911 - one per kind of node
        """The path if the node succeeds, otherwise None."""
        match node:
            case Call():
                return self._call(node)
            case Quorum():
                return self._ask_all(points_of_call(node), node.needed)
            case All(parts):
                return self._all(parts)
            case FirstOf(parts, in_any_order):
                if in_any_order and self.chance is not None:
                    parts = tuple(self.chance.sample(parts, len(parts)))
                return next((taken for part in parts if (taken := self.run(part)) is not None), None)
            case Optional(part, then):
                taken = self.run(part)
                if taken is None or then is None:
                    return taken or frozenset()
                rest = self.run(then)
                return None if rest is None else taken | rest
            case Cache(part, hit_rate):
                hit = self.chance is not None and self.chance.random() < hit_rate
                return frozenset() if hit else self.run(part)
            case Routes(paths):
                route = next((path for path in paths if not path & self.faulted), None)
                self.calls.update(route or ())
                return route

    def _all(self, parts: Iterable[System]) -> Points | None:
        path: set[Point] = set()
        for part in parts:
            taken = self.run(part)
            if taken is None:
                return None
            path |= taken
        return frozenset(path)

    def _call(self, call: Call) -> Points | None:
        if call.times == 1:
            return self._call_once(call)
        path: set[Point] = set()
        for _ in range(call.times):
            taken = self._call_once(call)
            if taken is None:
                return None
            path |= taken
        return frozenset(path)

    def _call_once(self, call: Call) -> Points | None:
        tried = []
        for point in self._attempts(call):
            tried.append(point)
            self.calls.add(point)
            if len(tried) > 1:
                self.retried.update(tried)
            if point not in self.faulted:
                taken = self.run(call.body) if call.body is not None else frozenset()
                return None if taken is None else taken | {point}
        self.failed.update(tried)
        return None

    def _attempts(self, call: Call) -> Iterable[Point]:
        servers = servers_of(call)
        if call.attempts or len(servers) == 1:
            return servers
        if self.balancer is not None:
            return self.balancer.order(servers)
        start = self.turn % len(servers)
        return servers[start:] + servers[:start]

    def _ask_all(self, replicas: tuple[Point, ...], needed: int) -> Points | None:
        self.calls.update(replicas)
        answered = frozenset(replicas) - self.faulted
        if len(answered) >= needed:
            return answered
        self.failed.update(self.faulted.intersection(replicas))
        return None


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under what circumstances requests run, and how much the laboratory does about it."""

    seed: int = 0
    balance: Balance = Balance.RANDOM
    flakes: float = 0.0  # how often a request that was answered is reported as failed
    misfires: float = 0.0  # how often one of a request's faults does not fire
    repeats: int = 1  # so many failures in a row are believed
    tries: int = 1  # so many survivals are believed: more than one where caches make executions vary


class Simulation:
    """A system under test whose experiments cost nothing. The same seed gives the same outcomes."""

    def __init__(self, system: System, conditions: Conditions = Conditions()) -> None:  # noqa: B008 - it is frozen
        self.system = system
        self.conditions = conditions
        self._chance = Random(conditions.seed)  # noqa: S311 - a simulation
        self._balancer = Balancer(conditions.balance, self._chance)

    def run(self, cut: Cut) -> Outcome:
        """One-sided: a survivor is conclusive, a failure must repeat. Survivors that differ are taken together.

        Whatever the effect, a call that has a fault fails.
        """
        faulted = points_of(cut)
        requests = failures = survivals = 0
        path: set[Point] = set()
        failed: set[Point] = set()
        calls: set[Point] = set()
        retried: set[Point] = set()
        while survivals < self.conditions.tries and failures < self.conditions.repeats:
            requests += 1
            misfired = self._misfire(faulted)
            execution = Execution(faulted - misfired, balancer=self._balancer, chance=self._chance)
            taken = execution.run(self.system)
            if misfired & execution.calls:
                continue  # not the experiment that was planned, and the trace shows it
            failed |= execution.failed
            calls |= execution.calls
            retried |= execution.retried
            if taken is None or self._happens(self.conditions.flakes):
                failures += 1
            else:
                failures = 0
                survivals += 1
                path |= taken
        survived = failures < self.conditions.repeats
        return Outcome(
            cut=cut,
            verdict=Verdict.SURVIVED if survived else Verdict.FAILED,
            path=frozenset(path) if survived else frozenset(),
            failed=frozenset(failed),
            calls=frozenset(calls),
            fired=faulted & calls,
            retried=frozenset(retried),
            requests=requests,
            trials=requests,
            failures=failures,
            healthy_after=not survived,
        )

    def _misfire(self, faulted: Points) -> Points:
        if not faulted or not self._happens(self.conditions.misfires):
            return frozenset()
        return frozenset({self._chance.choice(sorted(faulted))})

    def _happens(self, rate: float) -> bool:
        return rate > 0 and self._chance.random() < rate


class Runs(Protocol):
    def run(self, cut: Cut) -> Outcome: ...


@dataclass(frozen=True, slots=True)
class Shuffled:
    """A system whose points have swapped their names, so that which of them share an API tells nothing true."""

    system: Runs
    names: dict[Point, Point]

    def run(self, cut: Cut) -> Outcome:
        originals = {name: point for point, name in self.names.items()}
        outcome = self.system.run(frozenset(replace(fault, point=originals[fault.point]) for fault in cut))
        return replace(
            outcome,
            cut=cut,
            path=self.renamed(outcome.path),
            failed=self.renamed(outcome.failed),
            calls=self.renamed(outcome.calls),
            fired=self.renamed(outcome.fired),
            retried=self.renamed(outcome.retried),
        )

    def renamed(self, points: Points) -> Points:
        return frozenset(self.names[point] for point in points)


def points_of_call(call: Call | Quorum) -> tuple[Point, ...]:
    return _points(call.service, call.api, call.replicas)


@lru_cache(maxsize=100_000)
def _points(service: str, api: str, replicas: int) -> tuple[Point, ...]:
    if replicas == 1:
        return (Point(service, api),)
    return tuple(Point(service, api, replica=str(replica)) for replica in range(1, replicas + 1))


def servers_of(call: Call) -> tuple[Point, ...]:
    points = points_of_call(call)
    if call.zone:
        return points[call.zone - 1 : call.zone]
    return points[: call.attempts] if call.attempts else points


def all_points(node: System) -> Points:
    match node:
        case Call(_, body):
            return frozenset(points_of_call(node)) | (all_points(body) if body is not None else frozenset())
        case Quorum():
            return frozenset(points_of_call(node))
        case All(parts) | FirstOf(parts):
            return frozenset().union(*(all_points(part) for part in parts))
        case Optional(part, then):
            return all_points(part) | (all_points(then) if then is not None else frozenset())
        case Cache(part):
            return all_points(part)
        case Routes(paths):
            return frozenset().union(*paths)


def grouped_skeletons(edges: int, groups: int, bones: int) -> Routes:
    """FastFI's simulated benchmark (§4.1.1): per group two paths, 3:7 in length, that share `bones` points.

    `edges` counts the points of both paths, shared ones twice: only so do the clause overlaps of FastFI's Table 7 come
    out.
    """
    paths = []
    for group in range(1, groups + 1):
        bone = [Point("simulated", f"{group}-bone-{number}") for number in range(bones)]
        short = round(edges * 0.3)
        for name, length in (("hit", short), ("miss", edges - short)):
            own = [Point("simulated", f"{group}-{name}-{number}") for number in range(length - bones)]
            paths.append(frozenset(bone + own))
    return Routes(tuple(paths))
