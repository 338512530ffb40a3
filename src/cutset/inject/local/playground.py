"""A page on which a person breaks the calls of a system for their own requests and sees what happens.

It is a reverse proxy in front of the mesh's entry: the ticked points are kept in a cookie, and each request is
forwarded with a signed plan for them, as an experiment's would be.
"""

import secrets
import time
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from html import escape
from itertools import groupby
from pathlib import Path
from string import Template
from urllib.parse import parse_qs, quote, unquote

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from yarl import URL

from cutset.errors import InputError
from cutset.inject.plan import plan_headers
from cutset.model.fault import cut_of
from cutset.model.point import Point

COOKIE = "cutset_points"
ANSWER_SECONDS = 30  # nobody waits longer for a page
PLAN_SECONDS = ANSWER_SECONDS + 1
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
_HOP_HEADERS = frozenset({"connection", "keep-alive", "transfer-encoding", "te", "upgrade"})  # not of the message
_PAGE = Path(__file__).with_name("playground.html")


def playground(entry_url: str, points: Iterable[Point], *, key: bytes, environment: str) -> Starlette:
    known = sorted(points)

    async def choose(request: Request) -> Response:
        if request.method == "GET":
            page = Template(_PAGE.read_text()).substitute(choices=_choices(known, _chosen(request, known)))
            return HTMLResponse(page, headers={"cache-control": "no-store", "x-frame-options": "SAMEORIGIN"})
        form = parse_qs((await request.body()).decode(errors="replace"))
        chosen = [] if "clear" in form else form.get("point", [])
        response = RedirectResponse("/_cutset", status_code=303)
        response.set_cookie(COOKIE, quote("\n".join(chosen), safe=""), samesite="strict", httponly=True)
        return response

    async def forward(request: Request) -> Response:
        plan = plan_headers(
            cut_of(_chosen(request, known)),
            trace_id=secrets.token_hex(16),
            span_id=secrets.token_hex(8),
            key=key,
            environment=environment,
            expires=time.time() + PLAN_SECONDS,
            catalogue=known,
        )
        try:
            return await _forward(request, entry_url, plan)
        except (aiohttp.ClientError, TimeoutError) as error:
            reason = str(error) or f"nothing came within {ANSWER_SECONDS}s"
            return Response(f"The shop does not answer: {reason}", status_code=502, media_type="text/plain")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[dict[str, aiohttp.ClientSession]]:
        async with aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS),
        ) as client:
            yield {"client": client}

    routes = [Route("/_cutset", choose, methods=["GET", "POST"]), Route("/{path:path}", forward, methods=METHODS)]
    return Starlette(routes=routes, lifespan=lifespan, middleware=[Middleware(_OwnPagesOnly)])


class _OwnPagesOnly:
    """Refuses what other pages send: under a name of their own that leads here, or from where they are.

    Nobody else shall break calls, or read the shop, with a browser of somebody who has the playground open.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] == "http" and (problem := _foreign(Headers(scope=scope), scope["server"])):
            app = Response(f"The playground answers its own pages only: {problem}", 403, media_type="text/plain")
        await app(scope, receive, send)


def _foreign(headers: Headers, server: tuple[str, int]) -> str:
    """Why it comes from elsewhere; empty if it does not."""
    address, port = server
    own = {f"{host}:{port}" for host in (address, "localhost", f"[{address}]")}
    if (host := headers.get("host", "")) not in own:
        return f"this is none of its names: {host[:100]!r}"
    embedded = headers.get("sec-fetch-mode", "navigate") != "navigate"  # else somebody followed a link
    elsewhere = embedded and headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
    if elsewhere or headers.get("origin", f"http://{host}") != f"http://{host}":
        return "it was sent by another page"
    return ""


def serve_playground(app: Starlette, *, host: str, port: int) -> None:
    """Until Ctrl-C."""
    # Without the server's own headers: those of the shop pass through.
    uvicorn.run(
        app, host=host, port=port, log_level="warning", access_log=False, server_header=False, date_header=False
    )


async def _forward(request: Request, entry_url: str, plan: dict[str, str]) -> Response:
    """The message as it is, both ways, but for the plan."""
    ours = _HOP_HEADERS | {"host", "content-length"} | plan.keys()
    headers = [(name, value) for name, value in request.headers.items() if name not in ours]
    path, query = request.scope["raw_path"].decode("latin-1"), request.scope["query_string"].decode("latin-1")
    async with request.state.client.request(
        request.method,
        URL(f"{entry_url}{path}?{query}" if query else f"{entry_url}{path}", encoded=True),
        headers=[*headers, *plan.items()],
        data=await request.body() or None,
        allow_redirects=False,
    ) as answer:
        response = Response(await answer.read(), answer.status)
        response.raw_headers[:] = [
            (name.lower(), value) for name, value in answer.raw_headers if name.lower().decode() not in _HOP_HEADERS
        ]
        return response


def _chosen(request: Request, known: Collection[Point]) -> list[Point]:
    """Those of the cookie's points that exist: cookies are the browser's word, not ours."""
    chosen = []
    for text in unquote(request.cookies.get(COOKIE, "")).splitlines():
        try:
            point = Point.parse(text)
        except InputError:
            continue
        if point in known:
            chosen.append(point)
    return chosen


def _choices(known: Iterable[Point], chosen: Collection[Point]) -> str:
    def box(point: Point) -> str:
        checked = " checked" if point in chosen else ""
        value = escape(str(point))
        return f'<label><input type="checkbox" name="point" value="{value}"{checked}>{escape(point.api)}</label>'

    return "\n".join(
        f"<fieldset><legend>{escape(service)}</legend>{''.join(map(box, points))}</fieldset>"
        for service, points in groupby(known, key=lambda point: point.service)
    )
