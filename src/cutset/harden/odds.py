"""How many requests fail per day, before and after, as far as the failure rates of points tell, and of what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cutset.harden.importance import Importances, failures_per_day, importances_by_traffic
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


def hardened_by(problem: Problem, choice: Choice) -> set[str]:
    return {each.name for each in (*choice.chosen, *(each for each in problem.candidates if each.already))}


def request_classes(
    requests: Sequence[RequestSummary], problem: Problem, callers: Callers, traffic: Mapping[str, float]
) -> list[RequestClass]:
    """Where candidates are call sites, those of a point are all to be hardened before its failure does no harm."""
    names = {each.name for each in problem.candidates}

    def sites(request: str, point: Point) -> frozenset[str]:
        known = {point.caller} if point.caller else callers.get((request, point.of_api), frozenset())
        found = {str(replace(point.of_api, caller=caller)) for caller in known} & names
        return frozenset(found or {str(point.of_api)})

    return [
        RequestClass(
            request.name,
            tuple(points_of(finding.cut) for finding in request.findings),
            per_day=traffic.get(request.name, 1.0),
            sites={p: sites(request.name, p) for finding in request.findings for p in points_of(finding.cut)},
        )
        for request in requests
    ]
