"""Accepted findings, and what a campaign has to say of them: new or worse is what CI fails on.

A failing cut that contains an accepted one is no news: the accepted one made it fail already. One that lies inside an
accepted one is worse, since less has to fail, and so is one that used to be only degraded. That an accepted cut no
longer fails is said only where an experiment proves it, its own or one whose certificate covers it; a campaign that
looked elsewhere, or injected something else, says so instead.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from typing import Any

import yaml
from rich.markup import escape

from cutset.model.effect import Effect
from cutset.model.event import CampaignEvent
from cutset.model.fault import Cut, format_cut, points_of
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.summary import CampaignSummary, RequestSummary, outcomes_of, summarise
from cutset.report.campaign.terminal import describe_cut, describe_points
from cutset.search.certificates import Evidence, evidence_of
from cutset.search.strategy import Certificates

FORMAT = 1
_HEADER = """\
# Accepted findings of Cutset. `cutset explore --against` this file fails only on what is new or worse.
# Say in `accepted_because` why each may stay. `cutset baseline --merge` brings the file up to date and keeps that.
"""


@dataclass(frozen=True, slots=True)
class Accepted:
    finding: Finding  # failed or degraded; its reason is what the user saw
    because: str = ""  # why it may stay

    @property
    def cut(self) -> Cut:
        return self.finding.cut

    @property
    def failed(self) -> bool:
        return self.finding.outcome.verdict is Verdict.FAILED


class Standing(StrEnum):
    NEW = "new"
    WORSE = "worse"
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Compared:
    """A finding of the campaign, and how it stands to the accepted ones."""

    finding: Finding
    standing: Standing
    because: str  # what it is worse than, or why it was accepted


@dataclass(frozen=True, slots=True)
class Reviewed:
    """An accepted finding, and what became of it."""

    accepted: Accepted
    verdict: Verdict  # now
    words: str

    @property
    def better(self) -> bool:
        return self.verdict is Verdict.SURVIVED or (self.verdict is Verdict.DEGRADED and self.accepted.failed)


@dataclass(frozen=True, slots=True)
class Comparison:
    findings: tuple[Compared, ...]
    degradations: tuple[Compared, ...]  # worth knowing; what is answered in part has not failed
    reviewed: tuple[Reviewed, ...]

    @property
    def failures(self) -> list[Compared]:
        return [each for each in self.findings if each.standing is not Standing.ACCEPTED]

    @property
    def better(self) -> list[Reviewed]:
        return [each for each in self.reviewed if each.better]

    @property
    def undecided(self) -> list[Reviewed]:
        return [each for each in self.reviewed if each.verdict is Verdict.UNKNOWN]

    def blind(self, request: str) -> str:
        """Why nothing can be compared: of all that was accepted of this request, nothing could be decided."""
        own = [each for each in self.reviewed if each.accepted.finding.request == request and each.accepted.failed]
        if not own or any(each.verdict is not Verdict.UNKNOWN for each in own):
            return ""
        return f"nothing of what was accepted could be decided: {own[0].words}"

    def standing_of(self, finding: Finding) -> Compared:
        return next(each for each in (*self.findings, *self.degradations) if each.finding == finding)


def compare(accepted: Sequence[Accepted], events: Sequence[CampaignEvent]) -> Comparison:
    summary = summarise(events)
    by_request: dict[str, list[Accepted]] = {}
    for each in accepted:
        by_request.setdefault(each.finding.request, []).append(each)
    return Comparison(
        tuple(_compared(finding, by_request.get(finding.request, ())) for finding in summary.findings),
        tuple(
            _degradation(finding, by_request.get(finding.request, ()))
            for request in summary.requests
            for finding in request.degradations
        ),
        tuple(_reviewed(by_request, summary, events)),
    )


def merge(old: Sequence[Accepted], events: Sequence[CampaignEvent]) -> list[Accepted]:
    """What the campaign found, and what it could not disprove, with the reasons that were given before."""
    summary = summarise(events)
    found = accept(summary, old)
    failing = [each.finding for each in found if each.failed]
    kept = [
        each.accepted
        for each in compare(old, events).reviewed
        if not each.better and not _within(each.accepted, failing) and not _listed(each.accepted, found)
    ]
    return sorted([*found, *kept], key=_order)


def accept(summary: CampaignSummary, reasons: Iterable[Accepted] = ()) -> list[Accepted]:
    """All that a campaign found. A reason is taken over with its cut, but not from a degraded one that now fails."""
    known = {(each.finding.id, each.finding.outcome.verdict): each.because for each in reasons}
    found = [each for request in summary.requests for each in (*request.findings, *request.degradations)]
    return sorted((Accepted(each, known.get((each.id, each.outcome.verdict), "")) for each in found), key=_order)


def to_yaml(accepted: Sequence[Accepted]) -> str:
    """The same text for the same findings, so that a review shows only what has changed."""
    entries = [
        {
            "id": each.finding.id,
            "request": each.finding.request,
            "cut": [str(fault) for fault in sorted(each.cut)],
            "verdict": each.finding.outcome.verdict.value,
            "user_sees": each.finding.outcome.reason,
            "accepted_because": each.because,
        }
        for each in sorted(accepted, key=_order)
    ]
    content = {"format": FORMAT, "accepted": entries}
    return _HEADER + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)


def to_lines(comparison: Comparison, name: str) -> Iterator[str]:
    """Lines with rich's markup; `name` is that of the file."""
    yield f"[bold]Against {escape(name)}[/]"
    for compared in comparison.failures:
        why = f"  [dim]{escape(compared.because)}[/]" if compared.because else ""
        yield f"  [red]✗ {compared.standing:<5}[/]      {_named(compared.finding)}{why}"
    for compared in comparison.degradations:
        if compared.standing is Standing.NEW:
            reason = escape(compared.finding.outcome.reason)
            yield f"  [yellow]~ degraded[/]   {_named(compared.finding)}  [dim]not accepted: {reason}[/]"
    for reviewed in comparison.better:
        yield f"  [green]+ better[/]     {_named(reviewed.accepted.finding)}  [dim]{escape(reviewed.words)}[/]"
    for reviewed in comparison.undecided:
        yield f"  [magenta]? undecided[/]  {_named(reviewed.accepted.finding)}  [dim]{escape(reviewed.words)}[/]"
    yield _totals(comparison)
    if unexplained := sum(not each.accepted.because.strip() for each in comparison.reviewed):
        yield f"[yellow]Accepted without a reason: {unexplained} of {len(comparison.reviewed)}[/]"
    if comparison.better:
        yield "[dim]`cutset baseline --merge` takes what became better out of the file[/]"


