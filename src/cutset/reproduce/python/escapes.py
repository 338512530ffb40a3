"""Which exceptions can leave a function, and what handlers catch on the way (ANDURIL §4.1, exception analysis).

Python declares nothing, so that what code outside may raise is ANY until a handler stops it. Where it is not known
whether one class is below another, it may be: an exception gets past a handler unless it is surely caught, and
reaches one if it may be caught.
"""

import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from cutset.reproduce.python.syntax import EventKind, Guard, GuardKind, PythonProgram

ANY = "?"  # an exception of unknown type from outside: none of the classes that the analysed code raises itself
UNNAMED = "??"  # one of unknown type of the analysed code
ORDINARY = "?e"  # one of unknown type that `except Exception` catches
ANY_BASE = "?!"  # one that `except Exception` does not catch: CancelledError, KeyboardInterrupt, SystemExit
_CALLERS = 5  # levels of calls above a site in which handlers are looked for
_WIDEST = 32  # calls per level
_EVERYTHING = ("BaseException",)
_RARELY = {EventKind.DECORATE, EventKind.ITERATE, EventKind.OPERATE, EventKind.READ}

_SAME = {  # names that are others' by now
    "IOError": "OSError",
    "EnvironmentError": "OSError",
    "WindowsError": "OSError",
    "socket.error": "OSError",
    "select.error": "OSError",
    "socket.timeout": "TimeoutError",
    "asyncio.TimeoutError": "TimeoutError",
    "asyncio.exceptions.TimeoutError": "TimeoutError",
    "concurrent.futures.TimeoutError": "TimeoutError",
    "asyncio.exceptions.CancelledError": "asyncio.CancelledError",
    "concurrent.futures.CancelledError": "asyncio.CancelledError",
}
_BASES = {  # classes of the standard library that are not builtins and do not derive from Exception directly
    "asyncio.CancelledError": "BaseException",
    "socket.gaierror": "OSError",
    "socket.herror": "OSError",
    "ssl.SSLError": "OSError",
    "shutil.Error": "OSError",
    "urllib.error.URLError": "OSError",
    "json.JSONDecodeError": "ValueError",
    "json.decoder.JSONDecodeError": "ValueError",
    "asyncio.IncompleteReadError": "EOFError",
}


@dataclass(frozen=True, slots=True)
class Hierarchy:
    ancestry: Mapping[str, tuple[str, ...]]  # of the analysed classes
    own: frozenset[str]  # analysed classes that the analysed code raises
    behind: dict[tuple[str, int], str] = field(default_factory=dict)  # what is left of a type after a try, if known
    _bases: dict[str, frozenset[str]] = field(default_factory=dict)

    def bases(self, name: str) -> frozenset[str]:
        """All classes that it surely derives from, itself included."""
        if name not in self._bases:
            found = {_SAME.get(name, name)}
            for base in self.ancestry.get(name, (name,)):
                found |= {base} if base in self.ancestry else _outer_bases(base)
            self._bases[name] = frozenset(found)
        return self._bases[name]

    def surely(self, raised: str, caught: str) -> bool:
        """Whether a handler of `caught` stops the exception for certain."""
        caught = _SAME.get(caught, caught)
        if raised in (ANY, UNNAMED, ANY_BASE):
            return caught == "BaseException"
        if raised == ORDINARY:
            return caught in ("Exception", "BaseException")
        return caught in self.bases(raised)

    def may(self, raised: str, caught: str) -> bool:
        """Whether a handler of `caught` can be reached by the exception."""
        caught = _SAME.get(caught, caught)
        if raised == UNNAMED or not caught or not raised:
            return True
        if raised == ANY:
            return caught not in self.own
        if raised == ANY_BASE:
            return "Exception" not in self.bases(caught)
        if raised == ORDINARY:
            return caught == "BaseException" or "Exception" in self.bases(caught)
        if caught in self.bases(raised):
            return True
        return not self._known(raised)  # a class from outside may derive from anything

    def _known(self, name: str) -> bool:
        name = _SAME.get(name, name)
        return _is_builtin(name) or all(
            _is_builtin(base) for base in self.ancestry.get(name, ("",)) if base not in self.ancestry
        )


def _is_builtin(name: str) -> bool:
    return name in _BASES or isinstance(getattr(builtins, name, None), type)


@lru_cache(maxsize=4096)
def _outer_bases(name: str) -> frozenset[str]:
    name = _SAME.get(name, name)
    if name in _BASES:
        return frozenset({name}) | _outer_bases(_BASES[name])
    known = getattr(builtins, name, None)
    if isinstance(known, type) and issubclass(known, BaseException):
        return frozenset(base.__name__ for base in known.__mro__ if base is not object)
    return frozenset({name, "Exception", "BaseException"})


