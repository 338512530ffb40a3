"""What a hardening is decided on: the campaign's findings, and the stored traces if there are some."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from cutset.app.survey import survey_traces
from cutset.config.harden import HardenChoice
from cutset.harden.failure_rates import Calls, FailureRate, calls_seen, failure_rates
from cutset.harden.probability import Rates, common_cause, rates_of
from cutset.harden.remedies.evidence import SiteEvidence, evidence_of
from cutset.harden.traffic import TrafficSeen, seconds_covered
from cutset.lineage.api_names import api_of
from cutset.lineage.classes import class_of_request
from cutset.lineage.routes import as_the_mesh_names
from cutset.model.campaign import Campaign
from cutset.model.event import RequestAudited
from cutset.model.fault import points_of
from cutset.model.finding import Finding
from cutset.model.hardening import Latency
from cutset.model.point import Point
from cutset.model.steps import finished
from cutset.select.api_rank import rank_of_audits
from cutset.select.rankings import api_rank_of
from cutset.store.durations import server_durations
from cutset.store.manifest import open_spans


@dataclass(frozen=True, slots=True)
class Grounds:
    campaign: Campaign
    store: Path
    ranks: Mapping[Point, float]  # APIRank
    evidence: Mapping[Point, SiteEvidence]
    traffic: Mapping[str, float] = field(default_factory=dict)  # requests per day, by request
    traffic_from: Mapping[str, str] = field(default_factory=dict)  # by request: where that comes from
    traffic_seen: Mapping[str, TrafficSeen] = field(default_factory=dict)  # of those that nobody gave
    calls: Mapping[Point, Calls] = field(default_factory=dict)
    traces: tuple[int, int, int] = (0, 0, 0)  # spans, and their time in nanoseconds: whether other traces are meant

    @property
    def findings(self) -> list[Finding]:
        return self.campaign.findings


def gather(campaign: Campaign, store: Path, wishes: HardenChoice) -> Grounds:
    stored = open_spans(store)
    evidence = evidence_of(campaign.events, campaign.findings)
    audited = rank_of_audits(event for event in campaign.events if isinstance(event, RequestAudited))
    if not stored.spans:
        return Grounds(campaign, store, audited, evidence, wishes.traffic, dict.fromkeys(wishes.traffic, "given"))
    surveyed = finished(survey_traces(store))
    seconds = seconds_covered((part.first_ns, part.last_ns) for part in stored.parts)
    classes = {each.name: class_of_request(each.name, surveyed.classes) for each in campaign.summary.requests}
    seen = {
        request: TrafficSeen(surveyed.classes[name].traces, seconds)
        for request, name in classes.items()
        if name and request not in wishes.traffic
    }
    return Grounds(
        campaign,
        store,
        api_rank_of(surveyed.kinds) or audited,
        _timed(evidence, store),
        {request: each.per_day for request, each in seen.items()} | dict(wishes.traffic),
        {request: str(each) for request, each in seen.items()} | dict.fromkeys(wishes.traffic, "given"),
        seen,
        _as_in_findings(calls_seen(surveyed.kinds)),
        (stored.spans, stored.first_ns, stored.last_ns),
    )


def failure_rates_of(grounds: Grounds, wishes: HardenChoice) -> Rates:
    """Of the points in findings. Raises InputError where neither traces nor the user tell a rate."""
    return _rates({point: each.rate for point, each in known_rates(grounds, wishes).items()}, wishes)


def known_rates(grounds: Grounds, wishes: HardenChoice) -> dict[Point, FailureRate]:
    """Each with where it comes from, and its interval."""
    points = sorted({point for finding in grounds.findings for point in points_of(finding.cut)})
    return failure_rates(points, grounds.calls, wishes.failure_rates)


def bounds_of_rates(known: Mapping[Point, FailureRate], wishes: HardenChoice) -> tuple[Rates, Rates]:
    """All rates at the low ends of their intervals, and all at the high ends."""
    low = {point: each.low for point, each in known.items()}
    return _rates(low, wishes), _rates({point: each.high for point, each in known.items()}, wishes)


def _rates(measured: Mapping[Point, float], wishes: HardenChoice) -> Rates:
    points = sorted(measured)
    causes = [common_cause(name, each.rate, each.members, points) for name, each in wishes.common_causes.items()]
    return rates_of(measured, causes)


def _as_in_findings(seen: Mapping[Point, Calls]) -> dict[Point, Calls]:
    found: dict[Point, Calls] = {}
    for point, calls in seen.items():
        api = replace(point, api=as_the_mesh_names(point.api))
        known = found.get(api, Calls())
        found[api] = Calls(known.total + calls.total, known.failed + calls.failed)
    return found


def _timed(evidence: Mapping[Point, SiteEvidence], store: Path) -> dict[Point, SiteEvidence]:
    found = dict(evidence)
    # What several routes or names tell of one API is not mixed: the one with the most calls speaks for it.
    for each in sorted(server_durations(open_spans(store)), key=lambda each: each.calls):
        api = Point(each.label.service, as_the_mesh_names(api_of(each.label)))
        if api in found:
            latency = Latency(each.calls, *each.seconds, source="stored traces")
            found[api] = replace(found[api], latency=latency, per_second=each.per_second)
    return found
