"""The entry of aiohttp's own server: each request of an application, but for WebSockets."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from cutset_agent import recording
from cutset_agent import request as requests
from cutset_agent.calls import MakeFault
from cutset_agent.reports import count_error
from cutset_agent.wire import normalise_api

MODULE = "aiohttp.web_app"
TESTED = "aiohttp 3.12, 3.14"
FAULTS: Mapping[str, MakeFault] = {}


def install(module: Any) -> None:
    original = module.Application._handle  # noqa: SLF001 -- there is no public place around all middlewares
    if not hasattr(original, "_cutset_hook"):
        module.Application._handle = _serving(original)  # noqa: SLF001


def _serving(handle: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    @functools.wraps(handle)
    async def serve(self: Any, request: Any) -> Any:
        entry = _entered(request)
        if entry is None:
            return await handle(self, request)
        try:
            response = await handle(self, request)
        except BaseException as error:
            _left(entry, request, error if hasattr(error, "status") else None, error)
            raise
        _left(entry, request, response)
        return response

    serve._cutset_hook = True  # type: ignore[attr-defined]  # noqa: SLF001
    return serve


def _entered(request: Any) -> requests.RequestEntry | None:
    try:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return None
        operation = normalise_api(request.method, request.rel_url.raw_path, grpc=False)
        return requests.enter(list(request.headers.items()), operation)
    except Exception as error:  # noqa: BLE001 -- the host's request matters more
        count_error("entry", error)
        return None


def _left(entry: requests.RequestEntry, request: Any, response: Any, error: BaseException | None = None) -> None:
    """aiohttp raises some of its answers."""
    try:
        status = 500 if response is None else response.status
        resource = request.match_info.route.resource  # None of a path that is not there
        entry.route = "" if resource is None else resource.canonical
        exchange = _exchange(request, response) if recording.is_on() else None
        requests.leave(entry, status, None if response is not None else error, exchange)
    except Exception as problem:  # noqa: BLE001 -- the host's answer matters more
        count_error("report of a request", problem)


def _exchange(request: Any, response: Any) -> dict[str, Any]:
    """Bodies as far as aiohttp keeps them: those that are streamed are gone."""
    asked = request._read_bytes or b""  # noqa: SLF001
    answered = getattr(response, "body", None)
    answer = answered if isinstance(answered, bytes) else b""
    limit = recording.MAX_BODY_BYTES
    return {
        "method": request.method,
        "path": request.rel_url.raw_path_qs,
        "request_headers": [(name.lower(), value) for name, value in request.headers.items()],
        "request_body": bytes(asked[:limit]),
        "response_headers": [] if response is None else list(response.headers.items()),
        "response_body": answer[:limit],
        "truncated": max(len(asked), len(answer)) > limit,
    }
