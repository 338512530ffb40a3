"""Who calls whom: calls by the class hierarchy, code that is handed to others to be run, threads, tasks, futures.

ANDURIL (§4.1) follows a task from the `submit` to the `get` of its future. Here what is handed to code outside may be
run by it: at once, so that what it throws comes out of the call, or later, by a thread of its own, so that it comes out
of a future at most. Which future holds which task is not known: those of the same method, else those of the same
source file, else any.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from cutset.reproduce.jvm.hierarchy import Callee, ClassHierarchy, callee_of
from cutset.reproduce.jvm.table_rows import HandedCode, JvmCall, JvmMethod
from cutset.reproduce.jvm.tables import PUBLIC, STATIC, JvmProgram

_SURE = 12  # a call that may reach more methods than these is a guess
_LAMBDA = 0  # the kind of what is handed
_THREAD, _OBJECT = "java.lang.Thread", "java.lang.Object"

# What is handed to these runs later.
_LATER = re.compile(
    r"execute|submit|schedule\w*|start|fork|newThread|newTaskFor|register\w*|add\w*|set\w*|on[A-Z]\w*"
    r"|then\w*|when\w*|handle\w*|exceptionally\w*|\w+Async|<init>|subscribe|listen\w*"
)
_WAITING = re.compile(r"get|getNow|getDone|join|sync|syncUninterruptibly|resultNow|invokeAll|invokeAny")
_FUTURE = re.compile(
    r"java\.util\.concurrent\.(\w*Future\w*|Completion\w+|\w*ExecutorService)|.+\.concurrent\.\w*Future"
)
_FAILING = re.compile(r"completeExceptionally|obtrudeException|setException|setFailure|tryFailure")
_RUN_BY_NAME = {  # the methods that code outside calls of what it knows as these
    "java.lang.Runnable": ("run",),
    _THREAD: ("run",),
    "java.util.TimerTask": ("run",),
    "java.util.concurrent.Callable": ("call",),
}
_ARGUMENT = re.compile(r"\[*(?:L[^;]+;|[^L\[])")


class Event(NamedTuple):
    """A call, a throw or a write."""

    method: int
    instruction: int


@dataclass(frozen=True)
class CallGraph:
    program: JvmProgram
    hierarchy: ClassHierarchy
    events: Mapping[Callee, list[Event]] = field(default_factory=lambda: defaultdict(list))
    run: Mapping[Event, list[int]] = field(default_factory=lambda: defaultdict(list))  # at once, by code outside
    started: Mapping[Event, list[int]] = field(default_factory=lambda: defaultdict(list))  # later
    made: Mapping[int, list[Event]] = field(default_factory=lambda: defaultdict(list))  # objects, by class
    tasks: Mapping[object, dict[int, None]] = field(default_factory=lambda: defaultdict(dict))  # by method, by file
    failing: Mapping[object, list[Event]] = field(default_factory=lambda: defaultdict(list))  # likewise: of futures
    _lambdas: Mapping[int, list[int]] = field(default_factory=lambda: defaultdict(list))  # by interface
    _reached: dict[Callee, tuple[int, ...]] = field(default_factory=dict)

    # -- what a call reaches -------------------------------------------------------------------------------------------

    def targets(self, callee: Callee) -> tuple[int, ...]:
        """The analysed methods that it may be a call of."""
        found = self._reached.get(callee)
        if found is None:
            found = self.hierarchy.targets(callee)
            bodies = () if callee.fixed else self._lambdas.get(callee.owner, ())
            self._reached[callee] = found = tuple(dict.fromkeys((*found, *bodies)))
        return found

    def is_guess(self, callee: Callee) -> bool:
        return len(self.targets(callee)) > _SURE

    @cached_property
    def _by_target(self) -> Mapping[int, list[Callee]]:
        found: dict[int, list[Callee]] = defaultdict(list)
        for callee in self.events:
            for target in self.targets(callee):
                found[target].append(callee)
        return found

    @cached_property
    def _runners(self) -> Mapping[int, list[Event]]:
        found: dict[int, list[Event]] = defaultdict(list)
        for events in (self.run, self.started):
            for event, bodies in events.items():
                for body in bodies:
                    found[body].append(event)
        return found

    def callers(self, method: int) -> Iterator[Event]:
        """Calls of it that are sure, and of who runs it; if nobody does, where objects that have it are made."""
        callees = self._by_target.get(method, ())
        for callee in callees:
            if not self.is_guess(callee):
                yield from self.events[callee]
        yield from self._runners.get(method, ())
        if not callees and method not in self._runners:
            function = self.program.functions[method]
            if not function.access & STATIC and function.name != "<init>":
                for each in self.hierarchy.below(self.program.classes[function.owner].name):
                    yield from self.made.get(each, ())

    def guessed_callers(self, method: int) -> list[Event]:
        callees = self._by_target.get(method, ())
        return [event for callee in callees if self.is_guess(callee) for event in self.events[callee]]

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Methods that run on their own, in some thread."""
        return tuple(sorted({body for bodies in self.started.values() for body in bodies}))

    # -- futures -------------------------------------------------------------------------------------------------------

    def waits(self, call: JvmCall) -> bool:
        """Whether it waits for what runs elsewhere, and fails as that does."""
        if not _WAITING.fullmatch(self.program.strings[call.name]):
            return False
        return any(_FUTURE.fullmatch(self.program.type_name(each)) for each in self.hierarchy.above(call.owner))

    def scopes(self, method: int) -> tuple[object, object, object]:
        """Where a future that is waited for in a method may come from, the likeliest first."""
        return (method, self.program.functions[method].path, None)