def to_document(comparison: Comparison, name: str) -> dict[str, Any]:
    return {
        "baseline": name,
        "findings": [_standing(each) for each in comparison.findings],
        "degraded": [_standing(each) for each in comparison.degradations],
        "accepted": [
            _reference(each.accepted.finding)
            | {"accepted_because": each.accepted.because, "better": each.better}
            | {"verdict": each.verdict.value, "reason": each.words}
            for each in comparison.reviewed
        ],
    }


def _compared(finding: Finding, accepted: Sequence[Accepted]) -> Compared:
    cut = finding.cut
    for each in accepted:
        if each.failed and each.cut == cut:
            return Compared(finding, Standing.ACCEPTED, each.because)
    for each in accepted:
        if not each.failed and each.cut == cut:
            return Compared(finding, Standing.WORSE, f"was only degraded: {each.finding.outcome.reason}")
    for each in accepted:
        if each.failed and each.cut < cut:
            return Compared(finding, Standing.ACCEPTED, f"contains the accepted {describe_cut(each.cut)}")
    for each in accepted:
        if cut < each.cut:
            before = "failed" if each.failed else "was degraded"
            return Compared(finding, Standing.WORSE, f"{before} only together with {describe_cut(each.cut - cut)}")
    return Compared(finding, Standing.NEW, "")


def _degradation(finding: Finding, accepted: Sequence[Accepted]) -> Compared:
    """One that contains an accepted cut, failed or degraded, is no news either."""
    within = [each for each in accepted if each.cut <= finding.cut]
    if not within:
        return Compared(finding, Standing.NEW, "")
    largest = max(within, key=lambda each: len(each.cut))
    return Compared(finding, Standing.ACCEPTED, largest.because)


