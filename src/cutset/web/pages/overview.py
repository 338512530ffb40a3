"""The first page: each request class and how it stands, what changed, what to fix first, and what else was done."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

import htpy as h
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cutset.judge.impact import impact_of
from cutset.model.campaign import Campaign
from cutset.model.drill import DrillVerdict, results_of
from cutset.model.impact import ImpactStarted
from cutset.model.reproduction.event import ReproductionFinished
from cutset.model.run import Loop, RunRecord
from cutset.model.summary import RequestSummary
from cutset.report.campaign.page import anchor, going_on, headline, request_list, weak_point_list
from cutset.report.campaign.weak_points import weak_points
from cutset.report.impact.wording import what_was_done
from cutset.report.page.components import bounded, empty, verdict, when
from cutset.report.reproduction.words import what_happened
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.frame import page
from cutset.web.live import PageLook, live_parts, stream
from cutset.web.pages.campaign import links_of
from cutset.web.pages.changes import changes_part
from cutset.web.running import PAGES, look_at_runs, state_of

MOST_EARLIER = 5  # campaigns that are looked at for what the latest one leaves out
_UNDER_WAY = h.p(".muted")["The campaign is under way: it is compared when it has ended."]


async def overview(request: Request) -> Response:
    dashboard = dashboard_of(request)
    now = look(dashboard)
    body = [h.h1["Overview"], live_parts(now, "/live/overview")]
    return HTMLResponse(page(dashboard.frame(), "/", "Overview", body, scripts=now.scripts))


async def live_overview(request: Request) -> Response:
    dashboard = dashboard_of(request)
    return stream(request, dashboard.pace, lambda: look(dashboard))


def look(dashboard: Dashboard) -> PageLook:
    def parts() -> dict[str, h.Node]:
        return {"campaigns": _campaigns(dashboard), "others": _others(dashboard)}

    return look_at_runs(dashboard, parts)


def _campaigns(dashboard: Dashboard) -> h.Node:
    runs = [run for run in dashboard.reading.runs(Loop.CAMPAIGN) if not run.started.part_of]
    if not runs:
        return empty("Nothing was explored yet", "Explore your system, or the demo's shop", "cutset demo --ui")
    latest, earlier = dashboard.reading.campaign(runs[-1].id), runs[-1 - MOST_EARLIER : -1][::-1]
    links = links_of(dashboard, runs[-1])
    under_way = state_of(dashboard, runs[-1]).under_way
    summary = going_on(latest.summary) if under_way else latest.summary
    found = weak_points(latest.findings)
    return [
        h.h2[
            "Latest campaign ",
            h.a(".mono", href=_page_of(latest))[bounded(latest.id)],
            h.span(".small.muted")[" begun ", when(runs[-1].started_at)],
        ],
        headline(summary, under_way=under_way),
        request_list(summary, lambda each: _at(latest, anchor(summary, each))),
        _elsewhere(dashboard, latest, earlier),
        h.div(".columns")[
            h.section[h.h2["What changed"], _UNDER_WAY if under_way else changes_part(dashboard, runs[-1])],
            h.section[
                h.h2["What to fix first"],
                weak_point_list(found, links) if found else h.p(".muted")["No minimal cut was found."],
            ],
        ],
    ]


def _elsewhere(dashboard: Dashboard, latest: Campaign, earlier: list[RunRecord]) -> h.Node:
    """Request classes that the latest campaign does not have, as the latest one that has them left them."""
    known = set(latest.summary.started.requests)
    rows = []
    for run in earlier:
        campaign = dashboard.reading.campaign(run.id)
        summary = campaign.summary
        others = tuple(each for each in summary.requests if each.name not in known)
        known |= {each.name for each in others}
        if others:
            rows.append(_of_earlier(campaign, others))
    return rows


def _of_earlier(campaign: Campaign, requests: tuple[RequestSummary, ...]) -> h.Node:
    return [
        h.h3["From ", h.a(".mono", href=_page_of(campaign))[bounded(campaign.id)]],
        request_list(
            replace(campaign.summary, requests=requests), lambda each: _at(campaign, anchor(campaign.summary, each))
        ),
    ]


def _others(dashboard: Dashboard) -> h.Node:
    """The latest of each other kind, in a line."""
    lines = [line for loop in PAGES if loop is not Loop.CAMPAIGN for line in _latest_line(dashboard, loop)]
    return [h.h2["Also"], h.ul(".rows")[lines]] if lines else None


def _latest_line(dashboard: Dashboard, loop: Loop) -> Iterator[h.Element]:
    if runs := dashboard.reading.runs(loop):
        run = runs[-1]
        said = dashboard.reading.computed("in a line", run.id, lambda: _in_a_line(dashboard, run))
        yield h.li(".row")[
            h.a(href=f"{PAGES[loop]}/{quote(run.id)}")[f"Latest {loop}"],
            h.div[said, h.div(".small.muted")[when(run.started_at)]],
        ]


def _in_a_line(dashboard: Dashboard, run: RunRecord) -> h.Node:
    events = dashboard.reading.events(run.id)
    match run.started.loop:
        case Loop.DRILL:
            verdicts = [result.judgement.verdict for result in results_of(events)]
            told = [(each, verdicts.count(each)) for each in DrillVerdict if each in verdicts]
            return [[verdict(each, f"{number} {each}"), " "] for each, number in told] or "no drill has finished"
        case Loop.IMPACT if any(isinstance(event, ImpactStarted) for event in events):
            impact = impact_of(events)
            return [verdict(impact.verdict), " ", bounded(what_was_done(impact.started))]
        case Loop.REPRODUCTION:
            results = [event.result for event in events if isinstance(event, ReproductionFinished)]
            if not results:
                return verdict("unknown", "unfinished")
            best = results[-1].best
            return [verdict(results[-1].grade), " ", bounded(what_happened(best.faults[0])) if best else None]
    return verdict("unknown", "unfinished")


def _page_of(campaign: Campaign) -> str:
    return f"/campaigns/{quote(campaign.id)}"


def _at(campaign: Campaign, place: str) -> str:
    return f"{_page_of(campaign)}#{place}"


ROUTES = [Route("/", overview), Route("/live/overview", live_overview)]
