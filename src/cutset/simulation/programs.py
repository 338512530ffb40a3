"""Requests as programs whose callers react to *how* a call failed: what makes proofs about unseen sets go wrong.

`cutset.simulation.simulated` knows calls that fail or answer. Here a caller may tolerate the 500 of a callee that fails
by itself and not an injected 503, wait for a delay or not, turn to something else, or call further only after a good
answer; calls are nested, made in parallel, cached, balanced over replicas with or without a second attempt, or made
where no mesh sees them; and what an optional call adds to the answer is missing, or another, without it. In a given
world (who is served by which replica, what is in which cache) a run depends on nothing but the faults that fire.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations
from random import Random

from cutset.model.fault import Effect, EffectKind, cut_of
from cutset.model.outcome import CallSeen, Outcome, Points, Verdict
from cutset.model.point import Point

DELAY_MS = 100  # what a delay adds to a call; limits are in such units
_ANSWERED = "200"
_GAVE_UP = "0"  # as seen by who waited no longer
_OWN_FAILURES = ("500", "502")  # what services answer by themselves; a mesh does not turn to another replica then
_INJECTED = "503"


@dataclass(frozen=True, slots=True)
class Tolerate:
    """As if it had answered, but without what its answer adds."""


@dataclass(frozen=True, slots=True)
class Fail:
    """With this status, or with that of the call."""

    status: str = ""


@dataclass(frozen=True, slots=True)
class Instead:
    program: "Behaviour"


Reaction = Tolerate | Fail | Instead


@dataclass(frozen=True, slots=True)
class CallSite:
    """One place where a call is made, and what its caller does about each bad answer."""

    api: str
    otherwise: Reaction = Fail()
    to_status: Mapping[str, Reaction] = field(default_factory=dict)  # those that are not treated like all others
    body: "Behaviour | None" = None  # what the callee does
    then: "Behaviour | None" = None  # made only if this one answered
    adds: str = ""  # what its answer adds to the request's; empty: nothing that a user sees
    limit: int | None = None  # delays that are waited for; none: any number
    replicas: int = 1
    failover: bool = True  # another replica is tried when one fails by a fault
    cache: int | None = None  # in front of it: a hit, and it is not called
    past_mesh: bool = False  # nobody sees it or can fail it


@dataclass(frozen=True, slots=True)
class InTurn:
    """One after the other, up to the first that fails."""

    parts: tuple["Behaviour", ...]


@dataclass(frozen=True, slots=True)
class AtOnce:
    """All are made, whatever comes of them; the first failure in this order decides."""

    parts: tuple["Behaviour", ...]


Behaviour = CallSite | InTurn | AtOnce


@dataclass(frozen=True, slots=True)
class World:
    """What nobody controls."""

    turn: int = 0  # which replica is next
    hits: int = 0  # a bit for each cache


@dataclass(frozen=True, slots=True)
class RequestProgram:
    program: Behaviour
    deadline: int | None = None  # delays that the user waits for
    caches: int = 0

    def worlds(self) -> Iterator[World]:
        most = max((site.replicas for site in sites(self.program)), default=1)
        return (World(turn, hits) for turn in range(most) for hits in range(1 << self.caches))

    @property
    def varies(self) -> bool:
        """Whether runs may differ without any fault by more than which of several replicas serves."""
        return self.caches > 0 or any(site.replicas > 1 and not site.failover for site in sites(self.program))


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a part of a program: its answer, how many delays it took, and what it relied on."""

    status: str = _ANSWERED
    delays: int = 0
    path: Points = frozenset()

    @property
    def ok(self) -> bool:
        return self.status == _ANSWERED


