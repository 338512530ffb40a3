"""Which classes are below which, which methods a call may reach (class hierarchy analysis), which handlers catch what.

Types are numbers of strings. Exceptions are declared, so that one of a declared type is of that type or below: a
handler for what is above surely catches it, one for what is below may.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from cutset.reproduce.jvm.table_rows import JvmCall
from cutset.reproduce.jvm.tables import DYNAMIC, SPECIAL, STATICALLY, JvmProgram

ANYTHING = -1  # the type of a handler for all: `finally`, `synchronized`
_THROWABLE, _UNCHECKED = "java.lang.Throwable", ("java.lang.RuntimeException", "java.lang.Error")


class Callee(NamedTuple):
    """What a call names."""

    fixed: bool  # no subclass may take its place
    owner: int
    name: int
    descriptor: int


def callee_of(call: JvmCall) -> Callee:
    return Callee(call.opcode in (SPECIAL, STATICALLY, DYNAMIC), call.owner, call.name, call.descriptor)


class ClassHierarchy:
    def __init__(self, program: JvmProgram) -> None:
        self._parents = {
            row.name: ((row.parent, *row.interfaces) if row.parent >= 0 else row.interfaces) for row in program.classes
        }
        self.analysed = frozenset(row.name for row in program.classes if row.kind)
        self._methods: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)  # by name and descriptor, then class
        self._by_class: dict[int, list[int]] = defaultdict(list)
        for number, function in enumerate(program.functions):
            if function.has_code:
                owner = program.classes[function.owner].name
                self._methods[function.signature][owner] = number
                self._by_class[owner].append(number)
        self._strings = {text: number for number, text in enumerate(program.strings)}
        self._above: dict[int, frozenset[int]] = {}
        self._below: dict[int, tuple[int, ...]] = {}
        self.throwable = program.numbers.get(_THROWABLE, ANYTHING)
        self.unchecked = tuple(program.numbers[name] for name in _UNCHECKED if name in program.numbers)

    @cached_property
    def _children(self) -> Mapping[int, Sequence[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for name, parents in self._parents.items():
            for parent in parents:
                found[parent].append(name)
        return found

    def above(self, name: int) -> frozenset[int]:
        """All that it is, itself included, as far as that is known."""
        known = self._above.get(name)
        if known is None:
            known = self._above[name] = frozenset(_reachable(name, self._parents))
        return known

    def below(self, name: int) -> tuple[int, ...]:
        """All that are it, itself included."""
        known = self._below.get(name)
        if known is None:
            known = self._below[name] = tuple(_reachable(name, self._children))
        return known

    def related(self, one: int, other: int) -> bool:
        return other in self.above(one) or one in self.above(other)

    # -- calls ---------------------------------------------------------------------------------------------------------

    def targets(self, callee: Callee) -> tuple[int, ...]:
        """The analysed methods that it may reach, in order."""
        methods = self._methods.get((callee.name, callee.descriptor))
        if not methods:
            return ()
        if callee.fixed:
            found = {self._inherited(callee.owner, methods)}
        elif len(methods) == 1 and callee.owner in methods:
            found = set(methods.values())
        else:
            found = {self._inherited(each, methods) for each in self.below(callee.owner)}
            found.add(self._inherited(callee.owner, methods))
        return tuple(sorted(found - {-1}))

    def _inherited(self, name: int, methods: Mapping[int, int]) -> int:
        """The method that a class has, by itself or from above: classes first, then interfaces; -1: none."""
        waiting = [name]
        for each in waiting:  # grows
            if each in methods:
                return methods[each]
            waiting.extend(self._parents.get(each, ()))
        return -1

    def number(self, name: str) -> int:
        """Of a string."""
        return self._strings.get(name, ANYTHING)

    def named(self, owner: str, name: str, descriptor: str) -> int:
        """The method that a class has; -1: none that is analysed."""
        signature = self.number(name), self.number(descriptor)
        return self._inherited(self.number(owner), self._methods.get(signature, {}))

    def methods_of(self, name: int) -> Sequence[int]:
        return self._by_class.get(name, ())

    # -- exceptions ----------------------------------------------------------------------------------------------------

    def surely(self, raised: int, caught: int) -> bool:
        """Whether a handler of `caught` stops the exception for certain."""
        return caught in (ANYTHING, self.throwable) or caught in self.above(raised)

    def may(self, raised: int, caught: int) -> bool:
        """Whether a handler of `caught` can be reached by the exception."""
        if self.surely(raised, caught) or raised in self.above(caught):
            return True
        return raised not in self._parents  # nothing is known of it

    def narrowed(self, raised: int, caught: int) -> int:
        """What is known of an exception of the one type in a handler for the other."""
        return raised if self.surely(raised, caught) else caught

    def may_be_unchecked(self, wanted: Iterable[int]) -> bool:
        return any(self.may(kind, one) for kind in self.unchecked for one in wanted)


def _reachable(name: int, edges: Mapping[int, Sequence[int]]) -> Iterator[int]:
    seen = {name}
    waiting = [name]
    for each in waiting:  # grows
        yield each
        new = [one for one in edges.get(each, ()) if one not in seen]
        seen.update(new)
        waiting.extend(new)
