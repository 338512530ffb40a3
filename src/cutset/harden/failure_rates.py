"""How often points fail, from what traces have seen, or as given.

A call that failed because a call inside it failed says nothing of the callee itself: it is not counted, or one failure
would be taken for two independent ones. That no failure was seen does not mean that there is none: a rate is estimated
with Jeffreys' prior, (failures + ½) / (calls + 1), as reliability engineering does, with its interval. After n calls
without a failure the interval ends at about 2.5 / n; the rule of three says 3 / n, with the same 95 % on one side only.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from scipy.special import betaincinv  # type: ignore[import-untyped]

from cutset.errors import InputError
from cutset.model.call_tree import CallTree, Component
from cutset.model.point import COMPONENTS, Point

CONFIDENCE = 0.95


class Source(StrEnum):
    GIVEN = "given"
    MEASURED = "measured"
    POOLED = "pooled"  # never called: the rate of all calls together


@dataclass(frozen=True, slots=True)
class Calls:
    total: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class FailureRate:
    rate: float
    low: float
    high: float
    source: Source
    calls: Calls = Calls()


def calls_seen(kinds: Mapping[CallTree, int]) -> dict[Point, Calls]:
    """Of each API, and of each of its callers (`caller>service/API`), in so many traces of each kind.

    Calls of data stores, caches and brokers are those of an endpoint of their caller's, too: `cart>cache/redis/get`.
    """
    total: Counter[Point] = Counter()
    failed: Counter[Point] = Counter()
    for tree, traces in kinds.items():
        made = [(callee, callee.point) for callee in tree.callees()]
        for caller, callee in tree.edges():
            made.append((callee, replace(callee.point, caller=caller.point.service)))
            if callee.component in COMPONENTS and callee.component is not Component.RPC:
                method = f"{callee.framework}/{callee.point.api.partition(' ')[0].lower()}"
                made.append((callee, Point(callee.component.value, method, caller.point.service)))
        for callee, point in made:
            if not callee.failed or not any(inner.failed for inner in callee.calls):
                total[point] += traces
                failed[point] += traces * callee.failed
    return {point: Calls(calls, failed[point]) for point, calls in total.items()}


def estimated(calls: Calls, source: Source = Source.MEASURED) -> FailureRate:
    """With Jeffreys' interval, that ends at 0 and 1 if no call or each call failed (Brown, Cai, DasGupta 2001)."""
    failed, succeeded = calls.failed + 0.5, calls.total - calls.failed + 0.5
    tail = (1 - CONFIDENCE) / 2
    return FailureRate(
        rate=failed / (failed + succeeded),
        low=float(betaincinv(failed, succeeded, tail)) if calls.failed else 0.0,
        high=float(betaincinv(failed, succeeded, 1 - tail)) if calls.failed < calls.total else 1.0,
        source=source,
        calls=calls,
    )


def rule_of_three(calls: int) -> float:
    """No rate above this is likely (95 %) to show no failure in so many calls: exact, about 3 / n."""
    return float(1 - (1 - CONFIDENCE) ** (1 / calls))


def failure_rates(
    points: Iterable[Point], seen: Mapping[Point, Calls], given: Mapping[str, float] | None = None
) -> dict[Point, FailureRate]:
    """Of each point what was given for it, for its API or for its service, else what was measured, else the average.

    Fallbacks, above all, may never have been called. Replicas are as reliable as their API.
    """
    given = given or {}
    apis = [calls for point, calls in seen.items() if not point.caller]
    together = Calls(sum(calls.total for calls in apis), sum(calls.failed for calls in apis))
    rates = {}
    for point in points:
        call_site = replace(point.of_api, caller=point.caller)
        names = [str(point), str(replace(point, caller="")), str(call_site), str(point.of_api), point.service]
        if name := next((name for name in names if name in given), ""):
            rates[point] = FailureRate(given[name], given[name], given[name], Source.GIVEN)
        elif measured := seen.get(call_site) or seen.get(point.of_api) or seen.get(_at_any_peer(point)):
            rates[point] = estimated(measured)
        elif together.total:
            rates[point] = estimated(together, Source.POOLED)
        else:
            raise InputError(f"The failure rate of `{point}` is not known", hint="Give its rate, or ingest traces")
    return rates


def _at_any_peer(point: Point) -> Point:
    """The endpoint wherever its calls go, as far as traces tell these apart."""
    return Point(point.service, point.endpoint.partition("/")[2], point.caller)
