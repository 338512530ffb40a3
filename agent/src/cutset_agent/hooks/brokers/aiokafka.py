"""aiokafka: `send`, `send_and_wait`, and the handling of what `getone` and `async for` give.

The context travels in the records' headers. What `send` gives is a future, so a fault of the broker's is one of the
future's, which nobody may ever look at. Batches (`getmany`, `send_batch`) are left alone: one record is one message.
"""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from cutset_agent import peers, request
from cutset_agent.calls import (
    AfterCall,
    ChangedAnswer,
    Describe,
    HookedCall,
    InjectedAnswer,
    MakeFault,
    SharedFault,
)
from cutset_agent.hooking import wrap
from cutset_agent.hooks.brokers import messages

MODULE = "aiokafka"
TESTED = "aiokafka 0.14, against no broker"

HANDLE = "mq/aiokafka/handle"
_HEADERS_PLACE = 6  # of `send`: self, topic, value, key, partition, timestamp_ms, headers


def install(module: Any) -> None:
    producer, consumer = module.AIOKafkaProducer, module.AIOKafkaConsumer
    wrap(producer, "send", _describe_send("send"), SEND_FAULTS, asynchronous=True)
    wrap(producer, "send_and_wait", _describe_send("send_and_wait"), WAIT_FAULTS, asynchronous=True, outcome=_outcome)
    if not hasattr(consumer.getone, "_cutset_original"):
        consumer.getone = _pulling(consumer.getone)


def _describe_send(method: str) -> Describe:
    def describe(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall | None:
        if len(args) > _HEADERS_PLACE:  # so `send_and_wait` calls `send`, which is a part of it then
            return None
        topic = args[1] if len(args) > 1 else kwargs["topic"]
        value = args[2] if len(args) > 2 else kwargs.get("value")
        timeout = args[0]._request_timeout_ms / 1000  # noqa: SLF001
        given = kwargs.get("headers") or []
        ours = request.outgoing_headers() if _takes_headers(args[0]) else {}
        if ours and isinstance(given, list):  # aiokafka takes nothing else
            names = {header[0] for header in given}
            kwargs["headers"] = [*given, *((name, text.encode()) for name, text in ours.items() if name not in names)]
        facts = {"topic": str(topic)}
        return HookedCall(f"mq/aiokafka/{method}", timeout, lambda: _payload(value), facts, peers.destination(topic))

    return describe


def _takes_headers(producer: Any) -> bool:
    """Brokers before 0.11 do not; newer clients no longer talk to them."""
    version = getattr(producer.client, "api_version", None)
    return not isinstance(version, tuple) or version >= (0, 11)


def _payload(value: object) -> bytes | str | None:
    return value if value is None or isinstance(value, (bytes, str)) else repr(value)


def _outcome(metadata: Any) -> dict[str, str]:
    return {"partition": str(metadata.partition), "offset": str(metadata.offset)}


# ---- what is received


def _pulling(getone: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(getone)
    async def pulling(self: Any, *args: Any, **kwargs: Any) -> Any:
        messages.end_pulled()
        record = await getone(self, *args, **kwargs)
        if messages.begin_pulled(record, _headers, HANDLE, _peer):
            await _Handling.handle(record)
        return record

    pulling._cutset_original = getone  # type: ignore[attr-defined]  # noqa: SLF001
    return pulling


def _headers(record: Any) -> Iterable[tuple[Any, Any]]:
    found: Iterable[tuple[Any, Any]] = record.headers
    return found


class _Handling:
    @staticmethod
    async def handle(record: Any) -> None:
        """Where faults happen; how the record is handled is unseen."""


def _describe_handling(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall:
    record = args[0]
    facts = {"topic": record.topic}
    return HookedCall(HANDLE, None, lambda: _payload(record.value), facts, _peer(record))


def _peer(record: Any) -> str:
    return peers.destination(record.topic)


# ---- faults


def _error(name: str, *arguments: object) -> BaseException:
    error: BaseException = getattr(sys.modules["aiokafka.errors"], name)(*arguments)
    return error


def _raise(name: str, *arguments: object) -> MakeFault:
    return lambda *_: _error(name, *arguments)


def _lose_connections(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    for connection in list(args[0].client._conns.values()):  # noqa: SLF001
        connection.close()
    return _error("KafkaConnectionError", "Connection at broker closed")


def _not_serializable(_call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    """As a `value_serializer` that makes JSON fails."""
    return TypeError("Object of type object is not JSON serializable")


def _lose_answer(_call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> AfterCall:
    return AfterCall(_error("KafkaTimeoutError"))


def _lose_answer_later(_call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
    async def deliver_and_fail(delivery: Awaitable[Any]) -> None:
        await delivery
        raise _error("KafkaTimeoutError")

    async def change(delivery: Awaitable[Any]) -> asyncio.Future[None]:
        return asyncio.ensure_future(deliver_and_fail(delivery))

    return ChangedAnswer(change)


def _later(make: MakeFault) -> MakeFault:
    """The error is the future's, as it is for all that only the broker can tell."""

    async def make_future(call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> InjectedAnswer:
        error = make(call, args, kwargs)
        assert isinstance(error, BaseException)
        delivery = asyncio.get_running_loop().create_future()
        delivery.set_exception(error)
        return InjectedAnswer(delivery)

    return make_future


def _damage(damaged: Callable[[bytes], bytes]) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer | None:
        record = args[0]
        if not isinstance(record.value, bytes):  # the consumer's deserializer has already made something of it
            return None
        record.value = damaged(record.value)
        return ChangedAnswer(lambda result: result)

    return make


_OF_BROKER: Mapping[str, MakeFault] = {
    "broker-unavailable": _raise("KafkaConnectionError", "No connection to node with id 1"),
    "connection-lost": SharedFault(_lose_connections, "the connections are those of all who use this producer"),
    "connection-reset": _raise("KafkaConnectionError", "Connection at broker closed"),
    "not-enough-replicas": _raise("NotEnoughReplicasError"),
    "timeout": _raise("KafkaTimeoutError"),
    "no-answer": _raise("KafkaTimeoutError"),
}
_OF_CLIENT: Mapping[str, MakeFault] = {
    "message-too-large": _raise("MessageSizeTooLargeError", "The message is larger than the maximum request size"),
    "serialization": _not_serializable,
}
WAIT_FAULTS: Mapping[str, MakeFault] = {**_OF_BROKER, **_OF_CLIENT, "lost-answer": _lose_answer}
SEND_FAULTS: Mapping[str, MakeFault] = {
    **{name: _later(make) for name, make in _OF_BROKER.items()},
    **_OF_CLIENT,
    "lost-answer": _lose_answer_later,
}
HANDLE_FAULTS: Mapping[str, MakeFault] = {name: _damage(damaged) for name, damaged in messages.DAMAGES.items()}
FAULTS: Mapping[str, MakeFault] = {**HANDLE_FAULTS, **WAIT_FAULTS}


def faults_at(method: str) -> Mapping[str, MakeFault]:
    return {"handle": HANDLE_FAULTS, "send": SEND_FAULTS}.get(method, WAIT_FAULTS)


wrap(_Handling, "handle", _describe_handling, HANDLE_FAULTS, asynchronous=True)
