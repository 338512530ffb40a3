"""Traces: what is stored, and which requests, services and workflows these show."""

import asyncio
from pathlib import Path
from urllib.parse import urlencode

import htpy as h
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cutset.app.survey import StudiedTraces, class_named, part_of_graph, service_graph, study_traces
from cutset.model.wording import count
from cutset.report.drawing.graph import ServiceGraph
from cutset.report.drawing.service_graph import MOST_SERVICES
from cutset.report.page.components import bounded, empty, note
from cutset.report.survey.graph import MANY_SERVICES
from cutset.report.survey.page import class_body, stored_body, survey_body
from cutset.store.manifest import MANIFEST, open_spans
from cutset.web.aside import Aside
from cutset.web.dashboard import dashboard_of
from cutset.web.frame import page
from cutset.web.listing import REFRESH, back_to

PLACE = "/traces"
WORK = "traces"
FEW_SERVICES = 12  # are drawn as they are


async def traces(request: Request) -> Response:
    """Reading them all may take minutes: until then the page says how far it is."""
    dashboard = dashboard_of(request)
    wanted = request.query_params.get("class", "")
    frame = dashboard.frame()
    if not open_spans(dashboard.store).spans:
        return HTMLResponse(page(frame, PLACE, "Traces", h.h1["Traces"], _nothing()))
    studying = _studying(dashboard.aside, dashboard.store)
    if not studying.done():
        told = dashboard.aside.progress.get(WORK, "")
        reading = h.div("#run", data_under_way=True)[
            h.h1["Traces"], note(h.p(role="status")["Reading traces … ", told])
        ]
        return HTMLResponse(page(frame, PLACE, "Traces", reading, scripts=(REFRESH,)))
    studied = studying.result()
    if wanted:
        summary = class_named(studied.survey, wanted)
        body = [back_to(PLACE, "Traces"), class_body(wanted, summary, service_graph(studied.survey, wanted))]
    else:
        centre, top = request.query_params.get("around", ""), _number(request.query_params.get("top", ""))
        graph = part_of_graph(studied.graph, centre=centre, top=top or MANY_SERVICES)
        body = [
            h.h1["Traces"],
            stored_body(studied.stored, studied.totals),
            survey_body(
                studied.survey,
                studied.workflows,
                studied.scores,
                graph,
                _address,
                choice=_choice(studied.graph, centre, top),
            ),
        ]
    return HTMLResponse(page(frame, PLACE, bounded(wanted) or "Traces", h.div("#run")[body]))


def _studying(aside: Aside, store: Path) -> "asyncio.Future[StudiedTraces]":
    """Again when the manifest, which is only ever replaced, is another file."""
    stat = (open_spans(store).folder / MANIFEST).stat()

    def study() -> StudiedTraces:
        return study_traces(store, lambda read: aside.progress.update({WORK: f"{read.done:,} of {read.total:,} parts"}))

    return aside.begun(WORK, (stat.st_ino, stat.st_mtime_ns, stat.st_size), study)


def _address(name: str) -> str:
    return f"{PLACE}?{urlencode({'class': name})}"


def _number(text: str) -> int:
    """Of services to draw; 0 if that is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 0


def _choice(graph: ServiceGraph, centre: str, top: int) -> h.Node:
    """Which part of a graph to draw, where there is enough to choose from."""
    names = sorted(node.name for node in graph.nodes)
    if len(names) <= FEW_SERVICES:
        return None
    most = min(MOST_SERVICES, len(names))
    return h.form(".graph-controls", method="get", action=f"{PLACE}#who-calls-whom")[
        h.label[
            "Around ",
            h.select(name="around")[
                h.option(value="")["all services"],
                (h.option(value=name, selected=name == centre)[bounded(name, 60)] for name in names),
            ],
        ],
        h.label[
            "At most ",
            h.input(type="number", name="top", min="1", max=str(most), value=str(min(top or MANY_SERVICES, most))),
            f"of {count(len(names), 'service')}",
        ],
        h.button(type="submit")["Draw"],
    ]


def _nothing() -> h.Element:
    return empty(
        "No traces are stored",
        "Read some: files or folders of Jaeger, Zipkin, OTLP or CSV, or a server as `jaeger+http://host:16686`",
        "cutset ingest SOURCE…",
    )


ROUTES = [Route(PLACE, traces)]
