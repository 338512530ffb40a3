"""A hardening to look at: what to harden, what that removes and leaves, what each budget buys, and whether it helped.

The dashboard shows the same parts; there, one drags along the curve.
"""

from collections.abc import Iterator, Mapping, Sequence

import htpy as h

from cutset.harden.decision import HardenedSite, Hardening, RemovedCut, TriedHardening, consequences_of
from cutset.harden.frontier import Frontier
from cutset.harden.importance import caveat, in_words
from cutset.harden.odds import Odds
from cutset.harden.problem import expected_afvr
from cutset.harden.verification import ClassResult, Verification
from cutset.model.advice import Advice, Declined
from cutset.model.finding import Finding
from cutset.model.hardening import CutRechecked, Effort, MeshChanging, MeshRestored
from cutset.model.outcome import Verdict
from cutset.model.wording import count
from cutset.report.campaign.terminal import describe_cut
from cutset.report.hardening.plot import frontier_svg
from cutset.report.hardening.wording import headline, interval, rate_in_words, requests_a_day
from cutset.report.page.components import bounded, code, command, note, table, tiles, verdict, with_code
from cutset.report.page.document import drawing, standalone

SITES_SHOWN = 12  # with all that is said of them
CUTS_SHOWN = 40  # of one list: the JSON has all
RECHECKS_SHOWN = 200  # of one request
POINTS_SHOWN = 400  # of a frontier in a table
LIKELIEST_SHOWN = 5
IMPORTANT_SHOWN = 5
RATES_SHOWN = 12


def hardening_page(found: Hardening, knee: Hardening | None = None) -> str:
    """One file. `knee` is what the budget comes to from which on returns diminish, if that is another."""
    title = headline(found)
    return standalone(
        f"Hardening: {title}",
        h.h1[title],
        h.p(".muted")["against campaign ", code(found.campaign), f", by {found.objective}"],
        numbers(found),
        tried(found),
        h.h2["What each budget buys"],
        curve(found.frontier, found.decision.choice.budget),
        choice(found),
        _at_the_knee(found, knee),
        odds_of(found),
        h.h2["Frontier"],
        frontier_table(found.frontier, found.decision.choice.budget),
    )


def numbers(found: Hardening) -> h.Element:
    best, problem = found.decision.choice, found.decision.problem
    total = len(problem.weaknesses)
    return tiles(
        [
            (f"{total - len(best.remaining):,} of {total:,}", "cuts gone"),
            (f"{best.coverage:.1%}", "coverage, by traffic where it is known"),
            (f"{best.cost:g}", f"cost, of a budget of {best.budget:g}"),
            (f"{expected_afvr(problem, best):.3f}", "AFVR: share of a request's cuts that still fail it"),
        ]
    )


def curve(frontier: Frontier, budget: float) -> h.Node:
    return drawing(frontier_svg(frontier, budget=budget))


def choice(found: Hardening) -> h.Node:
    """Which calls, how and why; which cuts that removes, and which it leaves."""
    follows, shown = consequences_of(found.decision), found.sites[:SITES_SHOWN]
    removed, left = follows.removed, follows.remaining
    return [
        h.h2["What to harden"],
        [_site(number, site, removed[site.candidate.name]) for number, site in enumerate(shown, start=1)]
        or h.p["Nothing: this budget buys nothing."],
        _other_sites(found.sites[SITES_SHOWN:], removed) if len(found.sites) > SITES_SHOWN else None,
        h.h2[f"What remains: {count(len(left), 'cut')}"],
        _by_request([RemovedCut(each) for each in left]) if left else h.p["Nothing: every known cut is gone."],
    ]


def _site(number: int, site: HardenedSite, removed: Sequence[RemovedCut]) -> h.Element:
    cost = f" · cost {site.candidate.cost:g}" if site.candidate.cost != 1 else ""
    return h.section(".card")[
        h.h3[f"{number}. ", code(site.candidate.name)],
        h.p(".muted")[f"breaks {bounded(', '.join(site.breaks))}{cost}"],
        h.ul(".remedies")[(_advice(each) for each in site.advice)],
        _declined(site.declined) if site.declined else None,
        h.details(open=len(removed) <= 8)[h.summary[f"Removes {count(len(removed), 'cut')}"], _by_request(removed)],
    ]


