"""The dashboard: one process, on loopback, that reads the store and starts runs through `app`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager

import htpy as h
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from cutset.errors import CutsetError, UsageError
from cutset.receive.body import BodyError
from cutset.receive.server import address, listen, serve
from cutset.report.page.components import bounded, with_code
from cutset.report.page.document import style_sheet
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.frame import page
from cutset.web.pages import (
    campaign,
    campaigns,
    changes,
    drills,
    findings,
    graph,
    harden,
    hardenings,
    impacts,
    overview,
    reproductions,
    traces,
)
from cutset.web.security import SAFE_METHODS, TOKEN_PARAMETER, Access, Guarded

PAGES = (
    overview,
    campaigns,
    campaign,
    changes,
    findings,
    graph,
    harden,
    hardenings,
    drills,
    impacts,
    reproductions,
    traces,
)


@asynccontextmanager
async def served_dashboard(
    dashboard: Dashboard, host: str = "127.0.0.1", port: int = 0, names: Sequence[str] = ()
) -> AsyncIterator[str]:
    """The link by which to open it.

    `names` are further names of this host that browsers may use, with a port where theirs is not ours: behind a tunnel.
    """
    listener = listen(host, port, for_what="browsers", hint="Choose another port with `--port`")
    number = listener.getsockname()[1]
    own = [address(name, number).removesuffix(":80") for name in (*names, host, "127.0.0.1", "localhost", "::1")]
    access = Access(frozenset(name.lower() for name in (*own, *names)), read_only=dashboard.read_only)
    with ExitStack() as stack:
        stack.callback(dashboard.runs.close)
        async with serve(application(dashboard, access), listener):
            yield f"http://{own[0]}/" + ("" if access.read_only else f"?{TOKEN_PARAMETER}={access.token}")


def application(dashboard: Dashboard, access: Access) -> ASGIApp:
    static = StaticFiles(packages=[("cutset.web", "static")])
    app = Starlette(
        routes=[
            *(route for page_of in PAGES for route in page_of.ROUTES),
            Route("/static/style.css", _style),
            Mount("/static", static),
        ],
        exception_handlers={CutsetError: _explained, 404: _not_found, Exception: _mistaken},
    )
    app.state.dashboard = dashboard
    return Guarded(app, access)  # around all of it: what is told of mistakes is guarded, too


async def _style(_: Request) -> Response:
    return Response(style_sheet(), media_type="text/css")


async def _explained(request: Request, error: Exception) -> Response:
    """What was wrong, and what to do: a page like any other."""
    assert isinstance(error, CutsetError)
    status = 500
    if isinstance(error, BodyError):
        status = error.status
    elif isinstance(error, UsageError):
        status = 404 if request.method in SAFE_METHODS else 409
    return _told(request, error.message, error.hint, status)


async def _not_found(request: Request, _: Exception) -> Response:
    return _told(request, "There is no such page", "Choose one from the menu", 404)


async def _mistaken(request: Request, _: Exception) -> Response:
    """Where it happened is on standard error: the server tells it there."""
    what = "Cutset made a mistake and cannot show this page"
    return _told(request, what, "What went wrong is where `cutset ui` was started: please report it", 500)


def _told(request: Request, what: str, todo: str, status: int) -> Response:
    what = bounded(what)
    body = (h.h1[with_code(what)], todo and h.p[with_code(bounded(todo))])
    return HTMLResponse(page(dashboard_of(request).frame(), "", what, *body), status)
