"""Functions that are handed around: passed, given back, kept in variables, attributes and tables, registered.

Whatever can hold a function is a slot, and a container is the same slot as what is in it. What is put into a slot gets
into all slots that it flows to, and is what calls of them run (Andersen's analysis, for functions alone, without
contexts). Objects of known classes have slots of their own for their attributes; where the class is not known, the name
of the attribute has to do, which is a guess. A function goes through a few hands and at most one guess.

Code outside is known by its verbs: it gives back what it gets (`partial(f, x)`), what it is called on
(`TABLE.get(key)`), or keeps what it gets in that (`self.callbacks.append(f)`).
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from cutset.reproduce.python.lookup import Lookup, constructors, is_property
from cutset.reproduce.python.syntax import LAMBDA, RESULT, RETURN, TEXT, Chain, CodeEvent, EventKind
from cutset.reproduce.python.tables import Tables

_HANDS = 8  # through which a function may go before it is called
_GUESS = 100  # what a guess adds to the hands
_FEW = 4  # methods of one name: if there are more, the name alone does not tell what is handed on, or to whom
_MOST = 200  # functions in a slot: some tables are large
_MOST_GUESSES = 12
_KEEPING = re.compile(
    r"(add|append|connect|extend|insert|listen|on|push|put|register|set|setdefault|subscribe|update)(_\w+|left)?"
)
_TAKING = re.compile(r"(copy|get|get_nowait|items|pop|popitem|popleft|setdefault|values)")
_RETURNING = re.compile(
    r"(functools|itertools|contextlib|copy|collections|weakref|operator)\..+|dict|enumerate|filter|frozenset|getattr"
    r"|iter|list|next|property|reversed|set|sorted|staticmethod|classmethod|tuple|zip|.*(import|load|resolve|wrap)\w*"
)

Slot = tuple[str, int | str] | tuple[str, int, str]
_VARIABLE = "variable"  # of a function
_OF_CLASS = "of class"  # an attribute of objects of a class
_OF_ANY = "of any"  # an attribute by its name, written where the class is not known
_OF_EVERY = "of every"  # the same, read
_OUTSIDE = "outside"  # what code outside has by this name
_DECORATED = "decorated"  # what decorators make of a function, or what is registered with it


@dataclass(slots=True)
class _Hands:
    tables: Tables
    lookup: Lookup
    callees: list[set[int]]
    guesses: list[set[int]]
    unresolved: list[bool]
    outside: list[str]
    held: dict[Slot, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))  # hands, by function
    flows: dict[Slot, list[tuple[Slot, int]]] = field(default_factory=lambda: defaultdict(list))  # with what it adds
    calls: dict[Slot, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))  # events, likewise
    passes: dict[Slot, list[tuple[int, int | str, int]]] = field(default_factory=lambda: defaultdict(list))
    arguments: dict[int, list[tuple[int | str, Slot, int]]] = field(default_factory=lambda: defaultdict(list))
    given: dict[int, list[tuple[int | str, int, int]]] = field(default_factory=lambda: defaultdict(list))  # as they are
    callers: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    waiting: deque[tuple[Slot, int, int]] = field(default_factory=deque)


def hand_around(
    lookup: Lookup, callees: list[set[int]], guesses: list[set[int]], unresolved: list[bool], outside: list[str]
) -> dict[int, list[tuple[int | str, int, bool]]]:
    """Adds to each event what it calls through slots; the functions that it passes on, by argument, and if by a guess.

    Events that are unresolved may call something else than the callees that they have already, or code outside, whose
    name is `outside` where it is known.
    """
    tables = lookup.tables
    hands = _Hands(tables, lookup, callees, guesses, unresolved, outside)
    for function, target, chain in tables.flows:
        for slot in list(_targets(hands, function, target)):
            _connect(hands, function, chain, slot)
    for index, row in enumerate(tables.functions):
        for parameter, chain in row.defaults:
            _connect(hands, row.outer, chain, (_VARIABLE, index, parameter))
    for index, event in enumerate(tables.events):
        _prepare(hands, index, event)
    while hands.waiting:
        _spread(hands, *hands.waiting.popleft())
    return {
        index: sorted(
            {(position, function, added >= _GUESS) for position, function, added in hands.given.get(index, ())}
            | {
                (position, function, cost + added >= _GUESS)
                for position, slot, added in hands.arguments.get(index, ())
                for function, cost in hands.held.get(slot, {}).items()
            },
            key=str,
        )
        for index in {*hands.given, *hands.arguments}
    }


# -- what a name stands for --------------------------------------------------------------------------------------------


def _sources(hands: _Hands, function: int, chain: Chain) -> Iterator[tuple[int | Slot, int]]:
    """Functions and slots that a value may come from, with what each adds to the hands."""
    lookup = hands.lookup
    if chain[0] == LAMBDA:
        yield int(chain[1]), 0
    elif chain[0] == TEXT:
        meaning = lookup.dotted(chain[1])
        yield from ((one, _GUESS) for one in (*meaning.functions, *_made(lookup, meaning.classes)))
    elif chain[0] == RESULT and len(chain) == 2:
        yield (RESULT, int(chain[1])), 0
    elif _is_attribute(lookup, function, chain):
        yield from _attribute(hands, function, chain)
    else:
        meaning = lookup.meaning(function, chain)
        yield from ((one, 0) for one in (*meaning.functions, *_made(lookup, meaning.classes)))
        yield from (((_DECORATED, one), 0) for one in meaning.functions if lookup.tables.functions[one].decorators)
        if meaning.variable is not None:
            yield (_VARIABLE, *meaning.variable), 0
        elif meaning.external and len(chain) > 1:
            yield (_OUTSIDE, meaning.external[0]), 0
        elif len(chain) > 1 and not (meaning.functions or meaning.classes or meaning.module):
            yield from _attribute(hands, function, chain)


def _is_attribute(lookup: Lookup, function: int, chain: Chain) -> bool:
    """Whether it is one of an object; else it is a name, or what a module or class has by that name."""
    return len(chain) > 1 and (
        not chain[0] or chain[0] == RESULT or lookup.meaning(function, chain[:1]).variable is not None
    )


def _attribute(hands: _Hands, function: int, chain: Chain) -> Iterator[tuple[int | Slot, int]]:
    lookup, name = hands.lookup, chain[-1]
    owners = lookup.types(function, chain[:-1]).classes
    if "*" in name:
        for owner in owners:
            methods = (lookup.tables.classes[one].methods for one in lookup.family(owner))
            yield from ((one, 0) for each in methods for key in each if fnmatchcase(key, name) for one in each[key])
        return
    for owner in owners:
        found = {one for below in lookup.descendants(owner) for one in lookup.method(below, name)}
        yield from ((one, 0) for one in sorted(found) if not is_property(lookup.tables.functions[one]))
        yield _slot_of(hands, owner, name), 0
    if not owners:
        methods_named = lookup.methods.get(name, [])
        if len(methods_named) <= _FEW and name not in lookup.data_names:
            yield from ((one, _GUESS) for one in methods_named)
        yield (_OF_EVERY, name), 0


def _slot_of(hands: _Hands, owner: int, name: str) -> Slot:
    """An attribute is that of the furthest base that has it."""
    having = [one for one in hands.lookup.ancestors(owner) if name in hands.lookup.tables.classes[one].attributes]
    slot: Slot = (_OF_CLASS, having[-1] if having else owner, name)
    if slot not in hands.flows:
        hands.flows[slot].append(((_OF_EVERY, name), _GUESS))
        hands.flows[_OF_ANY, name].append((slot, _GUESS))
    return slot


def _targets(hands: _Hands, function: int, chain: Chain) -> Iterator[Slot]:
    """Slots that a value gets into."""
    lookup = hands.lookup
    if chain == (RETURN,):
        yield RETURN, function
    elif chain[0] == RESULT and len(chain) == 2:
        yield from _receivers(hands, lookup.tables.events[int(chain[1])])  # `self.x.setdefault(key, []).append(f)`
    elif _is_attribute(lookup, function, chain):
        yield from _attribute_targets(hands, function, chain)
    else:
        meaning = lookup.meaning(function, chain)
        if meaning.variable is not None:
            yield _VARIABLE, *meaning.variable
        elif meaning.external:
            yield _OUTSIDE, meaning.external[0]
        elif len(chain) > 1:
            yield from _attribute_targets(hands, function, chain)
        yield from ((_DECORATED, one) for one in meaning.functions)


def _attribute_targets(hands: _Hands, function: int, chain: Chain) -> Iterator[Slot]:
    owners = hands.lookup.types(function, chain[:-1]).classes
    yield from (_slot_of(hands, owner, chain[-1]) for owner in owners)
    if not owners:
        hands.flows[_OF_ANY, chain[-1]].append(((_OF_EVERY, chain[-1]), _GUESS))
        yield _OF_ANY, chain[-1]


def _receivers(hands: _Hands, event: CodeEvent) -> Iterator[Slot]:
    """What a method is called on, if it is one."""
    if len(event.chain) < (3 if event.chain[0] == RESULT else 2):
        return
    for chain in event.through if not event.chain[0] else (event.chain[:-1],):
        yield from _targets(hands, event.function, chain)


def _made(lookup: Lookup, classes: Iterable[int]) -> list[int]:
    return [one for owner in classes for one in sorted(constructors(lookup, owner))]


# -- before anything moves ---------------------------------------------------------------------------------------------


def _connect(hands: _Hands, function: int, chain: Chain, slot: Slot) -> None:
    for source, added in _sources(hands, function, chain):
        if isinstance(source, int):
            _put(hands, slot, source, 1 + added)
        elif source != slot:
            hands.flows[source].append((slot, added))


def _prepare(hands: _Hands, index: int, event: CodeEvent) -> None:
    for callee in hands.callees[index]:
        hands.callers[callee].append(index)
        if hands.tables.functions[callee].decorators:
            hands.calls[_DECORATED, callee].append((index, _doubt(hands, index, callee)))
        _run(hands, index, callee, 0)
    for chain in _called(event, unresolved=hands.unresolved[index]):
        for source, added in _sources(hands, event.function, chain):
            if not isinstance(source, int):
                hands.calls[source].append((index, added))
            elif chain in event.through:  # what has a name is resolved already
                _call(hands, index, source, added)
    if event.kind in (EventKind.CALL, EventKind.DECORATE):
        _construct(hands, index, event)
        _prepare_arguments(hands, index, event)
        if hands.unresolved[index]:
            _prepare_result(hands, index, event)
        if event.kind == EventKind.DECORATE:
            hands.flows[RESULT, index].append(((_DECORATED, int(event.passed[0][1][1])), 0))


def _prepare_arguments(hands: _Hands, index: int, event: CodeEvent) -> None:
    for position, chain in event.passed:
        for source, added in _sources(hands, event.function, chain):
            if isinstance(source, int):
                hands.given[index].append((position, source, added))
                _pass(hands, index, position, source, added)
            else:
                hands.arguments[index].append((position, source, added))
                hands.passes[source].append((index, position, added))


def _prepare_result(hands: _Hands, index: int, event: CodeEvent) -> None:
    """Code outside gives back what it holds."""
    for slot in _receivers(hands, event) if _TAKING.fullmatch(event.chain[-1]) else ():
        hands.flows[slot].append(((RESULT, index), 0))
        if slot[0] == _OF_ANY:
            hands.flows[_OF_EVERY, slot[1]].append(((RESULT, index), 0))


def _called(event: CodeEvent, *, unresolved: bool) -> Iterable[Chain]:
    match event.kind:
        case EventKind.CALL | EventKind.DECORATE if unresolved:
            return event.through if event.chain == ("",) else (event.chain,) if event.chain[0] else ()
        case EventKind.AWAIT:
            return (event.chain,)
        case EventKind.ITERATE if event.chain[0] != RESULT:
            return (event.chain[:-1],)
    return ()


def _construct(hands: _Hands, index: int, event: CodeEvent) -> None:
    """Of a class without a constructor, arguments are its fields; of one with `__call__`, its objects are functions."""
    if not event.chain[0] or event.chain[0] == RESULT:
        return
    for owner in hands.lookup.meaning(event.function, event.chain).classes:
        for one in hands.lookup.method(owner, "__call__"):
            _put(hands, (RESULT, index), one, 1)
        if event.passed and not constructors(hands.lookup, owner):
            fields = list(hands.lookup.tables.classes[owner].attributes)
            for position, chain in event.passed:
                name = fields[position] if isinstance(position, int) and position < len(fields) else position
                if isinstance(name, str):
                    _connect(hands, event.function, chain, _slot_of(hands, owner, name))


# -- moving ------------------------------------------------------------------------------------------------------------


def _put(hands: _Hands, slot: Slot, function: int, cost: int) -> None:
    held = hands.held[slot]
    if cost % _GUESS > _HANDS or cost >= 2 * _GUESS or held.get(function, cost + 1) <= cost:
        return
    if function not in held and len(held) >= (_MOST_GUESSES if cost >= _GUESS else _MOST):
        return
    held[function] = cost
    hands.waiting.append((slot, function, cost))


def _spread(hands: _Hands, slot: Slot, function: int, cost: int) -> None:
    if hands.held[slot][function] < cost:
        return  # it came by a shorter way meanwhile
    for target, added in hands.flows.get(slot, ()):
        _put(hands, target, function, cost + added + 1)
    for index, added in hands.calls.get(slot, ()):
        _call(hands, index, function, cost + added)
    for index, position, added in hands.passes.get(slot, ()):
        _pass(hands, index, position, function, cost + added)
    if slot[0] == RETURN:
        for index in hands.callers[int(slot[1])]:
            _give_back(hands, (index, int(slot[1])), function, cost)


def _give_back(hands: _Hands, call: tuple[int, int], function: int, cost: int) -> None:
    """What a function was given by one caller it does not give back to another: a decorator has many."""
    index, callee = call
    guesses = hands.guesses[index]
    if callee in guesses and len(guesses) > _FEW:
        return
    row = hands.tables.functions[callee]
    names = (*row.parameters, *row.keyword_only, row.starred, row.keyworded)
    if any(function in hands.held.get((_VARIABLE, callee, name), ()) for name in names):
        given = any(function == one for _, one, _ in hands.given.get(index, ()))
        if not given and not any(function in hands.held.get(held, ()) for _, held, _ in hands.arguments.get(index, ())):
            return
    _put(hands, (RESULT, index), function, cost + 1 + _doubt(hands, index, callee))


def _doubt(hands: _Hands, index: int, callee: int) -> int:
    return _GUESS if callee in hands.guesses[index] else 0


def _call(hands: _Hands, index: int, function: int, cost: int) -> None:
    row, kind = hands.tables.functions[function], hands.tables.events[index].kind
    if (kind == EventKind.ITERATE and not row.generates) or (kind == EventKind.AWAIT and not row.asynchronous):
        return
    if function in hands.callees[index] or cost >= 2 * _GUESS:
        if cost < _GUESS:
            hands.guesses[index].discard(function)
        return
    hands.callees[index].add(function)
    hands.callers[function].append(index)
    if cost >= _GUESS:
        hands.guesses[index].add(function)
    _run(hands, index, function, cost)
    for position, given, added in list(hands.given.get(index, ())):
        _bind(hands, (index, function), position, given, added)
    for position, slot, added in hands.arguments.get(index, ()):
        for held, hand in list(hands.held.get(slot, {}).items()):
            _bind(hands, (index, function), position, held, hand + added)
    for given_back, hand in list(hands.held.get((RETURN, function), {}).items()):
        _give_back(hands, (index, function), given_back, hand)


def _run(hands: _Hands, index: int, function: int, cost: int) -> None:
    """What runs later, when somebody iterates over it or awaits it, is a function that is handed on as well."""
    row, event = hands.tables.functions[function], hands.tables.events[index]
    if row.generates or (row.asynchronous and not event.awaited):
        _put(hands, (RESULT, index), function, cost % _GUESS + 1 + _doubt(hands, index, function))


def _pass(hands: _Hands, index: int, position: int | str, function: int, cost: int) -> None:
    guesses = hands.guesses[index]
    for callee in list(hands.callees[index] if len(guesses) <= _FEW else hands.callees[index] - guesses):
        _bind(hands, (index, callee), position, function, cost)
    if not hands.unresolved[index]:
        return
    event = hands.tables.events[index]
    if event.kind == EventKind.DECORATE or _RETURNING.fullmatch(hands.outside[index] or event.chain[-1]):
        _put(hands, (RESULT, index), function, cost + 1)
    for slot in _receivers(hands, event) if _KEEPING.fullmatch(event.chain[-1]) else ():
        _put(hands, slot, function, cost + 1)


def _bind(hands: _Hands, call: tuple[int, int], position: int | str, function: int, cost: int) -> None:
    index, callee = call
    row = hands.tables.functions[callee]
    name = position
    if isinstance(position, int):
        taken = position + (1 if row.owner >= 0 and ("staticmethod",) not in row.decorators else 0)
        name = row.parameters[taken] if taken < len(row.parameters) else row.starred
    elif position not in row.parameters and position not in row.keyword_only:
        name = row.keyworded
    if name:
        _put(hands, (_VARIABLE, callee, str(name)), function, cost + 1 + _doubt(hands, index, callee))
