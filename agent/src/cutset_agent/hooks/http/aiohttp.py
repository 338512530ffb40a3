"""HTTP calls of aiohttp's client: `rpc/aiohttp/GET /quote/*`.

Within a request of ours a call gets one more client middleware, the innermost: below redirects, aiohttp's own retry of
a broken connection, `raise_for_status` and the application's middlewares, so that each attempt is one call.
"""
# ruff: noqa: SLF001 -- a response that no server sent is made of parts that aiohttp keeps private

from __future__ import annotations

import asyncio
import functools
import inspect
import socket
import ssl
import sys
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from cutset_agent import peers
from cutset_agent import request as requests
from cutset_agent.calls import ChangedAnswer, HookedCall, InjectedAnswer, MakeFault, inverted
from cutset_agent.hooking import wrap
from cutset_agent.hooks.http.answers import (
    BODIES,
    STATUS_ANSWERS,
    HttpAnswer,
    carry_on,
    is_kept,
    status_answer,
    with_body,
)
from cutset_agent.reports import count_error
from cutset_agent.wire import normalise_api

MODULE = "aiohttp"
TESTED = "aiohttp 3.12, 3.13, 3.14"  # before 3.12 there are no client middlewares

ANSWERS = "A"


def install(module: Any) -> None:
    facts: dict[str, Any] = {"outcome": _outcome, "response": _body, "answering": _answering}
    wrap(sys.modules[__name__], "_send", _describe, FAULTS, asynchronous=True, **facts)
    session = module.ClientSession
    if not hasattr(session._request, "_cutset_hook"):
        session._request = _with_innermost(session._request)


