"""Drills: sessions, and what came of each test, with timelines."""

import htpy as h
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cutset.model.drill import DrillSession, session_of, worst_first
from cutset.model.run import Loop, RunRecord
from cutset.report.drill.page import drill_body, verdicts_in_words
from cutset.report.page.components import bounded, empty, verdict
from cutset.report.replaying import replay_command, resume_command
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.frame import page
from cutset.web.listing import REFRESH, ListedRun, back_to, page_of_runs, run_part, runs_table, stage_of

PLACE = "/drills"


async def drills(request: Request) -> Response:
    dashboard = dashboard_of(request)
    runs = dashboard.reading.runs(Loop.DRILL)
    shown, links = page_of_runs(request, runs)
    listed = [_listed(dashboard, run) for run in shown]
    body = (
        [runs_table(request, listed, caption="Sessions of drills, the latest first"), links]
        if runs
        else empty(
            "No service was drilled yet",
            "Name one in `cutset.yaml`, record some requests with `cutset record`, then",
            "cutset drill",
        )
    )
    return HTMLResponse(page(dashboard.frame(), PLACE, "Drills", h.h1["Drills"], body))


async def one_session(request: Request) -> Response:
    dashboard = dashboard_of(request)
    run = dashboard.reading.run(Loop.DRILL, request.path_params["run"])
    resume = resume_command(run.started, dashboard.store) if stage_of(dashboard, run) == "unfinished" else ""
    replay = replay_command(run.started, dashboard.store)
    body = run_part(dashboard, run, drill_body(_session(dashboard, run), replay=replay, resume=resume))
    title = f"Drills of {run.id}"
    return HTMLResponse(page(dashboard.frame(), PLACE, title, back_to(PLACE, "Drills"), body, scripts=(REFRESH,)))


def _session(dashboard: Dashboard, run: RunRecord) -> DrillSession:
    reading = dashboard.reading
    return reading.computed("drills", run.id, lambda: session_of(reading.events(run.id)))


def _listed(dashboard: Dashboard, run: RunRecord) -> ListedRun:
    session = _session(dashboard, run)
    worst = worst_first(session.results)
    flows = dict.fromkeys([result.test.flow for result in worst] + [test.flow for test in session.to_do])
    again = " (one test, again)" if run.started.part_of else ""
    left = f", {len(session.to_do):,} left to run" if session.to_do else ""
    return ListedRun(
        run,
        f"{bounded(', '.join(flows)) or ('nothing was to do' if session.finished else 'nothing yet')}{again}",
        verdict(worst[0].judgement.verdict, worst[0].judgement.verdict) if worst else None,
        f"{verdicts_in_words(session)}{left}",
    )


ROUTES = [Route(PLACE, drills), Route(f"{PLACE}/{{run}}", one_session)]
