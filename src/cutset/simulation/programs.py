"""Requests as programs whose callers react to *how* a call failed: what makes proofs about unseen sets go wrong.

`cutset.simulation.simulated` knows calls that fail or answer. Here a caller may tolerate the 500 of a callee that fails
by itself and not an injected 503, wait for a delay or not, read an answer or not, try again, turn to something else, or
call further only after a good answer; calls are nested, made in parallel, cached, balanced over replicas with or
without a second attempt, or made where no mesh sees them; and what an optional call adds to the answer is missing, or
another, without it. In a given world (who is served by which replica, what is in which cache) a run depends on nothing
but the faults that fire.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from cutset.model.effect import SLOW, SPOILS_ANSWER, Effect, EffectKind
from cutset.model.fault import Cut
from cutset.model.outcome import CallSeen, Points
from cutset.model.point import Point

DELAY_MS = 100  # limits are in such units
FOREVER = 1_000  # of these units: longer than any user waits
ANSWERED = "200"
GAVE_UP = "0"  # as seen by who waited no longer
REFUSED = "refused"  # what the caller's client says when nobody listens
GARBLED = "garbled"  # to its caller; a trace says 200
OWN_FAILURES = (
    "500",
    "502",
)  # what services answer by themselves; nobody turns to another replica then, or tries again


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
    retries: int = 0  # further attempts at each replica when it fails by a fault
    cache: int | None = None  # in front of it: a hit, and it is not called
    past_mesh: bool = False  # nobody sees it or can fail it
    service: str = "simulated"
    caller: str = ""  # whose agent injects what fails it; empty: a mesh does


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

    status: str = ANSWERED
    delays: int = 0
    path: Points = frozenset()

    @property
    def ok(self) -> bool:
        return self.status == ANSWERED


class ProgramRun:
    """One request under a plan, in one world."""

    def __init__(self, cut: Cut, world: World) -> None:
        self.called: set[Point] = set()
        self.fired: set[Point] = set()
        self.failed: set[Point] = set()
        self.retried: set[Point] = set()
        self.seen: list[CallSeen] = []
        self.answer: set[str] = set()
        self.path: Points = frozenset()  # once it has answered
        self.delays = 0  # by then
        self._effects = {fault.point: fault.effect for fault in cut}
        self._calls: Counter[Point] = Counter()
        self._world = world
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
        delays, status, path = 0, ANSWERED, frozenset[Point]()
        for part in parts:
            result = self.run(part)
            delays = max(delays, result.delays) if at_once else delays + result.delays
            path |= result.path
            if not result.ok:
                status = result.status if status == ANSWERED else status
                if not at_once:
                    break
        return Result(status, delays, path if status == ANSWERED else frozenset())

    def _call(self, site: CallSite) -> Result:
        if site.past_mesh or (site.cache is not None and self._world.hits >> site.cache & 1):
            self.answer |= {site.adds} - {""}
            return Result()
        result, delays = Result(), 0
        tried: list[Point] = []
        for point in self._order(site):
            tried.append(point)
            result = self._attempts(site, point)
            delays += result.delays
            if len(tried) > 1:
                self.retried.update(tried)
            if result.ok or result.status in OWN_FAILURES:
                break
        if result.ok:
            self.answer |= {site.adds} - {""}
            return _then(Result(ANSWERED, delays, result.path), self.run(site.then))
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

    def _attempts(self, site: CallSite, point: Point) -> Result:
        result, delays = Result(), 0
        for number in range(1 + site.retries):
            result = self._attempt(site, point, number)
            delays += result.delays
            if result.ok or result.status in OWN_FAILURES:
                break
        return Result(result.status, delays, result.path)

    def _attempt(self, site: CallSite, point: Point, number: int) -> Result:
        self.called.add(point)
        self._calls[point] += 1  # whoever counts calls cannot tell a further attempt from another call
        index = len(self.seen)
        self.seen.append(CallSeen(point, self._callers[-1], "", 0))
        result = self._served(site, point, self._effect(point, number))
        if site.limit is not None and result.delays > site.limit:
            result = Result(GAVE_UP, site.limit)
        status = ANSWERED if result.status == GARBLED else result.status
        self.seen[index] = CallSeen(point, self._callers[-1], status, result.delays * DELAY_MS)
        return result

    def _effect(self, point: Point, attempt: int) -> Effect | None:
        effect = self._effects.get(point)
        if effect is None or 0 < effect.attempts <= attempt or (effect.call and effect.call != self._calls[point]):
            return None
        self.fired.add(point)
        return effect

    def _served(self, site: CallSite, point: Point, effect: Effect | None) -> Result:
        held_back = 0
        match effect:
            case Effect(kind=EffectKind.ABORT, value=code):
                return Result(str(code))
            case Effect(kind=EffectKind.CONNECTION_REFUSED):
                return Result(REFUSED)
            case Effect(kind=kind, value=milliseconds) if kind in SLOW:
                held_back = milliseconds // DELAY_MS if kind is EffectKind.DELAY else FOREVER
                if site.limit is not None and held_back > site.limit:
                    return Result(GAVE_UP, held_back)  # the callee never sees it
        self._callers.append(str(point.of_api))
        inside = self.run(site.body)
        self._callers.pop()
        path = inside.path | {point} if inside.ok else frozenset()
        status = GARBLED if inside.ok and effect and effect.kind in SPOILS_ANSWER else inside.status
        return Result(status, held_back + inside.delays, path)


def _then(first: Result, second: Result) -> Result:
    path = first.path | second.path if second.ok else frozenset()
    return Result(second.status, first.delays + second.delays, path)


def servers_of(site: CallSite) -> tuple[Point, ...]:
    one = Point(site.service, site.api, site.caller)
    if site.replicas == 1:
        return (one,)
    return tuple(replace(one, replica=str(number)) for number in range(1, site.replicas + 1))


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


def run_of(request: RequestProgram, cut: Cut, world: World = World()) -> tuple[bool, ProgramRun]:  # noqa: B008 - frozen
    """Whether the user got an answer in time, and what happened."""
    run = ProgramRun(cut, world)
    result = run.run(request.program)
    run.path, run.delays = result.path, result.delays
    return result.ok and result.delays < FOREVER and (
        request.deadline is None or result.delays <= request.deadline
    ), run
