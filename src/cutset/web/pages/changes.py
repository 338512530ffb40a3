"""What changed since the campaign before: of large ones on a page of its own, since comparing them takes long."""

import asyncio
from urllib.parse import quote

import htpy as h
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cutset.model.campaign import Campaign
from cutset.model.event import ExperimentFinished
from cutset.model.finding import Finding
from cutset.model.run import Loop, RunRecord
from cutset.report.campaign.changes import CampaignChanges, changes_between, shares_requests
from cutset.report.campaign.changes_list import changes_list
from cutset.report.page.components import bounded
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.exploring import PLACE
from cutset.web.frame import page

MOST_EARLIER = 5  # campaigns that are looked at for one to compare with
MOST_AT_ONCE = 2_000  # experiments of both, that are compared while somebody waits for a page


async def changes(request: Request) -> Response:
    """Compared in a thread: others want pages meanwhile."""
    dashboard = dashboard_of(request)
    run = dashboard.reading.run(Loop.CAMPAIGN, request.path_params["run"])
    now, before = dashboard.reading.campaign(run.id), campaign_before(dashboard, run)
    body: h.Node = _NOTHING
    if before is not None:
        body = _told(await asyncio.to_thread(changes_between, before, now), before, now)
    title = f"What changed with campaign {run.id}"
    return HTMLResponse(page(dashboard.frame(), PLACE, title, h.h1[title], body))


def changes_part(dashboard: Dashboard, run: RunRecord) -> h.Node:
    """At once, or where to go for it."""
    before = campaign_before(dashboard, run)
    if before is None:
        return _NOTHING
    followed = dashboard.reading.refreshed()
    experiments = sum(followed.number_of(each, ExperimentFinished) for each in (before.id, run.id)) if followed else 0
    if experiments > MOST_AT_ONCE:
        return h.p[
            h.a(href=f"{PLACE}/{quote(run.id)}/changes")["Compare with the campaign before"], ", which takes a while"
        ]
    now = dashboard.reading.campaign(run.id)
    found = dashboard.reading.computed(f"changes since {before.id}", run.id, lambda: changes_between(before, now))
    return _told(found, before, now)


def campaign_before(dashboard: Dashboard, run: RunRecord) -> Campaign | None:
    """The latest before it that has a request class in common with it, and serves nothing else."""
    known = [each for each in dashboard.reading.runs(Loop.CAMPAIGN) if not each.started.part_of and each.id != run.id]
    earlier = [each for each in known if each.started_at <= run.started_at][-MOST_EARLIER:]
    now = dashboard.reading.campaign(run.id)
    campaigns = (dashboard.reading.campaign(each.id) for each in reversed(earlier))
    return next((each for each in campaigns if shares_requests(each, now)), None)


_NOTHING = h.p(".muted")["There is no earlier campaign with the same request classes to compare with."]


def _told(changes: CampaignChanges, before: Campaign, now: Campaign) -> h.Node:
    found_now = {each.id for each in (*now.findings, *now.summary.degradations)}

    def address(finding: Finding) -> str:
        return f"{PLACE}/{quote(now.id if finding.id in found_now else before.id)}/findings/{finding.id}"

    return [
        h.p(".small.muted")["since ", h.a(".mono", href=f"{PLACE}/{quote(before.id)}")[bounded(before.id)]],
        changes_list(changes, now.summary.started.effects, address),
    ]


ROUTES = [Route(f"{PLACE}/{{run}}/changes", changes)]
