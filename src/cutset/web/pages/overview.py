"""The first page: each request class and how it stands, what changed, and what to fix first."""

import htpy as h
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cutset.model.run import Loop
from cutset.report.page.components import empty
from cutset.web.dashboard import dashboard_of
from cutset.web.frame import page


async def overview(request: Request) -> Response:
    dashboard = dashboard_of(request)
    runs = dashboard.reading.runs(Loop.CAMPAIGN)
    body = (
        empty("Nothing was explored yet", "Explore your system, or the demo's shop", "cutset demo --ui")
        if not runs
        else h.p[f"{len(runs)} campaigns"]
    )
    return HTMLResponse(page(dashboard.frame(), "/", "Overview", h.h1["Overview"], body))


ROUTES = [Route("/", overview)]