def _with_innermost(send_all: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(send_all)
    def _request(self: Any, *args: Any, **kwargs: Any) -> Any:
        if requests.current() is not None:
            try:
                kwargs["middlewares"] = _middlewares(self, kwargs)
            except Exception as error:  # noqa: BLE001 -- the host's call matters more
                count_error("middlewares of aiohttp", error)
        return send_all(self, *args, **kwargs)

    _request._cutset_hook = True  # type: ignore[attr-defined]
    return _request


def _middlewares(session: Any, kwargs: dict[str, Any]) -> tuple[Any, ...]:
    timeout, given = _client_timeout(session, kwargs), kwargs.get("middlewares")

    async def innermost(request: Any, handler: Callable[[Any], Any]) -> Any:
        return await _send(request, handler, timeout)

    return (*(session._middlewares if given is None else given), innermost)


async def _send(request: Any, handler: Callable[[Any], Any], _timeout: Any) -> Any:
    response = await handler(request)
    if is_kept(response.headers):
        body = await response.read()  # stays with the response; its stream is to be read by others
        response.content = _stream(request, body)
    return response


def _client_timeout(session: Any, kwargs: dict[str, Any]) -> Any:
    given = kwargs.get("timeout", session._timeout)
    if given is None or isinstance(given, (int, float)):
        return _aiohttp().ClientTimeout(total=given)
    return given if isinstance(given, _aiohttp().ClientTimeout) else session._timeout


def _describe(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall:
    request, _handler, timeout = args
    carry_on(request.headers)
    url = request.url
    endpoint = f"rpc/aiohttp/{normalise_api(request.method, url.raw_path, grpc=False)}"
    limits = [limit for limit in (timeout.total, timeout.sock_read) if limit]
    peer = peers.server(url.host, url.port, url.scheme)
    return HookedCall(endpoint, min(limits, default=None), lambda: _sent(request), peer=peer)


def _sent(request: Any) -> bytes | None:
    body = getattr(request.body, "_value", request.body)  # of a payload that has its bytes in memory
    return body if isinstance(body, bytes) else None


def _outcome(response: Any) -> dict[str, str]:
    return {"status": str(response.status)}


def _body(response: Any) -> bytes | None:
    read: bytes | None = response._body
    return read


def _aiohttp() -> Any:
    return sys.modules["aiohttp"]


def _stream(request: Any, body: bytes) -> Any:
    protocol = sys.modules["aiohttp.base_protocol"].BaseProtocol(request.loop)
    stream = _aiohttp().StreamReader(protocol, 2**16, loop=request.loop)
    stream.feed_data(body)
    stream.feed_eof()
    return stream


def _received(request: Any, answer: HttpAnswer) -> Any:
    """The response as aiohttp makes it when a server sends this answer."""
    multidict = sys.modules["multidict"]
    made = request.response_class
    known = {
        "writer": None,
        "continue100": None,
        "timer": request._timer,
        "request_info": request.request_info,
        "traces": request._traces,
        "loop": request.loop,
        "session": request._session,
        "stream_writer": SimpleNamespace(output_size=0),  # not in all versions
    }
    accepted = inspect.signature(made.__init__).parameters
    response = made(
        request.method, request.original_url, **{name: value for name, value in known.items() if name in accepted}
    )
    response.version, response.status, response.reason = request.version, answer.status, answer.reason
    response._headers = multidict.CIMultiDictProxy(multidict.CIMultiDict(answer.headers))
    response._raw_headers = tuple((name.encode(), value.encode()) for name, value in answer.headers)
    response.content = _stream(request, answer.body)
    return response


def _raise(name: str, *args: object) -> MakeFault:
    def make(_call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
        made: BaseException = getattr(_aiohttp(), name)(*args)
        return made

    return make


def _not_connected(name: str, why: Callable[[Any], BaseException]) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
        made: BaseException = getattr(_aiohttp(), name)(args[0].connection_key, why(args[0].url))
        return made

    return make


def _refused(url: Any) -> OSError:
    return ConnectionRefusedError(111, f"Connect call failed ({url.host!r}, {url.port})")


def _fail_tls(call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    text = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1006)"
    failing = _not_connected("ClientConnectorCertificateError", lambda _: ssl.SSLCertVerificationError(1, text))
    return failing(call, args, kwargs) if args[0].url.scheme == "https" else None


def _too_late(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    timeout = args[2]
    if timeout.sock_read and not (timeout.total and timeout.total < timeout.sock_read):
        made: BaseException = _aiohttp().SocketTimeoutError("Timeout on reading data from socket")
        return made
    return asyncio.TimeoutError()  # not the built-in one before Python 3.11


def _connect_too_late(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
    return _no_connection(args) if args[2].connect or args[2].sock_connect else None


def _exhaust_pool(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
    """Waiting for a free connection is part of `connect`, else of `total`; without both it has no end."""
    if args[2].connect:
        return _no_connection(args)
    return asyncio.TimeoutError() if args[2].total else None


def _no_connection(args: tuple[Any, ...]) -> BaseException:
    made: BaseException = _aiohttp().ConnectionTimeoutError(f"Connection timeout to host {args[0].url}")
    return made


async def _lose_answer(call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException:
    """Not an `AfterCall`: a response that nobody closes would keep its connection."""
    request, handler, _timeout = args
    try:
        (await handler(request)).close()
    except Exception as error:  # noqa: BLE001 -- the host is to see it; the call must not be made a second time
        return error
    if call.timeout is not None:
        return _too_late(call, args, kwargs)
    made: BaseException = _aiohttp().ServerDisconnectedError()
    return made


def _answering(kind: str, number: int, text: str) -> MakeFault | None:
    return _answer(status_answer(number, text)) if kind in ANSWERS else None


def _answer(answer: HttpAnswer) -> MakeFault:
    return lambda _call, args, _kwargs: InjectedAnswer(_received(args[0], answer))


def _replace_body(name: str) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
        def change(response: Any) -> Any:
            response.close()
            return _with_body(args[0], response, BODIES[name])

        return ChangedAnswer(change)

    return make


def _garble_body(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
    async def change(response: Any) -> Any:
        return _with_body(args[0], response, inverted(await response.read()))

    return ChangedAnswer(change)


def _with_body(request: Any, response: Any, body: bytes) -> Any:
    headers = tuple(with_body(response.headers.items(), body))
    return _received(request, HttpAnswer(response.status, response.reason, headers, body))


def _cut_body(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
    async def change(response: Any) -> Any:
        piece = await response.content.readany()
        response.close()
        headers = tuple(response.headers.items())
        cut = _received(args[0], HttpAnswer(response.status, response.reason, headers, piece[: len(piece) // 2]))
        why = "<ContentLengthError: 400, message='Not enough data to satisfy content length header.'>"
        cut.content.set_exception(_aiohttp().ClientPayloadError(f"Response payload is not completed: {why}"))
        return cut

    return ChangedAnswer(change)


FAULTS: Mapping[str, MakeFault] = {
    "connection-refused": _not_connected("ClientConnectorError", _refused),
    "connection-reset": _raise("ClientOSError", 104, "Connection reset by peer"),
    "connection-lost": _raise("ServerDisconnectedError"),
    "dns-failure": _not_connected(
        "ClientConnectorDNSError", lambda _: socket.gaierror(-2, "Name or service not known")
    ),
    "tls-failure": _fail_tls,
    "connect-timeout": _connect_too_late,
    "timeout": _too_late,
    "no-answer": _too_late,
    "lost-answer": _lose_answer,
    "pool-exhausted": _exhaust_pool,
    **{name: _answer(answer) for name, answer in STATUS_ANSWERS.items()},
    **{name: _replace_body(name) for name in BODIES},
    "truncated-body": _cut_body,
    "garbled-body": _garble_body,
}
