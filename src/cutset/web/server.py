"""The dashboard: one process, on loopback, that reads the store and starts runs through `app`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from cutset.errors import CutsetError, UsageError
from cutset.receive.server import address, listen, serve
from cutset.report.page.components import empty
from cutset.report.page.document import style_sheet
from cutset.web.dashboard import Dashboard, dashboard_of
from cutset.web.frame import page
from cutset.web.pages import (
    campaign,
    campaigns,
    drills,
    findings,
    graph,
    harden,
    impacts,
    overview,
    reproductions,
    traces,
)
from cutset.web.security import TOKEN_PARAMETER, Access, Guarded

PAGES = (overview, campaigns, campaign, findings, graph, harden, drills, impacts, reproductions, traces)


@asynccontextmanager
async def served_dashboard(
    dashboard: Dashboard, host: str = "127.0.0.1", port: int = 0, names: Sequence[str] = ()
) -> AsyncIterator[str]:
    """The link by which to open it. `names` are further names of this host that browsers may use."""
    listener = listen(host, port, for_what="browsers", hint="Choose another port with `--port`")
    number = listener.getsockname()[1]
    hosts = [address(name, number) for name in (host, "127.0.0.1", "localhost", "::1", *names)]
    access = Access(frozenset(hosts), read_only=dashboard.read_only)
    with ExitStack() as stack:
        stack.callback(dashboard.runs.close)
        async with serve(application(dashboard, access), listener):
            yield f"http://{hosts[0]}/" + ("" if access.read_only else f"?{TOKEN_PARAMETER}={access.token}")


def application(dashboard: Dashboard, access: Access) -> Starlette:
    static = StaticFiles(packages=[("cutset.web", "static")])
    app = Starlette(
        routes=[
            *(route for page_of in PAGES for route in page_of.ROUTES),
            Route("/static/style.css", _style),
            Mount("/static", static),
        ],
        middleware=[Middleware(Guarded, access=access)],
        exception_handlers={CutsetError: _explained, 404: _not_found},
    )
    app.state.dashboard = dashboard
    return app


async def _style(_: Request) -> Response:
    return Response(style_sheet(), media_type="text/css")


async def _explained(request: Request, error: Exception) -> Response:
    """What was wrong, and what to do: a page like any other."""
    assert isinstance(error, CutsetError)
    return _told(request, error.message, error.hint, 404 if isinstance(error, UsageError) else 500)


async def _not_found(request: Request, _: Exception) -> Response:
    return _told(request, "There is no such page", "Choose one from the menu", 404)


def _told(request: Request, what: str, todo: str, status: int) -> Response:
    return HTMLResponse(page(dashboard_of(request).frame(), "", what, empty(what, todo)), status)
