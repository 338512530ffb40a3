"""The words of a hook: which call it is about, and what a fault does to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Union

from cutset_agent.peers import cleaned


class HookedCall:
    """One call at a call site."""

    __slots__ = ("endpoint", "facts", "payload", "peer", "timeout")

    def __init__(
        self,
        endpoint: str,  # component/framework/method
        timeout: float | None = None,  # in seconds; None: the call site has none
        payload: Callable[[], bytes | str | None] | None = None,  # called only for a digest or a recording
        facts: dict[str, str] | None = None,  # for the report: {"verb": "INSERT"}
        peer: str = "",  # where it goes, `sessions:6379/0`; empty: not known
    ) -> None:
        self.endpoint = endpoint
        self.peer = cleaned(peer)
        self.facts = facts
        self.timeout = timeout
        self.payload = payload


class InjectedAnswer:
    """A fault that answers in place of the call."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


class AfterCall:
    """A fault that lets the call happen and raises then: the answer is lost."""

    __slots__ = ("exception",)

    def __init__(self, exception: BaseException) -> None:
        self.exception = exception


class ChangedAnswer:
    """A fault that lets the call happen and changes its answer."""

    __slots__ = ("change",)

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.change = change  # in asynchronous hooks possibly a coroutine function; may make an `AfterCall`


Action = Union[BaseException, InjectedAnswer, AfterCall, ChangedAnswer]
Describe = Callable[["tuple[Any, ...]", "dict[str, Any]"], "HookedCall | None"]  # `args` begin with self
# None: this fault makes no sense for this call. In asynchronous hooks it may be a coroutine function.
MakeFault = Callable[[HookedCall, "tuple[Any, ...]", "dict[str, Any]"], "Action | Awaitable[Action | None] | None"]


class SharedFault:
    """A fault that breaks what others than the present request may use: a connection of all, say."""

    __slots__ = ("is_own", "make", "why")

    def __init__(
        self, make: MakeFault, why: str, is_own: Callable[[tuple[Any, ...]], bool] = lambda _args: False
    ) -> None:
        self.make = make
        self.why = why
        self.is_own = is_own  # whether no one else uses it, by the call's arguments

    def __call__(self, call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.make(call, args, kwargs)


def inverted(body: bytes) -> bytes:
    """Garbled as sidecars do it: no byte is what it was."""
    return body.translate(_INVERSE)


_INVERSE = bytes(range(255, -1, -1))
# A fault that answers with the status of a plan's kind and number, and a body if it is given; None: not here.
Answering = Callable[[str, int, str], "MakeFault | None"]
OutcomeOf = Callable[[Any], "dict[str, str]"]  # small facts of a result, for the report: {"rows": "1"}
ResponseOf = Callable[[Any], "bytes | str | None"]  # a result's payload, for the recording
