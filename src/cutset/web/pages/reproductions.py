"""Reproductions: the fault behind a failure, and how the log follows from it."""

from functools import partial

import htpy as h
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cutset.app.reproduce import REPLAY, recorded_logs, result_of, run_folder
from cutset.model.reproduction.event import ReproductionEvent
from cutset.model.reproduction.result import ReproductionResult
from cutset.model.run import Loop, RunRecord
from cutset.model.wording import count
from cutset.report.page.components import bounded, command, empty, note, verdict, when
from cutset.report.replaying import from_here, resume_command
from cutset.report.reproduction.causal_graph import plain
from cutset.report.reproduction.page import reproduction_body, title_of, with_code
from cutset.report.reproduction.rounds import analysed_in, rounds_of, rounds_table, search_body
from cutset.report.reproduction.words import repeats, what_happened
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.frame import page
from cutset.web.listing import REFRESH, ListedRun, back_to, page_of_runs, run_part, runs_table, stage_of

PLACE = "/reproductions"


async def reproductions(request: Request) -> Response:
    dashboard = dashboard_of(request)
    runs = dashboard.reading.runs(Loop.REPRODUCTION)
    shown, links = page_of_runs(request, runs)
    listed = [dashboard.reading.computed("reproduction", run.id, partial(_listed, dashboard, run)) for run in shown]
    body = (
        [runs_table(request, listed, caption="Reproductions, the latest first"), links]
        if runs
        else empty(
            "No failure was reproduced yet",
            "It takes the log of a failure, and a command that exercises the same code",
            'cutset reproduce --source PACKAGE --log failure.log --run "python workload.py" --oracle "log:REGEX"',
        )
    )
    return HTMLResponse(page(dashboard.frame(), PLACE, "Reproductions", h.h1["Reproductions"], body))


async def one_reproduction(request: Request) -> Response:
    dashboard = dashboard_of(request)
    run = dashboard.reading.run(Loop.REPRODUCTION, request.path_params["run"])
    events = _events(dashboard, run)
    result = result_of(events)
    if result is None or stage_of(dashboard, run) == "under way":  # what a resumed one found before may be surpassed
        title, body = f"Reproduction {run.id}", _under_way(run, events)
    else:
        title, body = bounded(title_of(result)), await _found(dashboard, run, events, result)
    shown = back_to(PLACE, "Reproductions"), run_part(dashboard, run, _how_to_go_on(dashboard, run), body)
    return HTMLResponse(page(dashboard.frame(), PLACE, title, *shown, scripts=(REFRESH,)))


def _how_to_go_on(dashboard: Dashboard, run: RunRecord) -> h.Node:
    if stage_of(dashboard, run) != "unfinished":
        return None
    return note(
        h.b["! Unfinished:"],
        " this is what is known so far. Nobody goes on with it now. To do so:",
        command(resume_command(run.started, dashboard.store)),
        kind="degraded",
    )


def _under_way(run: RunRecord, events: list[ReproductionEvent]) -> h.Node:
    return [
        h.h1["Looking for the fault behind a failure"],
        h.p(".muted")["began ", when(run.started_at)],
        search_body(events),
    ]


async def _found(
    dashboard: Dashboard, run: RunRecord, events: list[ReproductionEvent], result: ReproductionResult
) -> h.Node:
    """As markup. Logs are compared aside: that takes seconds if they are long."""
    store, mark = dashboard.store, dashboard.reading.position(run.id)

    def compared() -> str:
        analysed, rounds = analysed_in(events), rounds_of(events)
        replay = str(from_here(run_folder(store, run.id) / REPLAY))
        return str(
            h.div[
                reproduction_body(result, recorded_logs(store, run.id, result), replay),
                len(rounds) > 0
                and h.details[
                    h.summary[f"All {count(len(rounds), 'round')}"],
                    rounds_table(rounds, len(analysed.messages) if analysed else 0),
                ],
            ]
        )

    return await dashboard.aside.computed(("reproduction", run.id), mark, compared)


def _events(dashboard: Dashboard, run: RunRecord) -> list[ReproductionEvent]:
    return [event for event in dashboard.reading.events(run.id) if isinstance(event, ReproductionEvent)]


def _listed(dashboard: Dashboard, run: RunRecord) -> ListedRun:
    events = _events(dashboard, run)
    result, analysed, rounds = result_of(events), analysed_in(events), count(len(rounds_of(events)), "round")
    if result is None:
        to_explain = analysed.messages if analysed else ()
        told = ", ".join(f"“{bounded(plain(each), 100)}”" for each in to_explain[:2])
        return ListedRun(run, told or "nothing is known yet", None, rounds)
    if result.best is None:
        told = f"No fault was found for {bounded(plain(result.case.oracle))}"
        return ListedRun(run, told, verdict(result.grade), rounds)
    what = with_code(", and ".join(map(what_happened, result.best.faults)))
    return ListedRun(run, what, [verdict(result.grade), h.div(".small.muted")[repeats(result.best)]], rounds)


ROUTES = [Route(PLACE, reproductions), Route(f"{PLACE}/{{run}}", one_reproduction)]