class ProgramRun:
    """One request under a set of faulted points, in one world."""

    def __init__(self, faulted: Points, world: World, *, delayed: bool) -> None:
        self.called: set[Point] = set()
        self.fired: set[Point] = set()
        self.failed: set[Point] = set()
        self.retried: set[Point] = set()
        self.seen: list[CallSeen] = []
        self.answer: set[str] = set()
        self.path: Points = frozenset()  # once it has answered
        self._faulted = faulted
        self._world = world
        self._delayed = delayed  # faults delay the call; else they answer it
        self._callers = [""]

    def run(self, program: Behaviour | None) -> Result:
        match program:
            case None:
                return Result()
            case CallSite():
                return self._call(program)
            case InTurn(parts) | AtOnce(parts):
                return self._all(parts, at_once=isinstance(program, AtOnce))

    def _all(self, parts: Iterable[Behaviour], *, at_once: bool) -> Result:
        delays, status, path = 0, _ANSWERED, frozenset[Point]()
        for part in parts:
            result = self.run(part)
            delays = max(delays, result.delays) if at_once else delays + result.delays
            path |= result.path
            if not result.ok:
                status = result.status if status == _ANSWERED else status
                if not at_once:
                    break
        return Result(status, delays, path if status == _ANSWERED else frozenset())

    def _call(self, site: CallSite) -> Result:
        if site.past_mesh or (site.cache is not None and self._world.hits >> site.cache & 1):
            self.answer |= {site.adds} - {""}
            return Result()
        result, delays = Result(), 0
        tried: list[Point] = []
        for point in self._order(site):
            tried.append(point)
            result = self._attempt(site, point)
            delays += result.delays
            if len(tried) > 1:
                self.retried.update(tried)
            if result.ok or result.status in _OWN_FAILURES:
                break
        if result.ok:
            self.answer |= {site.adds} - {""}
            return _then(Result(_ANSWERED, delays, result.path), self.run(site.then))
        self.failed.update(tried)
        match site.to_status.get(result.status, site.otherwise):
            case Tolerate():
                return Result(delays=delays)
            case Fail(status):
                return Result(status or result.status, delays)
            case Instead(program):
                return _then(Result(delays=delays), self.run(program))

    def _order(self, site: CallSite) -> tuple[Point, ...]:
        servers = servers_of(site)
        first = self._world.turn % len(servers)
        order = servers[first:] + servers[:first]
        return order if site.failover else order[:1]

    def _attempt(self, site: CallSite, point: Point) -> Result:
        self.called.add(point)
        number = len(self.seen)
        self.seen.append(CallSeen(point, self._callers[-1], "", 0))
        result = self._served(site, point)
        if site.limit is not None and result.delays > site.limit:
            result = Result(_GAVE_UP, site.limit)
        self.seen[number] = CallSeen(point, self._callers[-1], result.status, result.delays * DELAY_MS)
        return result

    def _served(self, site: CallSite, point: Point) -> Result:
        held_back = 0
        if point in self._faulted:
            self.fired.add(point)
            if not self._delayed:
                return Result(_INJECTED)
            held_back = 1
            if site.limit is not None and held_back > site.limit:
                return Result(_GAVE_UP, held_back)  # the callee never sees it
        self._callers.append(str(point.of_api))
        inside = self.run(site.body)
        self._callers.pop()
        path = inside.path | {point} if inside.ok else frozenset()
        return Result(inside.status, held_back + inside.delays, path)


def _then(first: Result, second: Result) -> Result:
    path = first.path | second.path if second.ok else frozenset()
    return Result(second.status, first.delays + second.delays, path)


def servers_of(site: CallSite) -> tuple[Point, ...]:
    if site.replicas == 1:
        return (Point("simulated", site.api),)
    return tuple(Point("simulated", site.api, replica=str(number)) for number in range(1, site.replicas + 1))


def sites(program: Behaviour | None) -> Iterator[CallSite]:
    match program:
        case InTurn(parts) | AtOnce(parts):
            for part in parts:
                yield from sites(part)
        case CallSite():
            yield program
            yield from sites(program.body)
            yield from sites(program.then)
            for reaction in (program.otherwise, *program.to_status.values()):
                if isinstance(reaction, Instead):
                    yield from sites(reaction.program)


def points_in(request: RequestProgram) -> Points:
    return frozenset(point for site in sites(request.program) if not site.past_mesh for point in servers_of(site))


class Does(StrEnum):
    """What a set of faults may do to a request, in one world or another."""

    FAIL = "fail"
    DEGRADE = "degrade"


def minimal_sets(request: RequestProgram, max_size: int, *, delayed: bool) -> dict[Does, set[Points]]:
    """By trying every set of at most so many points in every world. What contains a failing set degrades nothing."""
    found: dict[Does, list[Points]] = {Does.FAIL: [], Does.DEGRADE: []}
    points, worlds = sorted(points_in(request)), tuple(request.worlds())
    usual = {world: _verdict(request, frozenset(), world, delayed=delayed)[1].answer for world in worlds}
    for size in range(max_size + 1):
        for chosen in map(frozenset, combinations(points, size)):
            if any(known <= chosen for known in found[Does.FAIL]):
                continue
            runs = {world: _verdict(request, chosen, world, delayed=delayed) for world in worlds}
            if not all(ok for ok, _ in runs.values()):
                found[Does.FAIL].append(chosen)
            elif any(run.answer != usual[world] for world, (_, run) in runs.items()):
                found[Does.DEGRADE].append(chosen)
    degrading = found[Does.DEGRADE]
    minimal = {each for each in degrading if not any(other < each for other in degrading)}
    return {Does.FAIL: set(found[Does.FAIL]), Does.DEGRADE: minimal}


