"""Which exceptions can leave a method, and what handlers catch on the way (ANDURIL §4.1, exception analysis).

The JVM declares what is checked. What is not, code outside may throw as well, wherever something can go wrong at all:
at sites. A handler's own `throw e` throws what got there, so that `finally`, `synchronized` and closing of resources
let everything pass.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cutset.reproduce.jvm.calls import CallGraph, Event
from cutset.reproduce.jvm.hierarchy import Callee, ClassHierarchy, callee_of
from cutset.reproduce.jvm.table_rows import JvmCall, JvmMethod, ThrowRow, TryRange
from cutset.reproduce.jvm.tables import DYNAMIC

ThrownTypes = frozenset[int]
_NOTHING: ThrownTypes = frozenset()


class Raising(NamedTuple):
    """What arises in a method between the same tries."""

    around: tuple[TryRange, ...]
    types: ThrownTypes
    callees: tuple[Callee, ...]
    run: tuple[int, ...]  # methods that code outside runs
    rethrown: tuple[int, ...]  # blocks of handlers whose exceptions are thrown on


def raised_in(graph: CallGraph, number: int, method: JvmMethod) -> tuple[Raising, ...]:
    types: dict[tuple[TryRange, ...], set[int]] = defaultdict(set)
    callees: dict[tuple[TryRange, ...], dict[Callee, None]] = defaultdict(dict)
    run: dict[tuple[TryRange, ...], dict[int, None]] = defaultdict(dict)
    rethrown: dict[tuple[TryRange, ...], dict[int, None]] = defaultdict(dict)
    drives = graph.program.drives(number)
    for call in method.calls:
        if call.opcode != DYNAMIC:
            tries = around(method, call.instruction)
            types[tries].update(thrown_outside(graph.hierarchy, call, drives=drives))
            callees[tries][callee_of(call)] = None
            run[tries].update(dict.fromkeys(graph.run.get(Event(number, call.instruction), ())))
    for throw in method.throws:
        tries = around(method, throw.instruction)
        types[tries].update(thrown_types(graph.hierarchy, method, throw))
        rethrown[tries].update(dict.fromkeys(throw.handlers))
    return tuple(
        Raising(tries, frozenset(kinds), tuple(callees[tries]), tuple(run[tries]), tuple(rethrown[tries]))
        for tries, kinds in types.items()
    )


def around(method: JvmMethod, instruction: int) -> tuple[TryRange, ...]:
    """The tries around an instruction, in the order in which their handlers are asked."""
    return tuple(each for each in method.tries if each.start <= instruction < each.end)


def caught_before(method: JvmMethod, blocks: Iterable[int]) -> list[TryRange]:
    """The tries through whose handlers blocks are reached."""
    handlers = {handler for block in blocks for handler in method.blocks[block].handlers}
    return [each for each in method.tries if each.handler in handlers]


def thrown_outside(hierarchy: ClassHierarchy, call: JvmCall, *, drives: bool) -> ThrownTypes:
    """By code that is not analysed: what it declares, and what nobody declares."""
    if call.site >= 0 or (drives and call.owner not in hierarchy.analysed):
        return frozenset((*call.declared, *hierarchy.unchecked))
    return frozenset(call.declared)


def thrown_types(hierarchy: ClassHierarchy, method: JvmMethod, throw: ThrowRow) -> tuple[int, ...]:
    if throw.types or throw.handlers:
        return throw.types
    return (*method.declared, *hierarchy.unchecked)  # it was caught elsewhere


@dataclass(frozen=True, slots=True)
class JvmEscapes:
    leaving: Sequence[ThrownTypes]  # per method: types that can come out of it
    together: Mapping[tuple[int, ...], ThrownTypes]  # of several that one call may reach

    def out_of(self, methods: tuple[int, ...]) -> ThrownTypes:
        """What can come out of any of them."""
        if len(methods) == 1:
            return self.leaving[methods[0]]
        known = self.together.get(methods)
        return known if known is not None else _NOTHING.union(*(self.leaving[each] for each in methods))


def escapes_of(graph: CallGraph, raised: Sequence[Sequence[Raising]]) -> JvmEscapes:
    """A fixpoint: what leaves a method is what arises in it, or leaves those that it calls, and no handler stops.

    Several methods that one call may reach are one more node, which what leaves any of them leaves.
    """
    joints: dict[tuple[int, ...], int] = {}
    called: list[list[tuple[int, ...]]] = []  # per method and group: nodes
    for groups in raised:
        called.append([])
        for group in groups:
            reached = [targets for callee in group.callees if (targets := graph.targets(callee))]
            nodes = [
                each[0] if len(each) == 1 else joints.setdefault(each, len(raised) + len(joints)) for each in reached
            ]
            called[-1].append(tuple(dict.fromkeys((*nodes, *group.run))))
    depends = [tuple(dict.fromkeys(node for group in groups for node in group)) for groups in called] + list(joints)
    leaving = _fixpoint(graph.hierarchy, raised, called, depends)
    return JvmEscapes(leaving[: len(raised)], {methods: leaving[node] for methods, node in joints.items()})


def _fixpoint(
    hierarchy: ClassHierarchy,
    raised: Sequence[Sequence[Raising]],
    called: Sequence[Sequence[tuple[int, ...]]],
    depends: Sequence[tuple[int, ...]],
) -> list[ThrownTypes]:
    above: dict[int, list[int]] = defaultdict(list)
    for number, nodes in enumerate(depends):
        for node in nodes:
            above[node].append(number)
    leaving = [_NOTHING] * len(depends)
    same: dict[ThrownTypes, ThrownTypes] = {}
    waiting = dict.fromkeys(_below_first(depends))
    while waiting:
        number = next(iter(waiting))
        del waiting[number]
        if number >= len(raised):
            found = _NOTHING.union(*(leaving[node] for node in depends[number]))
        else:
            arising = [
                group.types.union(*(leaving[node] for node in nodes))
                for group, nodes in zip(raised[number], called[number], strict=True)
            ]
            found = _leaving(hierarchy, raised[number], arising)
        if found != leaving[number]:
            leaving[number] = same.setdefault(found, found)
            waiting.update(dict.fromkeys(above[number]))
    return leaving


def _below_first(depends: Sequence[tuple[int, ...]]) -> Iterator[int]:
    """So that most are looked at once."""
    seen: set[int] = set()
    for start in range(len(depends)):
        if start in seen:
            continue
        seen.add(start)
        stack = [(start, iter(depends[start]))]
        while stack:
            number, rest = stack[-1]
            following = next((each for each in rest if each not in seen), -1)
            if following < 0:
                stack.pop()
                yield number
            else:
                seen.add(following)
                stack.append((following, iter(depends[following])))


def _leaving(hierarchy: ClassHierarchy, groups: Sequence[Raising], arising: Sequence[ThrownTypes]) -> ThrownTypes:
    out: set[int] = set()
    arrived: dict[int, set[int]] = defaultdict(set)  # by block of the handler
    thrown_on = [group for group in groups if group.rethrown]
    for group, kinds in zip(groups, arising, strict=True):
        _fly(hierarchy, kinds, group.around, arrived, out)
    known = -1
    while thrown_on and known != (known := sum(map(len, arrived.values()))):
        for group in thrown_on:
            kinds = _NOTHING.union(*(arrived[handler] for handler in group.rethrown))
            _fly(hierarchy, kinds, group.around, arrived, out)
    return frozenset(out)


def _fly(
    hierarchy: ClassHierarchy,
    kinds: ThrownTypes,
    tries: Sequence[TryRange],
    arrived: Mapping[int, set[int]],
    out: set[int],
) -> None:
    """Through the tries around: some get to handlers, some out of the method."""
    if not tries:
        out |= kinds
        return
    for kind in kinds:
        for each in tries:
            if hierarchy.may(kind, each.type):
                arrived[each.handler].add(hierarchy.narrowed(kind, each.type))
                if hierarchy.surely(kind, each.type):
                    break
        else:
            out.add(kind)
