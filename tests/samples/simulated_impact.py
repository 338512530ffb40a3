"""Events of impacts whose truth is known: marked requests of a small shop, with users who come back.

user ─▶ frontend/POST /checkout ─▶ checkout/PlaceOrder ─▶ payment/Charge    faulted
                                                       └▶ cart/GetCart      not upstream of it
user ─▶ frontend/GET / ─▶ cart/GetCart                                      never reaches it
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from cutset.model.fault import Fault
from cutset.model.impact import (
    ApiCall,
    Group,
    ImpactEvent,
    ImpactStarted,
    ImpactWindow,
    ObservedRequest,
    RequestsObserved,
    Tally,
    TrafficSource,
    WindowEnded,
    WindowStarted,
)
from cutset.model.point import Point
from cutset.model.run import Loop, RunFinished, RunStarted

CHECKOUT = Point("frontend", "POST /checkout")
HOME = Point("frontend", "GET /")
ORDER = Point("checkout", "PlaceOrder")
CHARGE = Point("payment", "Charge")
CART = Point("cart", "GetCart")
BEGIN = 1_800_000_000.0  # Unix seconds
BEFORE, DURING, AFTER = ImpactWindow.BEFORE, ImpactWindow.DURING, ImpactWindow.AFTER


def always(_: float) -> float:
    return 1.0


@dataclass(frozen=True, slots=True)
class Shop:
    """How it behaves, with the fault and without."""

    rate: int = 30  # per cent of the calls that reach the fault and carry it
    harm: float = 0.0  # the share of orders that fail of a faulted charge
    delay: float = 0.0  # seconds that a faulted charge costs
    retries: int = 0  # of a faulted charge; what fails as often fails the order
    reached: float = 1.0  # the share of orders that are charged at all
    home: float = 0.0  # the share of requests that are no orders
    failing: float = 0.005  # of all orders, for reasons of their own
    alike: float = 0.0  # how much orders of one user fail alike: intraclass correlation
    worse: Callable[[float], float] = always  # times as many failures, and as slow, at that second of the fault


@dataclass(frozen=True, slots=True)
class Traffic:
    seconds: tuple[int, int, int] = (10, 60, 5)  # of each window
    marked: int = 20  # requests per second
    users: int = 0  # who come back, some of them much more often; 0: each request is a user of its own
    lost: tuple[float, float] = (0.0, 0.0)  # shares of requests of which no span arrives: fault, control
    share_of_fault: float = 0.5  # of users
    reason: str = ""  # why the fault ended early


USUAL = Traffic()


def started(
    rate: int = 30, *, alpha: float = 0.01, margin: float = 0.02, fault: str = "payment/Charge"
) -> ImpactStarted:
    return ImpactStarted(
        cut=frozenset({Fault(Point.parse(fault), percent=rate)}),
        traffic=TrafficSource.LIVE,
        shares=(0.05,),
        seconds={BEFORE: 10, DURING: 60, AFTER: 5},
        alpha=alpha,
        margin=margin,
    )


def impact_events(
    shop: Shop, traffic: Traffic = USUAL, *, seed: int = 1, begin: ImpactStarted | None = None
) -> Iterator[ImpactEvent]:
    yield RunStarted(loop=Loop.IMPACT, run=f"impact-{seed}")
    yield begin or started(shop.rate)
    requests = _Requests(shop, traffic, Random(seed))
    at = BEGIN
    for window, seconds in zip(ImpactWindow, traffic.seconds, strict=True):
        yield WindowStarted(window=window, at=at, share=0.05)
        for second in range(seconds):
            made = (
                tuple(requests.made(window, second, at) for _ in range(traffic.marked)) if window is not AFTER else ()
            )
            at += 1
            others = (Tally(CHECKOUT, requests=100, failed=1), Tally(ORDER, requests=100, failed=0))
            yield RequestsObserved(window=window, at=at, requests=made, others=others)
        if window is not AFTER:
            yield WindowEnded(window=window, at=at, reason=traffic.reason if window is DURING else "")
    yield RunFinished()


class _Requests:
    def __init__(self, shop: Shop, traffic: Traffic, random: Random) -> None:
        self._shop, self._traffic, self._random = shop, traffic, random
        self._count = 0
        self._users = [f"user-{number}" for number in range(traffic.users)]
        self._weights = [random.paretovariate(1.2) for _ in self._users]
        self._group: dict[str, Group] = {}
        self._failing: dict[str, float] = {}

    def made(self, window: ImpactWindow, second: int, at: float) -> ObservedRequest:
        self._count += 1
        trace_id = f"{self._count:032x}"
        user = self._random.choices(self._users, self._weights)[0] if self._users else ""
        group = self._group_of(user or trace_id) if window is DURING else Group.CONTROL
        request = ObservedRequest(trace_id, group, user, at + self._random.random())
        if window is DURING and self._random.random() < self._traffic.lost[group is Group.CONTROL]:
            return request
        is_home = self._random.random() < self._shop.home
        worse = self._shop.worse(second) if window is DURING else 1.0
        entry, calls, callers = self._home(worse) if is_home else self._order(user or trace_id, group, worse)
        return ObservedRequest(request.trace_id, group, user, request.at, entry, tuple(calls), tuple(callers))

    def _home(self, worse: float) -> tuple[Point, list[ApiCall], list[tuple[Point, Point]]]:
        seconds = worse * self._random.lognormvariate(-4, 0.5)
        return (
            HOME,
            [ApiCall(HOME, failed=False, seconds=seconds), ApiCall(CART, failed=False, seconds=seconds / 2)],
            [(HOME, CART)],
        )

    def _order(self, user: str, group: Group, worse: float) -> tuple[Point, list[ApiCall], list[tuple[Point, Point]]]:
        shop, random = self._shop, self._random
        seconds = worse * random.lognormvariate(-3.5, 0.5)
        failed = random.random() < worse * self._failing_of(user)
        calls = [ApiCall(CART, failed=False, seconds=seconds / 4)]
        callers = [(CHECKOUT, ORDER), (ORDER, CART)]
        if random.random() < shop.reached:
            callers.append((ORDER, CHARGE))
            faulted = 0
            while group is Group.FAULT and faulted <= shop.retries and 100 * random.random() < shop.rate:
                faulted += 1
            gave_up = faulted > shop.retries
            attempts = faulted if gave_up else faulted + 1
            seconds += faulted * shop.delay
            failed = failed or (gave_up and random.random() < shop.harm)
            calls.append(ApiCall(CHARGE, failed=gave_up, seconds=0.005, attempts=attempts, faulted=faulted))
        calls += [
            ApiCall(ORDER, failed=failed, seconds=seconds),
            ApiCall(CHECKOUT, failed=failed, seconds=1.2 * seconds),
        ]
        return CHECKOUT, calls, callers

    def _group_of(self, user: str) -> Group:
        """The coin: one per user."""
        if user not in self._group:
            with_fault = self._random.random() < self._traffic.share_of_fault
            self._group[user] = Group.FAULT if with_fault else Group.CONTROL
        return self._group[user]

    def _failing_of(self, user: str) -> float:
        """Each user has a share of their own, as much alike as orders of one user are."""
        mean, alike = self._shop.failing, self._shop.alike
        if not alike or not mean:
            return mean
        if user not in self._failing:
            spread = 1 / alike - 1
            self._failing[user] = self._random.betavariate(mean * spread, (1 - mean) * spread)
        return self._failing[user]