def _reviewed(
    accepted: Mapping[str, Sequence[Accepted]], summary: CampaignSummary, events: Sequence[CampaignEvent]
) -> Iterator[Reviewed]:
    requests = {request.name: request for request in summary.requests}
    outcomes = {name: outcomes_of(name, events) for name in requests}
    effects = {fault.effect for each in outcomes.values() for outcome in each for fault in outcome.cut}
    certificates = Certificates(summary.started.certificates or Certificates.EXACT)
    for name, own in accepted.items():
        if name not in requests:
            yield from (Reviewed(each, Verdict.UNKNOWN, "the campaign has no such request") for each in own)
            continue
        evidence = cache(partial(evidence_of, outcomes[name], certificates))  # which takes long, if it is needed
        by_cut: dict[Cut, list[Outcome]] = {}
        for outcome in outcomes[name]:
            by_cut.setdefault(outcome.cut, []).append(outcome)
        for each in own:
            tried = by_cut.get(each.cut, [])
            if not tried and (gap := _gap(each.cut, requests[name], effects)):
                yield Reviewed(each, Verdict.UNKNOWN, gap)
                continue
            verdict, words = _verdict(each, outcomes[name], tried, evidence)
            yield Reviewed(each, verdict, words or requests[name].problem or "no experiment tells")


def _gap(cut: Cut, request: RequestSummary, effects: set[Effect]) -> str:
    """Why the campaign cannot speak of this cut at all."""
    if any(fault.effect not in effects or fault.percent != 100 for fault in cut):
        return f"the campaign injected {', '.join(f'`{effect}`' for effect in sorted(effects)) or 'nothing'}"
    points = points_of(cut)
    beyond = {point.of_api for point in request.not_reached}
    if unreachable := frozenset(point for point in points if point.of_api in beyond):
        # Calls without the trace context are on no path, so that every path seems to do without them.
        return f"no plan reaches {describe_points(unreachable)}"
    named = {point.of_api for point in request.calls}
    if strange := frozenset(point for point in points - request.calls if point.of_api in named):
        return f"the campaign tells calls apart in another way: {describe_points(strange)}"
    return ""


def _verdict(
    accepted: Accepted, outcomes: Sequence[Outcome], tried: Sequence[Outcome], evidence: Callable[[], Evidence]
) -> tuple[Verdict, str]:
    """`tried` are the outcomes of this very cut."""
    if any(outcome.verdict is Verdict.FAILED for outcome in tried):
        return Verdict.FAILED, "fails"
    if degraded := next((outcome for outcome in tried if outcome.verdict is Verdict.DEGRADED), None):
        return Verdict.DEGRADED, f"is answered in part: {degraded.reason}"
    verdict, _ = evidence().explain(accepted.cut)
    if verdict is Verdict.FAILED:
        return verdict, "fails"
    if accepted.failed and verdict is Verdict.SURVIVED:
        return verdict, "no longer fails"
    # A certificate says that the request is answered. That nothing is missing is seen only where all of it failed.
    if any(outcome.verdict is Verdict.SURVIVED and accepted.cut <= outcome.cut for outcome in outcomes):
        return Verdict.SURVIVED, "is answered in full"
    return Verdict.UNKNOWN, tried[0].reason if tried else ""


def _within(accepted: Accepted, failing: Iterable[Finding]) -> bool:
    """Whether a smaller cut, or the same one with a worse verdict, takes its place."""
    return any(each.request == accepted.finding.request and each.cut <= accepted.cut for each in failing)


def _listed(accepted: Accepted, found: Iterable[Accepted]) -> bool:
    return any(each.finding.id == accepted.finding.id for each in found)


def _order(accepted: Accepted) -> tuple[str, int, str]:
    return (accepted.finding.request, len(accepted.cut), format_cut(accepted.cut))


def _named(finding: Finding) -> str:
    return f"{escape(finding.request)}  [bold]{escape(describe_cut(finding.cut))}[/]"


def _reference(finding: Finding) -> dict[str, Any]:
    return {"id": finding.id, "request": finding.request, "cut": sorted(map(str, finding.cut))}


def _standing(compared: Compared) -> dict[str, Any]:
    return _reference(compared.finding) | {"standing": compared.standing.value, "because": compared.because}


def _totals(comparison: Comparison) -> str:
    counts = {standing: sum(each.standing is standing for each in comparison.findings) for standing in Standing}
    told = ", ".join(f"{number} {standing}" for standing, number in counts.items())
    return f"Findings: {told}; {len(comparison.better)} of {len(comparison.reviewed)} accepted became better"
