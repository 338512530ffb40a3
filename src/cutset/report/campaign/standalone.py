"""A campaign as one file: its page, the service graph, and behind them all that is known of each finding."""

from collections.abc import Iterator, Sequence

import htpy as h

from cutset.model.campaign import Campaign
from cutset.model.effect import EffectChoice
from cutset.model.finding import Finding
from cutset.report.campaign import finding as finding_page
from cutset.report.campaign.baseline import Comparison
from cutset.report.campaign.graph import MOST_BOXES, campaign_graph, marks_of
from cutset.report.campaign.page import CampaignLinks, chips, group, row, sections
from cutset.report.drawing.point_graph import point_graph_svg
from cutset.report.page.components import bounded, command, note, verdict, with_code
from cutset.report.page.document import drawing, standalone

MOST_CHARACTERS = 8_000_000  # of evidence: larger files are a burden to browsers and mailboxes
MOST_IN_FULL = 100  # findings, the smallest cuts first


def campaign_page(campaign: Campaign, replay: str, comparison: Comparison | None = None) -> str:
    """One file, with all that is known of each finding."""
    summary = campaign.summary
    links = CampaignLinks(replay, lambda finding: f"#finding-{finding.id}")
    return standalone(
        f"Campaign {campaign.id}",
        h.h1["Campaign ", h.span(".mono")[campaign.id]],
        _compared(comparison, summary.started.effects) if comparison else None,
        [h.section(id=name)[part] for name, part in sections(summary, links, _pictures(campaign)).items()],
        _evidence(campaign, replay),
    )


def _pictures(campaign: Campaign) -> Sequence[h.Node]:
    """None of so many services that nobody could read it."""
    graph = campaign_graph(campaign.events, campaign.summary)
    if not 0 < len(graph.placed.graph.boxes) <= MOST_BOXES:
        return ()
    title = "Services, their calls, and how each call matters"
    svg = point_graph_svg(graph.placed, marks_of(graph), title=title)
    return [h.h2["Service graph"], drawing(svg, label=title)]


def _compared(comparison: Comparison, effects: EffectChoice) -> h.Node:
    """How it stands to what was accepted."""
    rows = [
        *(("failed", str(each.standing), each.finding, each.because) for each in comparison.failures),
        *(("survived", "better", each.accepted.finding, each.words) for each in comparison.better),
        *(("unknown", "undecided", each.accepted.finding, each.words) for each in comparison.undecided),
    ]
    return h.section(id="compared")[
        h.h2["Against what was accepted"],
        group(
            "New, worse, better",
            [
                row(said, chips(finding.cut, effects), h.div(".small")[f"{finding.request}  {why}"], word=word)
                for said, word, finding, why in rows
            ],
        )
        or h.p["Nothing is new, worse or better"],
    ]


def _evidence(campaign: Campaign, replay: str) -> h.Node:
    summary = campaign.summary
    found = [each for request in summary.requests for each in (*request.findings, *request.degradations)]
    return h.section(id="evidence")[h.h2["Evidence"], list(_articles(campaign, found, replay))] if found else None


def _articles(campaign: Campaign, found: Sequence[Finding], replay: str) -> Iterator[h.Element]:
    """What there is no room for is told in short."""
    effects, grounds, left = campaign.summary.started.effects, finding_page.remedy_grounds(campaign), MOST_CHARACTERS
    in_full = {each.id for each in sorted(found, key=lambda each: len(each.cut))[:MOST_IN_FULL]}
    for each in found:
        body: h.Node = _in_short(each, replay)
        wanted = left > 0 and each.id in in_full
        if wanted and (shown := finding_page.shown_finding(campaign, each.id, replay, grounds)):
            body = h.div[finding_page.body(shown, heading=h.h4)]
            left -= len(str(body))
        yield h.article(".card", id=f"finding-{each.id}")[
            h.h3[verdict(each.outcome.verdict), " ", chips(each.cut, effects)],
            h.p(".muted")[bounded(each.request)],
            note(h.b["The user sees "], with_code(bounded(each.outcome.reason)), kind=each.outcome.verdict),
            body,
        ]


def _in_short(finding: Finding, replay: str) -> h.Node:
    return [
        h.p(".muted")["Answers and traces are left out, for the size of this file: the ledger has them."],
        command(f"{replay} {finding.id}"),
    ]
