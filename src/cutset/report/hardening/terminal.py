"""What to harden, why, and whether it helped: as text for people and as JSON for machines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.markup import escape

from cutset.harden.choose import Infeasible
from cutset.harden.frontier import Frontier
from cutset.harden.problem import Candidate, Choice, Problem, expected_afvr
from cutset.harden.verification import Effort, Recheck, Verification
from cutset.model.advice import Advice, Declined
from cutset.model.finding import Finding
from cutset.model.outcome import Verdict
from cutset.model.wording import count
from cutset.report.campaign.terminal import describe_cut

FORMAT = 1
LIKELIEST_SHOWN = 5
_LEVELS = {"api": "API", "call-site": "call site"}


@dataclass(frozen=True, slots=True)
class Site:
    """A candidate that was chosen, with what to do there."""

    candidate: Candidate
    breaks: tuple[str, ...]  # requests
    advice: tuple[Advice, ...]
    declined: tuple[Declined, ...]


@dataclass(frozen=True, slots=True)
class Odds:
    """How many requests fail per day, as far as the failure rates of points tell."""

    per_day: float
    failed_before: float
    failed_after: float
    likeliest: tuple[tuple[Finding, float], ...]  # findings by failed requests per day, the worst first


@dataclass(frozen=True, slots=True)
class Applied:
    added: tuple[str, ...]
    kept: tuple[str, ...]  # what the mesh has and was not changed
    left_out: tuple[str, ...]
    undo: str = ""  # the command


@dataclass(frozen=True, slots=True)
class Hardening:
    campaign: str
    level: str
    objective: str
    problem: Problem
    choice: Choice
    frontier: Frontier
    sites: tuple[Site, ...]
    odds: Odds | None = None
    written: tuple[str, ...] = ()
    applied: Applied | None = None
    verification: Verification | None = None


def to_lines(found: Hardening) -> Iterator[str]:
    """Lines with rich's markup."""
    choice, total = found.choice, len(found.problem.weaknesses)
    gone = total - len(choice.remaining)
    proof = "proven best" if choice.proven else "not proven best"
    sites = count(len(choice.chosen), _LEVELS.get(found.level, found.level))
    yield f"[bold]Harden {sites}[/] of cost {choice.cost:g}  [dim]{proof}[/]"
    afvr = expected_afvr(found.problem, choice)
    yield f"That mitigates {gone} of {count(total, 'finding')}; AFVR would be {afvr:.3f}"
    for number, site in enumerate(found.sites, start=1):
        yield ""
        yield from _site_lines(number, site)
    yield ""
    yield "[dim]`cutset explain fallback`, or any other remedy, tells what it is and what its risks are.[/]"
    yield ""
    yield from _frontier_lines(found.frontier, choice)
    if found.odds:
        yield ""
        yield from _odds_lines(found.odds)
    for name in found.written:
        yield f"written  [green]{escape(name)}[/]"
    if found.applied:
        yield ""
        yield from _applied_lines(found.applied)
    if found.verification:
        yield ""
        yield from _verification_lines(found.verification)


def infeasible_message(found: Infeasible) -> tuple[str, str]:
    """What is wrong, and what to do."""
    if found.impossible:
        names = ", ".join(f"`{name}`" for name in found.impossible)
        return (
            f"No budget covers {names}: only untouchable APIs would mitigate one of its findings",
            "Allow one of them, or give these requests no high priority",
        )
    names = ", ".join(f"`{name}`" for name in found.uncovered)
    return (
        f"A budget of {found.budget:g} does not cover all high-priority requests: not {names}",
        f"The smallest budget that does is {found.smallest:g}",
    )


