"""pika: `basic_publish` and the handling of messages by callbacks of `basic_consume`, with all its connections.

The context travels in the messages' headers. Properties that are passed by position cannot be replaced, so the context
ends there. Messages that are pulled (`consume`, `basic_get`) are left alone.
"""

from __future__ import annotations

import copy
import functools
import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from cutset_agent import peers, request
from cutset_agent.calls import AfterCall, ChangedAnswer, HookedCall, InjectedAnswer, MakeFault, SharedFault
from cutset_agent.hooking import wrap
from cutset_agent.hooks.brokers import messages

MODULE = "pika"
TESTED = "pika 1.3, 1.4, against a stand-in for the broker"

HANDLE = "mq/pika/handle"
_PROPERTIES_PLACE = 4  # of `basic_publish`: self, exchange, routing_key, body, properties, mandatory
_LOST = "Stream connection lost: ConnectionResetError(104, 'Connection reset by peer')"


def install(module: Any) -> None:
    for channel in (module.adapters.blocking_connection.BlockingChannel, module.channel.Channel):
        wrap(channel, "basic_publish", _describe_publish, PUBLISH_FAULTS)
        if not hasattr(channel.basic_consume, "_cutset_original"):
            channel.basic_consume = _consuming(channel.basic_consume)


def _is_inner(channel: Any) -> bool:
    """The channel that works for a blocking one, and knows it by its cookie."""
    return hasattr(channel, "_get_cookie") and channel._get_cookie() is not None  # noqa: SLF001


def _describe_publish(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall | None:
    channel = args[0]
    if _is_inner(channel):
        return None
    ours = request.outgoing_headers()
    if ours and len(args) <= _PROPERTIES_PLACE:
        given = kwargs.get("properties")
        properties = copy.copy(given) if given is not None else sys.modules["pika"].BasicProperties()
        properties.headers = {**ours, **(properties.headers or {})}
        kwargs["properties"] = properties
    body = args[3] if len(args) > 3 else kwargs.get("body")
    facts = {"exchange": _argument(args, kwargs, 1, "exchange"), "key": _argument(args, kwargs, 2, "routing_key")}
    return HookedCall("mq/pika/basic_publish", _timeout(channel), lambda: body, facts, _peer(*facts.values()))


def _peer(exchange: str, key: str) -> str:
    """By the nameless exchange a message goes to the queue that its key names."""
    return "/".join(peers.destination(each) for each in (exchange, key) if each)


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], place: int, name: str) -> str:
    return str(args[place] if len(args) > place else kwargs.get(name, ""))


def _timeout(channel: Any) -> float | None:
    """A broker that wants no more messages blocks its publishers; this is how long they bear it."""
    connection = getattr(channel.connection, "_impl", channel.connection)
    timeout: float | None = connection.params.blocked_connection_timeout
    return timeout


# ---- what is received


def _consuming(basic_consume: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(basic_consume)
    def consuming(self: Any, queue: str, on_message_callback: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        hooked = callable(on_message_callback) and not _is_inner(self)
        callback = _handling(on_message_callback) if hooked else on_message_callback
        return basic_consume(self, queue, callback, *args, **kwargs)

    consuming._cutset_original = basic_consume  # type: ignore[attr-defined]  # noqa: SLF001
    return consuming


def _headers(properties: Any) -> Iterable[tuple[Any, Any]]:
    found: dict[Any, Any] = properties.headers or {}
    return found.items()


def _handling(callback: Callable[..., Any]) -> Callable[..., Any]:
    def handle(channel: Any, method: Any, properties: Any, body: bytes) -> Any:
        entry = messages.entered(properties, _headers, HANDLE, lambda _: _peer(method.exchange, method.routing_key))
        try:
            result = _Handling.handle(callback, [channel, method, properties, body])
        except BaseException as error:
            messages.left(entry, error)
            raise
        messages.left(entry)
        return result

    return handle


class _Handling:
    @staticmethod
    def handle(callback: Callable[..., Any], delivery: list[Any]) -> Any:
        """`delivery` is what the callback is called with, in a list that a fault may change."""
        return callback(*delivery)


def _describe_handling(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall:
    _channel, method, _properties, body = args[1]
    facts = {"exchange": method.exchange, "key": method.routing_key}
    return HookedCall(HANDLE, None, lambda: body, facts, _peer(*facts.values()))


# ---- faults


def _error(name: str, *arguments: object) -> BaseException:
    error: BaseException = getattr(sys.modules["pika.exceptions"], name)(*arguments)
    return error


def _raise(name: str, *arguments: object) -> MakeFault:
    return lambda *_: _error(name, *arguments)


def _raise_when_confirming(name: str, *arguments: object) -> MakeFault:
    """What a publisher can only learn when it waits for the broker's confirmation."""

    def make(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
        return _error(name, *arguments) if _confirms(args[0]) else None

    return make


def _confirms(channel: Any) -> bool:
    return bool(getattr(channel, "_delivery_confirmation", False))


def _lose_connection(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    connection = args[0].connection
    with suppress(OSError):  # closed already
        getattr(connection, "_impl", connection)._transport._sock.shutdown(socket.SHUT_RDWR)  # noqa: SLF001
    if hasattr(connection, "process_data_events"):  # a blocking one notices when it is told to look
        try:
            connection.process_data_events(time_limit=0)
        except Exception as noticed:  # noqa: BLE001 -- pika's own, whichever it is
            return noticed
    return _error("StreamLostError", _LOST)


def _lose_answer(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> AfterCall | None:
    return AfterCall(_error("StreamLostError", _LOST)) if _confirms(args[0]) else None


def _damage(damaged: Callable[[bytes], bytes]) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
        delivery = args[1]
        delivery[3] = damaged(delivery[3])
        return ChangedAnswer(lambda result: result)

    return make


def _deliver_twice(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
    callback, delivery = args
    return ChangedAnswer(lambda _result: callback(*delivery))


PUBLISH_FAULTS: Mapping[str, MakeFault] = {
    "broker-unavailable": _raise(
        "ConnectionClosedByBroker",
        320,
        "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'",
    ),
    "connection-lost": SharedFault(_lose_connection, "the connection is that of all its channels and consumers"),
    "connection-reset": _raise("StreamLostError", _LOST),
    "lost-answer": _lose_answer,
    "lost-message": lambda *_: InjectedAnswer(None),
    "message-too-large": _raise(
        "ChannelClosedByBroker",
        406,
        "PRECONDITION_FAILED - message size 134217729 is larger than configured max size 134217728",
    ),
    "nacked": _raise_when_confirming("NackError", []),
    "unroutable": _raise_when_confirming("UnroutableError", []),
    "timeout": _raise("ConnectionBlockedTimeout", "Blocked connection timeout expired."),
    "no-answer": _raise("ConnectionBlockedTimeout", "Blocked connection timeout expired."),
}
HANDLE_FAULTS: Mapping[str, MakeFault] = {
    **{name: _damage(damaged) for name, damaged in messages.DAMAGES.items()},
    "lost-message": lambda *_: InjectedAnswer(None),
    "duplicate-message": _deliver_twice,
}
FAULTS: Mapping[str, MakeFault] = {**HANDLE_FAULTS, **PUBLISH_FAULTS}


def faults_at(method: str) -> Mapping[str, MakeFault]:
    return HANDLE_FAULTS if method == "handle" else PUBLISH_FAULTS


wrap(_Handling, "handle", _describe_handling, HANDLE_FAULTS)
