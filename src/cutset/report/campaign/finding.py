"""The page of a finding: what the user gets and what he should, both traces, the proof, what helps, what was before."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import htpy as h

from cutset.harden.needs import Measure, Softened, needs, softened_by_errors
from cutset.harden.remedies.evidence import SiteEvidence
from cutset.harden.remedies.evidence import evidence_of as sites_of
from cutset.harden.remedies.registry import advise
from cutset.model.advice import Advice, Declined
from cutset.model.campaign import Campaign
from cutset.model.difference import DifferenceKind
from cutset.model.evidence import EvidenceKept, KeptAnswer, evidence_of
from cutset.model.fault import Fault
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.run import RunRecord
from cutset.model.summary import RequestSummary
from cutset.model.wording import count
from cutset.report.campaign.baseline import Accepted, compare
from cutset.report.campaign.effects import otherwise, why_alone
from cutset.report.campaign.scope import evidence as times_failed
from cutset.report.campaign.terminal import describe_cut
from cutset.report.page.answer import answer, difference, is_page
from cutset.report.page.components import bounded, code, command, facts, note, table, verdict, when, with_code
from cutset.report.page.waterfall import waterfalls

_DIFFERENCES = {
    DifferenceKind.MISSING: "missing",
    DifferenceKind.VALUE: "another value",
    DifferenceKind.COUNT: "another number of them",
    DifferenceKind.TYPE: "another type",
    DifferenceKind.UNREADABLE: "unreadable",
    DifferenceKind.WRITE: "not written",
}


@dataclass(frozen=True, slots=True)
class PastVerdict:
    """What one campaign says of a finding."""

    run: RunRecord
    verdict: Verdict
    words: str  # why nothing can be said, or what was seen


@dataclass(frozen=True, slots=True)
class RemedyGrounds:
    """What remedies are advised on: of a whole campaign, and long in coming where that is a large one."""

    sites: Mapping[Point, SiteEvidence]  # by API
    softened: Softened


@dataclass(frozen=True, slots=True)
class ShownFinding:
    finding: Finding
    request: RequestSummary
    campaign: Campaign
    replay: str  # the command that takes its id
    grounds: RemedyGrounds
    faulted: EvidenceKept | None = None
    healthy: EvidenceKept | None = None
    history: tuple[PastVerdict, ...] = ()  # the latest first


@dataclass(frozen=True, slots=True)
class AnswerAddresses:
    """Where the dashboard serves answers that are pages."""

    faulted: str
    healthy: str


IN_THE_FILE = AnswerAddresses("", "")


def remedy_grounds(campaign: Campaign) -> RemedyGrounds:
    return RemedyGrounds(sites_of(campaign.events, campaign.findings), softened_by_errors(campaign.summary))


def shown_finding(campaign: Campaign, finding_id: str, replay: str, grounds: RemedyGrounds) -> ShownFinding | None:
    """A finding or a degradation of the campaign; None: it has no such one."""
    for request in campaign.summary.requests:
        for finding in (*request.findings, *request.degradations):
            if finding.id == finding_id:
                faulted = evidence_of(campaign.events, finding.request, finding.cut)
                healthy = evidence_of(campaign.events, finding.request)
                return ShownFinding(finding, request, campaign, replay, grounds, faulted, healthy)
    return None


def past_verdict(finding: Finding, run: RunRecord, campaign: Campaign) -> PastVerdict:
    """As when it is held against a baseline: by an experiment of its own, or one whose certificate covers it."""
    (reviewed,) = compare([Accepted(finding)], campaign.events).reviewed
    told = reviewed.words if reviewed.verdict in (Verdict.UNKNOWN, Verdict.DEGRADED) else ""
    return PastVerdict(run, reviewed.verdict, told)


def headline(shown: ShownFinding) -> h.Node:
    finding, outcome = shown.finding, shown.finding.outcome
    word = "is answered wrongly" if outcome.is_wrong else ""
    return [
        h.p(".muted")[finding.request],
        h.h1[describe_cut(finding.cut, shown.campaign.summary.started.effects)],
        h.p[verdict(outcome.verdict, word), " ", h.span(".tag")[finding.id]],
        note(
            h.b["The user sees "],
            with_code(bounded(outcome.reason)),
            kind=outcome.verdict,
        ),
    ]


def body(shown: ShownFinding, addresses: AnswerAddresses = IN_THE_FILE, heading: h.Element = h.h2) -> h.Node:
    """All but the headline; `heading` is of the level below that."""
    return [
        heading["What the user gets"],
        seen(shown.faulted, shown.healthy, addresses),
        heading["What happened"],
        traces(shown.faulted, shown.healthy),
        heading["Evidence"],
        _evidence(shown),
        heading["See it again"],
        command(f"{shown.replay} {shown.finding.id}"),
        heading["What helps"],
        _remedies(shown),
        [heading["History"], _history(shown.history)] if shown.history else None,
    ]


def seen(faulted: EvidenceKept | None, healthy: EvidenceKept | None, addresses: AnswerAddresses) -> h.Node:
    """The answer, and the one without the fault beside it."""
    if faulted is None:
        return _nothing_kept()
    if faulted.answer is None:
        return note(with_code("Answers were not kept: `keep_answers: false` in the configuration."))
    usual = healthy.answer if healthy else None
    return [
        h.div(".columns")[
            answer("With the fault", faulted.answer, addresses.faulted),
            answer("Without it", usual, addresses.healthy) if usual else None,
        ],
        _compared(usual, faulted.answer) if usual else None,
    ]


def _compared(healthy: KeptAnswer, faulted: KeptAnswer) -> h.Element:
    return h.details(open=not is_page(faulted))[
        h.summary["How they differ"],
        h.p(".small.muted")[
            "− is only in the answer without the fault, + only in the one with it. What differs from request to "
            "request, such as ids and times, differs here, too."
        ],
        difference(healthy, faulted),
    ]


def traces(faulted: EvidenceKept | None, healthy: EvidenceKept | None) -> h.Node:
    if faulted is None:
        return _nothing_kept()
    shown = [("With the fault", faulted), *([("Without it", healthy)] if healthy else [])]
    return waterfalls(shown)


def _nothing_kept() -> h.Element:
    return note(
        "Nothing was kept of this request: it was recorded by an older Cutset, or somewhere that has no traces. "
        "See it again, below, or explore anew."
    )


def _evidence(shown: ShownFinding) -> h.Node:
    finding, outcome, request = shown.finding, shown.finding.outcome, shown.request
    rows: list[tuple[str, h.Node]] = [
        ("Seen", _times(outcome)),
        ("Fired", _fired(finding)),
        ("Without the fault", "answered as ever, right after" if outcome.healthy_after else "not tried right after"),
        ("Minimal", _minimal(shown)),
    ]
    if outcome.dead:
        rows.append(("Killed", ", ".join(outcome.dead)))
    if why := why_alone(finding, request):
        rows.append(("Because", why))
    if others := list(otherwise(finding, request)):
        rows.append(("Other effects", h.ul[[h.li[each] for each in others]]))
    for cut, survived in request.masked:
        if cut == finding.cut:
            rows.append(("Masked", f"survives together with {describe_cut(survived - cut)}"))
    rows.append(("Traces", h.ul(".mono")[[h.li[each] for each in outcome.trace_ids]] if outcome.trace_ids else "none"))
    return [facts(rows), _differences(outcome) if outcome.differences else None]


def _times(outcome: Outcome) -> str:
    if outcome.verdict is Verdict.FAILED:
        told = times_failed(outcome)
    else:
        told = f"degraded in {count(outcome.trials, 'trial')}" + (", never without" if outcome.healthy_after else "")
    return f"{told}; {count(outcome.requests, 'request')} in all"


def _fired(finding: Finding) -> str:
    fired = [str(each) for each in sorted(finding.cut) if each.point in finding.outcome.fired]
    others = [str(each) for each in sorted(finding.cut) if each.point not in finding.outcome.fired]
    return (", ".join(fired) or "not proven") + (f"; not called: {', '.join(others)}" if others else "")


def _minimal(shown: ShownFinding) -> str:
    if not shown.request.is_minimal(shown.finding):
        return "not proven: smaller cuts inside it are still to be tried"
    if len(shown.finding.cut) == 1:
        return "yes: it is one fault, and without it the request is answered"
    return "yes: it is proven that no part of it does this"


def _differences(outcome: Outcome) -> h.Element:
    return table(
        ("Where", "What", "Without the fault", "With it"),
        (
            (
                code(each.at or "the answer"),
                h.td(".whole")[_DIFFERENCES[each.kind]],
                bounded(each.was),
                bounded(each.now),
            )
            for each in outcome.differences
        ),
        caption=f"How the answer with {describe_cut(outcome.cut)} differs from those without a fault",
    )


def _remedies(shown: ShownFinding) -> h.Node:
    finding, grounds = shown.finding, shown.grounds
    if finding.outcome.verdict is not Verdict.FAILED:
        return h.p[
            with_code(
                "The request is answered without this call's part. If that is good enough, accept it; else give it a "
                "fallback that has something better to offer (`cutset explain fallback`)."
            )
        ]
    return [
        len(finding.cut) > 1 and h.p["At one of these calls is enough: the others alone do no harm."],
        [
            _at_call(fault, grounds.sites.get(fault.point.of_api), softened=(finding.id, fault) in grounds.softened)
            for fault in sorted(finding.cut)
        ],
        h.p(".muted")[
            with_code(
                "`cutset harden` weighs these against all other findings, and knows latencies where traces are stored "
                "(`cutset ingest`); `cutset explain timeout` tells what a remedy is, and its risks."
            )
        ],
    ]


def _at_call(fault: Fault, site: SiteEvidence | None, *, softened: bool) -> h.Element:
    ways = needs(fault.effect, softened=softened)
    advised, declined = advise(site) if site else ([], [])
    told: dict[str, Advice | Declined] = {each.remedy: each for each in advised}
    told |= {each.remedy: each for each in declined}
    wanted = dict.fromkeys(measure for way in ways for measure in sorted(way))
    return h.div(".card")[
        h.h3[code(str(fault.point)), f" against {fault.effect}"],
        h.p[h.b[" or ".join(" and ".join(sorted(way)) for way in ways)]],
        h.ul[[_measure(measure, told.get(measure)) for measure in wanted]],
    ]


def _measure(measure: Measure, told: Advice | Declined | None) -> h.Element:
    match told:
        case Advice(why=why, settings=settings):
            values = ", ".join(f"{name}: {json.dumps(value)}" for name, value in settings.items())
            return h.li[h.b[measure.value], ": ", with_code(why), values and [" ", h.code[values]]]
        case Declined(why=why):
            return h.li[h.b[measure.value], ": not advised here, ", with_code(why)]
    return h.li[h.b[measure.value], with_code(": what speaks for it here is not recorded; see `cutset harden`")]


def _history(past: Sequence[PastVerdict]) -> h.Element:
    return table(
        ("Campaign", "Began", "What it says"),
        (
            (
                h.td(".whole")[h.a(href=f"/campaigns/{each.run.id}")[each.run.id]],
                h.td(".whole")[when(each.run.started_at)],
                [
                    verdict(each.verdict),
                    fixed and " (fixed)",
                    each.words and h.span(".muted")[" ", with_code(each.words)],
                ],
            )
            for each, fixed in _with_fixes(past)
        ),
        caption="What each campaign says of this finding",
    )


def _with_fixes(past: Iterable[PastVerdict]) -> Iterator[tuple[PastVerdict, bool]]:
    """Whether it was the first to survive what had failed before."""
    rows = list(past)
    for number, each in enumerate(rows):
        before = next((row.verdict for row in rows[number + 1 :] if row.verdict is not Verdict.UNKNOWN), None)
        yield each, each.verdict is Verdict.SURVIVED and before is Verdict.FAILED
