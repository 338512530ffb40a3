"""What was decided to harden, and what follows: advice for each site, settings of a mesh, which cuts should be gone."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cutset.harden.frontier import Frontier
from cutset.harden.mesh_settings import mesh_settings
from cutset.harden.needs import Measure
from cutset.harden.odds import Odds
from cutset.harden.problem import Candidate, Choice, Problem
from cutset.harden.remedies.evidence import SiteEvidence
from cutset.harden.remedies.registry import advise
from cutset.harden.verification import Verification
from cutset.manifests.mesh_file import MeshSettings
from cutset.model.advice import Advice, Declined
from cutset.model.fault import Cut
from cutset.model.finding import Finding
from cutset.model.hardening import CallsObserved, HealthJudged, MeshChanging, MeshRestored
from cutset.model.mesh import MeshService
from cutset.model.point import Point

_REPEATED = ("abort(503)", "grpc(14)")  # what meshes are told to repeat


@dataclass(frozen=True, slots=True)
class Decision:
    findings: tuple[Finding, ...]
    problem: Problem  # its weaknesses are these findings, in their order
    choice: Choice
    evidence: Mapping[Point, SiteEvidence]  # of each API, from the campaign and stored traces
    fallbacks: Mapping[str, str] = field(default_factory=dict)  # by API or call site: what the stand-in shall answer


@dataclass(frozen=True, slots=True)
class HardenedSite:
    """A candidate that was chosen, with what to do there."""

    candidate: Candidate
    breaks: tuple[str, ...]  # requests
    advice: tuple[Advice, ...]
    declined: tuple[Declined, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedHardening:
    """What became of it on the running system, as far as it was tried."""

    change: MeshChanging | None = None  # what was put into the mesh
    undo: str = ""  # the command that takes it out again; empty if nothing was put
    health: HealthJudged | None = None  # of the requests, since
    restored: MeshRestored | None = None  # it was taken out again
    verification: Verification | None = None
    replay: str = ""  # the command that tries what verification found again; it takes the id as its last word


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardening(TriedHardening):
    """What it all comes to: the decision, what to do, and, where that was tried, whether it helped."""

    campaign: str
    level: str
    objective: str
    decision: Decision
    frontier: Frontier
    sites: tuple[HardenedSite, ...]
    odds: Odds | None = None  # None: failure rates are not known


@dataclass(frozen=True, slots=True)
class RemovedCut:
    """A finding that a candidate of the choice takes away."""

    finding: Finding
    together_with: tuple[str, ...] = ()  # other candidates of the choice, without which it would stay


@dataclass(frozen=True, slots=True)
class Consequences:
    """What a choice does to the findings."""

    removed: Mapping[str, tuple[RemovedCut, ...]]  # by the name of each candidate; several may take away the same
    remaining: tuple[Finding, ...]  # the smallest first


def consequences_of(decision: Decision) -> Consequences:
    problem, already = decision.problem, decision.problem.already
    names = {each.name for each in decision.choice.chosen}
    chosen = {index for index, each in enumerate(problem.candidates) if each.name in names}
    removed: dict[str, list[RemovedCut]] = {each.name: [] for each in decision.choice.chosen}
    left: list[Finding] = []
    for finding, weakness in zip(decision.findings, problem.weaknesses, strict=True):
        helpful = sorted(chosen & frozenset().union(*weakness.clauses))
        after = already.union(helpful)
        if not weakness.mitigated_by(after):
            left.append(finding)
        elif not weakness.mitigated_by(already):
            needed = [each for each in helpful if not weakness.mitigated_by(after - {each})]
            for each in helpful:
                others = tuple(problem.candidates[other].name for other in needed if other != each)
                removed[problem.candidates[each].name].append(RemovedCut(finding, others))
    return Consequences(
        {name: tuple(each) for name, each in removed.items()}, tuple(sorted(left, key=lambda each: len(each.cut)))
    )


def sites_of(
    decision: Decision, services: Sequence[MeshService] = (), observed: CallsObserved | None = None
) -> tuple[HardenedSite, ...]:
    """`services` are those of the local mesh as they are, `observed` is what its calls took, where that is known."""
    evidence = _completed(decision.evidence, services, observed)
    return tuple(_site(candidate, evidence, decision.fallbacks) for candidate in decision.choice.chosen)


def advice_of(sites: Sequence[HardenedSite]) -> dict[Point, Sequence[Advice]]:
    found: dict[Point, Sequence[Advice]] = {}
    for site in sites:
        found[site.candidate.site] = (*found.get(site.candidate.site, ()), *site.advice)
    return found


def settings_of(
    decision: Decision, services: Sequence[MeshService], observed: CallsObserved
) -> tuple[MeshSettings, list[str]]:
    """What is to be put into the mesh, and what is left out for which reason."""
    evidence = _completed(decision.evidence, services, observed)
    return mesh_settings(advice_of(sites_of(decision, services, observed)), evidence)


def expected_gone(
    decision: Decision,
    services: Sequence[MeshService],
    settings: MeshSettings | None,
    repeats: Mapping[Point, int] | None = None,
) -> frozenset[str]:
    """The ids of findings that should be gone, if each mitigation works.

    With `settings` that were put into the mesh: by what it has a fallback or a timeout for. Without: by all that was
    chosen. No mesh looks into answers.
    `repeats` are further attempts at calls of each API that the mesh makes now.
    """
    chosen = frozenset(each.name for each in decision.choice.chosen) if settings is None else frozenset()
    stood_in = {str(Point(service.name, api)) for service in services for api in service.fallback}
    stood_in |= {str(Point(name, api)) for name, put in (settings or {}).items() for api in put.get("fallback", {})}
    hardened = {
        index
        for index, each in enumerate(decision.problem.candidates)
        if each.already or each.name in chosen or _is_put(each, stood_in, settings or {})
    }
    gone = frozenset(each.finding for each in decision.problem.weaknesses if each.mitigated_by(hardened))
    replicas = {service.name: len(service.replicas) for service in services}
    return gone | {each.id for each in decision.findings if _is_repeated(each.cut, repeats or {}, replicas)}


def _is_put(candidate: Candidate, stood_in: Collection[str], settings: MeshSettings) -> bool:
    if candidate.measure is Measure.TIMEOUT:
        return "timeout_seconds" in settings.get(candidate.site.service, {})
    return candidate.measure is Measure.FALLBACK and str(candidate.site.of_api) in stood_in


def _is_repeated(cut: Cut, repeats: Mapping[Point, int], replicas: Mapping[str, int]) -> bool:
    """Whether a call that a fault of it hits is made again, and gets through: it hits not all attempts or replicas."""
    for fault in cut:
        api, most = fault.point.of_api, repeats.get(fault.point.of_api, 0)
        hit = len({other.point.replica for other in cut if other.point.of_api == api})
        by_another = bool(fault.point.replica) and hit <= min(most, replicas.get(api.service, 0) - 1)
        if fault.effect.what in _REPEATED and (by_another or 0 < fault.effect.attempts <= most):
            return True
    return False


def _site(candidate: Candidate, evidence: Mapping[Point, SiteEvidence], fallbacks: Mapping[str, str]) -> HardenedSite:
    site = candidate.site
    own = replace(evidence[site.of_api], site=site)
    advice, declined = advise(own)
    if candidate.measure is not Measure.FALLBACK:
        advice = [each for each in advice if each.remedy == candidate.measure]
        declined = [each for each in declined if each.remedy == candidate.measure]
    elif wanted := fallbacks.get(candidate.name) or fallbacks.get(str(site.of_api)):
        settings = {} if own.deciding else {"fallback": {site.api: wanted}}
        advice = [replace(each, settings=settings) if each.survives_outage else each for each in advice]
    return HardenedSite(candidate, own.breaks, tuple(advice), tuple(declined))


def _completed(
    evidence: Mapping[Point, SiteEvidence], services: Sequence[MeshService], observed: CallsObserved | None
) -> dict[Point, SiteEvidence]:
    meshed = {service.name: service for service in services}
    completed = dict(evidence)
    for api, each in evidence.items():
        if observed is not None:
            # Stored traces of real traffic, where there are some, tell more than a few requests of ours.
            completed[api] = replace(
                each,
                latency=each.latency or observed.latencies.get(api),
                recovered=each.recovered + observed.recovered.get(api, 0),
                proved=each.proved or api in observed.proved,
            )
        if service := meshed.get(api.service):
            replicas = len(service.replicas)
            retries = replicas - 1 if service.retries is None else service.retries
            completed[api] = replace(completed[api], replicas=replicas, retries=retries)
    return completed
