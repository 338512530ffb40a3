"""What `cutset harden` knows before it decides: the campaign's findings, and the stored traces if there are some."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cutset.app.survey import survey_traces
from cutset.config.harden import HardenChoice
from cutset.harden.failure_rates import Calls, calls_seen, failure_rates
from cutset.harden.probability import Rates, common_cause, rates_of
from cutset.harden.remedies.evidence import Evidence, Latency, evidence_of
from cutset.lineage.call_tree import api_of
from cutset.model.event import CampaignEvent, RequestAudited
from cutset.model.fault import points_of
from cutset.model.finding import Finding
from cutset.model.mesh import MeshSpec
from cutset.model.point import Point
from cutset.model.steps import finished
from cutset.model.summary import CampaignSummary, summarise
from cutset.select.api_rank import api_rank, rank_of_audits
from cutset.select.rankings import trace_kinds
from cutset.store.durations import server_durations
from cutset.store.manifest import open_spans


@dataclass(frozen=True, slots=True)
class Knowledge:
    campaign: str
    events: Sequence[CampaignEvent]
    summary: CampaignSummary
    ranks: Mapping[Point, float]  # APIRank
    evidence: Mapping[Point, Evidence]
    traffic: Mapping[str, float] = field(default_factory=dict)  # requests per day, by class
    calls: Mapping[Point, Calls] = field(default_factory=dict)

    @property
    def findings(self) -> list[Finding]:
        return self.summary.findings


def gather(campaign: str, events: Sequence[CampaignEvent], store: Path, choice: HardenChoice) -> Knowledge:
    summary = summarise(events)
    evidence = evidence_of(events, summary.findings)
    if not open_spans(store).spans:
        return Knowledge(campaign, events, summary, _ranks_of(events), evidence, choice.traffic)
    survey = finished(survey_traces(store))
    days = max((open_spans(store).last_ns - open_spans(store).first_ns) / 86_400e9, 1 / 24)
    seen = {name: each.traces / days for name, each in survey.classes.items()}
    traffic = {request.name: seen[request.name] for request in summary.requests if request.name in seen}
    return Knowledge(
        campaign,
        events,
        summary,
        api_rank(trace_kinds(survey.kinds)) or _ranks_of(events),
        _timed(evidence, store),
        traffic | dict(choice.traffic),
        calls_seen(survey.kinds),
    )


def failure_rates_of(known: Knowledge, choice: HardenChoice) -> Rates:
    """Of the points in findings. Raises InputError where neither traces nor the user tell a rate."""
    points = sorted({point for finding in known.findings for point in points_of(finding.cut)})
    rates = failure_rates(points, known.calls, choice.failure_rates)
    causes = [common_cause(name, each.rate, each.members, points) for name, each in choice.common_causes.items()]
    return rates_of({point: each.rate for point, each in rates.items()}, causes)


def _ranks_of(events: Sequence[CampaignEvent]) -> dict[Point, float]:
    return rank_of_audits(event for event in events if isinstance(event, RequestAudited))


def _timed(evidence: Mapping[Point, Evidence], store: Path) -> dict[Point, Evidence]:
    found = dict(evidence)
    for each in server_durations(open_spans(store)):
        api = Point(each.label.service, api_of(each.label))
        if api in found:
            found[api] = replace(found[api], latency=Latency(each.calls, *each.seconds), per_second=each.per_second)
    return found


def with_mesh(evidence: Mapping[Point, Evidence], mesh: MeshSpec | None) -> dict[Point, Evidence]:
    """With what the local mesh does already."""
    services = {service.name: service for service in mesh.services} if mesh else {}
    found = dict(evidence)
    for api, each in evidence.items():
        if service := services.get(api.service):
            replicas = len(service.replicas)
            retries = replicas - 1 if service.retries is None else service.retries
            found[api] = replace(each, replicas=replicas, retries=retries)
    return found
