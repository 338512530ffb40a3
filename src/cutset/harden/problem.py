"""What to harden, as a problem to be solved (FastFI §3.3, eq. 4–5): the findings of a campaign, and what may be chosen.

A finding is mitigated once one of its faults is, so it is a clause over the APIs of its cut. What a fault takes depends
on its effect (`harden.needs`): a candidate is a measure at an API, a fallback if nothing else is said of it. The
findings of high-priority requests must be mitigated, and of the others as much as the budget allows. Beyond the paper,
findings weigh what their request is worth, candidates have costs, and some are already hardened or not ours to touch.

Its place is an API, whoever calls it, or a call site, `caller>service/API`. A fault at an API hits all of its callers
in the request, and one of them that is not hardened is enough for the request to fail. So a finding has one clause per
choice of measures and call sites, and is mitigated once *all* of its clauses are: where each fault takes a fallback at
an API, there is just one.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from math import fsum

from cutset.harden.needs import Measure, Softened, needs
from cutset.model.event import CampaignEvent, RequestAudited
from cutset.model.finding import Finding
from cutset.model.point import Point

_Place = tuple[Point, Measure]
Callers = Mapping[tuple[str, Point], frozenset[str]]  # by request and API: the services that call it there


class CandidateLevel(StrEnum):
    API = "api"
    CALL_SITE = "call-site"


@dataclass(frozen=True, slots=True)
class Candidate:
    name: str
    cost: float = 1.0
    untouchable: bool = False
    already: bool = False  # hardened before: costs nothing, and what it mitigates is mitigated
    rank: float = 0.0  # APIRank: of choices that are equally good, the one of the highest sum is taken
    measure: Measure = Measure.FALLBACK

    @property
    def site(self) -> Point:
        return Point.parse(self.name.removeprefix(_prefix(self.measure)))


@dataclass(frozen=True, slots=True)
class Weakness:
    """A minimal cut of a request. It is mitigated once each of `clauses` has a hardened candidate."""

    request: str
    clauses: tuple[frozenset[int], ...]  # of positions in `Problem.candidates`
    weight: float = 1.0
    hard: bool = False  # of a high-priority request
    finding: str = ""  # its id

    def mitigated_by(self, hardened: Collection[int]) -> bool:
        return all(not clause.isdisjoint(hardened) for clause in self.clauses)


@dataclass(frozen=True, slots=True)
class Problem:
    candidates: tuple[Candidate, ...]
    weaknesses: tuple[Weakness, ...]

    @property
    def already(self) -> frozenset[int]:
        return frozenset(index for index, each in enumerate(self.candidates) if each.already)


@dataclass(frozen=True, slots=True)
class Choice:
    """Candidates to harden within a budget, and what becomes of the weaknesses."""

    budget: float
    chosen: tuple[Candidate, ...]  # the highest rank first
    cost: float
    covered: float  # weight of the low-priority weaknesses that are mitigated; their number if all weigh 1: CN_b
    coverage: float  # the same as a share of all: CR_b
    remaining: tuple[Weakness, ...]  # none of a high-priority request, unless the method failed
    proven: bool  # that there is no better choice


def choice_of(problem: Problem, budget: float, hardened: Collection[int], *, proven: bool) -> Choice:
    """Positions of candidates as a choice, whoever chose them."""
    after = problem.already.union(hardened)
    remaining = tuple(each for each in problem.weaknesses if not each.mitigated_by(after))
    soft = fsum(each.weight for each in problem.weaknesses if not each.hard)
    covered = fsum(each.weight for each in problem.weaknesses if not each.hard and each.mitigated_by(after))
    chosen = [problem.candidates[index] for index in after - problem.already]
    return Choice(
        budget=budget,
        chosen=tuple(sorted(chosen, key=lambda each: (-each.rank, each.name))),
        cost=fsum(each.cost for each in chosen),
        covered=covered,
        coverage=covered / soft if soft else 1.0,
        remaining=remaining,
        proven=proven,
    )


def expected_afvr(problem: Problem, choice: Choice) -> float:
    """AFVR_b (§4.5.2, eq. 9) if each mitigation works: the share of weaknesses that remain, averaged over requests.

    A request without weaknesses has no such share, and is not counted.
    """
    before = Counter(each.request for each in problem.weaknesses)
    after = Counter(each.request for each in choice.remaining)
    return fsum(after[request] / count for request, count in before.items()) / max(len(before), 1)


def problem_of(
    findings: Iterable[Finding],
    *,
    level: CandidateLevel = CandidateLevel.API,
    high: Collection[str] = (),
    weights: Mapping[str, float] | None = None,
    costs: Mapping[str, float] | None = None,
    untouchable: Collection[str] = (),
    already: Collection[str] = (),
    ranks: Mapping[Point, float] | None = None,
    callers: Callers | None = None,
    softened: Softened = frozenset(),
) -> Problem:
    """The problem that a campaign's findings pose.

    `high` and `weights` go by request, `costs`, `untouchable` and `already` by the name of a candidate; for a call site
    the name of its API will do as well. A request without a weight weighs 1, a candidate without a cost costs 1. Where
    `callers` does not know who calls an API in a request, all its call sites there are one candidate, named as the API.
    `softened` are faults in whose place an error would be survived.
    """
    ways_of = [(finding, _ways(finding, level, callers or {}, softened)) for finding in findings]
    places = sorted({place for _, ways in ways_of for way in ways for place in way})
    position = {place: index for index, place in enumerate(places)}
    candidates = (_candidate(place, costs or {}, untouchable, already, ranks or {}) for place in places)
    weaknesses = (
        Weakness(
            finding.request,
            _clauses([[position[place] for place in way] for way in ways]),
            weight=(weights or {}).get(finding.request, 1.0),
            hard=finding.request in high,
            finding=finding.id,
        )
        for finding, ways in ways_of
    )
    return Problem(tuple(candidates), tuple(weaknesses))


def _ways(finding: Finding, level: CandidateLevel, callers: Callers, softened: Softened) -> list[list[_Place]]:
    """Each is enough, if all of it is done."""
    return [
        [(site, measure) for site in _sites(finding.request, fault.point, level, callers) for measure in sorted(need)]
        for fault in sorted(finding.cut)
        for need in needs(fault.effect, softened=(finding.id, fault) in softened)
    ]


def candidate_name(site: Point, measure: Measure) -> str:
    return f"{_prefix(measure)}{site}"


def _prefix(measure: Measure) -> str:
    return "" if measure is Measure.FALLBACK else f"{measure} at "


def _candidate(
    place: _Place,
    costs: Mapping[str, float],
    untouchable: Collection[str],
    already: Collection[str],
    ranks: Mapping[Point, float],
) -> Candidate:
    site, measure = place
    names = (str(site), str(site.of_api))  # what is said of a call site counts more than what is said of its API
    return Candidate(
        candidate_name(site, measure),
        cost=next((costs[name] for name in names if name in costs), 1.0),
        untouchable=any(name in untouchable for name in names),
        already=any(name in already for name in names),
        rank=ranks.get(site.of_api, 0.0),
        measure=measure,
    )


def busiest(traffic: Mapping[str, float], count: int = 1) -> frozenset[str]:
    """The requests of the highest priority, as FastFI takes them: the most frequent ones."""
    return frozenset(sorted(traffic, key=lambda request: (-traffic[request], request))[:count])


def callers_of(events: Iterable[CampaignEvent]) -> dict[tuple[str, Point], frozenset[str]]:
    """Who calls what, as the audits of a campaign saw it.

    They leave out the calls that the request's own service makes. So APIs that it alone calls are not here, and of an
    API that others call as well only these are: traces know more.
    """
    found: dict[tuple[str, Point], frozenset[str]] = {}
    for event in events:
        if isinstance(event, RequestAudited):
            for caller, callee in event.edges:
                key = (event.request, callee.of_api)
                found[key] = found.get(key, frozenset()) | {caller.service}
    return found


def _sites(request: str, point: Point, level: CandidateLevel, callers: Callers) -> list[Point]:
    """What has to be hardened, all of it, so that a fault at this point does no harm."""
    api = point.of_api
    if point.is_endpoint:  # one of its caller's, whatever others call by the same name
        return [replace(api, caller=point.caller)]
    if level is CandidateLevel.API:
        return [api]
    names = {point.caller} if point.caller else callers.get((request, api), frozenset())
    return [replace(api, caller=name) for name in sorted(names)] or [api]


def _clauses(ways: list[list[int]]) -> tuple[frozenset[int], ...]:
    """ "All of one of the ways" as a conjunction of "one of these candidates", the implied ones left out."""
    clauses = {frozenset(chosen) for chosen in product(*ways)}
    return tuple(sorted((each for each in clauses if not any(other < each for other in clauses)), key=sorted))