def _site_lines(number: int, site: Site) -> Iterator[str]:
    cost = f"  [dim]cost {site.candidate.cost:g}[/]" if site.candidate.cost != 1 else ""
    yield f"{number}. [bold]{escape(site.candidate.name)}[/]{cost}"
    yield f"   breaks {escape(', '.join(site.breaks))}"
    for each in site.advice:
        yield f"   [green]{each.remedy:<15}[/] against {escape(each.against)}: {escape(each.why)}"
        for name, value in each.settings.items():
            yield f"   {'':<15} [dim]{escape(f'{name}: {value}')}[/]"
    for declined in site.declined:
        yield f"   [dim]no {declined.remedy:<12} {escape(declined.why)}[/]"


def _frontier_lines(frontier: Frontier, choice: Choice) -> Iterator[str]:
    yield "[bold]budget   covered  coverage  gain per unit[/]"
    reached = max(
        (position for position, point in enumerate(frontier.points) if point.budget <= choice.budget), default=-1
    )
    for position, point in enumerate(frontier.points):
        gain = "" if point.gain is None else f"{point.gain:.3g}"
        notes = ["this budget"] if position == reached else []
        notes += ["from here on returns diminish"] if position == frontier.knee else []
        note = f"  [cyan]← {', '.join(notes)}[/]" if notes else ""
        yield f"{point.budget:>6g}  {point.covered:>8g}  {point.coverage:>7.1%}  {gain:>13}{note}"


def _odds_lines(odds: Odds) -> Iterator[str]:
    before, after = odds.failed_before, odds.failed_after
    yield f"Of {odds.per_day:,.0f} requests a day {before:,.3g} fail for known causes; hardened, {after:,.3g}"
    for finding, failed in odds.likeliest[:LIKELIEST_SHOWN]:
        yield f"  {failed:>8.3g} a day  {escape(finding.request)}  {escape(describe_cut(finding.cut))}"


def _applied_lines(applied: Applied) -> Iterator[str]:
    yield "[bold]Applied to the local mesh[/]"
    for each in applied.added:
        yield f"  [green]+[/] {escape(each)}"
    for each in applied.kept:
        yield f"  [yellow]kept[/] {escape(each)}"
    for each in applied.left_out:
        yield f"  [dim]left out {escape(each)}[/]"
    if any(".fallback" in each for each in applied.added):
        yield "  [dim]Calls with a fallback go through a stand-in here, which takes some milliseconds of its own.[/]"
    if applied.undo:
        yield f"  undo with [green]{escape(applied.undo)}[/]"


def _verification_lines(found: Verification) -> Iterator[str]:
    yield f"[bold]AFVR {found.afvr:.3f} measured, {found.expected_afvr:.3f} predicted[/], 1 before"
    for each in found.classes:
        yield (
            f"  {escape(each.request):<24} {each.afvr:.3f} measured, {each.expected_afvr:.3f} predicted  "
            f"[dim]{each.remaining} of {each.before} cuts remain[/]"
        )
    for recheck in found.rechecks:
        yield _recheck_line(recheck)
    for finding in found.new_cuts:
        yield f"  [red]new cut[/]       {escape(finding.request)}  {escape(describe_cut(finding.cut))}"
    for finding in found.grown_cuts:
        yield f"  [dim]takes more[/]    {escape(finding.request)}  {escape(describe_cut(finding.cut))}"
    for finding in found.new_degradations:
        yield (
            f"  [yellow]new degraded[/]  {escape(finding.request)}  {escape(describe_cut(finding.cut))}  "
            f"[dim]{escape(finding.outcome.reason)}[/]"
        )
    for request, (then, now) in found.slower.items():
        yield f"  [yellow]slower[/]        {escape(request)}  median {1000 * then:.3g} → {1000 * now:.3g} ms"
    for request, (then, now) in found.amplified.items():
        yield f"  [yellow]more calls[/]    {escape(request)}  {then:.3g} → {now:.3g} per request"
    if not found.explored:
        yield "  [dim]new cuts were not looked for[/]"


