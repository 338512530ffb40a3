"""gRPC calls of asyncio clients: `rpc/grpc/GetQuote`, as those of synchronous ones.

Within a request of ours a call gets one more interceptor, the innermost: below those of the application. Those expect a
call object at once and its status later, so that ours starts a call of its own, within which a fault waits and fails.
"""
# ruff: noqa: SLF001 -- interceptors belong to a channel; only its callables can have one for a single call

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable, Mapping
from typing import Any

from cutset_agent import request as requests
from cutset_agent.calls import AfterCall, ChangedAnswer, HookedCall, MakeFault
from cutset_agent.hooking import wrap
from cutset_agent.hooks.rpc.grpc import (
    SPOILT,
    STATUSES,
    UNREADABLE,
    answering,
    carried,
    decoded,
    encoded,
    endpoint_of,
    lost,
    peer_of,
)
from cutset_agent.reports import count_error

MODULE = "grpc"
TESTED = "grpcio 1.60, 1.80, 1.85"


def install(_module: Any) -> None:
    failing: dict[str, Any] = {"asynchronous": True, "answering": answering(_fail)}
    wrap(_Hooked, "intercept_unary_unary", _describe, FAULTS, response=_response, **failing)
    for name in ("intercept_unary_stream", "intercept_stream_unary", "intercept_stream_stream"):
        wrap(_Hooked, name, _describe, _STREAM_FAULTS, **failing)
    for name in ("UnaryUnary", "UnaryStream", "StreamUnary", "StreamStream"):
        owner = getattr(sys.modules["grpc.aio._channel"], f"{name}MultiCallable")
        if not hasattr(owner.__call__, "_cutset_hook"):
            owner.__call__ = _with_innermost(owner.__call__)


def _with_innermost(call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        callee, request = self, requests.current()
        if request is not None:
            try:
                callee = copy.copy(self)
                callee._interceptors = [*(self._interceptors or ()), _Innermost(self)]
            except Exception as error:  # noqa: BLE001 -- the host's call matters more
                count_error("interceptors of grpc.aio", error)
        return _joined(request, call(callee, *args, **kwargs))

    wrapper._cutset_hook = True  # type: ignore[attr-defined]
    return wrapper


def _joined(request: requests.ServedRequest | None, call: Any) -> Any:
    """A call with interceptors runs in a task of its own, which begins before anybody waits for it."""
    if request is not None:
        request.reach.join(getattr(call, "_interceptors_task", None))
    return call


class _Hooked:
    """The interceptor that `wrap` wraps. What follows it, up to the wire, is `continuation`."""

    def __init__(self, callee: Any, continuation: Callable[..., Any] | None = None) -> None:
        self.callee = callee
        self.continuation = continuation

    async def intercept_unary_unary(self, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        call = await self.go_on(continuation, details, request)
        await call  # so that the report knows how it ended, and an answer can be lost
        return call

    async def intercept_unary_stream(self, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        return await self.go_on(continuation, details, request)

    intercept_stream_unary = intercept_unary_stream
    intercept_stream_stream = intercept_unary_stream

    async def go_on(self, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        metadata = sys.modules["grpc.aio"].Metadata(*carried(details.metadata))
        return await (self.continuation or continuation)(details._replace(metadata=metadata), request)


class _Innermost(_Hooked):
    """Calls with one request message start a call of their own; those with many are hooked as they are."""

    async def intercept_unary_unary(self, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        return self.started("InterceptedUnaryUnaryCall", continuation, details, request)

    async def intercept_unary_stream(self, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        return self.started("InterceptedUnaryStreamCall", continuation, details, request)

    def started(self, kind: str, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        callee = self.callee
        call = getattr(sys.modules["grpc.aio._interceptor"], kind)(
            [_Hooked(callee, continuation)],
            request,
            details.timeout,
            details.metadata,
            details.credentials,
            details.wait_for_ready,
            callee._channel,
            details.method,
            callee._request_serializer,
            callee._response_deserializer,
            callee._loop,
        )
        return _joined(requests.current(), call)


def _describe(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall:
    hooked, _continuation, details, request = args
    peer = peer_of(hooked.callee)
    return HookedCall(endpoint_of(details.method), details.timeout, lambda: encoded(request), peer=peer)


def _response(call: Any) -> bytes | None:
    answered = getattr(call, "_call_response", None)
    return encoded(answered.result()) if answered is not None else None


def _error(expected: tuple[str, str]) -> BaseException:
    code, details = expected
    aio, status = sys.modules["grpc.aio"], getattr(sys.modules["grpc"].StatusCode, code)
    text = f'UNKNOWN:Error received from peer {{grpc_message:"{details}", grpc_status:{status.value[0]}}}'
    made: BaseException = aio.AioRpcError(status, aio.Metadata(), aio.Metadata(), details, text)
    return made


def _fail(status: tuple[str, str]) -> MakeFault:
    return lambda _call, _args, _kwargs: _error(status)


def _lose_answer(call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> AfterCall:
    return AfterCall(_error(lost(call)))


def _spoil(spoilt: Callable[[bytes], bytes]) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
        async def change(answered: Any) -> Any:
            read = decoded(spoilt(encoded(await answered) or b""), args[0].callee._response_deserializer)
            return AfterCall(_error(UNREADABLE)) if read is UNREADABLE else read

        return ChangedAnswer(change)

    return make


_STREAM_FAULTS: Mapping[str, MakeFault] = {name: _fail(status) for name, status in STATUSES.items()}
FAULTS: Mapping[str, MakeFault] = {
    **_STREAM_FAULTS,
    "lost-answer": _lose_answer,
    **{name: _spoil(spoilt) for name, spoilt in SPOILT.items()},
}
