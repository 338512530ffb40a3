"""How each point matters to a request: whether it breaks it alone, along with others, in part, or not at all."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from cutset.model.fault import points_of
from cutset.model.finding import Finding
from cutset.model.outcome import Points
from cutset.model.point import Point
from cutset.model.summary import RequestSummary
from cutset.model.toleration import PointToleration, Toleration
from cutset.report.campaign.effects import IMPOSSIBLE, sentence
from cutset.report.campaign.terminal import describe_points

NAMES_SHOWN = 3  # requests that a point matters to in the same way


class Significance(StrEnum):
    """The worst first."""

    FATAL = "fatal"
    SHARED = "shared"  # in a minimal cut of several
    DEGRADED = "degraded"
    UNKNOWN = "unknown"
    NOT_COVERABLE = "not coverable"
    TOLERATED = "tolerated"
    NOT_CALLED = "not called"


LEGEND = {
    Significance.FATAL: "fatal alone",
    Significance.SHARED: "fatal along with others: the size of the smallest such cut",
    Significance.DEGRADED: "part of the answer missing or wrong",
    Significance.UNKNOWN: "not known",
    Significance.NOT_COVERABLE: "not coverable",
    Significance.TOLERATED: "tolerated: in no cut that was found",
    Significance.NOT_CALLED: "not called by this request",
}
_SIGNS = dict(zip(Significance, "✗#~?!✓·", strict=True))
_RANKS = {each: number for number, each in enumerate(Significance)}


@dataclass(frozen=True, slots=True)
class Bearing:
    """What a point means for a request."""

    significance: Significance
    size: int = 0  # of the smallest minimal cut with it
    why: str = ""

    @property
    def sign(self) -> str:
        return str(self.size) if self.significance is Significance.SHARED else _SIGNS[self.significance]

    @property
    def words(self) -> str:
        said = {Significance.FATAL: "fatal alone", Significance.SHARED: f"in a minimal cut of {self.size}"}
        return ", ".join(filter(None, (said.get(self.significance, self.significance.value), self.why)))

    @property
    def rank(self) -> tuple[int, int]:
        return _RANKS[self.significance], self.size


def bearings_of(request: RequestSummary) -> dict[Point, Bearing]:
    """Of all points that the request calls, or that were tried with it."""
    tolerations = {each.point: each for each in request.tolerations}
    findings, degradations = _by_point(request.findings), _by_point(request.degradations)
    unknown = {fault.point: outcome.reason for outcome in request.undecided for fault in outcome.cut}
    predicted = frozenset[Point]().union(*map(points_of, request.predicted))
    beyond = {each.call: each.reason for each in request.uncoverable}
    beyond |= dict.fromkeys(map(str, request.untried), IMPOSSIBLE)
    apis_beyond = {point.of_api for point in request.not_reached}

    def bearing(point: Point) -> Bearing:
        toleration = tolerations.get(point, PointToleration(point, ()))
        if point in findings:
            return _of_finding(findings[point], point, toleration)
        if point.of_api in apis_beyond or str(point) in beyond:
            return Bearing(Significance.NOT_COVERABLE, why=beyond.get(str(point.of_api), "no plan reaches it"))
        if point in unknown or point in predicted or toleration.those(Toleration.UNKNOWN):
            told = (each.why for each in toleration.those(Toleration.UNKNOWN))
            expected = "expected to fail, but not tried" if point in predicted else ""
            return Bearing(Significance.UNKNOWN, why=unknown.get(point) or next(told, "") or expected)
        if point in degradations:
            return Bearing(Significance.DEGRADED, why=degradations[point].outcome.reason)
        if request.complete_up_to < 1 and (not toleration.effects or toleration.those(Toleration.NOT_TRIED)):
            return Bearing(Significance.UNKNOWN, why=request.problem or "not tried")
        return Bearing(Significance.TOLERATED)

    return {point: bearing(point) for point in _points(request)}


def _points(request: RequestSummary) -> Points:
    tried = (*request.findings, *request.degradations)
    cuts = [each.cut for each in tried] + [each.cut for each in request.undecided]
    return (request.calls | request.not_reached).union(*map(points_of, cuts))


def _by_point(findings: Iterable[Finding]) -> dict[Point, Finding]:
    """The smallest with each point."""
    found: dict[Point, Finding] = {}
    for finding in sorted(findings, key=lambda each: len(each.cut)):
        for point in points_of(finding.cut):
            found.setdefault(point, finding)
    return found


def _of_finding(finding: Finding, point: Point, toleration: PointToleration) -> Bearing:
    others = points_of(finding.cut) - {point}
    if others:
        return Bearing(Significance.SHARED, len(finding.cut), f"with {describe_points(others)}")
    why = sentence(toleration) if len(toleration.effects) > 1 else finding.outcome.reason
    return Bearing(Significance.FATAL, 1, why)


def worst(bearings: Mapping[str, Bearing]) -> Bearing:
    """Of one point on several requests, by name: that which it is worst for."""
    found = min(bearings.values(), key=lambda each: each.rank)
    names = [name for name, each in bearings.items() if each.rank == found.rank]
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return Bearing(found.significance, found.size, f"for {', '.join(names[:NAMES_SHOWN])}{more}")
