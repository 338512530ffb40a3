"""What the hooks of brokers share: messages that are pulled, and messages that arrive damaged.

Where a library calls back, the handling of a message is the callback's run. Where a service pulls, nobody says when it
is done with a message: it is handled from then on until the same task or thread pulls again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from cutset_agent import request
from cutset_agent.calls import inverted
from cutset_agent.reports import count_error

# What becomes of a body, by the fault's name.
DAMAGES: Mapping[str, Callable[[bytes], bytes]] = {
    "empty-body": lambda _body: b"",
    "truncated-body": lambda body: body[: len(body) // 2],
    "wrong-body": lambda _body: b"{}",
    "garbled-body": inverted,
    "serialization": lambda _body: b"\xff\xfe\x00 no text",
}

HeadersOf = Callable[[Any], Iterable["tuple[Any, Any]"]]
PeerOf = Callable[[Any], str]
_pulled: ContextVar[request.RequestEntry | None] = ContextVar("cutset_pulled", default=None)


def begin_pulled(message: Any, headers_of: HeadersOf, endpoint: str, peer_of: PeerOf) -> bool:
    """Whether the message is handled from now on; what a request pulls is part of that request. Never raises."""
    end_pulled()
    if request.is_served():
        return False
    entry = entered(message, headers_of, endpoint, peer_of)
    _pulled.set(entry)
    return entry is not None


def end_pulled() -> None:
    entry = _pulled.get()
    if entry is not None:
        _pulled.set(None)
        left(entry)


def entered(message: Any, headers_of: HeadersOf, endpoint: str, peer_of: PeerOf) -> request.RequestEntry | None:
    """The entry of a message, None if that fails: the message itself must arrive, whatever is in it."""
    try:
        return request.enter(_texts(headers_of(message)), endpoint, "consumer", peer_of(message))
    except Exception as error:  # noqa: BLE001 -- the host's message matters more
        count_error(f"entry of {endpoint}", error)
        return None


def left(entry: request.RequestEntry | None, failure: BaseException | None = None) -> None:
    if entry is None:
        return
    try:
        request.leave(entry, error=failure)
    except Exception as error:  # noqa: BLE001 -- as above
        count_error(f"end of {entry.operation}", error)


def _texts(headers: Iterable[tuple[Any, Any]]) -> Iterator[tuple[str, str]]:
    """What is neither text nor bytes is no header of ours: brokers also know numbers, tables, and nothing."""
    for name, value in headers:
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        if isinstance(name, str) and isinstance(text, str):
            yield name, text