def _other_sites(sites: Sequence[HardenedSite], removed: Mapping[str, Sequence[RemovedCut]]) -> h.Element:
    names = [each.candidate.name for each in sites]
    return h.details[
        h.summary[f"And {count(len(names), 'place')} more"],
        h.ol(start=str(SITES_SHOWN + 1))[
            [h.li[code(name), f" removes {count(len(removed[name]), 'cut')}"] for name in names]
        ],
    ]


def _declined(declined: Sequence[Declined]) -> h.Element:
    return h.details[
        h.summary[f"Not advised: {', '.join(each.remedy for each in declined)}"],
        h.ul[[h.li[h.b[each.remedy], " ", with_code(each.why)] for each in declined]],
    ]


def _advice(advice: Advice) -> h.Element:

    settings = [f"{name}: {value}" for name, value in advice.settings.items()]
    return h.li[
        h.b[advice.remedy],
        f" against {advice.against}: ",
        with_code(advice.why),
        settings and h.ul(".settings")[(h.li[code(each)] for each in settings)],
        advice.risks and h.details[h.summary["Risks"], h.ul[(h.li[with_code(each)] for each in advice.risks)]],
    ]


def _by_request(cuts: Sequence[RemovedCut]) -> h.Node:
    """Under the name of the request that they fail."""
    shown, more = cuts[:CUTS_SHOWN], len(cuts) - CUTS_SHOWN
    requests = dict.fromkeys(each.finding.request for each in shown)
    return [
        [
            [
                h.p(".small.muted")[bounded(request)],
                h.ul(".cuts")[[h.li[_cut(each)] for each in shown if each.finding.request == request]],
            ]
            for request in requests
        ],
        more > 0 and h.p(".muted")[f"and {more:,} more"],
    ]


def _cut(cut: RemovedCut) -> h.Node:
    others = [h.span(".muted")[" together with "], code(", ".join(cut.together_with))] if cut.together_with else None
    return [code(describe_cut(cut.finding.cut)), others]


def _at_the_knee(found: Hardening, knee: Hardening | None) -> h.Node:
    if knee is None or knee.decision.choice.chosen == found.decision.choice.chosen:
        return None
    return h.details[
        h.summary[f"At a budget of {knee.decision.choice.budget:g}, from which on returns diminish: {headline(knee)}"],
        choice(knee),
    ]


