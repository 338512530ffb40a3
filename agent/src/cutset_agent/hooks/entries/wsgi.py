"""The entry of WSGI applications: any through `cutset_agent.wsgi`; wsgiref's, gunicorn's, Flask's and Django's here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from cutset_agent import recording, services
from cutset_agent import request as requests
from cutset_agent.calls import MakeFault
from cutset_agent.hooks.entries.asgi import ROUTE
from cutset_agent.reports import count_error
from cutset_agent.wire import normalise_api

MODULE = (
    "wsgiref.handlers",
    "gunicorn.app.base",
    "flask.app",
    "django.core.handlers.wsgi",
    "django.core.handlers.base",
)
TESTED = "wsgiref of Python 3.9 and 3.11, gunicorn 23.0, Flask 3.1, Django 4.2"
FAULTS: Mapping[str, MakeFault] = {}

ENTERED = "cutset.entered"  # within the environ: applications in one another are one request


def install(module: Any) -> None:
    if module.__name__ == "wsgiref.handlers":
        _replace(module.BaseHandler, "run", lambda run: lambda self, app: run(self, entered(app)))
    elif module.__name__ == "gunicorn.app.base":
        _replace(module.BaseApplication, "wsgi", lambda load: lambda self: entered(load(self)))
    elif module.__name__ == "django.core.handlers.base":
        _replace(module.BaseHandler, "resolve_request", _telling_route)
    else:
        owner = module.Flask if module.__name__ == "flask.app" else module.WSGIHandler
        _replace(owner, "__call__", lambda call: lambda self, *rest: _serve(functools.partial(call, self), *rest))


def _telling_route(resolve: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """For both of Django's servers: the request knows the environ that it was made of, or the scope."""

    def resolve_request(self: Any, request: Any) -> Any:
        match = resolve(self, request)
        try:
            route = getattr(match, "route", None)
            if route is not None:
                getattr(request, "scope", request.META)[ROUTE] = f"/{route}"
        except Exception as error:  # noqa: BLE001 -- the host's request matters more
            count_error("route of Django", error)
        return match

    return resolve_request


def _replace(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    if not hasattr(original, "_cutset_hook"):
        replacement: Any = functools.wraps(original)(make(original))
        replacement._cutset_hook = True  # noqa: SLF001
        setattr(owner, name, replacement)


def entered(app: Any, service: str = "") -> Any:
    name = service or services.present()

    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        requests.name_entry(environ.get(ENTERED), name)
        with services.Serving(name):
            return _serve(app, environ, start_response)

    return application if name else functools.partial(_serve, app)


def _serve(app: Any, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    entry = None
    if ENTERED not in environ:
        try:
            environ[ENTERED] = True
            path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
            operation = normalise_api(environ["REQUEST_METHOD"], path, grpc=False)
            environ[ENTERED] = entry = requests.enter(_request_headers(environ), operation)
        except Exception as error:  # noqa: BLE001 -- the host's request matters more
            count_error("entry", error)
    if entry is None:
        return app(environ, start_response)  # type: ignore[no-any-return]
    if entry.request is None:
        try:
            return app(environ, start_response)  # type: ignore[no-any-return]
        finally:
            requests.leave(entry)
    conversation = _Conversation(entry, environ, start_response)
    try:
        conversation.body = app(environ, conversation.start_response)
    except BaseException as error:
        conversation.leave(error)
        raise
    return conversation


class _Conversation:
    """The answer's body, which is part of the request until the server closes it."""

    def __init__(self, entry: requests.RequestEntry, environ: dict[str, Any], start_response: Any) -> None:
        self.body: Iterable[bytes] = ()
        self._entry: requests.RequestEntry | None = entry
        self._named = entry  # also when it was left
        self._environ = environ
        self._start_response = start_response
        self._status = 0
        self._response_headers: list[tuple[str, str]] = []
        self._request = _Listener(environ["wsgi.input"]) if recording.is_on() else None
        self._response = bytearray()
        self._truncated = False
        if self._request is not None:
            environ["wsgi.input"] = self._request

    def start_response(self, status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
        self._status = int(status[:3])
        if self._entry is not None:
            self._entry.route = _route(self._environ)  # later Flask has forgotten it
        self._response_headers = headers
        return self._start_response(status, headers, *rest)

    def __iter__(self) -> Iterator[bytes]:
        with services.Serving(self._named.service):
            yield from self._chunks()

    def _chunks(self) -> Iterator[bytes]:
        try:
            for chunk in self.body:
                if self._request is not None:
                    self._truncated |= _keep(self._response, chunk)
                yield chunk
            if self._entry is not None:
                self._entry.reach.end()  # servers need not call `close` soon
        except Exception as error:
            self.leave(error)
            raise

    def close(self) -> None:
        try:
            if hasattr(self.body, "close"):
                self.body.close()
        finally:
            self.leave(None)

    def leave(self, error: BaseException | None) -> None:
        entry, self._entry = self._entry, None
        if entry is None:
            return
        try:
            exchange = None if self._request is None else self._exchange(self._request)
            requests.leave(entry, self._status, error, exchange)
        except Exception as problem:  # noqa: BLE001 -- the host's answer matters more
            count_error("report of a request", problem)

    def _exchange(self, request: _Listener) -> dict[str, Any]:
        environ = self._environ
        path = quote((environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")).encode("latin-1"))
        query = environ.get("QUERY_STRING", "")
        return {
            "method": environ["REQUEST_METHOD"],
            "path": f"{path}?{query}" if query else path,
            "request_headers": _request_headers(environ),
            "request_body": bytes(request.heard),
            "response_headers": self._response_headers,
            "response_body": bytes(self._response),
            "truncated": self._truncated or request.truncated,
        }


def _route(environ: Mapping[str, Any]) -> str:
    """As Django or Flask have found it."""
    rule = getattr(environ.get("werkzeug.request"), "url_rule", None)
    return str(environ.get(ROUTE) or getattr(rule, "rule", ""))


class _Listener:
    """The request's body, remembered as far as the application reads it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.heard = bytearray()
        self.truncated = False

    def read(self, *size: int) -> bytes:
        return self._keep(self._stream.read(*size))

    def readline(self, *size: int) -> bytes:
        return self._keep(self._stream.readline(*size))

    def readlines(self, *hint: int) -> list[bytes]:
        return [self._keep(line) for line in self._stream.readlines(*hint)]

    def __iter__(self) -> Iterator[bytes]:
        return map(self._keep, self._stream)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._stream, name)
        return functools.partial(self._read_into, found) if name == "readinto" else found  # not every stream has it

    def _read_into(self, read_into: Callable[[Any], int], buffer: Any) -> int:
        size = read_into(buffer)
        self._keep(bytes(buffer[:size]))
        return size

    def _keep(self, data: bytes) -> bytes:
        self.truncated |= _keep(self.heard, data)
        return data


def _keep(body: bytearray, more: bytes) -> bool:
    """Adds as much as there is room for; True if that was not all."""
    room = recording.MAX_BODY_BYTES - len(body)
    body += more[:room]
    return len(more) > room


def _request_headers(environ: Mapping[str, Any]) -> list[tuple[str, str]]:
    headers = [(key[5:].replace("_", "-").lower(), value) for key, value in environ.items() if key.startswith("HTTP_")]
    return headers + [
        (key.replace("_", "-").lower(), environ[key]) for key in ("CONTENT_TYPE", "CONTENT_LENGTH") if environ.get(key)
    ]
