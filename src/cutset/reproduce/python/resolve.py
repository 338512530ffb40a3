"""Who runs whom: for every event the functions it calls, starts elsewhere or waits for, and whether it may leave.

Over-approximate: what cannot be told from names, imports, `self`, classes and plain types is every method of that name
that takes such arguments, and code outside as well (ANDURIL §4.1 relies on feedback to sort out what is false).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from cutset.reproduce.progress import Progress, nobody_watches, watched
from cutset.reproduce.python.handed import hand_around
from cutset.reproduce.python.lookup import Lookup, accepts, constructors, is_property
from cutset.reproduce.python.special_methods import BUILTINS, ENTERING, ITERATING, ways_of
from cutset.reproduce.python.syntax import RESULT, Chain, CodeEvent, EventKind, self_class
from cutset.reproduce.python.tables import Tables

# Calls that let a function run in another thread, process or task, or later: its exceptions do not come out of them.
_STARTERS_TEXT = (
    "Thread Process Timer submit apply_async map_async starmap_async start_new_thread run_in_executor create_task "
    "ensure_future run_coroutine_threadsafe start_soon spawn call_soon call_later call_at call_soon_threadsafe "
    "add_done_callback add_signal_handler add_reader add_writer signal register finalize"
)
_STARTERS = frozenset(_STARTERS_TEXT.split())
# Calls out of which the exceptions of such functions come.
_WAITERS = {
    "as_completed",
    "exception",
    "gather",
    "get",
    "join",
    "result",
    "run_until_complete",
    "shield",
    "wait",
    "wait_for",
}
# Calls that keep a function, as far as their name tells: it runs later, if at all.
_KEEPERS_TEXT = "add append appendleft connect extend insert put put_nowait push setdefault subscribe update"
_KEEPERS = frozenset(_KEEPERS_TEXT.split())
# Functions of Python's own that do not call what they get.
_NOT_CALLING_TEXT = (
    "bool callable delattr float format getattr hasattr hash id int isinstance issubclass len print property repr "
    "setattr staticmethod classmethod str super type vars"
)
_NOT_CALLING = frozenset(_NOT_CALLING_TEXT.split())
_FEW = 3  # special methods: if there are more, an operator alone does not tell whose it is
_ATTRIBUTES = ("__getattribute__", "__getattr__", "__setattr__")
_RUNNERS = {"Thread", "Process"}  # `start` of their subclasses leads to `run`


@dataclass(slots=True)
class Resolution:
    """Per event, as in `Program`."""

    callees: list[set[int]] = field(default_factory=list)
    guesses: list[set[int]] = field(default_factory=list)
    starts: list[set[int]] = field(default_factory=list)
    joins: list[set[int]] = field(default_factory=list)
    leaves: list[bool] = field(default_factory=list)
    resolved: list[str] = field(default_factory=list)
    receivers: list[str] = field(default_factory=list)


def resolve(tables: Tables, lookup: Lookup, progress: Progress = nobody_watches) -> Resolution:
    found = Resolution()
    for event in watched(tables.events, progress, "finding out who calls whom"):
        target = _target(lookup, event)
        found.callees.append(set(target.callees))
        found.guesses.append(set(target.guesses))
        found.starts.append(set())
        found.joins.append(set())
        found.leaves.append(target.leaves)
        found.resolved.append(target.name)
        found.receivers.append(target.receiver)
    _pass_functions(tables, lookup, found)
    _join_tasks(tables, found)
    return found


# -- one event ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Target:
    callees: Iterable[int] = ()
    guesses: Iterable[int] = ()  # callees that only have the right name
    leaves: bool = False
    name: str = ""  # dotted, of what is outside
    receiver: str = ""  # the class outside that a method is of; "?" if it is not certain; "" if it is no method


def _target(lookup: Lookup, event: CodeEvent) -> _Target:  # noqa: PLR0911 - one return per kind
    match event.kind:
        case EventKind.CALL | EventKind.DECORATE:
            return _called(lookup, event)
        case EventKind.AWAIT:
            return _Target(leaves=True)
        case EventKind.RAISE if event.chain and event.chain[0]:
            return _Target(name=exception_name(lookup, event.function, ".".join(event.chain)))
        case EventKind.READ:
            return _read(lookup, event)
        case EventKind.OPERATE:
            return _special(lookup, event.function, event.chain[:-1], event.chain[-1:])
        case EventKind.ITERATE if event.chain[-1] == "__anext__":
            return _special(lookup, event.function, event.chain[:-1], ("__aiter__", "__anext__"))
        case EventKind.ITERATE:
            return _special(lookup, event.function, event.chain[:-1], ("__iter__", "__next__"))
        case EventKind.WITH:
            return _special(lookup, event.function, event.chain, ENTERING)
    return _Target()


def _special(lookup: Lookup, function: int, receiver: Chain, methods: Sequence[str]) -> _Target:
    """Special methods of an object: where its class is not known, of classes that sound like it, or if they are few."""
    if receiver[0] and receiver[0] != RESULT and lookup.meaning(function, receiver).external:
        return _Target()
    types = lookup.types(function, receiver)
    if types:
        family = {below for owner in types.classes for below in lookup.descendants(owner)}
        return _Target({one for owner in family for name in methods for one in _first(lookup, owner, ways_of(name))})
    every = {one for name in methods for way in ways_of(name) for one in lookup.methods.get(way, ())}
    every &= lookup.eventful  # of the others, nothing comes out
    likely = {one for one in every if _sounds_alike(lookup, receiver[-1], one)}
    guesses = every - likely if len(every) <= _FEW else set()
    return _Target(likely | guesses, guesses)


def _first(lookup: Lookup, owner: int, names: Iterable[str]) -> tuple[int, ...]:
    return next(filter(None, (lookup.method(owner, name) for name in names)), ())


def _read(lookup: Lookup, event: CodeEvent) -> _Target:
    """An attribute that may be a property, a descriptor, or one that `__getattr__` makes up."""
    found = _methods(lookup, event)
    run = {one for one in found.callees if _runs_when_read(lookup, one, event.chain[-1])}
    guesses = run.intersection(found.guesses)
    for owner in lookup.types(event.function, event.chain).classes:
        run.update(*(lookup.method(owner, name) for name in ("__get__", "__set__")))
    for owner in lookup.types(event.function, event.chain[:-1]).classes:
        if not found.callees and not lookup.has_attribute(owner, event.chain[-1]):
            run.update(*(lookup.method(owner, name) for name in _ATTRIBUTES))
    return _Target(run, guesses)


def _runs_when_read(lookup: Lookup, method: int, name: str) -> bool:
    """Whether it is a property, also if `name = property(method)` made it one."""
    row = lookup.tables.functions[method]
    return is_property(row) or row.name.rpartition(".")[2] != name


def _called(lookup: Lookup, event: CodeEvent) -> _Target:
    chain, function = event.chain, event.function
    named = _named(lookup, function, chain) if chain[0] and chain[0] != RESULT else _imported(lookup, event)
    if named is not None:
        first = [given for position, given in event.passed if position == 0]
        if named.name in BUILTINS and len(first) == 1 and first[0][0]:
            ways = [method for method in (BUILTINS[named.name], ITERATING.get(BUILTINS[named.name])) if method]
            run = _special(lookup, function, first[0], ways)
            return replace(named, callees=run.callees, guesses=run.guesses)
        return named
    objects = {one for owner in lookup.types(function, chain).classes for one in lookup.method(owner, "__call__")}
    if objects or len(chain) == 1 or (chain[0] == RESULT and len(chain) == 2):
        return _Target(objects, leaves=True)
    found = _of_super(lookup, event) or _methods(lookup, event)
    if not found.leaves:
        return found
    fitting = {one for one in found.callees if accepts(lookup.tables.functions[one], event, bound=True)}
    fitting = {one for one in fitting if not is_property(lookup.tables.functions[one])}
    waited = {one for one in fitting if lookup.tables.functions[one].asynchronous}
    if event.awaited and waited:
        fitting = waited
    elif event.alone and not event.awaited:
        fitting -= waited
    unlikely = set(found.guesses) if event.awaited else waited.union(found.guesses)  # whose result nobody awaits here
    return replace(found, callees=fitting, guesses=fitting & unlikely)


def _named(lookup: Lookup, function: int, chain: Chain) -> _Target | None:
    """By definitions and imports, without types."""
    meaning = lookup.meaning(function, chain)
    if meaning.variable is not None and len(chain) == 1:
        owner = self_class(lookup.tables.functions, function, chain[0])
        if owner >= 0 and ("classmethod",) in lookup.tables.functions[function].decorators:
            return _Target({one for below in lookup.descendants(owner) for one in constructors(lookup, below)})
        meaning = lookup.alias(meaning.variable)
    if meaning.functions or meaning.classes:
        made = {one for owner in meaning.classes for one in constructors(lookup, owner)}
        return _Target(made | set(meaning.functions), leaves=bool(meaning.external))
    return _Target(leaves=True, name=meaning.external[0]) if meaning.external else None


def _imported(lookup: Lookup, event: CodeEvent) -> _Target | None:
    """`import_module("x").f()`"""
    if event.chain[0] != RESULT or len(event.chain) < 3:
        return None
    made = lookup.tables.events[int(event.chain[1])]
    text = next((parts[0] for position, parts in made.texts if position == 0 and len(parts) == 1), None)
    if not text or not made.chain[-1].endswith(("import_module", "__import__")):
        return None
    functions = lookup.dotted(".".join((text, *event.chain[2:]))).functions
    return _Target(functions) if functions else None


def _of_super(lookup: Lookup, event: CodeEvent) -> _Target | None:
    """A method of a base, as it is there; of a class that is only mixed in, that of a class it is mixed with."""
    if event.chain[0] != RESULT or len(event.chain) != 3:
        return None
    made = lookup.tables.events[int(event.chain[1])]
    owner = lookup.owner(event.function)
    if made.chain != ("super",) or owner < 0:
        return None
    name, bases = event.chain[2], lookup.bases.get(owner, ())
    found = {one for base in bases for one in lookup.method(base, name)}
    if found:
        return _Target(found)
    below = lookup.descendants(owner)
    beside = {each for one in below for each in lookup.ancestors(one)} - below
    return _Target({one for each in beside for one in lookup.method(each, name)}, leaves=True, receiver="?")


def _methods(lookup: Lookup, event: CodeEvent) -> _Target:
    """Methods that the last name of the chain may lead to."""
    receiver, name = event.chain[:-1], event.chain[-1]
    types = lookup.types(event.function, receiver)
    outside = f"{types.external[0]}.{name}" if types.external else ""
    found: dict[int, None] = {}
    sure = types.complete and not types.external
    for owner in types.classes:
        own = lookup.method(owner, name)
        sure = sure and bool(own)
        found.update(dict.fromkeys(own))
        for below in lookup.descendants(owner):
            found.update(dict.fromkeys(lookup.method(below, name)))
        if not own and event.kind == EventKind.CALL and not lookup.has_attribute(owner, name):
            found.update(dict.fromkeys(one for way in _ATTRIBUTES[:2] for one in lookup.method(owner, way)))
    if types.complete:
        sure = sure and not any(is_property(lookup.tables.functions[one]) for one in found)
        receiver_class = types.external[0] if len(types.external) == 1 and not types.classes else "?"
        return _Target(found, leaves=not sure, name=outside, receiver=receiver_class)
    every = lookup.methods.get(name, [])
    likely = found or {one: None for one in every if _sounds_alike(lookup, _last_name(event), one)}
    guesses = [one for one in every if one not in likely]
    return _Target(every, guesses, leaves=True, name=outside, receiver="?")


def _last_name(event: CodeEvent) -> str:
    """Of what a method is called on: `self.pools[0].take` is of `pools`."""
    named = event.chain[:-1] if event.chain[0] or not event.through else event.through[0]
    return named[-1] if named[0] != RESULT else ""


def _sounds_alike(lookup: Lookup, variable: str, method: int) -> bool:
    """`self._retry_policy.next` is rather `RetryPolicy.next` than `Cursor.next`."""
    return _alike(variable, lookup.tables.classes[lookup.tables.functions[method].owner].name)


@lru_cache(maxsize=100_000)
def _alike(variable: str, owner: str) -> bool:
    plain = variable.replace("_", "").rstrip("0123456789").lower()
    named = owner.rpartition(".")[2].replace("_", "").lower()
    return len(plain) > 2 and (plain in named or named in plain)


def exception_name(lookup: Lookup, function: int, name: str) -> str:
    """The dotted name of an exception class, the same wherever it is imported from; as written if nothing is known."""
    if not name.partition(".")[0]:
        return ""
    meaning = lookup.meaning(function, tuple(name.split(".")))
    if meaning.classes:
        owner = lookup.tables.classes[meaning.classes[0]]
        return f"{owner.module}.{owner.name}"
    if meaning.variable is not None or meaning.functions:
        return ""
    return meaning.external[0] if meaning.external else name


# -- functions that are handed around ----------------------------------------------------------------------------------


def _pass_functions(tables: Tables, lookup: Lookup, found: Resolution) -> None:
    passed = hand_around(lookup, found.callees, found.guesses, found.leaves, found.resolved)
    for index, functions in passed.items():
        for position, function, guessed in functions:
            _hand_over(tables, found, index, position, function, guessed=guessed)
    for index, event in enumerate(tables.events):
        if event.kind == EventKind.DECORATE:
            found.leaves[index] = False
        elif event.kind == EventKind.CALL and found.leaves[index] and len(event.chain) > 1:
            if event.chain[-1] == "start":
                found.starts[index] |= _runs(lookup, event)
            for one in _task(lookup, event):  # which may run here and now, in a test
                found.starts[index].add(one)
                found.callees[index].add(one)
                found.guesses[index].add(one)


def _task(lookup: Lookup, event: CodeEvent) -> list[int]:
    """`work.delay(…)`, where a decorator made more of a function than one."""
    if not event.chain[0] or event.chain[0] == RESULT:
        return []
    functions = lookup.meaning(event.function, event.chain[:-1]).functions
    return [one for one in functions if lookup.tables.functions[one].decorators]


def _hand_over(
    tables: Tables, found: Resolution, index: int, position: int | str, function: int, *, guessed: bool
) -> None:
    event = tables.events[index]
    if event.kind != EventKind.CALL:
        return
    name = event.chain[-1]
    if name in _STARTERS or name in _KEEPERS or not found.leaves[index]:
        found.starts[index].add(function)
    elif found.resolved[index] not in _NOT_CALLING and name != "partial" and function not in found.callees[index]:
        found.callees[index].add(function)
        if guessed:
            found.guesses[index].add(function)
    if name in _STARTERS:
        for passed_position, chain in event.passed:  # the call that makes the task does not run it
            if passed_position == position and chain[0] == RESULT and tables.functions[function].asynchronous:
                found.callees[int(chain[1])].discard(function)


def _runs(lookup: Lookup, event: CodeEvent) -> set[int]:
    types = lookup.types(event.function, event.chain[:-1])
    owners: Iterable[int] = types.classes if types.complete else range(len(lookup.tables.classes))
    return {one for owner in owners if lookup.is_a(owner, _RUNNERS) for one in lookup.method(owner, "run")}


def _join_tasks(tables: Tables, found: Resolution) -> None:
    """A future's exceptions come out where it is waited for: by the name it was given, else in the same function."""
    by_name: dict[tuple[str, str], set[int]] = defaultdict(set)
    by_function: dict[int, set[int]] = defaultdict(set)
    for index, event in enumerate(tables.events):
        if found.starts[index] and event.chain[-1] in _STARTERS:
            module = tables.functions[event.function].module
            for name in event.assigned:
                by_name[module, name] |= found.starts[index]
            by_function[event.function] |= found.starts[index]
    for index, event in enumerate(tables.events):
        if event.kind == EventKind.AWAIT:
            awaited = [event.chain]
        elif event.kind == EventKind.CALL and event.chain[-1] in _WAITERS:
            awaited = [event.chain[:-1], *(chain for _, chain in event.passed)]
        else:
            continue
        module = tables.functions[event.function].module
        named = {one for chain in awaited if chain for one in by_name.get((module, chain[-1]), ())}
        found.joins[index] |= named or by_function.get(event.function, set())
