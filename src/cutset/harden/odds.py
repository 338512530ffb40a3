"""How many requests fail per day, before and after, as far as the failure rates of points tell, and of what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from cutset.harden.failure_rates import FailureRate
from cutset.harden.importance import Importances, failures_per_day, importances_by_traffic
from cutset.harden.needs import Measure, Softened, needs
from cutset.harden.probability import Rates, RequestClass, likelihood, overall
from cutset.harden.problem import Callers, Choice, Problem
from cutset.model.fault import points_of
from cutset.model.finding import Finding
from cutset.model.point import Point
from cutset.model.summary import RequestSummary


@dataclass(frozen=True, slots=True)
class Odds:
    per_day: float
    failed_before: float
    failed_after: float
    likeliest: tuple[tuple[Finding, float], ...]  # findings by failed requests per day, the worst first
    importances: Importances  # as things are, before anything is hardened
    # With all rates and traffic at the low, and all at the high ends of their intervals.
    failed_before_between: tuple[float, float] | None = None
    failed_after_between: tuple[float, float] | None = None
    rates: Mapping[Point, FailureRate] = field(default_factory=dict, hash=False)
    traffic_from: Mapping[str, str] = field(default_factory=dict, hash=False)  # by request
    pace_of: str = (
        ""  # `2 min`, in which the traffic was seen that makes up the day; empty: it was given, or lasted one
    )


def odds_of(classes: Sequence[RequestClass], findings: Sequence[Finding], rates: Rates, hardened: set[str]) -> Odds:
    """`hardened` names the candidates that are, before or by this."""
    perfect = dict.fromkeys(hardened, 0.0)
    before = overall([likelihood(each, rates) for each in classes])
    after = overall([likelihood(each, rates, perfect) for each in classes])
    return Odds(
        before.per_day,
        before.failed_per_day,
        after.failed_per_day,
        tuple(failures_per_day(findings, rates, {each.name: each.per_day for each in classes})),
        importances_by_traffic(classes, rates),
    )


def within_bounds(
    odds: Odds,
    classes: Sequence[RequestClass],
    bounds: tuple[Rates, Rates],
    hardened: set[str],
    traffic: Mapping[str, tuple[float, float]] = MappingProxyType({}),
) -> Odds:
    """What fails grows with every rate and with traffic, so that the ends of all intervals bound it.

    `traffic` is that of requests whose number per day has an interval.
    """
    perfect = dict.fromkeys(hardened, 0.0)
    low, high = (
        [replace(each, per_day=traffic.get(each.name, (each.per_day,) * 2)[end]) for each in classes] for end in (0, 1)
    )
    before, after = (
        [
            overall([likelihood(each, rates, guards) for each in busy]).failed_per_day
            for rates, busy in zip(bounds, (low, high), strict=True)
        ]
        for guards in ({}, perfect)
    )
    return replace(odds, failed_before_between=(before[0], before[1]), failed_after_between=(after[0], after[1]))


def hardened_by(problem: Problem, choice: Choice) -> set[str]:
    return {each.name for each in (*choice.chosen, *(each for each in problem.candidates if each.already))}


def request_classes(
    requests: Sequence[RequestSummary],
    problem: Problem,
    callers: Callers,
    traffic: Mapping[str, float],
    softened: Softened = frozenset(),
) -> list[RequestClass]:
    """Where candidates are call sites, those of a point are all to be hardened before its failure does no harm.

    How often a point is down is not told by effect. So its failure does harm until there is a measure against each of
    its effects in the findings of the request, and findings that differ in effects alone are one cut.
    """

    def sites(request: RequestSummary, point: Point) -> frozenset[str]:
        known = {point.caller} if point.caller else callers.get((request.name, point.of_api), frozenset())
        places = {replace(point.of_api, caller=caller) for caller in known} | {point.of_api}
        there = [each for each in problem.candidates if each.site in places]
        own = [each for each in there if each.site.caller] or there
        needed = _measures(request, point, softened)
        return frozenset(each.name for each in own if each.measure in needed) or frozenset({str(point.of_api)})

    return [
        RequestClass(
            request.name,
            tuple(dict.fromkeys(points_of(finding.cut) for finding in request.findings)),
            per_day=traffic.get(request.name, 1.0),
            sites={p: sites(request, p) for finding in request.findings for p in points_of(finding.cut)},
        )
        for request in requests
    ]


def _measures(request: RequestSummary, point: Point, softened: Softened) -> frozenset[Measure]:
    """All that a point takes; where several ways are open, the one that does for any failure."""
    faults = [(each.id, fault) for each in request.findings for fault in each.cut if fault.point == point]
    return frozenset().union(*(needs(fault.effect, softened=(of, fault) in softened)[-1] for of, fault in faults))