def _verdict(request: RequestProgram, faulted: Points, world: World, *, delayed: bool) -> tuple[bool, ProgramRun]:
    run = ProgramRun(faulted, world, delayed=delayed)
    result = run.run(request.program)
    run.path = result.path
    return result.ok and (request.deadline is None or result.delays <= request.deadline), run


@dataclass(frozen=True, slots=True)
class Bother:
    """What a laboratory has to cope with, and how much it does about it."""

    seed: int = 0
    delayed: bool = False  # faults delay calls instead of failing them
    tries: int = 1  # survivors that are taken together; more than one where runs vary
    repeats: int = 1  # failures in a row that are believed; more than one where answers are flaky
    flakes: float = 0.0  # how often a good answer is reported as a failure
    lost_spans: float = 0.0  # how often a part of the trace does not arrive
    patience: int = 5  # trials that prove nothing, after which it stays unknown


class ProgramLaboratory:
    """Experiments on a request program, judged as a real laboratory would."""

    def __init__(self, request: RequestProgram, bother: Bother = Bother()) -> None:  # noqa: B008 - it is frozen
        self._request = request
        self._bother = bother
        self._chance = Random(bother.seed)  # noqa: S311 - a simulation
        self._turn = self._chance.randrange(6)
        self._usual = {
            world: _verdict(request, frozenset(), world, delayed=bother.delayed)[1].answer for world in request.worlds()
        }
        self.effect = Effect(EffectKind.DELAY, DELAY_MS) if bother.delayed else Effect(EffectKind.ABORT, 503)

    def run(self, cut: Points) -> Outcome:
        """Survivors are taken together, and the worst that was seen counts."""
        survivors: list[tuple[ProgramRun, bool]] = []
        failures: list[tuple[ProgramRun, bool]] = []
        void = 0
        while len(survivors) < self._bother.tries and len(failures) < self._bother.repeats:
            if void >= self._bother.patience:
                return Outcome(cut_of(cut, self.effect), Verdict.UNKNOWN, "the trace is incomplete", requests=void)
            ok, run, changed = self._request_once(cut)
            whole = not self._happens(self._bother.lost_spans)
            if not ok or self._happens(self._bother.flakes):
                failures.append((run, whole))
            elif not whole or (cut and not run.fired):
                void += 1
            else:
                survivors.append((run, changed))
                failures.clear()  # a failure that does not repeat was none
        if failures:
            return self._failed(cut, failures)
        return self._survived(cut, survivors)

    def _request_once(self, cut: Points) -> tuple[bool, ProgramRun, bool]:
        self._turn += 1
        hits = self._chance.getrandbits(self._request.caches) if self._request.caches else 0
        most = max((site.replicas for site in sites(self._request.program)), default=1)
        world = World(self._turn % most, hits)
        ok, run = _verdict(self._request, cut, world, delayed=self._bother.delayed)
        return ok, run, run.answer != self._usual[world]

    def _failed(self, cut: Points, failures: list[tuple[ProgramRun, bool]]) -> Outcome:
        run, whole = failures[-1]
        called, fired = set(run.called), set(run.fired)
        if not whole:  # of a failure any span may be missing, but for one that proves it
            called = {point for point in called if self._chance.random() < 0.5 or point == min(fired, default=None)}
            fired &= called
        if cut and not fired:
            return Outcome(cut_of(cut, self.effect), Verdict.UNKNOWN, "never fired", calls=frozenset(called))
        return Outcome(
            cut_of(cut, self.effect),
            Verdict.FAILED,
            failed=frozenset(run.failed & called),
            calls=frozenset(called),
            fired=frozenset(fired),
            retried=frozenset(run.retried & called),
            requests=len(failures),
            trials=len(failures),
            failures=len(failures),
            healthy_after=True,
        )

    def _survived(self, cut: Points, survivors: list[tuple[ProgramRun, bool]]) -> Outcome:
        runs = [run for run, _ in survivors]
        degraded = any(changed for _, changed in survivors)
        return Outcome(
            cut_of(cut, self.effect),
            Verdict.DEGRADED if degraded else Verdict.SURVIVED,
            reason="a part of the answer is missing" if degraded else "",
            path=frozenset[Point]().union(*(run.path for run in runs)),
            failed=frozenset[Point]().union(*(run.failed for run in runs)),
            calls=frozenset[Point]().union(*(run.called for run in runs)),
            fired=frozenset[Point]().union(*(run.fired for run in runs)),
            retried=frozenset[Point]().union(*(run.retried for run in runs)),
            seen=tuple(seen for run in runs for seen in run.seen),
            requests=len(runs),
            trials=len(runs),
        )

    def _happens(self, rate: float) -> bool:
        return rate > 0 and self._chance.random() < rate