def frontier_table(frontier: Frontier, budget: float) -> h.Node:
    reached = frontier.at(max(budget, frontier.points[0].budget))
    last = len(frontier.points) - 1
    step = -(-len(frontier.points) // POINTS_SHOWN)
    rows: list[list[h.Node]] = [
        [
            h.td(".number")[f"{point.budget:g}"],
            h.td(".number")[f"{point.covered:g}"],
            h.td(".number")[f"{point.coverage:.1%}"],
            h.td(".number")["" if point.gain is None else f"{point.gain:.3g}"],
            [
                position == reached and h.b["← this budget "],
                position == frontier.knee and h.span["◇ from here on returns diminish"],
            ],
        ]
        for position, point in enumerate(frontier.points)
        if position % step == 0 or position in (reached, frontier.knee, last)
    ]
    heads = ["budget", "covered", "coverage", "gain per unit", "remark"]
    return h.div(".numbers")[table(heads, rows, caption="What each budget buys")]


def odds_of(found: Hardening) -> h.Node:
    odds = found.odds
    if odds is None:
        return [
            h.h2["Odds"],
            h.p(".muted")[
                with_code(
                    "Not known: how often calls fail is read from traces (`cutset ingest`), or given as `failure_rate`."
                )
            ],
        ]
    return [
        h.h2["Odds"],
        h.p[
            f"Of {requests_a_day(odds)} ",
            h.b[f"{odds.failed_before:,.3g}{interval(odds.failed_before_between)}"],
            " fail for known causes; hardened, ",
            h.b[f"{odds.failed_after:,.3g}{interval(odds.failed_after_between)}"],
            ".",
        ],
        interval(odds.failed_before_between)
        and h.p(".muted.small")[
            "In brackets: with all rates and traffic at the low or the high end of their intervals (95 %)."
        ],
        table(
            ["a day", "request", "cut"],
            (
                [h.td(".number")[f"{failed:,.3g}"], bounded(finding.request), code(describe_cut(finding.cut))]
                for finding, failed in odds.likeliest[:LIKELIEST_SHOWN]
            ),
            caption="The likeliest cuts",
        ),
        h.h3["What matters most, before anything is hardened"],
        h.ul[(h.li[code(each.name), f": {in_words(each)}"] for each in odds.importances.ranked[:IMPORTANT_SHOWN])],
        caveat(odds.importances) and h.p(".muted")[caveat(odds.importances)],
        h.details[h.summary["Where the numbers come from"], h.ul[_sources(odds)]],
    ]


def _sources(odds: Odds) -> Iterator[h.Node]:
    for request, source in odds.traffic_from.items():
        yield h.li[f"traffic of {bounded(request)}: {source}"]
    for point, rate in sorted(odds.rates.items(), key=lambda each: -each[1].rate)[:RATES_SHOWN]:
        yield h.li[code(str(point)), f" fails in {rate_in_words(rate)}"]
    if (more := len(odds.rates) - RATES_SHOWN) > 0:
        yield h.li[f"and {count(more, 'rate')} more"]


def tried(found: TriedHardening) -> h.Node:
    """What was applied, whether requests still work, and what became of each known cut."""
    return [
        _change(found.change, found) if found.change else None,
        _verification(found.verification, found.replay) if found.verification else None,
    ]


def _change(change: MeshChanging, found: TriedHardening) -> h.Node:
    where = "cluster" if change.resources else "local mesh"
    health, restored = found.health, found.restored
    return [
        h.h2["Rolled back" if restored else f"Applied to the {where}"],
        _rolled_back(restored) if restored else None,
        settings_list(change),
        not change.added and h.p["Nothing: it has all of it already."],
        note(
            verdict("survived", "healthy"),
            f": each request was sent {health.runs} times since, and answered as before.",
            kind="survived",
        )
        if health and not restored
        else None,
        found.undo and [h.p["It was undone as by" if restored else "Undo with"], command(found.undo)],
    ]


def settings_list(change: MeshChanging) -> h.Element:
    """What is added, kept and left out."""
    return h.ul(".settings")[
        (h.li[h.b["added "], code(each)] for each in change.added),
        (h.li[h.b["kept "], code(each)] for each in change.kept),
        (h.li(".muted")["left out ", code(each)] for each in change.left_out),
        any(".fallback" in each for each in change.added)
        and h.li(".muted")[
            "Calls with a fallback go through a stand-in here, which takes some milliseconds of its own."
        ],
    ]


def _rolled_back(restored: MeshRestored) -> h.Element:
    if restored.problem:
        after: h.Node = ["But the mesh does not run as it did: ", with_code(restored.problem)]
    elif restored.still:
        after = ["The mesh is as it was, and yet: ", "; ".join(f"{name} {why}" for name, why in restored.still.items())]
    else:
        after = "The mesh is as it was, and each request is answered as before. What had been applied:"
    return note(h.p[with_code(restored.why)], h.p[after], kind="failed")


def _verification(found: Verification, replay: str) -> h.Node:
    gone = sum(not each.remains for each in found.rechecks)
    return [
        h.h2[f"Verified: {gone} of {count(len(found.rechecks), 'known cut')} gone"],
        h.p[
            f"AFVR {found.afvr:.3f} measured, {found.expected_afvr:.3f} predicted, 1 before: ",
            h.span(".muted")["the share of a request's known cuts that still fail it, averaged over requests."],
        ],
        [
            _class(each, [cut for cut in found.rechecks if cut.finding.request == each.request])
            for each in found.classes
        ],
        _found_since("New cuts", found.new_cuts, replay),
        _found_since("It takes more failures now", found.grown_cuts, replay),
        _found_since("New degradations", found.new_degradations, ""),
        not found.explored and h.p(".muted")["New cuts were not looked for."],
        _efforts(found),
    ]


def _class(result: ClassResult, rechecks: Sequence[CutRechecked]) -> h.Node:
    """What is not as it should be first, then what remains."""
    worst_first = sorted(rechecks, key=lambda each: (not (each.expected_gone and each.remains), not each.remains))
    name = bounded(result.request)
    more = len(rechecks) - RECHECKS_SHOWN
    return h.details(open=True)[
        h.summary[h.strong[name], f": {result.remaining} of {count(result.before, 'cut')} remain"],
        h.p(".muted.small")[f"AFVR {result.afvr:.3f} measured, {result.expected_afvr:.3f} predicted"],
        table(
            ["cut", "before", "now", "predicted"],
            map(_recheck, worst_first[:RECHECKS_SHOWN]),
            caption=f"Each known cut of {name}, before and now",
        ),
        more > 0 and h.p(".muted")[f"and {more:,} more"],
    ]


def _recheck(recheck: CutRechecked) -> list[h.Node]:
    words = {
        Verdict.FAILED: "still fails",
        Verdict.UNKNOWN: "cannot tell",
        Verdict.DEGRADED: "gone, degraded",
        Verdict.SURVIVED: "gone",
    }
    now = recheck.outcome.verdict
    predicted = "gone" if recheck.expected_gone else "to stay"
    return [
        code(describe_cut(recheck.finding.cut)),
        verdict("failed"),
        [
            verdict(now, words[now]),
            now is not Verdict.SURVIVED and h.div(".muted.small")[bounded(recheck.outcome.reason)],
        ],
        h.td(".short")[predicted if recheck.expected_gone != recheck.remains else h.b[f"{predicted}: not so"]],
    ]


def _found_since(title: str, findings: Sequence[Finding], replay: str) -> h.Node:
    if not findings:
        return None
    return [
        h.h3[f"{title}: {len(findings)}"],
        h.ul(".cuts")[
            (
                h.li[
                    code(describe_cut(each.cut)),
                    h.span(".muted")[f" {bounded(each.request)}: {bounded(each.outcome.reason)}"],
                    replay and command(f"{replay} {each.id}"),
                ]
                for each in findings[:CUTS_SHOWN]
            )
        ],
    ]


def _efforts(found: Verification) -> h.Node:
    requests = sorted(found.before.keys() & found.after.keys())
    if not requests:
        return None
    return [
        h.h3["What requests take, before and now"],
        table(
            ["request", "median before", "median now", "calls before", "calls now", "under faults before", "now"],
            ([bounded(name), *_effort_cells(found.before[name], found.after[name])] for name in requests),
            caption="What requests take, before and now",
        ),
        [
            note(
                h.b["Slower: "],
                f"{bounded(request)}, median {1000 * then:.3g} → {1000 * now:.3g} ms",
                kind="degraded",
            )
            for request, (then, now) in found.slower.items()
        ],
        [
            note(h.b["More calls: "], f"{bounded(request)}, {then:.3g} → {now:.3g} per request", kind="degraded")
            for request, (then, now) in found.amplified.items()
        ],
    ]


def _effort_cells(before: Effort, after: Effort) -> Iterator[h.Element]:
    for each in (before, after):
        spread = f"{1000 * each.fastest:.3g} to {1000 * each.slowest:.3g} ms in {count(each.runs, 'request')}"
        yield h.td(".number", title=spread if each.runs else None)[f"{1000 * each.seconds:.3g} ms"]
    for number in (before.calls, after.calls, before.calls_with_faults, after.calls_with_faults):
        yield h.td(".number")[f"{number:.3g}"]
