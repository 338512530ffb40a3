"""HTTP calls of httpx: `rpc/httpx/GET /quote/*`.

The hook is at the transports that open sockets, below redirects, authentication, event hooks and the retrying
transports that applications put around them: each attempt is one call. In-process transports are left alone.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from cutset_agent import peers
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
from cutset_agent.wire import normalise_api

MODULE = "httpx"
TESTED = "httpx 0.27, 0.28"

ANSWERS = "A"

_unhooked: dict[str, Callable[..., Any]] = {}  # what the hooks are put around


def install(module: Any) -> None:
    facts: dict[str, Any] = {"outcome": lambda response: {"status": str(response.status_code)}, "response": _body}
    facts["answering"] = _answering
    with _below_tracers(module.HTTPTransport, "handle_request"):
        _keep_bodies(module.HTTPTransport, "handle_request", _keeping)
        wrap(module.HTTPTransport, "handle_request", _describe, FAULTS, **facts)
    with _below_tracers(module.AsyncHTTPTransport, "handle_async_request"):
        _keep_bodies(module.AsyncHTTPTransport, "handle_async_request", _keeping_asynchronously)
        wrap(module.AsyncHTTPTransport, "handle_async_request", _describe, ASYNCIO_FAULTS, asynchronous=True, **facts)


@contextmanager
def _below_tracers(owner: Any, name: str) -> Iterator[None]:
    """Within what OpenTelemetry has put around the same method: its span is then around ours, as with other clients."""
    tracer = inspect.getattr_static(owner, name)
    if type(tracer).__module__.partition(".")[0] not in {"wrapt", "_wrappers"}:
        yield
        return
    setattr(owner, name, tracer.__wrapped__)
    try:
        yield
    finally:
        tracer.__wrapped__ = inspect.getattr_static(owner, name)
        setattr(owner, name, tracer)


def _describe(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall:
    request = _request(args, kwargs)
    carry_on(request.headers)
    url = request.url
    endpoint = f"rpc/httpx/{normalise_api(request.method, url.raw_path.decode('ascii'), grpc=False)}"
    payload = lambda: getattr(request, "_content", None)  # noqa: E731 -- one that is streamed would be used up
    return HookedCall(endpoint, _timeouts(request).get("read"), payload, peer=peers.server(url.host, url.port))


def _request(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[1] if len(args) > 1 else kwargs["request"]


def _timeouts(request: Any) -> dict[str, float | None]:
    """For `connect`, `read`, `write` and `pool`."""
    found: dict[str, float | None] = request.extensions.get("timeout", {})
    return found


def _keep_bodies(transport: Any, name: str, keeping: Callable[[Any], Any]) -> None:
    """While recording, bodies are read in the transport: what is above it may read them late, or never."""
    send = getattr(transport, name)
    if name not in _unhooked:
        _unhooked[name] = functools.wraps(send)(keeping(send))
        setattr(transport, name, _unhooked[name])


def _keeping(send: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def handle_request(self: Any, request: Any) -> Any:
        response = send(self, request)
        if not is_kept(response.headers):
            return response
        body = b"".join(response.stream)
        response.close()
        return _like(response, response.headers, _httpx().ByteStream(body))

    return handle_request


def _keeping_asynchronously(send: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    async def handle_async_request(self: Any, request: Any) -> Any:
        response = await send(self, request)
        if not is_kept(response.headers):
            return response
        body = b"".join([part async for part in response.stream])
        await response.aclose()
        return _like(response, response.headers, _httpx().ByteStream(body))

    return handle_async_request


def _body(response: Any) -> bytes | None:
    return b"".join(response.stream) if isinstance(response.stream, _httpx().ByteStream) else None


def _like(response: Any, headers: Any, stream: Any) -> Any:
    return _httpx().Response(response.status_code, headers=headers, stream=stream, extensions=response.extensions)


def _httpx() -> Any:
    return sys.modules["httpx"]


def _raise(name: str, text: str) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException:
        made: BaseException = getattr(_httpx(), name)(text, request=_request(args, kwargs))
        return made

    return make


def _raise_within(phase: str, name: str) -> MakeFault:
    """A timeout of one phase, where the call has one for it."""

    def make(_call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException | None:
        request = _request(args, kwargs)
        made: BaseException = getattr(_httpx(), name)("", request=request)
        return None if _timeouts(request).get(phase) is None else made

    return make


def _fail_tls(_call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException | None:
    request = _request(args, kwargs)
    text = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1006)"
    made: BaseException = _httpx().ConnectError(text, request=request)
    return made if request.url.scheme == "https" else None


def _answering(kind: str, number: int, text: str) -> MakeFault | None:
    return _answer(status_answer(number, text)) if kind in ANSWERS else None


def _answer(answer: HttpAnswer) -> MakeFault:
    def make(_call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> InjectedAnswer:
        return InjectedAnswer(_httpx().Response(answer.status, headers=list(answer.headers), content=answer.body))

    return make


def _lost(call: HookedCall, request: Any) -> BaseException:
    made: BaseException = (
        _httpx().ReadError("[Errno 104] Connection reset by peer", request=request)
        if call.timeout is None
        else _httpx().ReadTimeout("timed out", request=request)
    )
    return made


def _lose_answer(call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException:
    """Not an `AfterCall`: a response that nobody closes would keep its connection for good."""
    try:
        _unhooked["handle_request"](*args, **kwargs).close()
    except Exception as error:  # noqa: BLE001 -- the host is to see it; the call must not be made a second time
        return error
    return _lost(call, _request(args, kwargs))


async def _lose_answer_asynchronously(call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException:
    try:
        await (await _unhooked["handle_async_request"](*args, **kwargs)).aclose()
    except Exception as error:  # noqa: BLE001 -- as above
        return error
    return _lost(call, _request(args, kwargs))


def _replace_body(name: str) -> MakeFault:
    def change(response: Any) -> Any:
        response.close()
        return _with_body(response, BODIES[name])

    return lambda _call, _args, _kwargs: ChangedAnswer(change)


def _replace_body_asynchronously(name: str) -> MakeFault:
    async def change(response: Any) -> Any:
        await response.aclose()
        return _with_body(response, BODIES[name])

    return lambda _call, _args, _kwargs: ChangedAnswer(change)


def _with_body(response: Any, body: bytes) -> Any:
    return _like(response, with_body(response.headers.multi_items(), body), _httpx().ByteStream(body))


def _change_stream(kind: type) -> MakeFault:
    def make(_call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
        stream: Any = type("ChangedStream", (kind, _httpx().SyncByteStream, _httpx().AsyncByteStream), {})
        return ChangedAnswer(lambda response: _like(response, response.headers, stream(response)))

    return make


class _Garbled:
    """Each piece of a body, as it comes and as it was sent: before anything is decompressed."""

    def __init__(self, response: Any) -> None:
        self.stream = response.stream
        self.expected = response.headers.get("content-length")

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.stream:
            yield inverted(piece)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self.stream:
            yield inverted(piece)

    def close(self) -> None:
        self.stream.close()

    async def aclose(self) -> None:
        await self.stream.aclose()


class _Cut(_Garbled):
    """Half of the first piece of a body, and then the end of the connection."""

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.stream:
            yield piece[: len(piece) // 2]
            raise self.broken(len(piece) // 2)
        raise self.broken(0)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self.stream:
            yield piece[: len(piece) // 2]
            raise self.broken(len(piece) // 2)
        raise self.broken(0)

    def broken(self, received: int) -> BaseException:
        how = f"received {received} bytes, expected {self.expected}" if self.expected else "incomplete chunked read"
        made: BaseException = _httpx().RemoteProtocolError(
            f"peer closed connection without sending complete message body ({how})"
        )
        return made


FAULTS: Mapping[str, MakeFault] = {
    "connection-refused": _raise("ConnectError", "[Errno 111] Connection refused"),
    "connection-reset": _raise("ReadError", "[Errno 104] Connection reset by peer"),
    "connection-lost": _raise("RemoteProtocolError", "Server disconnected without sending a response."),
    "dns-failure": _raise("ConnectError", "[Errno -2] Name or service not known"),
    "tls-failure": _fail_tls,
    "connect-timeout": _raise_within("connect", "ConnectTimeout"),
    "timeout": _raise("ReadTimeout", "timed out"),
    "no-answer": _raise("ReadTimeout", "timed out"),
    "lost-answer": _lose_answer,
    "pool-exhausted": _raise_within("pool", "PoolTimeout"),
    **{name: _answer(answer) for name, answer in STATUS_ANSWERS.items()},
    **{name: _replace_body(name) for name in BODIES},
    "truncated-body": _change_stream(_Cut),
    "garbled-body": _change_stream(_Garbled),
}
ASYNCIO_FAULTS: Mapping[str, MakeFault] = {
    **FAULTS,
    "lost-answer": _lose_answer_asynchronously,
    **{name: _replace_body_asynchronously(name) for name in BODIES},
}
