"""Who runs whom: for every event the functions it calls, starts elsewhere or waits for, and whether it may leave.

Over-approximate: what cannot be told from names, imports, `self`, classes and plain types is every method of that name
that takes such arguments, and code outside as well (ANDURIL §4.1 relies on feedback to sort out what is false).
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from cutset.reproduce.python.lookup import Lookup, accepts
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
_HANDS = 2  # through which a function may go before it is called
_RUNNERS = {"Thread", "Process"}  # `start` of their subclasses leads to `run`
_ENTERING = ("__enter__", "__aenter__", "__exit__", "__aexit__")


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


@dataclass(slots=True)
class _Bindings:
    """Functions that are handed around: by parameter of a function, and by attribute name."""

    parameters: dict[tuple[int, str], set[int]] = field(default_factory=lambda: defaultdict(set))
    attributes: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))


def resolve(tables: Tables, lookup: Lookup) -> Resolution:
    found = Resolution()
    for event in tables.events:
        target = _target(lookup, event)
        found.callees.append(set(target.callees))
        found.guesses.append(set(target.guesses))
        found.starts.append(set())
        found.joins.append(set())
        found.leaves.append(target.leaves)
        found.resolved.append(target.name)
        found.receivers.append(target.receiver)
    wrappers = _wrappers(tables, lookup)
    for callees in found.callees:
        callees.update(*(wrappers[one] for one in callees if one in wrappers))
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
        case EventKind.CALL:
            return _called(lookup, event)
        case EventKind.AWAIT:
            return _Target(leaves=True)
        case EventKind.RAISE if event.chain and event.chain[0]:
            return _Target(name=exception_name(lookup, event.function, ".".join(event.chain)))
        case EventKind.READ:
            found = _methods(lookup, event)
            properties = [one for one in found.callees if _is_property(lookup, one)]
            return _Target(properties, [one for one in found.guesses if one in properties])
        case EventKind.ITERATE:
            return _iterated(lookup, event)
        case EventKind.WITH:
            owners = lookup.types(event.function, event.chain).classes
            return _Target({one for owner in owners for name in _ENTERING for one in lookup.method(owner, name)})
    return _Target()


def _iterated(lookup: Lookup, event: CodeEvent) -> _Target:
    if event.chain[0] == RESULT and not lookup.types(event.function, event.chain[:-1]):
        return _Target()
    begins = "__aiter__" if event.chain[-1] == "__anext__" else "__iter__"
    both = [_methods(lookup, replace(event, chain=(*event.chain[:-1], name))) for name in (begins, event.chain[-1])]
    return _Target(
        [one for target in both for one in target.callees], [one for target in both for one in target.guesses]
    )


def _called(lookup: Lookup, event: CodeEvent) -> _Target:
    chain, function = event.chain, event.function
    named = _named(lookup, function, chain) if chain[0] and chain[0] != RESULT else None
    if named is not None:
        return named
    if len(chain) == 1 or (chain[0] == RESULT and len(chain) == 2):
        owners = lookup.types(function, chain).classes
        return _Target({one for owner in owners for one in lookup.method(owner, "__call__")}, leaves=True)
    found = _methods(lookup, event)
    if not found.leaves:
        return found
    fitting = {one for one in found.callees if accepts(lookup.tables.functions[one], event, bound=True)}
    fitting = {one for one in fitting if not _is_property(lookup, one)}
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
            return _Target({one for below in lookup.descendants(owner) for one in _constructor(lookup, below)})
        meaning = lookup.alias(meaning.variable)
    if meaning.functions or meaning.classes:
        made = {one for owner in meaning.classes for one in _constructor(lookup, owner)}
        return _Target(made | set(meaning.functions), leaves=bool(meaning.external))
    return _Target(leaves=True, name=meaning.external[0]) if meaning.external else None


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
    if types.complete:
        sure = sure and not any(_is_property(lookup, one) for one in found)
        receiver_class = types.external[0] if len(types.external) == 1 and not types.classes else "?"
        return _Target(found, leaves=not sure, name=outside, receiver=receiver_class)
    every = lookup.methods.get(name, [])
    likely = found or {one: None for one in every if _sounds_alike(lookup, receiver[-1], one)}
    guesses = [one for one in every if one not in likely]
    return _Target(every, guesses, leaves=True, name=outside, receiver="?")


def _sounds_alike(lookup: Lookup, variable: str, method: int) -> bool:
    """`self._retry_policy.next` is rather `RetryPolicy.next` than `Cursor.next`."""
    plain = variable.replace("_", "").rstrip("0123456789").lower()
    owner = (
        lookup.tables.classes[lookup.tables.functions[method].owner].name.rpartition(".")[2].replace("_", "").lower()
    )
    return len(plain) > 2 and (plain in owner or owner in plain)


def _constructor(lookup: Lookup, owner: int) -> set[int]:
    return {one for name in ("__new__", "__init__", "__post_init__") for one in lookup.method(owner, name)}


def _is_property(lookup: Lookup, function: int) -> bool:
    decorators = lookup.tables.functions[function].decorators
    return any("property" in chain[-1] or chain[-1] in ("setter", "getter") for chain in decorators)


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


def _wrappers(tables: Tables, lookup: Lookup) -> dict[int, set[int]]:
    """For each function with decorators of the analysed code: the functions inside them, which run in its place."""
    inner: dict[int, set[int]] = defaultdict(set)
    for index, function in enumerate(tables.functions):
        outer = function.outer
        while outer >= 0:
            inner[outer].add(index)
            outer = tables.functions[outer].outer
    found: dict[int, set[int]] = {}
    for index, function in enumerate(tables.functions):
        decorating = _decorators(lookup, index)
        if decorating and function.decorators:
            found[index] = {one for decorator in decorating for one in inner.get(decorator, ())}
    return found


def _decorators(lookup: Lookup, index: int) -> list[int]:
    function = lookup.tables.functions[index]
    return [one for chain in function.decorators if chain[0] for one in lookup.meaning(function.outer, chain).functions]


def _pass_functions(tables: Tables, lookup: Lookup, found: Resolution) -> None:
    bindings = _bindings(tables, lookup)
    handed: list[tuple[int, int | str, set[int]]] = []
    for _ in range(_HANDS):
        handed = [
            (index, slot, functions)
            for index, event in enumerate(tables.events)
            for slot, chain in event.passed
            if (functions := _functions(lookup, found, bindings, event.function, chain))
        ]
        for index, slot, functions in handed:
            for callee in found.callees[index]:
                _bind(tables, bindings, callee, slot, functions)
        _bind_attributes(lookup, found, bindings)
    for index, slot, functions in handed:
        _hand_over(tables, found, index, slot, functions)
    for index, event in enumerate(tables.events):
        if event.kind == EventKind.CALL and found.leaves[index]:
            found.callees[index] |= _bound(lookup, bindings, event)
            if event.chain[-1] == "start":
                found.starts[index] |= _runs(lookup, event)


def _bindings(tables: Tables, lookup: Lookup) -> _Bindings:
    """What decorators and defaults say: a decorator gets its function, or the function that it returns does."""
    bindings = _Bindings()
    inside: dict[int, list[int]] = defaultdict(list)
    for index, function in enumerate(tables.functions):
        inside[function.outer].append(index)
    for index, function in enumerate(tables.functions):
        for decorator in _decorators(lookup, index):
            for one in (decorator, *inside[decorator]):
                _bind(tables, bindings, one, 0, {index})
        for parameter, chain in function.defaults:
            bindings.parameters[index, parameter] |= set(lookup.meaning(function.outer, chain).functions)
    return bindings


def _bind(tables: Tables, bindings: _Bindings, callee: int, slot: int | str, functions: set[int]) -> None:
    function = tables.functions[callee]
    if isinstance(slot, int):
        slot += 1 if function.owner >= 0 and ("staticmethod",) not in function.decorators else 0
        if slot >= len(function.parameters):
            return
        slot = function.parameters[slot]
    bindings.parameters[callee, slot] |= functions


def _functions(lookup: Lookup, found: Resolution, bindings: _Bindings, function: int, chain: Chain) -> set[int]:
    """Functions that an argument hands over: itself, bound to its object, in a `partial`, or as the task it makes."""
    if chain[0] == RESULT:
        call = int(chain[1])
        event = lookup.tables.events[call]
        if event.kind == EventKind.CALL and event.chain[-1] == "partial" and event.passed:
            return _functions(lookup, found, bindings, function, event.passed[0][1])
        return {one for one in found.callees[call] if lookup.tables.functions[one].asynchronous}
    if not chain[0]:
        return set()
    meaning = lookup.meaning(function, chain)
    if meaning.functions or meaning.classes or len(chain) == 1:
        known = bindings.parameters.get(meaning.variable, set()) if meaning.variable is not None else set()
        return known.union(meaning.functions, *(_constructor(lookup, owner) for owner in meaning.classes))
    owners = lookup.types(function, chain[:-1]).classes
    methods = {one for owner in owners for one in lookup.method(owner, chain[-1])}
    return {one for one in methods if not _is_property(lookup, one)}


def _bind_attributes(lookup: Lookup, found: Resolution, bindings: _Bindings) -> None:
    """`self.callback = callback` makes every call of `.callback` a call of what was passed."""
    for write in lookup.tables.writes:
        if write.source and len(write.target) > 1:
            function = lookup.tables.places[write.place].function
            functions = _functions(lookup, found, bindings, function, write.source)
            if functions:
                bindings.attributes[write.name] |= functions


def _bound(lookup: Lookup, bindings: _Bindings, event: CodeEvent) -> set[int]:
    if len(event.chain) == 1 and event.chain[0]:
        variable = lookup.meaning(event.function, event.chain).variable
        return bindings.parameters.get(variable, set()) if variable is not None else set()
    return bindings.attributes.get(event.chain[-1], set())


def _hand_over(tables: Tables, found: Resolution, index: int, slot: int | str, functions: set[int]) -> None:
    event = tables.events[index]
    if event.kind != EventKind.CALL:
        return
    if event.chain[-1] in _STARTERS:
        found.starts[index] |= functions
        for passed_slot, chain in event.passed:  # the call that makes the task does not run it
            if passed_slot == slot and chain[0] == RESULT:
                task = int(chain[1])
                found.callees[task] = {one for one in found.callees[task] if not tables.functions[one].asynchronous}
    elif found.leaves[index] and event.chain[-1] != "partial":
        found.callees[index] |= functions
    else:
        found.starts[index] |= functions


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
