"""The events of an impact whose truth is known, and an impact with one of everything that a report must show.

The shop: `currency/Convert` is answered 503 at a rate. Home pages do without it, product pages ask for it by way of
`shipping/Quote`, which tries three times, and a checkout fails with it. `GET /gifts` is so rare that nobody can tell.

`python -m tests.samples.impacts` draws `docs/images/impact.svg`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from cutset.judge.impact import impact_of
from cutset.model.fault import Fault
from cutset.model.impact import (
    ApiCall,
    ApiImpact,
    ApiSample,
    ApiVerdict,
    Group,
    GuardTripped,
    Impact,
    ImpactEvent,
    ImpactStarted,
    ImpactWindow,
    Interval,
    ObservedRequest,
    RequestsObserved,
    Tally,
    TrafficSource,
    WindowEnded,
    WindowStarted,
)
from cutset.model.point import Point
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.report.impact.columns import impact_timelines
from cutset.report.impact.graph import draw_impact_graph
from cutset.report.impact.timeline import HEIGHT, WIDTH, draw_impact_timeline
from cutset.report.impact.wording import what_was_done

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "impact.svg"
BEGIN = 1_800_000_000.0  # Unix seconds
USERS = 3_000

TARGET = Point.parse("currency/Convert")
HOME, PRODUCT, CHECKOUT, GIFTS = (
    Point("frontend", api) for api in ("GET /", "GET /product/*", "POST /cart/checkout", "GET /gifts")
)
ORDER, QUOTE, CART, PAYMENT, CATALOG = map(
    Point.parse, ("checkout/PlaceOrder", "shipping/Quote", "cart/GetCart", "payment/Charge", "catalog/GetProduct")
)
POPULAR = {HOME: 50, PRODUCT: 26, CHECKOUT: 20, GIFTS: 4}  # how often of 100 requests


@dataclass(frozen=True, slots=True)
class Truth:
    """What the fault does, and what happens without it."""

    rate: float = 0.3
    flaky: float = 0.001  # of all requests fail anyway
    slowdown: float = 1.0  # of everybody, while the fault is on


TRUTH = Truth()


def impact_started(
    *faults: str, traffic: TrafficSource = TrafficSource.LIVE, shares: tuple[float, ...] = (0.05,)
) -> ImpactStarted:
    return ImpactStarted(
        cut=frozenset(map(Fault.parse, faults or ("currency/Convert:abort(503),30%",))),
        traffic=traffic,
        shares=shares,
        seconds={ImpactWindow.BEFORE: 20.0, ImpactWindow.DURING: 60.0, ImpactWindow.AFTER: 20.0},
        by="ada@till",
    )


def impact_events(
    truth: Truth = TRUTH,
    *,
    run: str = "20270115-080000-000000",
    seed: int = 1,
    marked_per_second: int = 40,
    others_per_second: int = 360,
    shares: tuple[float, ...] = (0.05,),
) -> Iterator[ImpactEvent]:
    """In each window half of what is marked is in each group, but for `before`, where all is control."""
    random = Random(seed)
    started = impact_started(shares=shares)
    yield RunStarted(loop=Loop.IMPACT, run=run, command="impact", config="/shop/cutset.yaml")
    yield started
    at = BEGIN
    for window, share in ((ImpactWindow.BEFORE, 0.0), *((ImpactWindow.DURING, each) for each in shares)):
        yield WindowStarted(window=window, at=at, share=share)
        marked = {Group.FAULT: 0, Group.CONTROL: 0}
        for _ in range(int(started.seconds[window])):
            requests = tuple(_marked(random, truth, window, at, marked_per_second))
            for each in requests:
                marked[each.group] += 1
            at += 1
            others = _others(random, truth, others_per_second, window)
            yield RequestsObserved(window=window, at=at, requests=requests, others=others)
        yield WindowEnded(window=window, at=at, marked=marked, asked=sum(marked.values()))
    yield WindowStarted(window=ImpactWindow.AFTER, at=at)
    for _ in range(int(started.seconds[ImpactWindow.AFTER])):
        at += 1
        others = _others(random, truth, others_per_second + marked_per_second, ImpactWindow.AFTER)
        yield RequestsObserved(window=ImpactWindow.AFTER, at=at, others=others)
    yield RunFinished()


def _marked(random: Random, truth: Truth, window: ImpactWindow, at: float, number: int) -> Iterator[ObservedRequest]:
    for _ in range(number):
        user = random.randrange(USERS)
        with_fault = window is ImpactWindow.DURING and user % 2 == 0
        entry = random.choices(list(POPULAR), list(POPULAR.values()))[0]
        calls, callers = _request(random, truth, entry, window, with_fault=with_fault)
        yield ObservedRequest(
            f"{random.getrandbits(128):032x}",
            Group.FAULT if with_fault else Group.CONTROL,
            f"{user:08x}",
            at + random.random(),
            entry,
            calls,
            callers,
        )


def _request(
    random: Random, truth: Truth, entry: Point, window: ImpactWindow, *, with_fault: bool
) -> tuple[tuple[ApiCall, ...], tuple[tuple[Point, Point], ...]]:
    slowdown = truth.slowdown if window is ImpactWindow.DURING else 1.0

    def took(milliseconds: float) -> float:
        return round(milliseconds / 1000 * random.lognormvariate(0, 0.35) * slowdown, 6)

    tries = 3 if entry in (PRODUCT, GIFTS) else 1
    faulted = 0
    while with_fault and faulted < tries and random.random() < truth.rate:
        faulted += 1
    attempts, failed = min(faulted + 1, tries), faulted == tries
    converting = took(4) + 0.02 * (attempts - 1)
    target = ApiCall(TARGET, failed, converting, attempts=attempts, faulted=faulted)
    flaky = random.random() < truth.flaky
    if entry == HOME:
        catalog = ApiCall(CATALOG, failed=False, seconds=took(9))
        calls = (ApiCall(HOME, flaky, took(28) + converting), catalog, target)
        return calls, ((HOME, CATALOG), (HOME, TARGET))
    if entry == CHECKOUT:
        cart = ApiCall(CART, failed=False, seconds=took(5))
        paid = () if failed else (ApiCall(PAYMENT, failed=False, seconds=took(22)),)
        whole = took(14) + converting + sum(each.seconds for each in paid)
        bad = failed or flaky
        calls = (ApiCall(CHECKOUT, bad, whole + took(8)), ApiCall(ORDER, bad, whole), cart, *paid, target)
        called = ((CHECKOUT, ORDER), (ORDER, CART), (ORDER, TARGET))
        return calls, (*called, *((ORDER, PAYMENT) for _ in paid))
    quote = took(6) + converting
    bad = failed or flaky
    catalog = ApiCall(CATALOG, failed=False, seconds=took(9))
    calls = (ApiCall(entry, bad, quote + took(15)), ApiCall(QUOTE, bad, quote), catalog, target)
    return calls, ((entry, CATALOG), (entry, QUOTE), (QUOTE, TARGET))


def _others(random: Random, truth: Truth, number: int, window: ImpactWindow) -> tuple[Tally, ...]:
    """Each entry by one request that stands for all of that second: there are many."""
    requests: Counter[Point] = Counter()
    failed: Counter[Point] = Counter()
    seconds: Counter[Point] = Counter()
    for entry, percent in POPULAR.items():
        alike = number * percent // 100
        flaky = sum(random.random() < truth.flaky for _ in range(alike))
        for call in _request(random, replace(truth, flaky=0), entry, window, with_fault=False)[0]:
            requests[call.api] += alike
            failed[call.api] += flaky if call.api in (entry, ORDER, QUOTE) else 0
            seconds[call.api] += alike * call.seconds  # type: ignore[assignment]
    return tuple(Tally(api, requests[api], failed[api], seconds=seconds[api]) for api in requests)


def sample(requests: int, failed: int, *, p95: float = 0.041, attempts: float = 1.0, traces: int = 0) -> ApiSample:
    seconds: Mapping[str, float] = {"p50": 0.02, "p95": p95, "p99": 2 * p95}
    ids = tuple(f"{number:032x}" for number in range(0xA0, 0xA0 + traces))
    return ApiSample(requests, failed, requests * 3 // 4, seconds, attempts, ids)


IMPACT = Impact(
    run="20270115-080000-000000",
    started=impact_started(),
    apis=(
        ApiImpact(
            CHECKOUT,
            ApiVerdict.AFFECTED,
            "72 of 241 failed with the fault, 0 of 238 without",
            before=sample(160, 0),
            fault=sample(241, 72, p95=float("inf"), traces=12),
            control=sample(238, 0),
            difference=0.29876,
            at_any_time=Interval(0.20912, 0.38840),
            chance=1.2e-9,
            slow_chance=1e-7,
            recovered_after=1.4,
            is_entry=True,
        ),
        ApiImpact(
            HOME,
            ApiVerdict.RESILIENT,
            "not more than 1.2 points of 602 requests can have failed by it",
            before=sample(400, 1),
            fault=sample(602, 0, p95=0.046),
            control=sample(599, 1),
            difference=-0.00167,
            at_any_time=Interval(-0.0141, 0.0162),
            at_end=Interval(-0.0094, 0.0051),
            slower=Interval(0.0012, 0.0089),
            is_entry=True,
        ),
        ApiImpact(
            GIFTS,
            ApiVerdict.CANNOT_TELL,
            "48 requests with the fault are too few",
            before=sample(31, 0),
            fault=sample(48, 1, attempts=1.0),
            control=sample(47, 0),
            difference=0.0208,
            at_any_time=Interval(-0.113, 0.155),
            more_requests=640,
            is_entry=True,
        ),
        ApiImpact(
            ORDER,
            ApiVerdict.AFFECTED,
            "72 of 241 failed with the fault, 0 of 238 without",
            before=sample(160, 0),
            fault=sample(241, 72, p95=float("inf")),
            control=sample(238, 0),
            difference=0.29876,
            at_any_time=Interval(0.20912, 0.38840),
            chance=1.2e-9,
            still_off=True,
        ),
    ),
    target=(
        ApiImpact(
            TARGET,
            ApiVerdict.CANNOT_TELL,
            "",
            before=sample(800, 0),
            fault=sample(1204, 281, attempts=1.16),
            control=sample(1198, 0),
            difference=0.2334,
        ),
    ),
    marked={Group.FAULT: 1_210, Group.CONTROL: 1_199},
    not_seen={Group.FAULT: 6, Group.CONTROL: 1},
    faulted=398,
    others_failed=(3, 21_600),
    callers=((CHECKOUT, ORDER), (ORDER, TARGET), (HOME, TARGET), (GIFTS, QUOTE), (QUOTE, TARGET), (ORDER, CART)),
    guard=GuardTripped(guard="error-rate", reason="2.1 % of unmarked requests failed, the limit is 2 %", at=BEGIN + 75),
    finished=True,
    problems=("6 of 1,210 requests with the fault sent no span",),
)


def picture() -> str:
    """Where the fault shows, and below that when, as one SVG."""
    events = tuple(impact_events())
    impact = impact_of(events)
    (timeline,) = impact_timelines([CHECKOUT], events)
    graph, below = draw_impact_graph(impact, what_was_done(impact.started)), draw_impact_timeline(timeline)
    height = float(re.findall(r' height="(\d+)"', graph)[0]) * (WIDTH / float(re.findall(r' width="(\d+)"', graph)[0]))
    above = re.sub(r'width="\d+" height="\d+"', f'width="{WIDTH:.0f}" height="{height:.0f}"', graph, count=1)
    size = f'width="{WIDTH:.0f}" height="{height + HEIGHT:.0f}" viewBox="0 0 {WIDTH:.0f} {height + HEIGHT:.0f}"'
    lower = below.replace("<svg ", f'<svg y="{height:.0f}" ', 1)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n{above}{lower}</svg>\n'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
