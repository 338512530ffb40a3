"""Request classes as production has them, decided by a seed: what `trace_generator.py` draws traces from.

A class is a tree of calls with what makes executions differ: calls that are made at times, one of several, or once for
each item of the request; caches that hit or miss; failures that a fallback answers, that are tolerated, or that fail
the request. Classes are popular by Zipf's law, the number of their calls is log-normal (weighted by popularity, so that
the spans of a trace are heavy-tailed for every seed), and few APIs are shared by many classes, as in FastFI's Table 1b.

What a service or a class is follows from its number, so that it exists only once it is drawn: a million services
(FastFI §4.1.1, `million_services.py`) take no more memory than two hundred.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from math import exp
from random import Random
from statistics import NormalDist

from benchmarks import million_services
from cutset.model.point import Point
from cutset.model.span import AttributeValue, SpanKind
from cutset.simulation import simulated

MOST_CALLS = 150  # of a class: the tail is heavy, not endless
SERVICES_HELD = 8192  # the latest; many classes call the popular ones

# fmt: off
WORDS = (
    "account", "address", "alert", "audit", "basket", "billing", "booking", "brand", "campaign", "cart", "catalog",
    "coupon", "currency", "customer", "delivery", "device", "feed", "gift", "image", "inventory", "invoice", "ledger",
    "loyalty", "menu", "message", "offer", "order", "payment", "picture", "price", "product", "profile", "quote",
    "rating", "refund", "review", "seat", "session", "shipment", "ticket",
)
# fmt: on
ROLES = ("service", "api", "store", "engine", "manager", "lookup", "index", "proxy")
VERBS = ("Get", "List", "Update", "Find", "Check")
PATHS = (
    ("GET", "/{noun}"),
    ("GET", "/{noun}/{{id}}"),
    ("POST", "/{noun}"),
    ("GET", "/{noun}/{{id}}/details"),
    ("POST", "/{noun}/{{id}}/confirm"),
    ("PUT", "/{noun}/{{id}}"),
)
POD_LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # what Kubernetes makes names of pods from

Attributes = dict[str, AttributeValue]


@dataclass(frozen=True, slots=True)
class Profile:
    services: int = 200
    classes: int = 150
    apis_per_service: int = 8
    shared_apis: tuple[float, ...] = (0.2443, 0.1404, 0.0747, 0.0726, 0.0681)  # share of the classes that call each
    popularity: float = 1.0  # exponent of Zipf's law over the classes
    median_calls: float = 6.0
    spread: float = 1.1  # of the logarithm of the calls
    failure_rate: float = 0.002  # of calls, by themselves
    routed: float = 0.5  # share of the entry services that say `http.route`
    clock_skew_ns: int = 0  # the most that a service's clock is off
    requests_per_second: float = 140.0  # over the day; 3 million in six hours (CAST §3.3)
    million_services: bool = False


PROFILES = {
    "small": Profile(services=20, classes=12),
    "production": Profile(),
    "million": Profile(services=million_services.SERVICES, classes=100_000, million_services=True),
}


@dataclass(frozen=True, slots=True)
class Half:
    """What the spans of one side of a call have in common."""

    service: str
    name: str
    kind: SpanKind
    skew_ns: int
    answered: tuple[Attributes, ...]  # by replica; shared by all spans
    failed: tuple[Attributes, ...]


@dataclass(frozen=True, slots=True)
class Call:
    point: Point
    caller: Half
    callee: Half | None = None  # None: a data store or queue
    handler: Half | None = None  # an internal span between the callee's own and its calls
    steps: tuple["Step", ...] = ()
    concurrent: bool = False  # its steps are all begun at once


@dataclass(frozen=True, slots=True)
class Step:
    """A place in a service's code that calls: one of several APIs, where there are alternatives."""

    calls: tuple[Call, ...]
    chance: float = 1.0
    per_item: bool = False
    on_miss: tuple["Step", ...] = ()  # the call asks a cache; this is done when it does not know
    fallback: "Step | None" = None
    tolerated: bool = False


@dataclass(frozen=True, slots=True)
class RequestClass:
    method: str
    path: str  # with {id}
    ids: str  # numeric, uuid or slug
    routed: bool
    entry: Half  # without what differs from request to request
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    pods: tuple[str, ...]
    grpc: bool
    handled: bool  # has an internal span inside each server span
    skew_ns: int

    def half(self, name: str, kind: SpanKind, answered: Attributes, failed: Attributes) -> Half:
        by_pod = [
            tuple({**attributes, "service.instance.id": pod} for pod in self.pods) for attributes in (answered, failed)
        ]
        return Half(self.name, name, kind, self.skew_ns, by_pod[0], by_pod[1])


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """What is decided before the first class is made."""

    seed: int
    profile: Profile
    shared: tuple[frozenset[int], ...]  # for each shared API, the classes that call it
    sizes: tuple[int, ...]  # calls of each class
    cumulated: tuple[float, ...]  # popularity, for drawing


