"""What is known of a call site, from experiments and traces: the grounds on which remedies are advised or declined."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from cutset.harden.remedies.authority import decides_who_may
from cutset.model.event import CampaignEvent, ExperimentFinished, RequestAudited
from cutset.model.fault import points_of
from cutset.model.finding import Finding
from cutset.model.hardening import Latency
from cutset.model.outcome import Verdict
from cutset.model.point import Point

ENOUGH_CALLS = 1_000  # from so many on, the slowest in a thousand has been seen
_SAFE_METHODS = ("GET ", "HEAD ", "OPTIONS ")  # RFC 9110 §9.2.1
_SAFE_NAMES = re.compile(
    r"(Get|BatchGet|List|Search|Find|Read|Query|Count|Check|Lookup|Fetch|Describe|Exists|Has|Is)(?![a-z])"
)


@dataclass(frozen=True, slots=True)
class SiteEvidence:
    site: Point  # an API, or a call site with its caller
    breaks: tuple[str, ...] = ()  # requests that fail when it fails, alone or with others
    tolerated: tuple[str, ...] = ()  # requests that call it and survive its failure
    instead: frozenset[Point] = frozenset()  # what is called when it fails, and must fail too before the request does
    latency: Latency | None = None
    per_second: float | None = None  # calls in the busiest time that is known
    recovered: int = 0  # repeated attempts that were answered well after one that was not
    replicas: int = 0  # 0: not known
    retries: int | None = None  # that are made already; None: not known
    proved: bool = False  # its calls were seen to carry credentials, or to be of a user

    @property
    def is_http(self) -> bool:
        return " /" in self.site.api

    @property
    def deciding(self) -> str:
        """Why its answers may decide who may do what; empty if nothing says so."""
        return decides_who_may(self.site, proved=self.proved)


def latency_of(seconds: Sequence[float], source: str = "") -> Latency:
    """By nearest rank: a value that was seen, never one in between."""
    ordered = sorted(seconds)

    def rank(share: float) -> float:
        return ordered[ceil(share * len(ordered)) - 1]

    return Latency(len(ordered), rank(0.5), rank(0.99), rank(0.999), ordered[-1], source)


def safe_to_repeat(evidence: SiteEvidence) -> str:
    """Why a second attempt does no harm; empty if nothing says so."""
    api = evidence.site.api
    if api.startswith(_SAFE_METHODS):
        return f"`{api.partition(' ')[0]}` only reads, by the rules of HTTP"
    # A second attempt at a password may be one too many.
    if not evidence.is_http and _SAFE_NAMES.match(api) and not evidence.deciding:
        return "its name says that it only reads"
    if evidence.recovered:
        return f"it was seen to be repeated, and well answered, {evidence.recovered} times"
    return ""


def evidence_of(events: Iterable[CampaignEvent], findings: Iterable[Finding]) -> dict[Point, SiteEvidence]:
    """What a campaign shows of each API that it saw."""
    called: dict[Point, set[str]] = {}
    survived: dict[Point, set[str]] = {}
    for event in events:
        match event:
            case RequestAudited(request=request, calls=calls):
                _note(called, calls, request)
            case ExperimentFinished(request=request, outcome=outcome):
                _note(called, outcome.calls, request)
                if outcome.verdict in (Verdict.SURVIVED, Verdict.DEGRADED):
                    _note(survived, points_of(outcome.cut), request)
    breaks: dict[Point, set[str]] = {}
    instead: dict[Point, set[Point]] = {}
    alone: dict[Point, set[str]] = {}
    for finding in findings:
        apis = {point.of_api for point in points_of(finding.cut)}
        _note(breaks, apis, finding.request)
        for api in apis:
            instead.setdefault(api, set()).update(apis - {api})
        if len(apis) == 1:
            _note(alone, apis, finding.request)
    return {
        api: SiteEvidence(
            api,
            breaks=tuple(sorted(breaks.get(api, ()))),
            tolerated=tuple(sorted(survived.get(api, set()) - alone.get(api, set()))),
            instead=frozenset(instead.get(api, ())),
        )
        for api in sorted(called.keys() | breaks.keys())
    }


def _note(found: dict[Point, set[str]], points: Iterable[Point], request: str) -> None:
    for point in points:
        found.setdefault(point.of_api, set()).add(request)
