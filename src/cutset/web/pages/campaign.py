"""One campaign: what it found, and what happens in it while it is under way."""

from dataclasses import dataclass
from urllib.parse import quote, urlencode

import htpy as h
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cutset.model.run import Loop, RunRecord
from cutset.report.campaign.page import CampaignLinks, sections
from cutset.report.campaign.under_way import experiments_part, progress_part, under_way
from cutset.report.page.components import bounded, code, when
from cutset.report.replaying import replay_command, resume_command
from cutset.store.active import ActiveInjection
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.exploring import PLACE, resumable
from cutset.web.frame import page
from cutset.web.live import PageLook, live_parts, stream
from cutset.web.pages.campaigns import resume_form, served
from cutset.web.running import RunState, state_in_words, state_of


async def campaign(request: Request) -> Response:
    dashboard, run = dashboard_of(request), _run_of(request)
    now = look(dashboard, run.id)
    body = [
        h.h1["Campaign ", h.span(".mono")[bounded(run.id)]],
        h.p(".muted")["begun ", when(run.started_at), " by ", code(f"cutset {run.started.command}"), served(run)],
        now.ended and h.p[h.a(href=f"{PLACE}/{quote(run.id)}/changes")["What changed since the campaign before"]],
        live_parts(now, f"/live{PLACE}/{quote(run.id)}"),
    ]
    return HTMLResponse(page(dashboard.frame(), PLACE, f"Campaign {run.id}", body, scripts=now.scripts))


async def live_campaign(request: Request) -> Response:
    dashboard, run = dashboard_of(request), _run_of(request)
    return stream(request, dashboard.pace, lambda: look(dashboard, run.id))


def _run_of(request: Request) -> RunRecord:
    return dashboard_of(request).reading.run(Loop.CAMPAIGN, request.path_params["run"])


def look(dashboard: Dashboard, wanted: str) -> PageLook:
    """All parts of its page, as they are now."""
    run = dashboard.reading.run(Loop.CAMPAIGN, wanted)
    state, position, pace = state_of(dashboard, run), dashboard.reading.position(run.id), dashboard.pace
    watched = pace.computed(
        ("watched", run.id), position, lambda: _watched(dashboard, run), hurried=not state.under_way
    )
    found = pace.computed(
        ("found", run.id, state.under_way),
        position,
        lambda: _found(dashboard, run, under_way=state.under_way),
        hurried=not state.under_way,
    )
    controls = {"controls": str(h.div[_controls(dashboard, run, state)])}
    happening = {"progress": watched.progress if state.under_way else "", "experiments": watched.experiments}
    headline = {"headline": found["headline"]}
    # What happens comes first while it does, and last afterwards.
    parts = controls | headline | happening | found if state.under_way else controls | found | happening
    return PageLook(parts, watched.status, ended=not state.under_way)


@dataclass(frozen=True, slots=True)
class _Watched:
    status: str
    progress: str  # as HTML; likewise
    experiments: str


def _watched(dashboard: Dashboard, run: RunRecord) -> _Watched:
    followed = dashboard.reading.refreshed()
    known = under_way(followed.dated_events(run.id) if followed else [])
    return _Watched(known.status, str(h.div[progress_part(known)]), str(h.div[experiments_part(known)]))


def _found(dashboard: Dashboard, run: RunRecord, *, under_way: bool) -> dict[str, str]:
    summary = dashboard.reading.campaign(run.id).summary
    links = links_of(dashboard, run)
    return {name: str(h.div[part]) for name, part in sections(summary, links, under_way=under_way).items()}


def links_of(dashboard: Dashboard, run: RunRecord) -> CampaignLinks:
    here, chosen = f"{PLACE}/{quote(run.id)}", urlencode({"campaign": run.id})
    return CampaignLinks(
        replay_command(run.started, dashboard.store),
        lambda finding: f"{here}/findings/{finding.id}",
        graph=f"/graph?{chosen}",
        harden=f"/harden?{chosen}",
    )


def _controls(dashboard: Dashboard, run: RunRecord, state: RunState) -> h.Node:
    """What can be done with it, as it stands."""
    return [
        h.p[state_in_words(state)],
        state.here and h.form(method="post", action=f"{PLACE}/stop")[h.button["Stop"]],
        _whose(state.elsewhere) if state.elsewhere else None,
        not state.under_way and not run.finished and _go_on(dashboard, run),
    ]


def _whose(elsewhere: ActiveInjection) -> h.Element:
    return h.p(".muted")[
        f"{elsewhere.by} runs it, in process {elsewhere.process}: it can be watched here, and stopped there, or with ",
        code("cutset halt"),
        ", which ends all injection of this store.",
    ]


def _go_on(dashboard: Dashboard, run: RunRecord) -> h.Node:
    latest = resumable(dashboard)
    if latest and latest.id == run.id:
        return resume_form(dashboard, run)
    return h.p(".muted")["Go on with ", code(resume_command(run.started, dashboard.store))]


ROUTES = [Route(f"{PLACE}/{{run}}", campaign), Route(f"/live{PLACE}/{{run}}", live_campaign)]