def system(seed: int, profile: Profile) -> System:
    chance = Random(f"{seed} system")
    count = profile.classes
    weights = [1 / rank**profile.popularity for rank in range(1, count + 1)]
    total = sum(weights)
    shared = tuple(
        frozenset(chance.sample(range(count), max(1, round(share * count)))) for share in profile.shared_apis
    )
    # A class gets the quantile of sizes at which its share of the traces lies.
    log_size, sizes, below = NormalDist(sigma=profile.spread), [1] * count, 0.0
    for number in chance.sample(range(count), count):
        quantile = (below + weights[number] / 2) / total
        sizes[number] = min(MOST_CALLS, max(1, round(profile.median_calls * exp(log_size.inv_cdf(quantile)))))
        below += weights[number]
    return System(seed, profile, shared, tuple(sizes), tuple(accumulate(weight / total for weight in weights)))


def request_class(world: System, number: int) -> RequestClass:
    chance = Random(f"{world.seed} class {number}")
    profile = world.profile
    entries = _entries(profile)
    gateway = number % entries
    routed = gateway + 0.5 < profile.routed * entries
    entry = _service(world, f"gateway-{gateway:02}")
    if profile.million_services:
        steps = _simulated(world, entry, million_services.request_class(number))
    else:
        steps = _Design(world, chance, world.sizes[number]).steps(entry, caller_number=entries - 1, depth=0)
        steps += tuple(
            Step((_shared(world, entry, rank),)) for rank, classes in enumerate(world.shared) if number in classes
        )
    method, pattern = PATHS[number // len(WORDS) % len(PATHS)]
    path = pattern.format(noun="/".join(_words(number)))
    ids = chance.choice(("numeric", "uuid", "slug"))
    answered: Attributes = {"http.request.method": method, "http.response.status_code": "200"}
    if routed:
        answered["http.route"] = path
    name = f"{method} {path}" if routed else method
    half = entry.half(name, SpanKind.SERVER, answered, {**answered, "http.response.status_code": "500"})
    return RequestClass(method, path, ids, routed, half, steps)


def _entries(profile: Profile) -> int:
    return max(2, min(50, profile.services // 20))


def _words(number: int) -> list[str]:
    """The class's place in the site: one noun for the first few hundred classes, more for later ones."""
    words = [WORDS[number % len(WORDS)]]
    rest = number // (len(WORDS) * len(PATHS))
    while rest:
        words.insert(0, WORDS[rest % len(WORDS)])
        rest //= len(WORDS)
    return words


@lru_cache(SERVICES_HELD)
def _service(world: System, name: str, replicas: int = 0) -> Service:
    chance = Random(f"{world.seed} service {name}")
    skew, replica_set = world.profile.clock_skew_ns, "".join(chance.choices(POD_LETTERS, k=10))
    pods = tuple(
        f"{name}-{replica_set}-{''.join(chance.choices(POD_LETTERS, k=5))}"
        for _ in range(chance.randint(1, 4) if replicas == 0 else replicas)
    )
    return Service(name, pods, chance.random() < 0.5, chance.random() < 0.3, chance.randint(-skew, skew))


def _service_name(number: int) -> str:
    word, role = WORDS[number % len(WORDS)], ROLES[number // len(WORDS) % len(ROLES)]
    series = number // (len(WORDS) * len(ROLES))
    return f"{word}-{role}-{series}" if series else f"{word}-{role}"


@dataclass(slots=True)
class _Design:
    """The drawing of one class's tree of calls."""

    world: System
    chance: Random
    left: int  # calls of services still to be placed

    def steps(self, caller: Service, caller_number: int, depth: int) -> tuple[Step, ...]:
        steps = []
        calls_others = caller_number < 0.8 * self._own_services  # or the last few would be called by all
        while calls_others and self.left > 0 and (depth == 0 or self.chance.random() < 0.7 / depth):
            steps.append(self._step(caller, caller_number, depth))
        if depth > 0 and self.chance.random() < 0.5:
            steps.append(self._store_step(caller))
        return tuple(steps)

    @property
    def _own_services(self) -> int:
        """The last services offer the shared APIs, and no other."""
        profile = self.world.profile
        return max(_entries(profile) + 1, profile.services - len(profile.shared_apis))

    def _step(self, caller: Service, caller_number: int, depth: int) -> Step:
        step = Step((self._call(caller, caller_number, depth),))
        roll = self.chance.random()
        if roll < 0.15:
            return replace(step, chance=self.chance.uniform(0.1, 0.9), tolerated=True)
        if roll < 0.25:
            return replace(step, per_item=True)
        if roll < 0.33 and self.left > 0:
            return replace(step, calls=(*step.calls, self._call(caller, caller_number, depth)))
        if roll < 0.45 and self.left > 0:
            return replace(step, fallback=Step((self._call(caller, caller_number, depth),)))
        return replace(step, tolerated=roll > 0.85)

    def _call(self, caller: Service, caller_number: int, depth: int) -> Call:
        """Of a service with a higher number than its caller's: nobody calls in circles."""
        self.left -= 1
        first = max(caller_number + 1, _entries(self.world.profile))
        number = self.chance.randrange(first, self._own_services)
        api = self.chance.randint(1, self.world.profile.apis_per_service)
        callee = _service(self.world, _service_name(number))
        name = f"{VERBS[api % len(VERBS)]}{WORDS[(number + api) % len(WORDS)].title()}{api}"
        steps = self.steps(callee, number, depth + 1)
        return _between(caller, callee, name, steps, concurrent=self.chance.random() < 0.3)

    def _store_step(self, caller: Service) -> Step:
        roll = self.chance.random()
        collection = self.chance.choice(WORDS)
        query = Step((_query(caller, f"{caller.name}-db", collection),))
        if roll < 0.6:
            return query
        if roll < 0.9:
            return Step((_cache_get(caller, f"{caller.name}-cache"),), on_miss=(query,))
        return Step((_publish(caller, collection),), tolerated=True)


def _shared(world: System, caller: Service, rank: int) -> Call:
    callee = _service(world, _service_name(world.profile.services - 1 - rank))
    return _between(caller, callee, f"Check{WORDS[rank].title()}")


def _simulated(world: System, caller: Service, node: simulated.System) -> tuple[Step, ...]:
    match node:
        case simulated.All(parts):
            return tuple(step for part in parts for step in _simulated(world, caller, part))
        case simulated.Optional(part):
            return tuple(replace(step, tolerated=True) for step in _simulated(world, caller, part))
        case simulated.FirstOf((first, second)):
            (step,), (other,) = _simulated(world, caller, first), _simulated(world, caller, second)
            asks_cache = isinstance(first, simulated.Call) and first.service.startswith("cache")
            return (replace(step, on_miss=(other,)) if asks_cache else replace(step, fallback=other),)
        case simulated.Call():
            return (Step((_simulated_call(world, caller, node),)),)
    raise AssertionError(f"{node} is none of what `million_services` draws")


def _simulated_call(world: System, caller: Service, call: simulated.Call) -> Call:
    if call.service.startswith("database"):
        return _query(caller, call.service, "items")
    if call.service.startswith("cache"):
        return _cache_get(caller, call.service)
    callee = _service(world, call.service, call.replicas)
    steps = _simulated(world, callee, call.body) if call.body else ()
    return _between(caller, callee, call.api.title(), steps)


def _between(
    caller: Service, callee: Service, api: str, steps: tuple[Step, ...] = (), *, concurrent: bool = False
) -> Call:
    if callee.grpc:
        method = f"{callee.name.split('-')[0]}.{callee.name.title().replace('-', '')}/{api}"
        client_name, name, point = method, method, Point(callee.name, api)
        seen: Attributes = {"rpc.system.name": "grpc", "rpc.method": method, "rpc.response.status_code": "OK"}
        answered = seen
        failed = {**seen, "rpc.response.status_code": "UNAVAILABLE"}
    else:
        verb = "GET" if api.startswith(("Get", "List")) else "POST"
        path = f"/{callee.name}/{api.lower()}"
        client_name, name, point = verb, f"{verb} {path}", Point(callee.name, f"{verb} {path}")
        seen = {"http.request.method": verb, "url.path": path, "http.response.status_code": "200"}
        answered = {**seen, "http.route": path}
        failed = {**seen, "http.response.status_code": "503"}
    peer: Attributes = {"peer.service": callee.name}
    return Call(
        point,
        caller.half(client_name, SpanKind.CLIENT, {**seen, **peer}, {**failed, **peer}),
        callee.half(name, SpanKind.SERVER, answered, {**answered, **failed}),
        callee.half(f"{api}Handler.handle", SpanKind.INTERNAL, {}, {}) if callee.handled else None,
        steps,
        concurrent,
    )


def _query(caller: Service, store: str, collection: str) -> Call:
    attributes: Attributes = {
        "db.system.name": "postgresql",
        "db.operation.name": "SELECT",
        "db.collection.name": collection,
        "peer.service": store,
    }
    half = caller.half(f"SELECT {collection}", SpanKind.CLIENT, attributes, attributes)
    return Call(Point(store, f"SELECT {collection}"), half)


def _cache_get(caller: Service, store: str) -> Call:
    attributes: Attributes = {"db.system.name": "redis", "db.operation.name": "GET", "peer.service": store}
    return Call(Point(store, "GET"), caller.half("GET", SpanKind.CLIENT, attributes, attributes))


def _publish(caller: Service, topic: str) -> Call:
    attributes: Attributes = {
        "messaging.system": "kafka",
        "messaging.operation.name": "send",
        "messaging.destination.name": topic,
        "peer.service": "kafka",
    }
    half = caller.half(f"send {topic}", SpanKind.PRODUCER, attributes, attributes)
    return Call(Point("kafka", f"send {topic}"), half)
