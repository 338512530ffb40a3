"""What one request did, as calls of APIs inside calls of APIs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
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


STORES = frozenset({Component.DATABASE, Component.CACHE, Component.QUEUE})


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
        yield from self.known_orphans
        yield from (callee for _, callee in self.edges())

    @property
    def known_orphans(self) -> tuple["CallTree", ...]:
        """Those that are calls."""
        return tuple(orphan for orphan in self.orphans if orphan.point.api != UNKNOWN)

    def edges(self) -> Iterator[tuple["CallTree", "CallTree"]]:
        """Each call inside this one whose caller is known, after the call that made it."""
        return ((caller, callee) for caller in self.walk() for callee in caller.calls)

    def edges_telling_stores(self) -> Iterator[tuple["CallTree", bool, "CallTree", bool]]:
        """As `edges`, each call with whether a data store or queue answered it.

        Whom the request entered by is a service, and so are orphans, and to whom a queue hands messages.
        """
        pending = [(tree, False) for tree in (*self.orphans, self)]
        while pending:
            caller, store = pending.pop()
            handed = Component.QUEUE if store and caller.component is Component.QUEUE else None
            callees = [(call, call.component in STORES and call.component is not handed) for call in caller.calls]
            yield from ((caller, store, *callee) for callee in callees)
            pending.extend(reversed(callees))


# Traces have most of what they do in common: a million of them may have fifty million calls, and fifty thousand that
# differ. What follows looks at each of those once.


def occurrences(kinds: Mapping[CallTree, int]) -> Counter[CallTree]:
    """How often each call was made, with all that happened inside it; requests and orphans included."""
    callees_first: dict[CallTree, None] = {}

    def visit(tree: CallTree) -> None:
        if tree not in callees_first:
            for inner in (*tree.calls, *tree.orphans):
                visit(inner)
            callees_first[tree] = None

    for tree in kinds:
        visit(tree)
    times = Counter(kinds)
    for tree in reversed(callees_first):
        for inner in (*tree.calls, *tree.orphans):
            times[inner] += times[tree]
    return times


def without_repeats(kinds: Iterable[tuple[CallTree, int]]) -> Counter[CallTree]:
    """The same for who asks only what was done, not how often: of equal calls of one caller, one is left."""
    single: dict[CallTree, CallTree] = {}

    def once(tree: CallTree) -> CallTree:
        if tree not in single:
            calls, orphans = (tuple(sorted({once(inner) for inner in some})) for some in (tree.calls, tree.orphans))
            found = (
                tree if (calls, orphans) == (tree.calls, tree.orphans) else replace(tree, calls=calls, orphans=orphans)
            )
            single[tree] = single.setdefault(found, found)
        return single[tree]

    found: Counter[CallTree] = Counter()
    for tree, traces in kinds:
        found[once(tree)] += traces
    return found
