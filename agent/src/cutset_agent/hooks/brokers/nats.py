"""nats-py: publishing (core and JetStream), requests, acknowledgements, and the handling of messages.

The context travels in the headers of messages. Handling is a callback's run; a message that is pulled (`next_msg`,
`async for`, `fetch`) is handled from then until its task pulls again. Headers that are passed by position cannot be
added to, so the context ends there.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any

from cutset_agent import peers, request
from cutset_agent.calls import AfterCall, ChangedAnswer, HookedCall, InjectedAnswer, MakeFault, SharedFault
from cutset_agent.hooking import wrap
from cutset_agent.hooks.brokers import messages

MODULE = "nats"
TESTED = "nats-py 2.9, 2.16 (real server 2.15)"

HANDLE = "mq/nats/handle"
_ACK_WORDS = 9  # $JS ACK stream consumer delivered stream-sequence consumer-sequence timestamp pending
_SPOILT = ("empty-body", "truncated-body", "garbled-body")  # of the answer to a request
REQUEST_TIMEOUT = 0.5  # nats-py's own, where the caller gives none


class _Carried(dict[str, str]):
    """Headers of a call that is described already: what it calls within nats-py is a part of it."""


def install(_module: Any) -> None:
    client, subscription = sys.modules["nats.aio.client"].Client, sys.modules["nats.aio.subscription"]
    context = sys.modules["nats.js.client"].JetStreamContext
    wrap(client, "publish", _describe_publish, PUBLISH_FAULTS, asynchronous=True)
    wrap(client, "request", _describe_request, REQUEST_FAULTS, asynchronous=True, response=lambda answer: answer.data)
    wrap(context, "publish", _describe_jetstream_publish, JETSTREAM_FAULTS, asynchronous=True, outcome=_outcome)
    _replace(subscription.Subscription, "_start", _starting)
    _replace(subscription.Subscription, "next_msg", _pulling(lambda subscription: subscription))
    _replace(subscription._SubscriptionMessageIterator, "__anext__", _pulling(lambda iterator: iterator._sub))  # noqa: SLF001
    _replace(context.PullSubscription, "fetch", _fetching)


def _replace(owner: Any, name: str, changed: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    if not hasattr(original, "_cutset_original"):
        replacement: Any = functools.wraps(original)(changed(original))
        replacement._cutset_original = original  # noqa: SLF001
        setattr(owner, name, replacement)


# ---- what is sent


def _describe_publish(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall | None:
    subject, payload = _argument(args, kwargs, 1, "subject"), _argument(args, kwargs, 2, "payload")
    headers = _argument(args, kwargs, 4, "headers")
    if isinstance(headers, _Carried):
        return None
    if subject.startswith("$"):  # the server's own subjects, which take no headers of ours
        return _acknowledgement(subject) if subject.startswith("$JS.ACK.") else None
    if len(args) <= 4:
        kwargs["headers"] = _carried(headers)
    # Answers go to inboxes, whose names are unique.
    if subject.startswith("_INBOX."):
        return HookedCall("mq/nats/respond", None, lambda: payload, {"subject": subject})
    return HookedCall("mq/nats/publish", None, lambda: payload, {"subject": subject}, peers.destination(subject))


def _acknowledgement(subject: str) -> HookedCall:
    """Its subject names the stream, behind a domain and an account where servers write them."""
    words = subject.split(".")
    stream = words[4 if len(words) > _ACK_WORDS else 2]
    return HookedCall("mq/nats/ack", facts={"subject": subject}, peer=peers.destination(stream))


def _describe_request(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall | None:
    subject, payload = _argument(args, kwargs, 1, "subject"), _argument(args, kwargs, 2, "payload")
    headers = _argument(args, kwargs, 5, "headers")
    if isinstance(headers, _Carried) or subject.startswith("$"):
        return None
    if len(args) <= 5:
        kwargs["headers"] = _carried(headers)
    timeout = _argument(args, kwargs, 3, "timeout", REQUEST_TIMEOUT)
    facts = {"subject": subject}
    return HookedCall("mq/nats/request", timeout, lambda: payload, facts, peers.destination(subject))


def _describe_jetstream_publish(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall:
    subject, payload = _argument(args, kwargs, 1, "subject"), _argument(args, kwargs, 2, "payload")
    if len(args) <= 5:
        kwargs["headers"] = _carried(kwargs.get("headers"))
    timeout = _argument(args, kwargs, 3, "timeout")
    if timeout is None:
        timeout = args[0]._timeout  # noqa: SLF001
    facts = {"subject": subject}
    return HookedCall("mq/nats/publish", timeout, lambda: payload, facts, peers.destination(subject))


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], place: int, name: str, otherwise: Any = None) -> Any:
    return args[place] if len(args) > place else kwargs.get(name, otherwise)


def _carried(headers: dict[str, str] | None) -> _Carried:
    return _Carried({**request.outgoing_headers(), **(headers or {})})


def _outcome(acknowledgement: Any) -> dict[str, str]:
    return {"stream": acknowledgement.stream, "sequence": str(acknowledgement.seq)}


# ---- what is received


def _starting(start: Callable[..., Any]) -> Callable[..., Any]:
    def _start(self: Any, *args: Any, **kwargs: Any) -> Any:
        callback = self._cb
        # The client's own callbacks take the answers to requests, which are no work of their own.
        if inspect.iscoroutinefunction(getattr(callback, "func", callback)) and not _is_of_library(callback):
            self._cb = _handling(callback)
        return start(self, *args, **kwargs)

    return _start


def _is_of_library(callback: Any) -> bool:
    owner = getattr(callback, "__self__", None)
    return type(owner).__module__.startswith("nats.")


def _handling(callback: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
    @functools.wraps(callback)
    async def handle(message: Any) -> None:
        entry = messages.entered(message, _headers, HANDLE, _peer)
        try:
            await _Handling.handle(callback, message)
        except BaseException as error:
            messages.left(entry, error)
            raise
        messages.left(entry)

    return handle


class _Handling:
    @staticmethod
    async def handle(callback: Callable[[Any], Awaitable[None]] | None, message: Any) -> None:
        """Without a callback it is where faults happen and nothing else: how a pulled message is handled is unseen."""
        if callback is not None:
            await callback(message)


def _describe_handling(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall:
    message = args[1]
    return HookedCall(HANDLE, None, lambda: message.data, {"subject": message.subject}, _peer(message))


def _peer(message: Any) -> str:
    return peers.destination(message.subject)


def _headers(message: Any) -> Iterable[tuple[Any, Any]]:
    found: dict[Any, Any] = message.headers or {}
    return found.items()


async def _begin(message: Any) -> None:
    if messages.begin_pulled(message, _headers, HANDLE, _peer):
        await _Handling.handle(None, message)


def _pulling(subscription_of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def changed(pull: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def pulling(self: Any, *args: Any, **kwargs: Any) -> Any:
            subscription = subscription_of(self)
            # On an inbox come answers, and what `fetch` asked for, unless JetStream was told to deliver there.
            if subscription._jsi is None and subscription.subject.startswith("_INBOX."):  # noqa: SLF001
                return await pull(self, *args, **kwargs)
            messages.end_pulled()
            message = await pull(self, *args, **kwargs)
            await _begin(message)
            return message

        return pulling

    return changed


def _fetching(fetch: Callable[..., Awaitable[list[Any]]]) -> Callable[..., Awaitable[list[Any]]]:
    async def fetching(self: Any, *args: Any, **kwargs: Any) -> list[Any]:
        messages.end_pulled()
        fetched = await fetch(self, *args, **kwargs)
        if len(fetched) == 1:
            await _begin(fetched[0])
            return fetched
        return _Batch(fetched)

    return fetching


class _Batch(list[Any]):
    """Messages that are handled one after the other, as one goes through them."""

    def __iter__(self) -> Iterator[Any]:
        for message in list.__iter__(self):
            messages.begin_pulled(message, _headers, HANDLE, _peer)
            yield message
        messages.end_pulled()


# ---- faults


def _raise(name: str, module: str = "nats.errors", **details: object) -> MakeFault:
    def make(_call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
        error: BaseException = getattr(sys.modules[module], name)(**details)
        return error

    return make


def _lose_answer(_call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> AfterCall:
    return AfterCall(sys.modules["nats.errors"].TimeoutError())


def _spoil_answer(damaged: Callable[[bytes], bytes]) -> MakeFault:
    def change(answer: Any) -> Any:
        return dataclasses.replace(answer, data=damaged(answer.data))

    return lambda *_: ChangedAnswer(change)


def _lose_connection(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    """The client connects again by itself; until then it refuses what its buffer does not hold."""
    client = getattr(args[0], "_nc", args[0])
    client._transport.close()  # noqa: SLF001
    error: BaseException = sys.modules["nats.errors"].OutboundBufferLimitError()
    return error


_OF_CONNECTION: Mapping[str, MakeFault] = {
    "broker-unavailable": _raise("ConnectionClosedError"),
    "connection-lost": SharedFault(_lose_connection, "the connection is that of all who use this client"),
    "connection-reset": _raise("OutboundBufferLimitError"),
}
PUBLISH_FAULTS: Mapping[str, MakeFault] = {
    **_OF_CONNECTION,
    "message-too-large": _raise("MaxPayloadError"),
    "lost-message": lambda *_: InjectedAnswer(None),
}
REQUEST_FAULTS: Mapping[str, MakeFault] = {
    **_OF_CONNECTION,
    "message-too-large": _raise("MaxPayloadError"),
    "no-responders": _raise("NoRespondersError"),
    "timeout": _raise("TimeoutError"),
    "no-answer": _raise("TimeoutError"),
    "lost-answer": _lose_answer,
    **{name: _spoil_answer(messages.DAMAGES[name]) for name in _SPOILT},
}
JETSTREAM_FAULTS: Mapping[str, MakeFault] = {
    **{name: make for name, make in REQUEST_FAULTS.items() if name not in _SPOILT},
    "no-responders": _raise("NoStreamResponseError", "nats.js.errors"),
    "unavailable": _raise(
        "ServiceUnavailableError",
        "nats.js.errors",
        code=503,
        err_code=10008,
        description="system temporarily unavailable",
    ),
    "disk-full": _raise(
        "ServerError",
        "nats.js.errors",
        code=500,
        err_code=10047,
        description="insufficient storage resources available",
    ),
}


def _damage(damaged: Callable[[bytes], bytes]) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer:
        message = args[1]
        message.data = damaged(message.data)
        return ChangedAnswer(lambda result: result)

    return make


def _lose_message(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> InjectedAnswer | None:
    return None if args[0] is None else InjectedAnswer(None)


def _deliver_twice(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> ChangedAnswer | None:
    callback, message = args
    again = dataclasses.replace(message)  # before the first handling acknowledges it

    async def handle_again(_result: None) -> None:
        await callback(again)

    return None if callback is None else ChangedAnswer(handle_again)


HANDLE_FAULTS: Mapping[str, MakeFault] = {
    **{name: _damage(damaged) for name, damaged in messages.DAMAGES.items()},
    "lost-message": _lose_message,
    "duplicate-message": _deliver_twice,
}
FAULTS: Mapping[str, MakeFault] = {**HANDLE_FAULTS, **PUBLISH_FAULTS, **REQUEST_FAULTS, **JETSTREAM_FAULTS}


def faults_at(method: str) -> Mapping[str, MakeFault]:
    """Publishing to a stream is not told from publishing by its name."""
    known = {"handle": HANDLE_FAULTS, "request": REQUEST_FAULTS, "publish": {**JETSTREAM_FAULTS, **PUBLISH_FAULTS}}
    return known.get(method, PUBLISH_FAULTS)


wrap(_Handling, "handle", _describe_handling, HANDLE_FAULTS, asynchronous=True)