@dataclass(frozen=True, slots=True)
class Escapes:
    program: PythonProgram
    hierarchy: Hierarchy
    leaving: tuple[frozenset[str], ...]  # per function: types that can come out of it
    raised: tuple[frozenset[str], ...]  # per event: types that it can raise
    passed_on: tuple[frozenset[str], ...]  # per event: those of them that come out of analysed functions
    by_function: tuple[tuple[int, ...], ...]  # events of each function
    by_try: Mapping[int, tuple[int, ...]]  # events whose innermost try it is
    inner_tries: Mapping[int, tuple[int, ...]]
    bodies: Mapping[int, tuple[int, ...]]  # of `with` statements, by the generator that manages them


def analyse(program: PythonProgram) -> Escapes:
    hierarchy = Hierarchy(program.ancestry, _raised_inside(program))
    by_function: list[list[int]] = [[] for _ in program.functions]
    by_try: dict[int, list[int]] = defaultdict(list)
    inner: dict[int, list[int]] = defaultdict(list)
    bodies: dict[int, set[int]] = defaultdict(set)
    for index, event in enumerate(program.events):
        if event.kind in _RARELY and not program.callees[index] and not program.joins[index]:
            continue  # most operators run nothing of ours
        by_function[event.function].append(index)
        by_try[program.places[event.place].caught_by].append(index)
        if event.kind == EventKind.WITH and len(event.chain) == 2 and event.chain[0] == "()":
            for callee in program.callees[int(event.chain[1])]:
                bodies[callee].add(event.body)
    for index, attempt in enumerate(program.tries):
        inner[attempt.outer].append(index)
    leaving = _fixpoint(program, hierarchy, by_function)
    together: dict[tuple[int, ...], frozenset[str]] = {}  # what comes out of these functions
    passed_on = []
    for index in range(len(program.events)):
        called = (*program.callees[index], *program.joins[index])
        if called not in together:
            together[called] = frozenset().union(*(leaving[callee] for callee in called))
        passed_on.append(together[called])
    own = [frozenset(_own(program, index)) for index in range(len(program.events))]
    return Escapes(
        program,
        hierarchy,
        leaving,
        tuple(kinds | more if kinds else more for kinds, more in zip(own, passed_on, strict=True)),
        tuple(passed_on),
        tuple(map(tuple, by_function)),
        {index: tuple(found) for index, found in by_try.items()},
        {index: tuple(found) for index, found in inner.items()},
        {index: tuple(sorted(found)) for index, found in bodies.items()},
    )


def _raised_inside(program: PythonProgram) -> frozenset[str]:
    raised_classes = {
        program.resolved[index] for index, event in enumerate(program.events) if event.kind == EventKind.RAISE
    }
    found = {base for name in raised_classes for base in (name, *program.ancestry.get(name, ()))}
    return frozenset(found & set(program.ancestry))


def _fixpoint(program: PythonProgram, hierarchy: Hierarchy, by_function: list[list[int]]) -> tuple[frozenset[str], ...]:
    leaving: list[frozenset[str]] = [frozenset() for _ in program.functions]
    callers: dict[int, set[int]] = defaultdict(set)
    bodies = []  # of each function, by the try around: types that arise there, and functions that are called
    for function, events in enumerate(by_function):
        arising: dict[int, set[str]] = defaultdict(set)
        called: dict[int, set[int]] = defaultdict(set)
        for index in events:
            attempt = program.places[program.events[index].place].caught_by
            arising[attempt].update(_own(program, index))
            called[attempt].update(program.callees[index], program.joins[index])
        bodies.append([(attempt, kinds, tuple(called[attempt])) for attempt, kinds in arising.items()])
        for callees in called.values():
            for callee in callees:
                callers[callee].add(function)
    waiting = dict.fromkeys(range(len(program.functions)))
    while waiting:
        function = next(iter(waiting))
        del waiting[function]
        found: set[str] = set()
        for attempt, kinds, callees in bodies[function]:
            found |= past(program, hierarchy, kinds.union(*(leaving[callee] for callee in callees)), attempt, -1)
        if found != leaving[function]:
            leaving[function] = frozenset(found)
            waiting.update(dict.fromkeys(callers[function]))
    return tuple(leaving)


