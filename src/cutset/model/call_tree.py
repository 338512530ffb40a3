"""What one request did, as calls of APIs inside calls of APIs."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from cutset.model.point import Point

UNKNOWN = "unknown"  # an API, or a callee, of which the trace tells nothing
UNKNOWN_CALLER = Point("", "")  # of a call that no span tells who made


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


class _Hashed:
    __slots__ = ("_hash",)


@dataclass(frozen=True, slots=True, order=True)
class CallTree(_Hashed):
    """A call with the calls that its service made to answer it; the root is the request itself.

    Calls are sorted, not in order of time: two executions with equal trees did the same.

    A request may have *orphans*, calls that were made within it by nobody knows whom. They count wherever calls are
    counted, and make no edge: whoever is asked for their caller says `UNKNOWN_CALLER`, whose names are empty. An orphan
    whose API is unknown is work that a service did for an unknown call: it is no call itself, but its caller's part.
    """

    point: Point  # service and API that were called; no caller, replica or occurrence
    failed: bool = False  # as its caller saw it
    component: Component = Component.UNKNOWN
    calls: tuple["CallTree", ...] = ()
    framework: str = ""  # grpc, http, redis, postgresql, kafka, …: what carried or served it
    orphans: tuple["CallTree", ...] = ()  # of the request alone

    def __hash__(self) -> int:
        """Worked out once: trees are counted everywhere, and share most of what is inside them."""
        try:
            return self._hash
        except AttributeError:
            found = hash((self.point, self.failed, self.component, self.calls, self.framework, self.orphans))
            object.__setattr__(self, "_hash", found)
            return found

    def walk(self) -> Iterator["CallTree"]:
        """This call and all inside it, callers first; then its orphans."""
        pending = [self]
        while pending:
            tree = pending.pop()
            yield tree
            pending.extend(reversed((*tree.calls, *tree.orphans)))

    def callees(self) -> Iterator["CallTree"]:
        """Each call inside this one, whether or not its caller is known."""
        yield from (orphan for orphan in self.orphans if orphan.point.api != UNKNOWN)
        yield from (callee for _, callee in self.edges())

    def edges(self) -> Iterator[tuple["CallTree", "CallTree"]]:
        """Each call inside this one whose caller is known, after the call that made it."""
        return ((caller, callee) for caller in self.walk() for callee in caller.calls)
