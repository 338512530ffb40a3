"""What one request did, as calls of APIs inside calls of APIs."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

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
    _hash: int


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
        """As `edges`, each call with whether a data store or queue answered it."""
        pending = [(tree, False) for tree in (*self.orphans, self)]
        while pending:
            caller = pending.pop()
            callees = callees_telling_stores(caller)
            yield from ((*caller, *callee) for callee in callees)
            pending.extend(reversed(callees))


ToldCall = tuple[CallTree, bool]  # with whether a data store or queue answered it


def callees_telling_stores(caller: ToldCall) -> list[ToldCall]:
    """Whom the request entered by is a service, and so are orphans, and to whom a queue hands messages."""
    tree, store = caller
    handed = Component.QUEUE if store and tree.component is Component.QUEUE else None
    return [(call, call.component in STORES and call.component is not handed) for call in tree.calls]


# Traces have most of what they do in common: a million of them may make fifty million calls, of which fifty thousand
# differ. What follows looks at each of those once. Trees are at most `lineage.call_tree.MAX_DEPTH` deep, so that
# recursion is safe.

State = TypeVar("State", bound=Hashable)  # a call, and what has to be known of whatever is around it
Fact = TypeVar("Fact", bound=Hashable)


def calls_inside(tree: CallTree) -> tuple[CallTree, ...]:
    return (*tree.calls, *tree.orphans)


def occurrences(starts: Mapping[State, int], inside: Callable[[State], Iterable[State]]) -> Counter[State]:
    """How often each of these and of what is inside them was met, with all that is inside it."""
    inner_first: dict[State, None] = {}

    def visit(state: State) -> None:
        if state not in inner_first:
            for inner in inside(state):
                visit(inner)
            inner_first[state] = None

    for state in starts:
        visit(state)
    times = Counter(starts)
    for state in reversed(inner_first):
        for inner in inside(state):
            times[inner] += times[state]
    return times


def gathering(
    facts: Callable[[State], Iterable[Fact]], inside: Callable[[State], Iterable[State]]
) -> Callable[[State], frozenset[Fact]]:
    """A function that tells all facts of a call and of what is inside it."""
    known: dict[State, frozenset[Fact]] = {}

    def gathered(state: State) -> frozenset[Fact]:
        if state not in known:
            known[state] = frozenset(facts(state)).union(*map(gathered, inside(state)))
        return known[state]

    return gathered
