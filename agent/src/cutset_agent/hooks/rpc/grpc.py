"""gRPC calls of synchronous clients: `rpc/grpc/GetQuote`.

The hook is at the channel, below the application's interceptors. A failed call is what a real channel makes of a
status: raised by a unary call, returned as a future, or met when a stream is read. Waits of a fault are the caller's,
also where it asked for a future. Context is carried on unless `metadata` is passed by position, which nobody does.
"""
# ruff: noqa: SLF001 -- gRPC's own errors and futures are classes that it keeps private

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from cutset_agent.calls import AfterCall, ChangedAnswer, HookedCall, InjectedAnswer, MakeFault
from cutset_agent.carriers import without_plan
from cutset_agent.hooking import wrap
from cutset_agent.request import outgoing_headers
from cutset_agent.wire import normalise_api

MODULE = "grpc._channel"  # which gRPC loads with the first channel
TESTED = "grpcio 1.60, 1.80, 1.85"

# What a caller sees of each fault: a status, and details as gRPC words them.
STATUSES: Mapping[str, tuple[str, str]] = {
    "connection-refused": (
        "UNAVAILABLE",
        "failed to connect to all addresses; last error: UNKNOWN: connect: Connection refused (111)",
    ),
    "connection-reset": ("UNAVAILABLE", "recvmsg:Connection reset by peer"),
    "connection-lost": ("UNAVAILABLE", "Socket closed"),
    "dns-failure": ("UNAVAILABLE", "DNS resolution failed: C-ares status is not ARES_SUCCESS: Domain name not found"),
    "tls-failure": (
        "UNAVAILABLE",
        "failed to connect to all addresses; last error: UNKNOWN: Ssl handshake failed: CERTIFICATE_VERIFY_FAILED",
    ),
    "timeout": ("DEADLINE_EXCEEDED", "Deadline Exceeded"),
    "no-answer": ("DEADLINE_EXCEEDED", "Deadline Exceeded"),
    "deadline-exceeded": ("DEADLINE_EXCEEDED", "Deadline Exceeded"),
    "unavailable": ("UNAVAILABLE", "upstream connect error or disconnect/reset before headers"),
    "resource-exhausted": ("RESOURCE_EXHAUSTED", "Concurrent RPC limit exceeded!"),
    "message-too-large": ("RESOURCE_EXHAUSTED", "Received message larger than max (4194305 vs. 4194304)"),
    "serialization": ("INTERNAL", "Exception deserializing response!"),
    "internal": ("INTERNAL", "Received RST_STREAM with error code 2"),
    "unknown": ("UNKNOWN", "Exception calling application: "),
    "aborted": ("ABORTED", "transaction aborted due to a conflict, try again"),
    "cancelled": ("CANCELLED", "Received RST_STREAM with error code 8"),
    "not-found": ("NOT_FOUND", "not found"),
    "permission-denied": ("PERMISSION_DENIED", "permission denied"),
    "unauthenticated": ("UNAUTHENTICATED", "invalid or expired credentials"),
    "unimplemented": ("UNIMPLEMENTED", "Method not found!"),
    "failed-precondition": ("FAILED_PRECONDITION", "failed precondition"),
    "data-loss": ("DATA_LOSS", "unrecoverable data loss"),
}


def install(module: Any) -> None:
    for owner in (module._UnaryUnaryMultiCallable, module._StreamUnaryMultiCallable):
        wrap(owner, "__call__", _describe, FAULTS, response=encoded)
        wrap(owner, "with_call", _describe, _WITH_CALL_FAULTS, response=lambda result: encoded(result[0]))
        wrap(owner, "future", _describe, _FUTURE_FAULTS)
    for name in ("_UnaryStream", "_SingleThreadedUnaryStream", "_StreamStream"):
        wrap(getattr(module, f"{name}MultiCallable"), "__call__", _describe, _STREAM_FAULTS)


def _describe(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall:
    callee, *given = args
    timeout = given[1] if len(given) > 1 else kwargs.get("timeout")
    if len(given) <= 2:
        kwargs["metadata"] = carried(kwargs.get("metadata"))
    request = given[0] if given else kwargs.get("request")
    return HookedCall(endpoint_of(callee._method), timeout, lambda: encoded(request))


def endpoint_of(method: bytes | str) -> str:
    path = method.decode() if isinstance(method, bytes) else method
    return f"rpc/grpc/{normalise_api('POST', path, grpc=True)}"


def carried(metadata: Any) -> tuple[tuple[str, Any], ...]:
    """Metadata with the present request's context, except for what is set; where its plan does not count, without."""
    given, ours = tuple(metadata or ()), outgoing_headers()
    if not ours:
        left = ((name, without_plan(name, value) if isinstance(value, str) else value) for name, value in given)
        return tuple(kept for kept, before in zip(left, given) if kept == before or kept[1])
    present = {name for name, _ in given}
    return (*given, *(member for member in ours.items() if member[0] not in present))


def encoded(message: Any) -> bytes | None:
    """A protobuf message's bytes; what a stream will send or bring is not known yet."""
    encode = getattr(message, "SerializeToString", None)
    made: bytes | None = message if isinstance(message, bytes) else encode() if encode else None
    return made


def empty(deserialize: Any) -> Any:
    """The message of which nothing arrived: all of its fields have their defaults."""
    return deserialize(b"") if deserialize else b""


def _channel() -> Any:
    return sys.modules["grpc._channel"]


def _state(name: str) -> Any:
    code, details = STATUSES[name]
    state = _channel()._RPCState((), (), (), getattr(sys.modules["grpc"].StatusCode, code), details)
    number = state.code.value[0]
    state.debug_error_string = f'UNKNOWN:Error received from peer {{grpc_message:"{details}", grpc_status:{number}}}'
    state.callbacks = None  # as after the end of a call
    return state


def _error(name: str) -> BaseException:
    made: BaseException = _channel()._InactiveRpcError(_state(name))
    return made


def _finished(name: str) -> Any:
    """A call that has failed already, as a future or a stream."""
    return _channel()._MultiThreadedRendezvous(_state(name), None, None, None)


def lost(call: HookedCall) -> str:
    return "connection-lost" if call.timeout is None else "timeout"


def _lose_answer(call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> AfterCall:
    return AfterCall(_error(lost(call)))


def _lose_future_answer(call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
    def change(future: Any) -> Any:
        future.exception()  # until the call is over
        return _finished(lost(call))

    return ChangedAnswer(change)


def _empty(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
    return ChangedAnswer(lambda _response: empty(args[0]._response_deserializer))


def _empty_with_call(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
    return ChangedAnswer(lambda result: (empty(args[0]._response_deserializer), result[1]))


def _fail(name: str) -> MakeFault:
    return lambda _call, _args, _kwargs: _error(name)


def _finish(name: str) -> MakeFault:
    return lambda _call, _args, _kwargs: InjectedAnswer(_finished(name))


FAULTS: Mapping[str, MakeFault] = {
    **{name: _fail(name) for name in STATUSES},
    "lost-answer": _lose_answer,
    "empty-body": _empty,
}
_WITH_CALL_FAULTS: Mapping[str, MakeFault] = {**FAULTS, "empty-body": _empty_with_call}
_STREAM_FAULTS: Mapping[str, MakeFault] = {name: _finish(name) for name in STATUSES}
_FUTURE_FAULTS: Mapping[str, MakeFault] = {**_STREAM_FAULTS, "lost-answer": _lose_future_answer}
