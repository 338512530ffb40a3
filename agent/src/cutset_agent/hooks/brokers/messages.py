"""What the hooks of brokers share: messages that are pulled, and messages that arrive damaged.

Where a library calls back, the handling of a message is the callback's run. Where a service pulls, nobody says when it
is done with a message: it is handled from then on until the same task or thread pulls again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar

from cutset_agent import request

# What becomes of a body, by the fault's name.
DAMAGES: Mapping[str, Callable[[bytes], bytes]] = {
    "empty-body": lambda _body: b"",
    "truncated-body": lambda body: body[: len(body) // 2],
    "wrong-body": lambda _body: b"{}",
    "serialization": lambda _body: b"\xff\xfe\x00 no text",
}

_pulled: ContextVar[request.RequestEntry | None] = ContextVar("cutset_pulled", default=None)


def begin_pulled(headers: Iterable[tuple[str, str]], endpoint: str) -> None:
    end_pulled()
    _pulled.set(request.enter(headers, endpoint, "consumer"))


def end_pulled() -> None:
    entry = _pulled.get()
    if entry is not None:
        _pulled.set(None)
        request.leave(entry)
