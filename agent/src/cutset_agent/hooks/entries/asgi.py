"""The entry of ASGI applications: any through `cutset_agent.asgi`, uvicorn's by its own hook, Starlette's here."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from cutset_agent import recording, services
from cutset_agent import request as requests
from cutset_agent.calls import MakeFault
from cutset_agent.reports import count_error
from cutset_agent.wire import normalise_api

MODULE = "starlette.applications"
TESTED = "starlette 1.10, uvicorn 0.54"
FAULTS: Mapping[str, MakeFault] = {}

ROUTE = "cutset.route"  # within the scope of Django, which has no place for it
ENTERED = "cutset.entered"  # within the scope: applications in one another are one request


def install(module: Any) -> None:
    original = module.Starlette.__call__
    if hasattr(original, "_cutset_hook"):
        return

    @functools.wraps(original)
    async def call(self: Any, scope: Any, receive: Any, send: Any) -> None:
        await _serve(functools.partial(original, self), scope, receive, send)

    call._cutset_hook = True  # type: ignore[attr-defined]  # noqa: SLF001
    module.Starlette.__call__ = call


def entered(app: Any, service: str = "") -> Any:
    name = service or services.present()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        requests.name_entry(scope.get(ENTERED), name)
        with services.Serving(name):
            await _serve(app, scope, receive, send)

    return application


async def _serve(app: Any, scope: Any, receive: Any, send: Any) -> None:
    entry = None
    if scope["type"] == "http" and ENTERED not in scope:
        try:
            scope = {**scope, ENTERED: True}
            operation = normalise_api(scope["method"], scope["path"], grpc=False)
            scope[ENTERED] = entry = requests.enter(_pairs(scope["headers"]), operation)
        except Exception as error:  # noqa: BLE001 -- the host's request matters more
            count_error("entry", error)
    if entry is None:
        await app(scope, receive, send)
        return
    if entry.request is None:
        try:
            await app(scope, receive, send)
        finally:
            requests.leave(entry)
        return
    conversation = _Conversation(entry, scope, receive, send)
    try:
        await app(scope, conversation.receive, conversation.send)
    except BaseException as error:
        conversation.leave(error)
        raise
    conversation.leave(None)


class _Conversation:
    """Listens to what goes in and out; bodies only while recording."""

    def __init__(self, entry: requests.RequestEntry, scope: Any, receive: Any, send: Any) -> None:
        self._entry = entry
        self._scope = scope
        self._receive = receive
        self._send = send
        self._status = 0
        self._response_headers: list[tuple[str, str]] = []
        self._request = bytearray()
        self._response = bytearray()
        self._truncated = False

    async def receive(self) -> Any:
        message = await self._receive()
        if message["type"] == "http.request":
            self._keep(self._request, message.get("body", b""))
        return message

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            if recording.is_on():
                self._response_headers = _pairs(message.get("headers", ()))
        elif message["type"] == "http.response.body":
            self._keep(self._response, message.get("body", b""))
            if not message.get("more_body", False):
                self._entry.reach.end()  # what the application does after its answer, it does not do for the client
        await self._send(message)

    def leave(self, error: BaseException | None) -> None:
        try:
            self._entry.route = _route(self._scope)
            requests.leave(self._entry, self._status, error, self._exchange() if recording.is_on() else None)
        except Exception as problem:  # noqa: BLE001 -- the host's answer matters more
            count_error("report of a request", problem)

    def _keep(self, body: bytearray, more: bytes) -> None:
        if recording.is_on() and more:
            room = recording.MAX_BODY_BYTES - len(body)
            body += more[:room]
            self._truncated = self._truncated or len(more) > room

    def _exchange(self) -> dict[str, Any]:
        scope = self._scope
        path = (scope.get("raw_path") or quote(scope["path"]).encode()).decode("latin-1")
        query = scope.get("query_string", b"").decode("latin-1")
        return {
            "method": scope["method"],
            "path": f"{path}?{query}" if query else path,
            "request_headers": _pairs(scope["headers"]),
            "request_body": bytes(self._request),
            "response_headers": self._response_headers,
            "response_body": bytes(self._response),
            "truncated": self._truncated,
        }


def _route(scope: Any) -> str:
    """As Starlette, FastAPI or Django have found it, behind what the applications around them are mounted at."""
    if ROUTE in scope:
        return str(scope[ROUTE])
    route = scope.get("route")
    path = getattr(route, "path", "") if hasattr(route, "methods") else ""
    outer = scope.get("app_root_path")  # Starlette keeps it where something is mounted
    mounted = "" if outer is None else scope.get("root_path", "")[len(outer) :]
    return f"{normalise_api('', mounted, grpc=False).strip()}{path}" if path else ""


def _pairs(headers: Any) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
