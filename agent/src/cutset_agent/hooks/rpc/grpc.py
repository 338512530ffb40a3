"""gRPC calls of synchronous clients: `rpc/grpc/GetQuote`.

The hook is at the channel, below the application's interceptors. A failed call is what a real channel makes of a
status: raised by a unary call, returned as a future, or met when a stream is read. Waits of a fault are the caller's,
also where it asked for a future. Context is carried on unless `metadata` is passed by position, which nobody does.
"""
# ruff: noqa: SLF001 -- gRPC's own errors and futures are classes that it keeps private

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from cutset_agent import peers
from cutset_agent.calls import AfterCall, Answering, ChangedAnswer, HookedCall, InjectedAnswer, MakeFault, inverted
from cutset_agent.carriers import without_plan
from cutset_agent.hooking import wrap
from cutset_agent.request import is_handed_on, outgoing_headers
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


ANSWERS = "AG"
UNREADABLE = STATUSES["serialization"]
# What becomes of the message that is the answer.
SPOILT: Mapping[str, Callable[[bytes], bytes]] = {
    "empty-body": lambda _message: b"",
    "truncated-body": lambda message: message[: len(message) // 2],
    "garbled-body": inverted,
}

# What Envoy makes of an HTTP status that answers a gRPC call; all others are UNKNOWN.
_OF_HTTP = {400: 13, 401: 16, 403: 7, 404: 12, 429: 14, 502: 14, 503: 14, 504: 14}
_UNKNOWN = 2


def install(module: Any) -> None:
    failing, finishing = answering(_fail), answering(_finish)
    for owner in (module._UnaryUnaryMultiCallable, module._StreamUnaryMultiCallable):
        wrap(owner, "__call__", _describe, FAULTS, response=encoded, answering=failing)
        with_call: dict[str, Any] = {"response": lambda result: encoded(result[0]), "answering": failing}
        wrap(owner, "with_call", _describe, _WITH_CALL_FAULTS, **with_call)
        wrap(owner, "future", _describe, _FUTURE_FAULTS, answering=finishing)
    for name in ("_UnaryStream", "_SingleThreadedUnaryStream", "_StreamStream"):
        wrap(getattr(module, f"{name}MultiCallable"), "__call__", _describe, _STREAM_FAULTS, answering=finishing)


def answering(fail: Callable[[tuple[str, str]], MakeFault]) -> Answering:
    def answer(kind: str, number: int, text: str) -> MakeFault | None:
        status = number if kind == "G" else _OF_HTTP.get(number, _UNKNOWN)
        codes = {code.value[0]: code.name for code in sys.modules["grpc"].StatusCode}
        worded = next((details for code, details in STATUSES.values() if code == codes[status]), "")
        return fail((codes[status], text or worded))

    return answer


def _describe(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall:
    callee, *given = args
    timeout = given[1] if len(given) > 1 else kwargs.get("timeout")
    if len(given) <= 2:
        kwargs["metadata"] = carried(kwargs.get("metadata"))
    request = given[0] if given else kwargs.get("request")
    return HookedCall(endpoint_of(callee._method), timeout, lambda: encoded(request), peer=peer_of(callee))


def peer_of(callee: Any) -> str:
    target = getattr(callee._channel, "target", b"")  # of asyncio's channels an attribute
    return peers.channel(target() if callable(target) else target)


def endpoint_of(method: bytes | str) -> str:
    path = method.decode() if isinstance(method, bytes) else method
    return f"rpc/grpc/{normalise_api('POST', path, grpc=True)}"


def carried(metadata: Any) -> tuple[tuple[str, Any], ...]:
    """Metadata with the present request's context, except for what is set; where its plan does not count, without."""
    given, ours = tuple(metadata or ()), outgoing_headers()
    if not ours:
        left = ((name, without_plan(name, value) if isinstance(value, str) else value) for name, value in given)
        return tuple(kept for kept, before in zip(left, given) if kept == before or kept[1])
    kept = tuple(each for each in given if not (each[0] == "traceparent" and is_handed_on(each[1])))
    present = {name for name, _ in kept}
    return (*kept, *(member for member in ours.items() if member[0] not in present))


def encoded(message: Any) -> bytes | None:
    """A protobuf message's bytes; what a stream will send or bring is not known yet."""
    encode = getattr(message, "SerializeToString", None)
    made: bytes | None = message if isinstance(message, bytes) else encode() if encode else None
    return made


def decoded(message: bytes, deserialize: Any) -> Any:
    """What gRPC makes of a message; UNREADABLE if it cannot. Of nothing, it is one whose fields have their defaults."""
    try:
        return deserialize(message) if deserialize else message
    except Exception:  # noqa: BLE001 -- as gRPC does
        return UNREADABLE


def _channel() -> Any:
    return sys.modules["grpc._channel"]


def _state(status: tuple[str, str]) -> Any:
    code, details = status
    state = _channel()._RPCState((), (), (), getattr(sys.modules["grpc"].StatusCode, code), details)
    number = state.code.value[0]
    state.debug_error_string = f'UNKNOWN:Error received from peer {{grpc_message:"{details}", grpc_status:{number}}}'
    state.callbacks = None  # as after the end of a call
    return state


def _error(status: tuple[str, str]) -> BaseException:
    made: BaseException = _channel()._InactiveRpcError(_state(status))
    return made


def _finished(status: tuple[str, str]) -> Any:
    """A call that has failed already, as a future or a stream."""
    return _channel()._MultiThreadedRendezvous(_state(status), None, None, None)


def lost(call: HookedCall) -> tuple[str, str]:
    return STATUSES["connection-lost" if call.timeout is None else "timeout"]


def _lose_answer(call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> AfterCall:
    return AfterCall(_error(lost(call)))


def _lose_future_answer(call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
    def change(future: Any) -> Any:
        future.exception()  # until the call is over
        return _finished(lost(call))

    return ChangedAnswer(change)


def _spoil(spoilt: Callable[[bytes], bytes]) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
        def change(response: Any) -> Any:
            read = decoded(spoilt(encoded(response) or b""), args[0]._response_deserializer)
            return AfterCall(_error(UNREADABLE)) if read is UNREADABLE else read

        return ChangedAnswer(change)

    return make


def _spoil_with_call(spoilt: Callable[[bytes], bytes]) -> MakeFault:
    spoil = _spoil(spoilt)

    def make(call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ChangedAnswer:
        action: Any = spoil(call, args, kwargs)

        def change(result: Any) -> Any:
            changed = action.change(result[0])
            return changed if isinstance(changed, AfterCall) else (changed, result[1])

        return ChangedAnswer(change)

    return make


def _fail(status: tuple[str, str]) -> MakeFault:
    return lambda _call, _args, _kwargs: _error(status)


def _finish(status: tuple[str, str]) -> MakeFault:
    return lambda _call, _args, _kwargs: InjectedAnswer(_finished(status))


FAULTS: Mapping[str, MakeFault] = {
    **{name: _fail(status) for name, status in STATUSES.items()},
    "lost-answer": _lose_answer,
    **{name: _spoil(spoilt) for name, spoilt in SPOILT.items()},
}
_WITH_CALL_FAULTS: Mapping[str, MakeFault] = {
    **FAULTS,
    **{name: _spoil_with_call(spoilt) for name, spoilt in SPOILT.items()},
}
_STREAM_FAULTS: Mapping[str, MakeFault] = {name: _finish(status) for name, status in STATUSES.items()}
_FUTURE_FAULTS: Mapping[str, MakeFault] = {**_STREAM_FAULTS, "lost-answer": _lose_future_answer}
