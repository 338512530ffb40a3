"""A system of a million services (FastFI §4.1.1), and complete discovery for many of its request classes.

Business logic, databases and caches, all of one shared system: what a service is follows from its number, so that it
exists only once a request class calls it. A class draws its calls as a tree, wide near the entry and narrower with
depth, from services of which few are popular and most are not. So classes share services, as in FastFI's Table 1b.
"""

import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from random import Random

from cutset.search.cuts import CutSearch
from cutset.search.strategy import SearchSettings
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.drive import SearchCost, drive
from cutset.simulation.simulated import All, Call, Conditions, FirstOf, Optional, Simulation, System, all_points

SERVICES = 1_000_000
MAX_SIZE = 3
CLASSES = (250, 500, 1000)  # how many have been finished when the clock is looked at
WORKERS = 2
CHECKED = 25  # each so-manieth class is compared with brute force


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    replicas: int
    kind: str


def service(number: int) -> Service:
    chance = Random(f"service {number}")
    (kind,) = chance.choices(("business", "database", "cache"), (8, 1, 1))
    return Service(f"{kind}-{number:06}", chance.choices((1, 2, 3), (3, 4, 3))[0], kind)


def request_class(number: int) -> System:
    return _Drawing(Random(f"class {number}")).draw()


@dataclass(slots=True)
class _Drawing:
    chance: Random
    left: int = 0
    seen: set[int] = field(default_factory=set)

    def draw(self) -> System:
        self.left = self.chance.randint(5, 25)
        top = []
        while self.left > 0:
            top.append(self._part(depth=1))
        return All(tuple(top))

    def _part(self, depth: int) -> System:
        call = self._call(depth)
        roll = self.chance.random()
        if roll < 0.15:
            return Optional(call)
        if roll < 0.25 and self.left > 0:
            return FirstOf((call, self._call(depth)))
        return call

    def _call(self, depth: int) -> System:
        drawn = self._new_service()
        if drawn.kind == "cache" and self.left > 0:  # what is not in the cache is in a database
            return FirstOf((Call("get", replicas=drawn.replicas, service=drawn.name), self._call(depth + 1)))
        inside: list[System] = []
        if drawn.kind == "business":
            while self.left > 0 and depth < 4 and self.chance.random() < 0.6 / depth:
                inside.append(self._part(depth + 1))
        return Call("get", All(tuple(inside)) if inside else None, drawn.replicas, service=drawn.name)

    def _new_service(self) -> Service:
        self.left -= 1
        while True:
            number = min(SERVICES, int(SERVICES ** self.chance.random()))  # rank by popularity: Zipf's law
            if number not in self.seen:
                self.seen.add(number)
                return service(number)


@dataclass(frozen=True, slots=True)
class Discovery:
    tally: SearchCost
    apis: int
    cuts: int
    wrong: int  # missed or not minimal, if this class was checked


def discover(number: int, *, check: bool = False) -> Discovery:
    system = request_class(number)
    points = all_points(system)
    search = CutSearch(SearchSettings(MAX_SIZE, inventory=points, seed=number))
    tally = drive(search, Simulation(system, Conditions(seed=number)))
    found = set(search.result().minimal_cuts)
    wrong = len(found ^ minimal_cuts_by_brute_force(system, MAX_SIZE)) if check else 0
    return Discovery(tally, len({point.of_api for point in points}), len(found), wrong)


def measure(say: Callable[[str], None]) -> dict[str, object]:
    seconds: dict[int, float] = {}
    found = []
    with ProcessPoolExecutor(WORKERS) as pool:
        list(pool.map(partial(discover, check=False), range(-WORKERS, 0)))  # the workers have imported everything
        start = time.perf_counter()
        for discovery in pool.map(discover, range(max(CLASSES)), chunksize=5):
            found.append(discovery)
            if len(found) in CLASSES:
                seconds[len(found)] = time.perf_counter() - start
                say(f"{len(found)} request classes: {seconds[len(found)]:.1f} s")
        wrong = sum(each.wrong for each in pool.map(partial(discover, check=True), range(0, max(CLASSES), CHECKED)))
    parent, child = (
        resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return {
        "million_services_seconds": round(seconds[max(CLASSES)], 1),
        "million_services_seconds_by_classes": {count: round(taken, 1) for count, taken in seconds.items()},
        "million_services_apis": sum(each.apis for each in found),
        "million_services_cuts": sum(each.cuts for each in found),
        "million_services_injections": sum(each.tally.injections for each in found),
        "million_services_mean_rounds": round(sum(each.tally.rounds for each in found) / len(found), 2),
        "million_services_wrong": wrong,
        "million_services_megabytes": round(parent + WORKERS * child),
    }
