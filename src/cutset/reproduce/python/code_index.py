"""What the causal analysis works on: keys of nodes, and the program by who calls, returns, writes and changes."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeVar

from cutset.model.reproduction.result import CausalKind
from cutset.reproduce.python.escapes import Escapes, analyse
from cutset.reproduce.python.syntax import RETURN, PythonProgram

_K = TypeVar("_K")


class Junction(StrEnum):
    """Nodes that many others have in common what is prior to them by."""

    LEAVING = "leaving"  # what comes out of a function
    GUESSED = "guessed"  # what comes out of those that an event calls by a guess
    CALLED = "called"  # the events that call a function by a guess
    STARTED = "started"  # what happens in all functions that run on their own


class NodeKey(NamedTuple):  # hashed hundreds of thousands of times: a dataclass takes twice as long
    """What a node stands for: a row of the program, by its kind."""

    kind: CausalKind | Junction
    row: int  # event, guard, function
    write: bool = False  # a LOCATION's row is a write
    skipped: bool = False  # it also counts that the LOCATION or INVOCATION did not happen, though it should
    wanted: int = (
        0  # types that an exception from elsewhere, or a HANDLER that passes it on, is to have: in `Code.types`
    )


@dataclass(frozen=True, slots=True)
class Code:
    program: PythonProgram
    escapes: Escapes
    sites: Mapping[int, int]  # by event
    callers: Mapping[int, tuple[int, ...]]  # events that call or start a function
    returns: Mapping[int, tuple[int, ...]]  # writes, by function
    local_writes: Mapping[tuple[int, str], tuple[int, ...]]  # by function and name
    attribute_writes: Mapping[str, tuple[int, ...]]
    local_changes: Mapping[tuple[int, str], tuple[int, ...]]  # calls on a variable that are statements of their own
    attribute_changes: Mapping[str, tuple[int, ...]]
    failed_futures: Mapping[str, tuple[int, ...]]  # `future.set_exception(…)`, by the future's name
    same_guesses: Mapping[int, int]  # by event: the first one with these guesses
    types: list[tuple[str, ...]] = field(default_factory=lambda: [()])  # that exceptions are wanted to be of; 0: any
    numbers: dict[tuple[str, ...], int] = field(default_factory=lambda: {(): 0})
    thrown: dict[tuple[int, int, int], list[NodeKey]] = field(default_factory=dict)  # what was found already
    may: dict[tuple[frozenset[str], int], bool] = field(default_factory=dict)

    def wanting(self, types: tuple[str, ...]) -> int:
        """Their number."""
        number = self.numbers.setdefault(types, len(self.types))
        if number == len(self.types):
            self.types.append(types)
        return number

    def drives(self, event: int) -> bool:
        """Whether the event is in a driver: code that gets no faults."""
        function = self.program.functions[self.program.events[event].function]
        return not self.program.modules[function.module].injectable


def index_code(program: PythonProgram) -> Code:
    callers: dict[int, list[int]] = defaultdict(list)
    failed_futures: dict[str, list[int]] = defaultdict(list)
    changes: list[int] = []
    first: dict[tuple[int, ...], int] = {}
    for index, event in enumerate(program.events):
        for callee in dict.fromkeys((*program.callees[index], *program.starts[index])):
            callers[callee].append(index)
        if event.alone and len(event.chain) > 1:
            changes.append(index)
        if len(event.chain) > 1 and event.chain[-1] == "set_exception":
            failed_futures[event.chain[-2]].append(index)
    returns: dict[int, list[int]] = defaultdict(list)
    local_writes: dict[tuple[int, str], list[int]] = defaultdict(list)
    attribute_writes: dict[str, list[int]] = defaultdict(list)
    for index, write in enumerate(program.writes):
        function = program.places[write.place].function
        if write.name == RETURN:
            returns[function].append(index)
        elif len(write.target) == 1:
            local_writes[write.scope, write.name].append(index)
        else:
            attribute_writes[write.name].append(index)
    local_changes: dict[tuple[int, str], list[int]] = defaultdict(list)
    attribute_changes: dict[str, list[int]] = defaultdict(list)
    for index in changes:
        event = program.events[index]
        if len(event.chain) > 2:
            attribute_changes[event.chain[-2]].append(index)
        else:
            local_changes[scope_of(program, local_writes, event.function, event.chain[0]), event.chain[0]].append(index)
    return Code(
        program,
        analyse(program),
        {event: site for site, event in enumerate(program.site_events)},
        _frozen(callers),
        _frozen(returns),
        _frozen(local_writes),
        _frozen(attribute_writes),
        _frozen(local_changes),
        _frozen(attribute_changes),
        _frozen(failed_futures),
        {index: first.setdefault(guesses, index) for index, guesses in enumerate(program.guesses) if guesses},
    )


def _frozen(lists: Mapping[_K, list[int]]) -> dict[_K, tuple[int, ...]]:
    return {key: tuple(rows) for key, rows in lists.items()}


def scope_of(program: PythonProgram, writes: Mapping[tuple[int, str], object], function: int, name: str) -> int:
    """The function, of those around, whose variable or parameter a name is; -1 if it is nobody's."""
    while function >= 0 and (function, name) not in writes and name not in program.functions[function].parameters:
        function = program.functions[function].outer
    return function
