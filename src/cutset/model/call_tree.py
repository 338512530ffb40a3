"""What one request did, as calls of APIs inside calls of APIs."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from cutset.model.point import Point


class Component(StrEnum):
    """What kind of thing was called (CAST §3.4.2)."""

    HTTP = "http"
    RPC = "rpc"
    DATABASE = "db"
    CACHE = "cache"
    QUEUE = "mq"
    UNKNOWN = "unknown"


class Role(StrEnum):
    """When a call is made, as far as traces tell."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    AFTER_FAILURE = "after-failure"  # only when another call of the same caller failed: a fallback


@dataclass(frozen=True, slots=True, order=True)
class CallTree:
    """A call with the calls that its service made to answer it; the root is the request itself.

    Calls are sorted, not in order of time: two executions with equal trees did the same.
    """

    point: Point  # service and API that were called; no caller, replica or occurrence
    failed: bool = False  # as its caller saw it
    component: Component = Component.UNKNOWN
    calls: tuple["CallTree", ...] = ()
    framework: str = ""  # grpc, http, redis, postgresql, kafka, …: what carried or served it

    def walk(self) -> Iterator["CallTree"]:
        """This call and all inside it, callers first."""
        pending = [self]
        while pending:
            tree = pending.pop()
            yield tree
            pending.extend(reversed(tree.calls))

    def edges(self) -> Iterator[tuple["CallTree", "CallTree"]]:
        """Each call inside this one, after the call that made it."""
        return ((caller, callee) for caller in self.walk() for callee in caller.calls)
