"""A campaign for people who look: how each request class stands, what breaks it, what is open, what to fix first.

The parts have names, so that the dashboard can renew those that change while a campaign is under way. The report that
travels has all of them (`standalone.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import htpy as h

from cutset.model.effect import EffectChoice
from cutset.model.event import CampaignStarted
from cutset.model.fault import Cut
from cutset.model.finding import Finding
from cutset.model.summary import INTERRUPTED, CampaignSummary, RequestSummary
from cutset.model.toleration import PointToleration, Toleration
from cutset.model.wording import count
from cutset.report.campaign.effects import IMPOSSIBLE, effect_in_words, rows, verb, why_alone
from cutset.report.campaign.scope import (
    NOT_CONTAINED,
    TRUSTED,
    completeness,
    effort_of,
    method,
    of_variation,
    totals,
)
from cutset.report.campaign.terminal import describe_faults
from cutset.report.campaign.weak_points import RANKED, WeakPoint, weak_points
from cutset.report.page.components import bounded, code, note, tiles, verdict, with_code
from cutset.search.strategies import AcrossRequests

SHOWN = 12  # of a list; the rest is folded
MOST = 100  # of a list: whoever wants the rest has the JSON
WEAK_POINTS_SHOWN = 6
_FOUND = {"failed": "found:", "unknown": "open:", "survived": "survives:"}


@dataclass(frozen=True, slots=True)
class CampaignLinks:
    """Where more is to be seen, and what is to be typed."""

    replay: str  # takes the id of a finding as its last word
    finding: Callable[[Finding], str]  # the address of its page, or of its place in the file
    graph: str = ""  # the page of the service graph; empty: there is none
    harden: str = ""  # likewise of what to harden


def sections(
    summary: CampaignSummary, links: CampaignLinks, pictures: Sequence[h.Node] = (), *, under_way: bool = False
) -> dict[str, h.Node]:
    """By name, in their order."""
    summary = going_on(summary) if under_way else summary
    return {
        "headline": [headline(summary, under_way=under_way), numbers(summary)],
        "requests": [h.h2["Request classes"], request_list(summary, lambda each: f"#{anchor(summary, each)}")],
        "pictures": pictures,
        "weak-points": _weak_points(summary, links),
        **{anchor(summary, each): request_section(each, summary.started, links) for each in summary.requests},
        "basis": _basis(summary),
    }


def going_on(summary: CampaignSummary) -> CampaignSummary:
    """As it stands while it is under way: what has no end yet was not interrupted."""
    requests = (replace(each, problem="") if each.problem == INTERRUPTED else each for each in summary.requests)
    return replace(summary, requests=tuple(requests))


def anchor(summary: CampaignSummary, request: RequestSummary) -> str:
    """Names of requests are anything."""
    return f"request-{1 + summary.requests.index(request)}"


def headline(summary: CampaignSummary, *, under_way: bool = False) -> h.Element:
    size = summary.started.max_size
    open_ones = [each.name for each in summary.requests if is_open(each) or each.complete_up_to < size]
    classes = count(len(summary.requests), "request class")
    if not summary.requests:
        decided = "Nothing is known yet"
    elif not open_ones and summary.finished:
        decided = f"Complete up to size {size} in each of {classes}"
    else:
        decided = f"Not decided up to size {size} in {len(open_ones)} of {classes}: {', '.join(open_ones[:3])}" + (
            ", …" if len(open_ones) > 3 else ""
        )
    said = "failed" if summary.findings else "unknown" if open_ones or not summary.finished else "survived"
    return note(
        h.p[verdict(said, _FOUND[said]), " ", h.strong[totals(summary, under_way=under_way)]],
        h.p[bounded(decided)],
        summary.out_of_reach and h.p["Some calls are not coverable: nobody can say that requests survive them"],
        kind=said,
    )


def numbers(summary: CampaignSummary) -> h.Element:
    requests = summary.requests
    return tiles(
        (f"{number:,}", what)
        for number, what in (
            (len(summary.findings), "minimal cuts"),
            (len(summary.degradations), "degraded"),
            (sum(len(each.undecided) for each in requests), "unknown"),
            (len(requests), "request classes"),
            (sum(each.experiments for each in requests), "experiments"),
            (sum(each.requests for each in requests), "requests sent"),
        )
    )


def request_list(summary: CampaignSummary, address: Callable[[RequestSummary], str]) -> h.Element:
    return h.ul(".classes")[
        (
            h.li[h.a(href=address(each))[bounded(each.name)], h.span(".states")[states(each, summary.started)]]
            for each in summary.requests
        )
    ]


def states(request: RequestSummary, started: CampaignStarted) -> list[h.Element]:
    """How it stands, in signs and words."""
    cuts = len(request.findings)
    told = (
        ("failed", cuts, "minimal cut" if cuts == 1 else "minimal cuts"),
        ("degraded", len(request.degradations), "degraded"),
        ("unknown", len(request.undecided), "unknown"),
        ("unknown", len(request.predicted), "predicted"),
        ("not coverable", len(_not_coverable(request)), "not coverable"),
    )
    return [
        _decided(request, started),
        *(verdict(said, f"{number:,} {words}") for said, number, words in told if number),
    ]


def is_open(request: RequestSummary) -> bool:
    return bool(request.problem or request.undecided or request.predicted)


def _decided(request: RequestSummary, started: CampaignStarted) -> h.Element:
    if request.complete_up_to < 0:
        return verdict("unknown", "not tested" if request.problem else "nothing decided yet")
    asked = "" if request.complete_up_to >= started.max_size else f" of {started.max_size}"
    said = "unknown" if asked or is_open(request) else "survived"
    return verdict(said, f"complete up to size {request.complete_up_to}{asked}")


def request_section(request: RequestSummary, started: CampaignStarted, links: CampaignLinks) -> h.Node:
    effects = started.effects
    return [
        h.h2[bounded(request.name)],
        h.p(".states")[states(request, started)],
        h.p[bounded(completeness(request, started)), " ", h.span(".muted")[effort_of(request)]],
        size_strip(started.max_size, request.complete_up_to, request.exact_up_to),
        request.complete_up_to >= 0 and request.assumption and h.p(".muted")["Proof rests on: ", request.assumption],
        (variation := of_variation(request, started)) and note(bounded(variation), kind="degraded"),
        links.graph and h.p[h.a(href=_with(links.graph, request=request.name))["On the service graph"]],
        group("Minimal cuts", [_finding(each, request, effects, links) for each in request.findings]),
        group("Masked", [_masked(cut, survived, effects) for cut, survived in request.masked]),
        group("Degraded", [_degradation(each, effects, links) for each in request.degradations]),
        group("By effect", [_by_effect(row) for row in rows(request)]),
        group(
            "Unknown",
            [
                row("unknown", chips(outcome.cut, effects), h.div(".small")[bounded(outcome.reason)])
                for outcome in request.undecided
            ],
        ),
        group(
            "Predicted to fail, but not tried",
            [row("not tried", chips(cut, effects), word="predicted") for cut in request.predicted],
        ),
        group(
            "Not coverable", [h.li[h.div[code(call)], h.div(".small")[why]] for call, why in _not_coverable(request)]
        ),
    ]


def size_strip(most: int, complete_up_to: int, exact_up_to: int = -1) -> h.Element:
    """How far the proof has come: whether all sets of so many failing calls are decided."""
    return h.ol(".sizes", aria_label="Proof by size of the set")[
        (_size(size, complete_up_to, exact_up_to) for size in range(most + 1))
    ]


def _size(size: int, complete_up_to: int, exact_up_to: int) -> h.Element:
    said, words = "unknown", "open"
    if size <= complete_up_to:
        assumed = -1 < exact_up_to < size
        said, words = "survived", "assumed" if assumed else "exact" if exact_up_to >= 0 else "decided"
    return h.li(class_=said)[f"size {size} ", verdict(said, words)]


def chips(cut: Cut, effects: EffectChoice, at: str = "") -> h.Element:
    """The faults of a cut, in which each is one thing; with an address, a link."""
    names = describe_faults(cut, effects)
    shown = [
        [number > 0 and h.span(".plus")[" + "], h.span(".chip")[bounded(name)]] for number, name in enumerate(names)
    ]
    return h.a(".cut", href=at)[shown] if at else h.span(".cut")[shown or "no fault"]


def _finding(finding: Finding, request: RequestSummary, effects: EffectChoice, links: CampaignLinks) -> h.Element:
    outcome = finding.outcome
    return row(
        "failed",
        chips(finding.cut, effects, links.finding(finding)),
        h.div(".small")["user sees ", with_code(bounded(outcome.reason))],
        (why := why_alone(finding, request)) and h.div(".small.muted")["because ", bounded(why)],
        outcome.dead and h.div(".small")[verdict("failed", "killed"), " ", bounded(", ".join(outcome.dead))],
        not request.is_minimal(finding)
        and h.div(".small")[
            verdict("unknown", "minimal: not proven"), ": smaller cuts inside it are still to be tried"
        ],
    )


def _masked(cut: Cut, survived: Cut, effects: EffectChoice) -> h.Element:
    return row(
        "failed",
        chips(cut, effects),
        h.div(".small")["fails, but survives together with ", chips(survived - cut, effects)],
        word="masked",
    )


def _degradation(finding: Finding, effects: EffectChoice, links: CampaignLinks) -> h.Element:
    return row(
        "degraded",
        chips(finding.cut, effects, links.finding(finding)),
        h.div(".small")[with_code(bounded(finding.outcome.reason))],
        word="wrong" if finding.outcome.is_wrong else "",
    )


def _by_effect(row: PointToleration) -> h.Element:
    groups = ((toleration, row.those(toleration)) for toleration in Toleration)
    return h.li[
        h.div[code(str(row.point))],
        (
            h.div(".small")[verdict(said, verb(said)), " ", bounded(", ".join(map(effect_in_words, group)))]
            for said, group in groups
            if group
        ),
    ]


def row(said: str, what: h.Node, *more: h.Node, word: str = "") -> h.Element:
    return h.li(".row")[verdict(said, word), h.div[what, more]]


def group(title: str, items: Sequence[h.Element]) -> h.Node:
    """Nothing, if there are none."""
    if not items:
        return None
    beyond = len(items) - MOST
    return [
        h.h3[title, " ", h.span(".muted")[f"{len(items):,}"]],
        h.ul(".rows")[items[:SHOWN]],
        len(items) > SHOWN
        and h.details[
            h.summary[f"{len(items) - SHOWN:,} more"],
            h.ul(".rows")[items[SHOWN:MOST]],
            beyond > 0 and h.p(".muted")[f"{beyond:,} more are in ", h.code["cutset report --json"]],
        ],
    ]


def _not_coverable(request: RequestSummary) -> list[tuple[str, str]]:
    return [
        *((str(point), IMPOSSIBLE) for point in sorted(request.untried)),
        *((each.call, each.reason) for each in request.uncoverable),
    ]


def _weak_points(summary: CampaignSummary, links: CampaignLinks) -> h.Node:
    found = weak_points(summary.findings)
    return [h.h2["What to fix first"], weak_point_list(found, links)] if found else None


def weak_point_list(found: Sequence[WeakPoint], links: CampaignLinks) -> h.Node:
    better = h.a(href=links.harden)["what to harden"] if links.harden else h.code["cutset harden"]
    return [
        h.ol(".rows")[
            (
                h.li[
                    code(str(each.point)),
                    h.div(".small.muted")[f"{each.words}; {bounded(', '.join(each.requests))}"],
                ]
                for each in found[:WEAK_POINTS_SHOWN]
            )
        ],
        h.p(".small.muted")[
            f"{RANKED} ",
            f"{len(found) - WEAK_POINTS_SHOWN} more calls are in cuts. " if len(found) > WEAK_POINTS_SHOWN else "",
            "Which measures remove most cuts within a budget: ",
            better,
            ".",
        ],
    ]


def _basis(summary: CampaignSummary) -> h.Node:
    return [
        h.h2["What this rests on"],
        h.ul[
            (h.li[with_code(said)] for said in method(summary.started)),
            (h.li[f"{point} {NOT_CONTAINED}"] for point in sorted(summary.outlived)),
            summary.started.across_requests == AcrossRequests.TRUST and h.li[with_code(TRUSTED)],
        ],
    ]


def _with(address: str, **query: str) -> str:
    return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}"
