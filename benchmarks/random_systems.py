"""Random systems that are small enough for brute force, and systems known to defeat printed algorithms."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from random import Random

from cutset.model.point import Point
from cutset.simulation.simulated import All, Balance, Cache, Call, FirstOf, Optional, Quorum, Routes, System, all_points

PLAIN = ("call", "fallback", "optional", "all")
MIXED = (*PLAIN, "call", "quorum", "attempts", "zones")
HIDDEN = (*PLAIN, "hidden", "hidden")
CACHED = (*PLAIN, "cache", "cache")


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    kinds: tuple[str, ...]
    max_size: int
    systems: int
    points: tuple[int, int] = (8, 13)
    balances: tuple[Balance, ...] = (Balance.RANDOM,)


# FastFI's own world is the plain one; the others are what a mesh adds to it.
FAMILIES = (
    Family("plain, k=3", PLAIN, 3, 250),
    Family("plain, k=4", PLAIN, 4, 150),
    Family("mixed, k=3", MIXED, 3, 250),
    Family("mixed, k=4", MIXED, 4, 100),
    Family("mixed, other balancers", MIXED, 3, 100, balances=(Balance.ROUND_ROBIN, Balance.STICKY)),
    Family("alternative paths", ("routes",), 3, 100),
    Family("plain, large", PLAIN, 3, 30, points=(24, 36)),
    Family("mixed, large", MIXED, 3, 30, points=(24, 36)),
)
SHUFFLED = (Family("plain, shuffled", PLAIN, 3, 100), Family("mixed, shuffled", MIXED, 3, 60))
HIDDEN_CALLS = (
    Family("hidden calls, k=3", HIDDEN, 3, 200),
    Family("hidden calls, k=2", HIDDEN, 2, 100),
    Family("hidden calls, large", HIDDEN, 3, 40, points=(20, 28)),
)
CACHES = (Family("caches", CACHED, 3, 100, points=(6, 11)),)


def systems_of(family: Family) -> Iterable[tuple[int, System]]:
    """Numbered, always the same ones; without those that lack what the family is about."""
    every = (random_system(Random(f"{family.name} {number}"), family) for number in count())
    return enumerate(islice((system for system in every if _shows(system, family)), family.systems))


def _shows(system: System, family: Family) -> bool:
    if family.kinds is HIDDEN:
        return any(isinstance(node, Optional) and node.then is not None for node in nodes(system))
    return family.kinds is not CACHED or any(isinstance(node, Cache) for node in nodes(system))


def nodes(node: System) -> Iterator[System]:
    yield node
    match node:
        case All(parts) | FirstOf(parts):
            inner: tuple[System | None, ...] = parts
        case Call(body=body):
            inner = (body,)
        case Optional(part, then):
            inner = (part, then)
        case Cache(part):
            inner = (part,)
        case _:
            inner = ()
    for child in inner:
        if child is not None:
            yield from nodes(child)


def random_system(chance: Random, family: Family) -> System:
    budget = chance.randint(*family.points)
    if family.kinds == ("routes",):
        points = [Point("simulated", f"api-{number:02}") for number in range(budget)]
        paths = (frozenset(chance.sample(points, chance.randint(2, 5))) for _ in range(chance.randint(2, 5)))
        return Routes(tuple(paths))
    builder = _Builder(chance, family.kinds, budget)
    top: list[System] = []
    while builder.left > 0 and len(top) < budget // 2:
        top.append(builder.node(depth=2))
    if len(builder.replicas) > 2 and chance.random() < 0.4:
        top.append(builder.shared())
    return All(tuple(top))


@dataclass(slots=True)
class _Builder:
    chance: Random
    kinds: tuple[str, ...]
    budget: int  # of points
    replicas: dict[str, int] = field(default_factory=dict)

    @property
    def left(self) -> int:
        return self.budget - sum(self.replicas.values())

    def call(self, replicas: int | None = None) -> Call:
        """Of a new API."""
        api = f"api-{len(self.replicas):02}"
        self.replicas[api] = replicas or self.chance.randint(1, min(3, max(1, self.left)))
        return Call(api, replicas=self.replicas[api])

    def shared(self) -> System:
        """A further call of an API that is called elsewhere already."""
        one, other = (
            Call(api, replicas=self.replicas[api])
            for api in (self.chance.choice(sorted(self.replicas)) for _ in range(2))
        )
        return self.chance.choice((one, Optional(one), FirstOf((one, other))))

    def node(self, depth: int) -> System:  # noqa: PLR0911 - one per kind of node
        kind = self.chance.choice(self.kinds) if depth > 0 and self.left > 1 else "call"
        match kind:
            case "all":
                return All(self._several(depth))
            case "fallback":
                return FirstOf(self._several(depth))
            case "optional":
                return Optional(self.node(depth - 1))
            case "hidden":
                return Optional(self.call(1), then=self.call(min(2, self.left - 1)))
            case "cache":
                return Cache(self.node(depth - 1), hit_rate=0.5)
            case "quorum":
                replicas = min(3, self.left)
                return Quorum(self.call(replicas).api, replicas, self.chance.randint(1, replicas))
            case "attempts":
                call = self.call()
                return Call(call.api, replicas=call.replicas, attempts=self.chance.randint(1, call.replicas))
            case "zones" if self.left >= 4:
                apis = self.call(2).api, self.call(2).api
                zones = (All(tuple(Call(api, replicas=2, zone=zone) for api in apis)) for zone in (1, 2))
                return FirstOf(tuple(zones), in_any_order=True)
            case _:
                call = self.call()
                inside = tuple(
                    self.node(depth - 1) for _ in range(self.chance.randint(0, 2)) if depth > 0 and self.left > 0
                )
                return Call(call.api, All(inside) if inside else None, call.replicas)

    def _several(self, depth: int) -> tuple[System, ...]:
        first = self.node(depth - 1)
        return (first, self.node(depth - 1)) if self.left > 0 else (first,)


def shuffled_names(system: System, seed: int) -> dict[Point, Point]:
    points = sorted(all_points(system))
    return dict(zip(points, Random(seed).sample(points, len(points)), strict=True))


@dataclass(frozen=True, slots=True)
class CounterExample:
    """A system in which an algorithm as printed, or a plausible repair of it, loses a cut."""

    name: str
    system: System
    max_size: int


def _routes(*paths: str) -> Routes:
    return Routes(tuple(frozenset(Point("simulated", api) for api in path) for path in paths))


COUNTER_EXAMPLES = (
    CounterExample("one instance hides replicas", All((Call("A"), Call("B", replicas=2))), 2),
    CounterExample("a gateway hides a fallback", All((Call("A"), FirstOf((Call("B"), Call("C"))))), 3),
    CounterExample("best_depth loses a solution", _routes("ab", "ac", "d"), 3),
    CounterExample("best_depth after repair of k", _routes("acef", "bcf", "abef", "ade"), 3),
    CounterExample("a tolerated failure hides a call", Optional(Call("X"), then=Call("Y")), 2),
)
