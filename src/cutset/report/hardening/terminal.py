"""What to harden, why, and whether it helped, as text for people."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.markup import escape

from cutset.harden.choose import Infeasible
from cutset.harden.decision import HardenedSite, Hardening
from cutset.harden.frontier import Frontier
from cutset.harden.importance import caveat, in_words
from cutset.harden.odds import Odds
from cutset.harden.problem import Choice, expected_afvr
from cutset.harden.verification import Verification
from cutset.model.hardening import CutRechecked, Effort, MeshChanging, MeshRestored
from cutset.model.outcome import Verdict
from cutset.model.wording import count
from cutset.report.campaign.terminal import describe_cut
from cutset.report.hardening.wording import interval, rate_in_words, requests_a_day, sites_in_words

LIKELIEST_SHOWN = 5
IMPORTANT_SHOWN = 3
RATES_SHOWN = 8


def to_lines(found: Hardening, written: Sequence[Path] = ()) -> Iterator[str]:
    """Lines with rich's markup. `written` are the manifests."""
    choice, total = found.decision.choice, len(found.decision.problem.weaknesses)
    gone = total - len(choice.remaining)
    proof = "proven best" if choice.proven else "not proven best"
    yield f"[bold]Harden {sites_in_words(found)}[/] of cost {choice.cost:g}  [dim]{proof}[/]"
    afvr = expected_afvr(found.decision.problem, choice)
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
    for file in written:
        yield f"written  [green]{escape(str(file))}[/]"
    if found.change:
        yield ""
        yield from _change_lines(found.change, found)
    if found.verification:
        yield ""
        yield from _verification_lines(found.verification, found.replay)


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


def _site_lines(number: int, site: HardenedSite) -> Iterator[str]:
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
    reached = frontier.at(choice.budget)
    for position, point in enumerate(frontier.points):
        gain = "" if point.gain is None else f"{point.gain:.3g}"
        notes = ["this budget"] if position == reached else []
        notes += ["from here on returns diminish"] if position == frontier.knee else []
        note = f"  [cyan]← {', '.join(notes)}[/]" if notes else ""
        yield f"{point.budget:>6g}  {point.covered:>8g}  {point.coverage:>7.1%}  {gain:>13}{note}"


def _odds_lines(odds: Odds) -> Iterator[str]:
    before = f"{odds.failed_before:,.3g}{interval(odds.failed_before_between)}"
    after = f"{odds.failed_after:,.3g}{interval(odds.failed_after_between)}"
    yield f"Of {requests_a_day(odds)} {before} fail for known causes; hardened, {after}"
    yield from _sources_of(odds)
    for finding, failed in odds.likeliest[:LIKELIEST_SHOWN]:
        yield f"  {failed:>8.3g} a day  {escape(finding.request)}  {escape(describe_cut(finding.cut))}"
    yield ""
    yield from _importance_lines(odds)


def _sources_of(odds: Odds) -> Iterator[str]:
    """Where the numbers come from: they are worth no more than that."""
    if interval(odds.failed_before_between):
        yield "  [dim]in brackets: with all rates and traffic at the low or the high end of their intervals (95 %)[/]"
    for request, source in odds.traffic_from.items():
        yield f"  [dim]traffic of {escape(request)}: {escape(source)}[/]"
    for point, rate in sorted(odds.rates.items(), key=lambda each: -each[1].rate)[:RATES_SHOWN]:
        yield f"  [dim]{escape(str(point))} fails in {escape(rate_in_words(rate))}[/]"
    if (more := len(odds.rates) - RATES_SHOWN) > 0:
        yield f"  [dim]and {count(more, 'rate')} more, in `--json`[/]"


def _importance_lines(odds: Odds) -> Iterator[str]:
    yield "[bold]What matters most[/], before anything is hardened, at these rates"
    for each in odds.importances.ranked[:IMPORTANT_SHOWN]:
        yield f"  {escape(each.name)}: {in_words(each)}"
    if rests_on := caveat(odds.importances):
        yield f"  [dim]{escape(rests_on)}[/]"


def _change_lines(change: MeshChanging, found: Hardening) -> Iterator[str]:
    if found.restored:
        yield from _rolled_back_lines(found.restored)
    else:
        yield f"[bold]Applied to the {'cluster' if change.resources else 'local mesh'}[/]"
    for each in change.added:
        yield f"  [green]+[/] {escape(each)}"
    for each in change.kept:
        yield f"  [yellow]kept[/] {escape(each)}"
    for each in change.left_out:
        yield f"  [dim]left out {escape(each)}[/]"
    if any(".fallback" in each for each in change.added):
        yield "  [dim]Calls with a fallback go through a stand-in here, which takes some milliseconds of its own.[/]"
    if found.health and not found.restored:
        yield f"  [green]healthy[/]: each request was sent {found.health.runs} times since, and answered as before"
    if found.undo:
        yield f"  {'it was undone as by' if found.restored else 'undo with'} [green]{escape(found.undo)}[/]"


def _rolled_back_lines(restored: MeshRestored) -> Iterator[str]:
    yield f"[bold red]Rolled back[/]: {escape(restored.why)}"
    if restored.problem:
        yield f"  [red]but the mesh does not run as it did[/]: {escape(restored.problem)}"
    elif restored.still:
        yield "  [yellow]The mesh is as it was, and yet[/]:"
        for request, problem in restored.still.items():
            yield f"    {escape(request)} {escape(problem)}"
    else:
        yield "  The mesh is as it was, and each request is answered as before. What had been applied:"


def _verification_lines(found: Verification, replay: str) -> Iterator[str]:
    yield f"[bold]AFVR {found.afvr:.3f} measured, {found.expected_afvr:.3f} predicted[/], 1 before"
    yield "  [dim]the share of a request's known cuts that still fail it, averaged over requests[/]"
    for each in found.classes:
        yield (
            f"  {escape(each.request):<24} {each.afvr:.3f} measured, {each.expected_afvr:.3f} predicted  "
            f"[dim]{each.remaining} of {each.before} cuts remain[/]"
        )
    for recheck in found.rechecks:
        yield _recheck_line(recheck)
    for finding in found.new_cuts:
        yield f"  [red]new cut[/]       {escape(finding.request)}  {escape(describe_cut(finding.cut))}"
        yield f"  {'':<13} [dim]replay with[/] [green]{escape(f'{replay} {finding.id}')}[/]"
    for finding in found.grown_cuts:
        yield f"  [dim]takes more[/]    {escape(finding.request)}  {escape(describe_cut(finding.cut))}"
    for finding in found.new_degradations:
        yield (
            f"  [yellow]new degraded[/]  {escape(finding.request)}  {escape(describe_cut(finding.cut))}  "
            f"[dim]{escape(finding.outcome.reason)}[/]"
        )
    for request, (then, now) in found.slower.items():
        was, became = (_range(each[request]) for each in (found.before, found.after))
        yield (
            f"  [yellow]slower[/]        {escape(request)}  median {1000 * then:.3g} → {1000 * now:.3g} ms  "
            f"[dim]{was}, then {became}[/]"
        )
    for request, (then, now) in found.amplified.items():
        yield f"  [yellow]more calls[/]    {escape(request)}  {then:.3g} → {now:.3g} per request"
    if not found.explored:
        yield "  [dim]new cuts were not looked for[/]"


def _range(effort: Effort) -> str:
    return f"{1000 * effort.fastest:.3g} to {1000 * effort.slowest:.3g} ms in {count(effort.runs, 'request')}"


def _recheck_line(recheck: CutRechecked) -> str:
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
