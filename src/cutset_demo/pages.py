"""How the frontend turns data into HTML, and requests into handled, traced requests."""

import uuid
from collections.abc import Awaitable, Callable, Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any

import grpc
from jinja2 import Environment, FileSystemLoader
from opentelemetry.trace import SpanKind, Status, StatusCode
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from cutset_demo.money import format_money
from cutset_demo.replica import DependencyError, Replica
from cutset_demo.telemetry import extract, record

_FOLDER = Path(__file__).parent
_TEMPLATES = Environment(loader=FileSystemLoader(_FOLDER / "templates"), autoescape=True, auto_reload=False)
_TEMPLATES.filters["money"] = format_money
_DRAWN: Any = _TEMPLATES.get_template("pictures.html").module
_TEMPLATES.globals["pictures"] = {name: _DRAWN.picture(name) for name in _DRAWN.drawings}

# A dependency that says the request itself was wrong; all else is a failure of ours.
_STATUS = {
    grpc.StatusCode.NOT_FOUND: HTTPStatus.NOT_FOUND,
    grpc.StatusCode.INVALID_ARGUMENT: HTTPStatus.BAD_REQUEST,
    grpc.StatusCode.FAILED_PRECONDITION: HTTPStatus.BAD_REQUEST,
}

PageHandler = Callable[[Replica, Request, str], Awaitable[Response]]


def page(template: str, **values: object) -> HTMLResponse:
    return HTMLResponse(_TEMPLATES.get_template(template).render(values))


def error_page(status: HTTPStatus, reason: str) -> HTMLResponse:
    return HTMLResponse(_TEMPLATES.get_template("error.html").render(status=status, reason=reason), status)


def application(replica: Replica, routes: Iterable[tuple[str, str, PageHandler]], session_cookie: str) -> Starlette:
    traced = [
        Route(path, _endpoint(replica, method, path, handler, session_cookie), methods=[method])
        for method, path, handler in routes
    ]
    return Starlette(routes=[*traced, Mount("/static", StaticFiles(directory=_FOLDER / "static"))])


def _endpoint(
    replica: Replica, method: str, path: str, handler: PageHandler, session_cookie: str
) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        attributes = {"http.request.method": method, "http.route": path, "url.path": request.url.path}
        parent = extract(request.headers.items())
        with record(replica.tracer, f"{method} {path}", SpanKind.SERVER, attributes, parent) as span:
            known = request.cookies.get(session_cookie)
            session = known or str(uuid.uuid4())
            try:
                response = await handler(replica, request, session)
            except DependencyError as failure:
                status = _STATUS.get(failure.code, HTTPStatus.INTERNAL_SERVER_ERROR)
                response = error_page(status, str(failure))
            if not known:
                response.set_cookie(session_cookie, session, httponly=True, samesite="lax")
            span.set_attribute("http.response.status_code", response.status_code)
            if response.status_code >= 500:
                span.set_status(Status(StatusCode.ERROR))
            return response

    return serve
