"""Random request programs of all kinds that are known to defeat a proof, small enough for brute force."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from random import Random

from cutset.simulation.programs import (
    GAVE_UP,
    OWN_FAILURES,
    AtOnce,
    Behaviour,
    CallSite,
    Fail,
    Instead,
    InTurn,
    Reaction,
    RequestProgram,
    Tolerate,
    World,
    run_of,
)

STATUSES = ("503", GAVE_UP, *OWN_FAILURES)  # injected; given up on; what services answer by themselves
BY_AGENT = {"service": "rpc", "caller": "app"}
MOST_CACHES = 2  # so that every state of them is met in a few dozen requests


@dataclass(frozen=True, slots=True)
class Taste:
    """How often something occurs; a share of the places where it could."""

    name: str = "plain"
    points: tuple[int, int] = (6, 11)
    optional: float = 0.3
    fallback: float = 0.22
    hidden: float = 0.4  # of what is optional: a further call is made only if it answered
    nested: float = 0.55
    at_once: float = 0.3
    shared: float = 0.08  # the same API is called from another place, too
    by_status: float = 0.25  # a caller treats some failures unlike the others
    limited: float = 0.3  # the caller waits for few delays, or for none
    adding: float = 0.5  # of all calls: their answers are part of the request's
    cached: float = 0.0
    replicated: float = 0.0
    failover: float = 0.7  # of replicated calls
    past_mesh: float = 0.0
    retried: float = 0.0  # the caller tries once more
    statuses: tuple[str, ...] = STATUSES  # that callers may tell apart
    by_agents: bool = False  # the callers' agents inject, who can do more than a mesh


def random_request(seed: str, taste: Taste) -> RequestProgram:
    """Always the same one for a seed. It works as long as nothing fails, in every world."""
    for number in count():
        request = _Author(Random(f"{seed}/{number}"), taste).request()  # noqa: S311 - a simulation
        if all(_works(request, world) for world in request.worlds()):
            return request
    raise AssertionError


def random_requests(taste: Taste, number: int) -> Iterator[RequestProgram]:
    return (random_request(f"{taste.name} {each}", taste) for each in range(number))


def _works(request: RequestProgram, world: World) -> bool:
    return run_of(request, frozenset(), world)[0]


class _Author:
    def __init__(self, chance: Random, taste: Taste) -> None:
        self._chance = chance
        self._taste = taste
        self._left = chance.randint(*taste.points)  # points still to be used
        self._replicas: dict[str, int] = {}  # of the APIs that exist so far
        self._caches = 0

    def request(self) -> RequestProgram:
        parts = []
        while self._left > 0:
            parts.append(self._program(2))
        deadline = self._chance.choice((1, 2)) if self._happens(self._taste.limited) else None
        return RequestProgram(self._together(parts), deadline, self._caches)

    def _program(self, depth: int, *, simple: bool = False) -> Behaviour:
        if depth <= 0 or simple or self._left < 2 or self._happens(0.7):
            return self._site(max(0, depth))
        return self._block(depth - 1, 2)

    def _block(self, depth: int, length: int) -> Behaviour:
        parts = [self._program(depth)]
        while len(parts) < length and self._left > 0:
            parts.append(self._program(depth))
        return self._together(parts)

    def _together(self, parts: list[Behaviour]) -> Behaviour:
        return (AtOnce if self._happens(self._taste.at_once) else InTurn)(tuple(parts))

    def _site(self, depth: int) -> CallSite:
        taste = self._taste
        api = self._api()
        body = None
        if depth > 0 and self._left > 0 and self._happens(taste.nested):
            body = self._block(depth - 1, self._chance.randint(1, 2))
        otherwise = self._reaction(depth)
        to_status: dict[str, Reaction] = {}
        if self._happens(taste.by_status):
            for status in self._chance.sample(taste.statuses, self._chance.randint(1, 3)):
                to_status[status] = self._reaction(depth)
        leads_on = isinstance(otherwise, Tolerate) and self._left > 0 and self._happens(taste.hidden)
        return CallSite(
            api,
            otherwise,
            to_status,
            body,
            then=self._site(0) if leads_on else None,
            adds=api if self._happens(taste.adding) else "",
            limit=self._chance.choice((0, 0, 1)) if self._happens(taste.limited) else None,
            replicas=self._replicas[api],
            failover=self._happens(taste.failover),
            cache=self._cache(),
            past_mesh=self._happens(taste.past_mesh),
            retries=int(self._happens(taste.retried)),
            **(BY_AGENT if taste.by_agents else {}),
        )

    def _api(self) -> str:
        if self._replicas and self._happens(self._taste.shared):
            return self._chance.choice(sorted(self._replicas))
        api = f"{'httpx/' * self._taste.by_agents}api-{len(self._replicas):02}"
        self._replicas[api] = 2 if self._left > 1 and self._happens(self._taste.replicated) else 1
        self._left -= self._replicas[api]
        return api

    def _reaction(self, depth: int) -> Reaction:
        roll = self._chance.random()
        if roll < self._taste.optional:
            return Tolerate()
        if roll < self._taste.optional + self._taste.fallback and self._left > 0:
            return Instead(self._program(depth - 1, simple=True))
        return Fail(self._chance.choice(("500", "500", "502", "")))

    def _cache(self) -> int | None:
        if self._caches >= MOST_CACHES or not self._happens(self._taste.cached):
            return None
        self._caches += 1
        return self._caches - 1

    def _happens(self, share: float) -> bool:
        return share > 0 and self._chance.random() < share