def _recheck_line(recheck: Recheck) -> str:
    words = {
        Verdict.FAILED: "[red]x remains[/]      ",
        Verdict.UNKNOWN: "[magenta]? cannot tell[/]  ",
        Verdict.DEGRADED: "[green]+ gone[/], [yellow]degr.[/]  ",
        Verdict.SURVIVED: "[green]+ gone[/]         ",
    }[recheck.outcome.verdict]
    expected = "" if recheck.expected_gone != recheck.remains else "  [bold]not as predicted[/]"
    reason = "" if recheck.outcome.verdict is Verdict.SURVIVED else f"  [dim]{escape(recheck.outcome.reason)}[/]"
    finding = recheck.finding
    return f"  {words}{escape(finding.request)}  {escape(describe_cut(finding.cut))}{expected}{reason}"


def to_document(found: Hardening) -> dict[str, Any]:
    choice = found.choice
    document: dict[str, Any] = {
        "format": FORMAT,
        "campaign": found.campaign,
        "level": found.level,
        "objective": found.objective,
        "budget": choice.budget,
        "cost": choice.cost,
        "proven": choice.proven,
        "covered": choice.covered,
        "coverage": choice.coverage,
        "findings": len(found.problem.weaknesses),
        "remaining": [each.finding for each in choice.remaining],
        "afvr_predicted": expected_afvr(found.problem, choice),
        "sites": [_site_document(site) for site in found.sites],
        "frontier": [
            {"budget": each.budget, "covered": each.covered, "coverage": each.coverage, "gain": each.gain}
            for each in found.frontier.points
        ],
        "diminishing_from": found.frontier.points[found.frontier.knee].budget,
        "written": list(found.written),
    }
    if found.odds:
        document["requests_per_day"] = found.odds.per_day
        document["failed_per_day"] = {"before": found.odds.failed_before, "after": found.odds.failed_after}
        document["likeliest"] = [{"id": each.id, "failed_per_day": failed} for each, failed in found.odds.likeliest]
    if found.applied:
        lists = {name: list(getattr(found.applied, name)) for name in ("added", "kept", "left_out")}
        document["applied"] = lists | {"undo": found.applied.undo}
    if found.verification:
        document["verification"] = _verification_document(found.verification)
    return document


def _site_document(site: Site) -> dict[str, Any]:
    return {
        "name": site.candidate.name,
        "cost": site.candidate.cost,
        "rank": site.candidate.rank,
        "breaks": list(site.breaks),
        "remedies": [
            {
                "name": each.remedy,
                "against": each.against,
                "why": each.why,
                "settings": dict(each.settings),
                "risks": list(each.risks),
                "survives_outage": each.survives_outage,
            }
            for each in site.advice
        ],
        "declined": [{"name": each.remedy, "why": each.why} for each in site.declined],
    }


def _verification_document(found: Verification) -> dict[str, Any]:
    return {
        "afvr": found.afvr,
        "afvr_expected": found.expected_afvr,
        "classes": [
            {"request": each.request, "before": each.before, "afvr": each.afvr, "afvr_expected": each.expected_afvr}
            for each in found.classes
        ],
        "cuts": [
            {
                "id": each.finding.id,
                "request": each.finding.request,
                "cut": sorted(map(str, each.finding.cut)),
                "verdict": each.outcome.verdict.value,
                "reason": each.outcome.reason,
                "expected_gone": each.expected_gone,
            }
            for each in found.rechecks
        ],
        "explored": found.explored,
        "new_cuts": _findings(found.new_cuts),
        "grown_cuts": _findings(found.grown_cuts),
        "new_degradations": _findings(found.new_degradations),
        "before": {request: _effort(each) for request, each in found.before.items()},
        "after": {request: _effort(each) for request, each in found.after.items()},
    }


def _findings(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    return [
        {"request": each.request, "cut": sorted(map(str, each.cut)), "reason": each.outcome.reason} for each in findings
    ]


def _effort(effort: Effort) -> dict[str, float]:
    return {"seconds": effort.seconds, "calls": effort.calls, "calls_with_faults": effort.calls_with_faults}
