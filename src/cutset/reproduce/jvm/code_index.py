"""What the causal analysis works on: keys of nodes, and the program by who calls, throws and writes."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import NamedTuple

from cutset.model.reproduction.result import CausalKind
from cutset.reproduce.jvm.calls import CallGraph, Event, index_calls
from cutset.reproduce.jvm.escapes import JvmEscapes, ThrownTypes, escapes_of, raised_in, thrown_outside, thrown_types
from cutset.reproduce.jvm.hierarchy import ClassHierarchy, callee_of
from cutset.reproduce.jvm.table_rows import FieldWrite, JvmCall, JvmMethod, TestedValues, ThrowRow
from cutset.reproduce.jvm.tables import DYNAMIC, SYNTHETIC, JvmProgram

Wanted = tuple[int, ...]


class JvmJunction(StrEnum):
    """Nodes that many others have in common what is prior to them by."""

    LEAVING = "leaving"  # what comes out of a method
    GUESSED = "guessed"  # what comes out of those that a call may reach, if they are many
    CALLED = "called"  # the calls that may reach a method and many others
    PASSED = "passed"  # what gets to a handler that throws it on: `finally`, and alike
    STARTED = "started"  # what happens in all methods that run on their own
    FAILED = "failed"  # what fails any future
    UNTOLD = "untold"  # a LOCATION whose message names an exception that its handler may not have caught after all


class JvmNode(NamedTuple):  # hashed hundreds of thousands of times: a dataclass takes twice as long
    """What a node stands for."""

    kind: CausalKind | JvmJunction
    method: int
    row: int = -1  # LOCATION, CONDITION, HANDLER, PASSED: a block; exceptions: an instruction; GUESSED: of `callees`
    at: int = -1  # of a LOCATION: its instruction; or below -1 its return, counted down from -2; -1: that is not known
    write: bool = False  # a LOCATION's instruction is meant as a write
    skipped: bool = False  # it also counts that the LOCATION or INVOCATION did not happen, though it should
    wanted: int = 0  # types that an exception is to have, of a LOCATION that its handler caught: in `JvmCode.types`


class Body(NamedTuple):
    """A method by its instructions."""

    method: JvmMethod
    calls: Mapping[int, JvmCall]
    throws: Mapping[int, ThrowRow]
    conditions: Mapping[int, Sequence[TestedValues]]  # by block
    writes: Mapping[int, FieldWrite]
    raising: tuple[int, ...]  # calls and throws
    reachable: list[int]  # per block: those that come after it, without exceptions, as bits

    def block_of(self, instruction: int) -> int:
        """Of a call or throw."""
        return (self.calls.get(instruction) or self.throws[instruction]).block

    def line_of(self, instruction: int) -> int:
        return (self.calls.get(instruction) or self.throws[instruction]).line

    def leads(self, block: int, to: int) -> bool:
        return block == to or bool(self.reachable[block] >> to & 1)


@dataclass(frozen=True)
class JvmCode:
    program: JvmProgram
    graph: CallGraph
    escapes: JvmEscapes
    written: Mapping[str, Mapping[int, Sequence[Event]]]  # writes of a field, by its name and its class
    types: list[Wanted] = field(default_factory=lambda: [()])  # that exceptions are wanted to be of; 0: any
    callees: list[tuple[int, ...]] = field(default_factory=list)  # of guesses
    _numbers: dict[Wanted, int] = field(default_factory=lambda: {(): 0})
    _guesses: dict[tuple[int, ...], int] = field(default_factory=dict)
    _bodies: dict[int, Body] = field(default_factory=dict)
    _writers: dict[int, list[Event]] = field(default_factory=dict)
    _misses: dict[tuple[int, int, int], bool] = field(default_factory=dict)
    _bypassing: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    _may: dict[tuple[ThrownTypes, int], bool] = field(default_factory=dict)

    @property
    def hierarchy(self) -> ClassHierarchy:
        return self.graph.hierarchy

    @cached_property
    def anything(self) -> int:
        """All that can be thrown, unless it is caught."""
        return self.wanting([self.hierarchy.throwable])

    @cached_property
    def exceptions(self) -> int:
        return self.wanting([self.program.numbers.get("java.lang.Exception", self.hierarchy.throwable)])

    def wanting(self, types: Sequence[int]) -> int:
        """Their number."""
        wanted = tuple(sorted(set(types)))
        number = self._numbers.setdefault(wanted, len(self.types))
        if number == len(self.types):
            self.types.append(wanted)
        return number

    def guess(self, targets: tuple[int, ...]) -> int:
        number = self._guesses.setdefault(targets, len(self.callees))
        if number == len(self.callees):
            self.callees.append(targets)
        return number

    def body(self, method: int) -> Body:
        known = self._bodies.get(method)
        if known is None:
            known = self._bodies[method] = _body(self.program.method(method))
        return known

    def writers(self, field_number: int) -> list[Event]:
        """Of a field, whichever class above or below it is named by."""
        known = self._writers.get(field_number)
        if known is None:
            owner, _, name = self.program.strings[field_number].rpartition(".")
            number = self.hierarchy.number(owner)
            known = self._writers[field_number] = [
                event
                for other, events in self.written.get(name, {}).items()
                if number == other or self.hierarchy.related(number, other)
                for event in events
            ]
        return known

    def passed_on(self, event: Event, call: JvmCall) -> ThrownTypes:
        """What comes out of analysed methods that a call runs."""
        if call.opcode == DYNAMIC:
            return frozenset()
        found = self.escapes.out_of(self.graph.targets(callee_of(call)))
        run = self.graph.run.get(event)
        return found | self.escapes.out_of(tuple(run)) if run else found

    def outside(self, method: int, call: JvmCall) -> ThrownTypes:
        return thrown_outside(self.hierarchy, call, drives=self.program.drives(method))

    def thrown_by(self, method: int, throw: ThrowRow) -> ThrownTypes:
        """Without what a handler throws on."""
        return frozenset(thrown_types(self.hierarchy, self.body(method).method, throw))

    def any_may(self, kinds: ThrownTypes, wanted: int) -> bool:
        key = (kinds, wanted)
        if key not in self._may:
            self._may[key] = any(self.hierarchy.may(kind, one) for kind in kinds for one in self.types[wanted])
        return self._may[key]

    def may_miss(self, method: int, start: int, block: int) -> bool:
        """Whether control can get from one block out of the method without another."""
        key = (method, start, block)
        if key not in self._misses:
            blocks = self.body(method).method.blocks
            self._misses[key] = any(not blocks[each].successors for each in self._without(method, start, block))
        return self._misses[key]

    def bypassing(self, method: int, block: int) -> tuple[int, ...]:
        """Handlers that lead to a block past a condition that else decides about it."""
        key = (method, block)
        if key not in self._bypassing:
            self._bypassing[key] = tuple(dict.fromkeys(self._find_bypassing(method, block)))
        return self._bypassing[key]

    def _find_bypassing(self, method: int, block: int) -> Iterator[int]:
        body = self.body(method)
        for condition in body.method.blocks[block].conditions:
            for attempt in body.method.tries:
                if block in self._without(method, attempt.handler, condition) and any(
                    attempt.start <= instruction < attempt.end and body.leads(body.block_of(instruction), condition)
                    for instruction in body.raising
                ):
                    yield attempt.handler

    def _without(self, method: int, start: int, block: int) -> list[int]:
        """The blocks that control gets to from one without another."""
        blocks = self.body(method).method.blocks
        seen = {block, start}
        found = [start] if start != block else []
        for each in found:  # grows
            new = [one for one in blocks[each].successors if one not in seen]
            seen.update(new)
            found.extend(new)
        return found

    def is_between(self, method: int) -> bool:
        """Whether javac has put the method between a caller and what it calls: accessors, bridges."""
        function = self.program.functions[method]
        return bool(function.access & SYNTHETIC) and not function.context.endswith(".lambda")


@lru_cache(maxsize=1)
def index_code(program: JvmProgram) -> JvmCode:
    """Of the last program that was asked about it is kept."""
    graph = CallGraph(program, ClassHierarchy(program))
    written: dict[str, dict[int, list[Event]]] = defaultdict(lambda: defaultdict(list))
    raised = []
    names: dict[int, tuple[int, str]] = {}
    for number, method in enumerate(program.methods()):
        index_calls(graph, number, method)
        raised.append(raised_in(graph, number, method))
        for write in method.writes:
            if write.field not in names:
                owner, _, name = program.strings[write.field].rpartition(".")
                names[write.field] = graph.hierarchy.number(owner), name
            owner_number, name = names[write.field]
            written[name][owner_number].append(Event(number, write.instruction))
    return JvmCode(program, graph, escapes_of(graph, raised), dict(written))


def _body(method: JvmMethod) -> Body:
    conditions: dict[int, list[TestedValues]] = defaultdict(list)
    for condition in method.conditions:
        conditions[condition.block].append(condition)
    calls = {call.instruction: call for call in method.calls}
    throws = {throw.instruction: throw for throw in method.throws}
    return Body(
        method,
        calls,
        throws,
        conditions,
        {write.instruction: write for write in method.writes},
        tuple(sorted((*(each for each, call in calls.items() if call.opcode != DYNAMIC), *throws))),
        _reachable(method),
    )


def _reachable(method: JvmMethod) -> list[int]:
    reached = [0] * len(method.blocks)
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(reached))):
            found = reached[number]
            for successor in method.blocks[number].successors:
                found |= reached[successor] | 1 << successor
            if found != reached[number]:
                reached[number] = found
                changed = True
    return reached