def index_calls(graph: CallGraph, number: int, method: JvmMethod) -> None:
    """Adds those of one method."""
    program = graph.program
    calls = {}
    for call in method.calls:
        event = Event(number, call.instruction)
        calls[call.instruction] = call
        graph.events[callee_of(call)].append(event)
        name = program.strings[call.name]
        if name == "start" and program.numbers.get(_THREAD) in graph.hierarchy.above(call.owner):
            _start(graph, event, call, _called(graph, call.owner, _THREAD))
        elif _FAILING.fullmatch(name):
            for scope in graph.scopes(number):
                graph.failing[scope].append(event)
    for made in method.made:
        graph.made[made.type].append(Event(number, made.instruction))
    for handed in method.handed:
        if handed.call in calls:
            _hand(graph, number, calls[handed.call], handed)


def _hand(graph: CallGraph, number: int, call: JvmCall, handed: HandedCode) -> None:
    program = graph.program
    known_as = _parameter(program.strings[call.descriptor], handed.argument)
    interface = program.numbers.get(known_as, -1)
    if handed.kind == _LAMBDA:
        body = _body(graph, program.strings[handed.what])
        bodies = [body] if body >= 0 else []
    else:
        bodies = _called(graph, handed.what, known_as)
    if call.owner in graph.hierarchy.analysed:
        if handed.kind == _LAMBDA and interface >= 0:
            graph._lambdas[interface].extend(bodies)  # noqa: SLF001 - who fills it is in this file
    elif _LATER.fullmatch(program.strings[call.name]):
        _start(graph, Event(number, call.instruction), call, bodies)
    else:
        graph.run[Event(number, call.instruction)].extend(bodies)


def _start(graph: CallGraph, event: Event, call: JvmCall, bodies: Sequence[int]) -> None:
    graph.started[event].extend(bodies)
    if not call.flags & 1:  # somebody has the future
        for scope in graph.scopes(event.method):
            graph.tasks[scope].update(dict.fromkeys(bodies))


def _body(graph: CallGraph, what: str) -> int:
    """Of a lambda: "owner.name descriptor"."""
    place, _, descriptor = what.partition(" ")
    owner, _, name = place.rpartition(".")
    return graph.hierarchy.named(owner, name, descriptor)


def _called(graph: CallGraph, kind: int, known_as: str) -> list[int]:
    """The methods of a class, or of those below it, that code outside may call of what it knows as something."""
    program, hierarchy = graph.program, graph.hierarchy
    if known_as == _OBJECT:  # `equals` and `hashCode`, which say nothing
        return []
    names = _RUN_BY_NAME.get(known_as)
    found = []
    for each in hierarchy.below(kind):
        for number in hierarchy.methods_of(each):
            function = program.functions[number]
            if names is not None:
                fits = function.name in names
            else:
                fits = bool(function.access & PUBLIC) and not function.access & STATIC and function.name[0] != "<"
            if fits:
                found.append(number)
    return found if len(found) <= _SURE else []


@lru_cache(maxsize=65_536)
def _parameter(descriptor: str, argument: int) -> str:
    """The binary name of the type of a parameter; "" if it is none of a class."""
    kinds = _ARGUMENT.findall(descriptor[1 : descriptor.index(")")])
    kind = kinds[argument] if 0 <= argument < len(kinds) else ""
    return kind[1:-1].replace("/", ".") if kind.startswith("L") else ""