def _own(program: PythonProgram, index: int) -> set[str]:
    """The types that an event can raise by itself, whatever it calls."""
    if program.events[index].kind == EventKind.RAISE:
        return raised_types(program, index)
    return {ANY} if program.leaves[index] or program.events[index].kind == EventKind.YIELD else set()


def raised_types(program: PythonProgram, index: int) -> set[str]:
    if is_reraise(program, index):
        types = program.guards[program.places[program.events[index].place].handler].types
        return {{"Exception": ORDINARY, "BaseException": UNNAMED}.get(kind, kind) or UNNAMED for kind in types}
    return {program.resolved[index] or UNNAMED}


def is_reraise(program: PythonProgram, index: int) -> bool:
    """Whether a `raise` passes on what its handler caught."""
    event = program.events[index]
    handler = program.places[event.place].handler
    return handler >= 0 and (not event.chain or event.chain == (program.guards[handler].binds,))


def narrowed(hierarchy: Hierarchy, types: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[str, ...]:
    """What both are: of a handler's types, those that are wanted behind it."""
    both = [one for one in wanted if any(hierarchy.surely(one, kind) for kind in types)]
    both += [kind for kind in types if kind not in both and any(hierarchy.surely(kind, one) for one in wanted)]
    return tuple(both) or types


def past(program: PythonProgram, hierarchy: Hierarchy, kinds: Iterable[str], attempt: int, until: int) -> set[str]:
    """What is left of the types after the handlers from one try outwards, up to but without another."""
    left = set(kinds)
    while attempt != until and attempt >= 0 and left:
        row = program.tries[attempt]
        if row.handlers or row.suppressed:
            left = {after for kind in left if (after := _after(program, hierarchy, kind, attempt))}
        attempt = row.outer
    return left


def _after(program: PythonProgram, hierarchy: Hierarchy, kind: str, attempt: int) -> str:
    """What one type is behind one try."""
    after = hierarchy.behind.get((kind, attempt))
    if after is None:
        row = program.tries[attempt]
        caught = [*(each for handler in row.handlers for each in program.guards[handler].types), *row.suppressed]
        after = ANY_BASE if kind in (ANY, UNNAMED) and "Exception" in caught else kind
        if any(hierarchy.surely(kind, one) for one in caught):  # "" and unknown names stop nothing
            after = ""
        hierarchy.behind[kind, attempt] = after
    return after


def stopped(escapes: Escapes, attempt: int, until: int, wanted: tuple[str, ...]) -> bool:
    """Whether handlers from one try outwards surely catch every exception of the wanted types."""
    return not any(past(escapes.program, escapes.hierarchy, [kind or UNNAMED], attempt, until) for kind in wanted)


def events_under(escapes: Escapes, attempt: int) -> Iterator[int]:
    """All events in the body of a try, also in tries inside it."""
    waiting = [attempt]
    while waiting:
        one = waiting.pop()
        yield from escapes.by_try.get(one, ())
        waiting.extend(escapes.inner_tries.get(one, ()))


def handled_types(program: PythonProgram, guard: Guard) -> tuple[str, ...]:
    """What reaches a handler: its types, but for those that handlers above it in the same try stop."""
    if guard.kind == GuardKind.FINALLY:
        return _EVERYTHING
    earlier: set[str] = set()
    for handler in program.tries[guard.attempt].handlers:
        if program.guards[handler] is guard:
            break
        earlier.update(program.guards[handler].types)
    return tuple(kind for kind in guard.types if kind not in earlier)


def handlers_around(program: PythonProgram) -> list[tuple[str, ...]]:
    """Per site: the types that handlers around it catch, innermost first, then those around the calls of its function.

    What somebody took care to catch is what somebody has seen happen.
    """
    callers: dict[int, list[int]] = defaultdict(list)
    for index, callees in enumerate(program.callees):
        for callee in callees:
            callers[callee].append(index)
    return [tuple(_caught_outwards(program, callers, event)) for event in program.site_events]


def _caught_outwards(program: PythonProgram, callers: Mapping[int, list[int]], event: int) -> Iterable[str]:
    found: dict[str, None] = {}
    level, seen = [event], {event}
    for _ in range(_CALLERS):
        for index in level:
            attempt = program.places[program.events[index].place].caught_by
            while attempt >= 0:
                row = program.tries[attempt]
                found.update(dict.fromkeys(kind for one in row.handlers for kind in program.guards[one].types if kind))
                attempt = row.outer
        level = [
            caller
            for index in level
            for caller in callers.get(program.events[index].function, ())
            if caller not in seen and program.events[index].function not in program.guesses[caller]
        ][:_WIDEST]
        seen.update(level)
    return found
