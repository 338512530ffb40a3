"""A hardening as a comment on a pull request: what to harden, what that removes, and whether it helped."""

from collections.abc import Iterator, Sequence

from cutset.harden.decision import HardenedSite, Hardening, RemovedCut, TriedHardening, consequences_of
from cutset.harden.frontier import Frontier
from cutset.harden.odds import Odds
from cutset.harden.verification import Verification
from cutset.model.finding import Finding
from cutset.model.hardening import CutRechecked
from cutset.model.outcome import Verdict
from cutset.model.wording import count
from cutset.report.campaign.terminal import describe_cut
from cutset.report.hardening.wording import headline, interval, requests_a_day
from cutset.report.markdown import block, code, table, text

MOST_CHARACTERS = 65_536  # of a comment on GitHub
SITES_SHOWN = 20
CUTS_SHOWN = 20  # of one list
POINTS_SHOWN = 15
_TOO_LONG = "\n\n… more than a comment holds: `cutset harden --html FILE` has the rest.\n"
_NOW = {
    Verdict.FAILED: "✗ still fails",
    Verdict.UNKNOWN: "? cannot tell",
    Verdict.DEGRADED: "~ gone, degraded",
    Verdict.SURVIVED: "✓ gone",
}


def to_markdown(found: Hardening) -> str:
    whole = "\n\n".join(_parts(found)) + "\n"
    if len(whole) <= MOST_CHARACTERS:
        return whole
    # At the end of a paragraph: half a table is still one, half a fence would swallow what follows.
    return whole[: whole.rindex("\n\n", 0, MOST_CHARACTERS - len(_TOO_LONG))] + _TOO_LONG


def _parts(found: Hardening) -> Iterator[str]:
    choice = found.decision.choice
    yield f"### {text(headline(found))}"
    yield (
        f"Cost {choice.cost:g} of a budget of {choice.budget:g}, coverage {choice.coverage:.1%}, "
        f"against campaign {code(found.campaign)}."
    )
    yield from _tried(found)
    follows = consequences_of(found.decision)
    for number, site in enumerate(found.sites[:SITES_SHOWN], start=1):
        yield "\n".join(_site(number, site, follows.removed[site.candidate.name]))
    if (more := len(found.sites) - SITES_SHOWN) > 0:
        yield f"and {count(more, 'place')} more"
    left = follows.remaining
    yield f"**{count(len(left), 'cut')} would remain**" if left else "**No known cut would remain**"
    yield from _cuts(left)
    if found.odds:
        yield _odds(found.odds)
    yield _frontier(found.frontier, choice.budget)


def _site(number: int, site: HardenedSite, removed: Sequence[RemovedCut]) -> Iterator[str]:
    cost = f", cost {site.candidate.cost:g}" if site.candidate.cost != 1 else ""
    yield f"{number}. **{code(site.candidate.name)}** removes {count(len(removed), 'cut')}{cost}"
    for each in site.advice:
        settings = "".join(f" {code(f'{name}: {value}')}" for name, value in each.settings.items())
        yield f"   - **{text(each.remedy)}** against {text(each.against)}: {text(each.why)}{settings}"
    if site.declined:
        yield f"   - not advised: {text(', '.join(each.remedy for each in site.declined))}"


def _cuts(findings: Sequence[Finding]) -> Iterator[str]:
    if findings:
        shown = [f"- {code(describe_cut(each.cut))} fails {code(each.request)}" for each in findings[:CUTS_SHOWN]]
        more = len(findings) - len(shown)
        yield "\n".join([*shown, *([f"- and {more} more"] if more else [])])


def _odds(odds: Odds) -> str:
    before = f"{odds.failed_before:,.3g}{interval(odds.failed_before_between)}"
    after = f"{odds.failed_after:,.3g}{interval(odds.failed_after_between)}"
    return f"Of {requests_a_day(odds)} **{before}** fail for known causes; hardened, **{after}**."


def _frontier(frontier: Frontier, budget: float) -> str:
    reached, last = frontier.at(max(budget, frontier.points[0].budget)), len(frontier.points) - 1
    step = -(-len(frontier.points) // POINTS_SHOWN)
    rows = []
    for position, point in enumerate(frontier.points):
        if position % step and position not in (reached, frontier.knee, last):
            continue
        notes = ["this budget"] if position == reached else []
        notes += ["from here on returns diminish"] if position == frontier.knee else []
        gain = "" if point.gain is None else f"{point.gain:.3g}"
        rows.append([f"{point.budget:g}", f"{point.covered:g}", f"{point.coverage:.1%}", gain, ", ".join(notes)])
    heads = ["budget", "covered", "coverage", "gain per unit", ""]
    return f"<details><summary>What each budget buys</summary>\n\n{table(heads, rows)}\n\n</details>"


def _tried(found: TriedHardening) -> Iterator[str]:
    if found.restored:
        yield f"**Rolled back**: {text(found.restored.why)}"
    elif found.change:
        yield f"**Applied** to the {'cluster' if found.change.resources else 'local mesh'}:"
    if found.change:
        yield block([*(f"+ {each}" for each in found.change.added), *(f"  kept {each}" for each in found.change.kept)])
    if found.health and not found.restored:
        yield f"Each request was sent {found.health.runs} times since, and answered as before."
    if found.undo:
        yield f"{'It was undone as by' if found.restored else 'Undo with'}\n\n{block([found.undo], 'sh')}"
    if found.verification:
        yield from _verification(found.verification, found.replay)


def _verification(found: Verification, replay: str) -> Iterator[str]:
    gone = sum(not each.remains for each in found.rechecks)
    yield (
        f"**Verified: {gone} of {count(len(found.rechecks), 'known cut')} gone.** "
        f"AFVR {found.afvr:.3f} measured, {found.expected_afvr:.3f} predicted, 1 before."
    )
    worst_first = sorted(found.rechecks, key=lambda each: (not each.remains, each.expected_gone == each.remains))
    yield table(["request", "cut", "now", "as predicted"], map(_recheck, worst_first[: 2 * CUTS_SHOWN]))
    if found.new_cuts:
        yield f"**New cuts: {len(found.new_cuts)}**"
        yield from _cuts(found.new_cuts)
        yield block([f"{replay} {each.id}" for each in found.new_cuts[:CUTS_SHOWN]], "sh")
    if not found.explored:
        yield "New cuts were not looked for."
    for request, (then, now) in found.slower.items():
        yield f"Slower: {code(request)}, median {1000 * then:.3g} → {1000 * now:.3g} ms"
    for request, (then, now) in found.amplified.items():
        yield f"More calls: {code(request)}, {then:.3g} → {now:.3g} per request"


def _recheck(recheck: CutRechecked) -> list[str]:
    as_predicted = recheck.expected_gone != recheck.remains
    return [
        code(recheck.finding.request),
        code(describe_cut(recheck.finding.cut)),
        _NOW[recheck.outcome.verdict],
        "yes" if as_predicted else f"**no: expected {'gone' if recheck.expected_gone else 'to stay'}**",
    ]
