"""A page on which a person breaks the calls of a system for their own requests and sees what happens.

It is a reverse proxy in front of the mesh's entry: the ticked points are kept in a cookie, and each request is
forwarded with a signed plan for them, as an experiment's would be.
"""

import secrets
import time
from collections.abc import Collection, Iterable
from contextlib import asynccontextmanager
from html import escape
from itertools import groupby
from pathlib import Path
from string import Template
from urllib.parse import parse_qs, quote, unquote

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from cutset.errors import InputError
from cutset.inject.plan import plan_headers
from cutset.model.fault import cut_of
from cutset.model.point import Point

COOKIE = "cutset_points"
PLAN_SECONDS = 60
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
# Of one connection, not of the message; and what we or httpx set anew.
_HOP_HEADERS = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "host", "content-length", "content-encoding"}
)
_PAGE = Path(__file__).with_name("playground.html")


def playground(entry_url: str, points: Iterable[Point], *, key: bytes, environment: str) -> Starlette:
    known = sorted(points)
    client = httpx.AsyncClient(base_url=entry_url, trust_env=False, follow_redirects=False, timeout=30)

    async def choose(request: Request) -> Response:
        if request.method == "GET":
            page = Template(_PAGE.read_text()).substitute(choices=_choices(known, _chosen(request, known)))
            return HTMLResponse(page, headers={"cache-control": "no-store"})
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
            expires=int(time.time()) + PLAN_SECONDS,
            catalogue=known,
        )
        headers = {name: value for name, value in request.headers.items() if name not in _HOP_HEADERS}
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        try:
            answer = await client.request(request.method, target, headers=headers | plan, content=await request.body())
        except httpx.RequestError as error:
            return Response(f"The shop does not answer: {error}", status_code=502, media_type="text/plain")
        response = Response(answer.content, answer.status_code)
        response.raw_headers[:] = [
            (name.lower(), value) for name, value in answer.headers.raw if name.lower().decode() not in _HOP_HEADERS
        ]
        response.headers["content-length"] = str(len(answer.content))
        return response

    @asynccontextmanager
    async def lifespan(_: Starlette):  # type: ignore[no-untyped-def]  # starlette's own type is generic over state
        async with client:
            yield

    routes = [Route("/_cutset", choose, methods=["GET", "POST"]), Route("/{path:path}", forward, methods=METHODS)]
    return Starlette(routes=routes, lifespan=lifespan)


def serve_playground(app: Starlette, *, host: str, port: int) -> None:
    """Until Ctrl-C."""
    uvicorn.run(app, host=host, port=port, log_level="warning", access_log=False)


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
