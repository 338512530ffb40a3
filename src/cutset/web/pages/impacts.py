"""Impacts: what a fault at a rate did to each API upstream."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import htpy as h
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cutset.app.impact_results import RecordedImpact, repeat_of, says_what
from cutset.config.explore import load_place
from cutset.errors import CutsetError
from cutset.judge.impact import impact_of
from cutset.model.run import Loop, RunRecord
from cutset.report.impact.page import impact_body
from cutset.report.impact.wording import groups_in_words, what_was_done
from cutset.report.page.components import bounded, code, empty, note, verdict, with_code
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.frame import page
from cutset.web.listing import REFRESH, ListedRun, back_to, page_of_runs, run_part, runs_table

PLACE = "/impacts"

Computed = TypeVar("Computed")


async def impacts(request: Request) -> Response:
    dashboard = dashboard_of(request)
    runs = dashboard.reading.runs(Loop.IMPACT)
    shown, links = page_of_runs(request, runs)
    listed = [await _aside(dashboard, run, "listed", partial(_listed, run)) for run in shown]
    body = (
        [runs_table(request, listed, caption="Impacts, the latest first"), links]
        if runs
        else empty(
            "No impact was measured yet",
            "Fail a call in some of the requests of `cutset.yaml`, and see what that does to each API upstream",
            "cutset impact SERVICE/API --load 20",
        )
    )
    return HTMLResponse(page(dashboard.frame(), PLACE, "Impacts", h.h1["Impacts"], body))


async def one_impact(request: Request) -> Response:
    dashboard = dashboard_of(request)
    run = dashboard.reading.run(Loop.IMPACT, request.path_params["run"])
    links = _links(dashboard)
    title, body = await _aside(dashboard, run, links, partial(_shown, run, dashboard.store, links))
    shown = back_to(PLACE, "Impacts"), run_part(dashboard, run, body)
    return HTMLResponse(page(dashboard.frame(), PLACE, title, *shown, scripts=(REFRESH,)))


async def _aside(
    dashboard: Dashboard, run: RunRecord, what: str, compute: Callable[[RecordedImpact | None], Computed]
) -> Computed:
    """Judged and drawn aside: it may have many thousand requests. None has not said what it injects."""
    reading, aside = dashboard.reading, dashboard.aside
    key, mark = ("impact", run.id, what), reading.position(run.id)
    events = () if aside.knows(key, mark) else tuple(reading.events(run.id))

    def judged() -> Computed:
        return compute(RecordedImpact(impact_of(events), events) if says_what(events) else None)

    return await aside.computed(key, mark, judged)


def _shown(run: RunRecord, store: Path, links: str, recorded: RecordedImpact | None) -> tuple[str, str]:
    """Its title, and the page as markup."""
    if recorded is None:
        note_only = note("It has not said yet what it injects: first it looks at what requests call.")
        return f"Impact {run.id}", str(h.div[h.h1["Impact"], note_only])
    body = impact_body(recorded.impact, recorded.events, links, repeat_of(recorded, store))
    return bounded(what_was_done(recorded.impact.started)), str(h.div[body])


def _links(dashboard: Dashboard) -> str:
    """Where the configuration says that traces are."""
    try:
        return load_place(dashboard.config_file).collector.server if dashboard.config_file else ""
    except CutsetError:
        return ""


def _listed(run: RunRecord, recorded: RecordedImpact | None) -> ListedRun:
    if recorded is None:
        return ListedRun(run, "it did not say what it injects", None, None)
    impact = recorded.impact
    stopped = h.div["stopped by ", code(impact.guard.guard)] if impact.guard else None
    return ListedRun(
        run,
        with_code(bounded(what_was_done(impact.started))),
        verdict(impact.verdict, impact.verdict),
        [groups_in_words(impact), stopped],
    )


ROUTES = [Route(PLACE, impacts), Route(f"{PLACE}/{{run}}", one_impact)]
