"""HTTP calls of urllib3 and what is built on it: `rpc/urllib3/GET /quote/*`, of requests `rpc/requests/GET /quote/*`.

The hook is at one attempt on one connection: urllib3's own retries meet each fault, and requests turns what comes out
of them into its own exceptions. Answers are parsed from bytes, as if a server had sent them.
"""
# ruff: noqa: SLF001 -- urllib3 has no public place for one attempt

from __future__ import annotations

import copy
import functools
import http.client
import io
import socket
import ssl
import sys
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from cutset_agent import peers
from cutset_agent.calls import AfterCall, HookedCall, InjectedAnswer, MakeFault, inverted
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
from cutset_agent.wire import normalise_api

MODULE = "urllib3"
TESTED = "urllib3 1.26, 2.6, 2.8; requests 2.31, 2.32, 2.34"

ANSWERS = "A"

_unhooked: list[Callable[..., Any]] = []  # what the hook is put around


def install(module: Any) -> None:
    pool = module.HTTPConnectionPool
    _keep_bodies(pool)
    wrap(pool, "_make_request", _describe, FAULTS, outcome=_outcome, response=_body, answering=_answering)


def _describe(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall:
    pool, _connection, method, url = args[:4]
    headers = kwargs["headers"]
    library = "requests" if type(headers).__module__ == "requests.structures" else "urllib3"
    kwargs["headers"] = headers = copy.copy(headers)  # the caller's own dictionary is not ours to change
    carry_on(headers)
    parts = urlsplit(url)  # whole behind a proxy
    endpoint = f"rpc/{library}/{normalise_api(method, parts.path or '/', grpc=False)}"
    body = kwargs.get("body")
    payload = lambda: body if isinstance(body, (bytes, str)) else None  # noqa: E731
    address = (parts.hostname, parts.port, parts.scheme) if parts.hostname else (pool.host, pool.port, pool.scheme)
    return HookedCall(endpoint, _timeout(kwargs, "_read"), payload, peer=peers.server(*address))


def _timeout(kwargs: dict[str, Any], phase: str) -> float | None:
    """`Timeout.read_timeout` cannot be asked before the connection stands."""
    timeout = kwargs.get("timeout")
    limits = (getattr(timeout, "total", None), getattr(timeout, phase, None))
    if limits[1] is not None and not isinstance(limits[1], (int, float)):  # the sentinel for "as sockets have it"
        limits = (limits[0], socket.getdefaulttimeout())
    return min((float(limit) for limit in limits if limit is not None), default=None)


def _outcome(response: Any) -> dict[str, str]:
    return {"status": str(response.status)}


def _keep_bodies(pool: Any) -> None:
    """While recording, bodies are read at once: what is above may read them late, or never."""
    if _unhooked:
        return
    send = pool._make_request

    @functools.wraps(send)
    def keeping(*args: Any, **kwargs: Any) -> Any:
        response = send(*args, **kwargs)
        if getattr(response, "_body", None) is not None or not is_kept(response.headers):
            return response
        kept = _read(response)
        # Reading to the end has given the connection back already.
        response = _received(kept, args, {**kwargs, "response_conn": None})
        response.cutset_body = kept.body
        return response

    pool._make_request = keeping
    _unhooked.append(keeping)


def _body(response: Any) -> bytes | None:
    kept: bytes | None = getattr(response, "cutset_body", None) or getattr(response, "_body", None)
    return kept


def _read(response: Any) -> HttpAnswer:  # of urllib3 2 its own response, of urllib3 1 http.client's
    old = isinstance(response, http.client.HTTPResponse)
    body = response.read() if old else response.read(decode_content=False)
    return HttpAnswer(response.status, response.reason or "", tuple(response.headers.items()), body)


class _Bytes:
    """As much of a socket as http.client reads from."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def makefile(self, *_args: object) -> io.BytesIO:
        return io.BytesIO(self.content)


def _received(answer: HttpAnswer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `_make_request` returns when a server sends this answer; raises what it raises then."""
    pool, _connection, method, url = args[:4]
    lines = [f"HTTP/1.1 {answer.status} {answer.reason}", *(f"{name}: {value}" for name, value in answer.headers)]
    sent: Any = _Bytes("\r\n".join([*lines, "", ""]).encode("latin-1") + answer.body)
    parsed = http.client.HTTPResponse(sent, method=method)
    parsed.begin()
    if _is_old():
        return parsed
    options = ("preload_content", "decode_content", "enforce_content_length")
    response = _urllib3().HTTPResponse(
        body=parsed,
        headers=list(parsed.msg.items()),
        status=parsed.status,
        version=parsed.version,
        reason=parsed.reason,
        original_response=parsed,
        request_method=method,
        request_url=url,
        **{name: kwargs.get(name, True) for name in options},
    )
    response.retries = kwargs.get("retries")
    response._connection, response._pool = kwargs.get("response_conn"), pool  # as urllib3 does
    return response


def _urllib3() -> Any:
    return sys.modules["urllib3"]


def _is_old() -> bool:
    return str(_urllib3().__version__).startswith("1.")


def _refuse(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    return _not_connected(args, "[Errno 111] Connection refused")


def _not_connected(args: tuple[Any, ...], why: str) -> BaseException:
    text = f"Failed to establish a new connection: {why}"
    made: BaseException = _urllib3().exceptions.NewConnectionError(args[1], text)
    return made


def _fail_dns(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    if _is_old():
        return _not_connected(args, "[Errno -2] Name or service not known")
    why = socket.gaierror(-2, "Name or service not known")
    made: BaseException = _urllib3().exceptions.NameResolutionError(args[0].host, args[1], why)
    return made


def _reset(_call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    return ConnectionResetError(104, "Connection reset by peer")


def _lose_connection(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    args[1].close()
    return http.client.RemoteDisconnected("Remote end closed connection without response")


def _fail_tls(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
    text = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1006)"
    return ssl.SSLCertVerificationError(1, text) if args[0].scheme == "https" else None


def _connect_too_late(_call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException | None:
    seconds = _timeout(kwargs, "_connect")
    text = f"Connection to {args[0].host} timed out. (connect timeout={seconds})"
    made: BaseException = _urllib3().exceptions.ConnectTimeoutError(args[1], text)
    return None if seconds is None else made


def _too_late(call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    text = f"Read timed out. (read timeout={call.timeout})"
    made: BaseException = _urllib3().exceptions.ReadTimeoutError(args[0], args[3], text)
    return made


def _lose_answer(call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> AfterCall:
    """urllib3 closes a connection whose attempt failed, and with it the answer that nobody reads."""
    return AfterCall((_reset if call.timeout is None else _too_late)(call, args, kwargs))


def _exhaust_pool(call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
    """Only a pool that blocks is ever exhausted, and requests waits for it without an end."""
    pool, connection = args[:2]
    if not pool.block or call.endpoint.startswith("rpc/requests/"):
        return None
    pool._put_conn(connection)  # after this error urllib3 believes that it never had one
    text = "Pool is empty and a new connection can't be opened due to blocking mode."
    made: BaseException = _urllib3().exceptions.EmptyPoolError(pool, text)
    return made


def _answering(kind: str, number: int, text: str) -> MakeFault | None:
    return _answer(status_answer(number, text)) if kind in ANSWERS else None


def _answer(answer: HttpAnswer) -> MakeFault:
    return lambda _call, args, kwargs: _as_action(answer, args, kwargs)


def _replace_body(replaced_by: Callable[[bytes], bytes]) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException | InjectedAnswer:
        answer = _answered(args, kwargs)
        if isinstance(answer, BaseException):
            return answer
        body = replaced_by(answer.body)
        replaced = answer._replace(headers=tuple(with_body(answer.headers, body)), body=body)
        return _as_action(replaced, args, kwargs)

    return make


def _cut_body(_call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException | InjectedAnswer:
    answer = _answered(args, kwargs)
    if isinstance(answer, BaseException):
        return answer
    headers = dict(answer.headers)
    headers.pop("Transfer-Encoding", None)
    headers["Content-Length"] = str(max(1, len(answer.body)))
    cut = answer._replace(headers=tuple(headers.items()), body=answer.body[: len(answer.body) // 2])
    return _as_action(cut, args, kwargs)


def _answered(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HttpAnswer | BaseException:
    """The whole answer of the real call."""
    (send,) = _unhooked
    # The connection is given back by the response that we make of this one.
    apart = {} if _is_old() else {"preload_content": False, "response_conn": None}
    try:
        return _read(send(*args, **{**kwargs, **apart}))
    except Exception as error:  # noqa: BLE001 -- the host is to see it; the call must not be made a second time
        return error


def _as_action(answer: HttpAnswer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException | InjectedAnswer:
    try:
        return InjectedAnswer(_received(answer, args, kwargs))
    except _urllib3().exceptions.HTTPError as error:  # a body that is read at once fails at once
        made: BaseException = error
        return made


FAULTS: Mapping[str, MakeFault] = {
    "connection-refused": _refuse,
    "connection-reset": _reset,
    "connection-lost": _lose_connection,
    "dns-failure": _fail_dns,
    "tls-failure": _fail_tls,
    "connect-timeout": _connect_too_late,
    "timeout": _too_late,
    "no-answer": _too_late,
    "lost-answer": _lose_answer,
    "pool-exhausted": _exhaust_pool,
    **{name: _answer(answer) for name, answer in STATUS_ANSWERS.items()},
    **{name: _replace_body(lambda _body, left=left: left) for name, left in BODIES.items()},  # type: ignore[misc]
    "garbled-body": _replace_body(inverted),
    "truncated-body": _cut_body,
}
