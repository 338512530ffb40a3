"""What is known of a call site, from experiments and traces: the grounds on which remedies are advised or declined."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from cutset.harden.needs import ERRORS
from cutset.harden.remedies.authority import decides_who_may
from cutset.model.effect import Effect, EffectKind
from cutset.model.event import CampaignEvent, ExperimentFinished, RequestAudited
from cutset.model.fault import Cut, points_of
from cutset.model.finding import Finding
from cutset.model.hardening import Latency
from cutset.model.outcome import Verdict
from cutset.model.point import Point

ENOUGH_CALLS = 1_000  # from so many on, the slowest in a thousand has been seen
_SAFE_METHODS = ("GET ", "HEAD ", "OPTIONS ")  # RFC 9110 §9.2.1
_SAFE_NAMES = re.compile(
    r"(Get|BatchGet|List|Search|Find|Read|Query|Count|Check|Lookup|Fetch|Describe|Exists|Has|Is)(?![a-z])"
)
_STORE_READS = re.compile(r"(h?m?get(all)?|exists|scan|select|find|query)\b", re.IGNORECASE)


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
    fatal: tuple[Effect, ...] = ()  # effects there that are part of findings
    survived: tuple[Effect, ...] = ()  # effects there that are in no finding of one fault, and were survived alone

    def fatal_by(self, kinds: Collection[EffectKind]) -> list[Effect]:
        return [effect for effect in self.fatal if effect.kind in kinds]

    @property
    def survives_errors(self) -> bool:
        """Whether a failed call is made up for already, if nothing else fails."""
        return any(effect.kind in ERRORS for effect in self.survived)

    @property
    def is_http(self) -> bool:
        return " /" in self.site.api and not self.site.is_store

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
    site = evidence.site
    api = site.api.partition("/")[2] if site.is_endpoint else site.api  # without the framework
    if site.is_store and _STORE_READS.match(api):
        return f"`{api.partition(' ')[0]}` only reads"
    if api.startswith(_SAFE_METHODS):
        return f"`{api.partition(' ')[0]}` only reads, by the rules of HTTP"
    # A second attempt at a password may be one too many.
    if not evidence.is_http and not site.is_store and _SAFE_NAMES.match(api) and not evidence.deciding:
        return "its name says that it only reads"
    if evidence.recovered:
        return f"it was seen to be repeated, and well answered, {evidence.recovered} times"
    return ""


def evidence_of(events: Iterable[CampaignEvent], findings: Iterable[Finding]) -> dict[Point, SiteEvidence]:
    """What a campaign shows of each API that it saw."""
    called: dict[Point, set[str]] = {}
    survived: dict[Point, set[str]] = {}
    survived_by: dict[Point, set[Effect]] = {}
    for event in events:
        match event:
            case RequestAudited(request=request, calls=calls):
                _note(called, calls, request)
            case ExperimentFinished(request=request, outcome=outcome):
                _note(called, outcome.calls, request)
                if outcome.verdict in (Verdict.SURVIVED, Verdict.DEGRADED):
                    _note(survived, points_of(outcome.cut), request)
                    if len(outcome.cut) == 1:
                        _note_effects(survived_by, outcome.cut)
    breaks: dict[Point, set[str]] = {}
    instead: dict[Point, set[Point]] = {}
    alone: dict[Point, set[str]] = {}
    fatal: dict[Point, set[Effect]] = {}
    fatal_alone: dict[Point, set[Effect]] = {}
    for finding in findings:
        apis = {point.of_api for point in points_of(finding.cut)}
        _note(breaks, apis, finding.request)
        _note_effects(fatal, finding.cut)
        for api in apis:
            instead.setdefault(api, set()).update(apis - {api})
        if len(apis) == 1:
            _note(alone, apis, finding.request)
            _note_effects(fatal_alone, finding.cut)
    return {
        api: SiteEvidence(
            api,
            breaks=tuple(sorted(breaks.get(api, ()))),
            tolerated=tuple(sorted(survived.get(api, set()) - alone.get(api, set()))),
            instead=frozenset(instead.get(api, ())),
            fatal=tuple(sorted(fatal.get(api, ()))),
            survived=tuple(sorted(survived_by.get(api, set()) - fatal_alone.get(api, set()))),
        )
        for api in sorted(called.keys() | breaks.keys())
    }


def _note_effects(found: dict[Point, set[Effect]], cut: Cut) -> None:
    for fault in cut:
        found.setdefault(fault.point.of_api, set()).add(fault.effect)


def _note(found: dict[Point, set[str]], points: Iterable[Point], request: str) -> None:
    for point in points:
        found.setdefault(point.of_api, set()).add(request)
