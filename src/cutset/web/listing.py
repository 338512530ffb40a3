"""Lists of runs, the latest first; and the part of a page that is shown anew while a run goes on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import htpy as h
from starlette.requests import Request

from cutset.model.run import RunRecord
from cutset.report.page.components import table, when
from cutset.store.runs import is_held
from cutset.web.dashboard import Dashboard, dashboard_of

RUNS_SHOWN = 20  # on one page: what came of each is computed from its events
REFRESH = "refresh.js"


@dataclass(frozen=True, slots=True)
class ListedRun:
    run: RunRecord
    what: h.Node  # was done
    verdict: h.Node
    counts: h.Node


def runs_table(request: Request, listed: Iterable[ListedRun], *, caption: str) -> h.Element:
    """Each with a link to its page, which is below the list's."""
    dashboard, place = dashboard_of(request), request.url.path
    rows = (
        (
            h.th(scope="row")[h.a(href=f"{place}/{each.run.id}")[each.what]],
            each.verdict,
            each.counts,
            [when(each.run.started_at), h.div(".small.muted")[_marked(stage_of(dashboard, each.run))]],
        )
        for each in listed
    )
    return h.div(".runs")[table(("what", "verdict", "how much", "began"), rows, caption=caption)]


def page_of_runs(request: Request, runs: Sequence[RunRecord]) -> tuple[list[RunRecord], h.Node]:
    """Those to show, and links to the others."""
    asked = request.query_params.get("page", "")
    pages = max(1, -(-len(runs) // RUNS_SHOWN))
    number = min(int(asked), pages) if asked.isdecimal() and len(asked) < 9 and int(asked) else 1
    shown = list(reversed(runs))[(number - 1) * RUNS_SHOWN : number * RUNS_SHOWN]
    place = request.url.path
    links = h.nav(aria_label="More runs")[
        number > 1 and h.a(href=f"{place}?page={number - 1}")["Newer"],
        f" Page {number} of {pages} ",
        number < pages and h.a(href=f"{place}?page={number + 1}")["Older"],
    ]
    return shown, links if pages > 1 else None


def stage_of(dashboard: Dashboard, run: RunRecord) -> str:
    """In one word."""
    if run.finished:
        return "finished"
    return "under way" if is_held(dashboard.store, run.id) else "unfinished"


def _marked(state: str) -> h.Node:
    """What is not over stands out."""
    return state if state == "finished" else h.span(".tag")[state]


def run_part(dashboard: Dashboard, run: RunRecord, *body: h.Node) -> h.Element:
    """Shown anew every few moments while some process goes on with it, by the script `REFRESH`."""
    return h.div("#run", data_under_way=stage_of(dashboard, run) == "under way")[body]


def back_to(place: str, name: str) -> h.Element:
    return h.nav(aria_label="Up")[h.a(href=place)[f"← {name}"]]
