"""What is causally prior to a node of the causal graph, by its kind (ANDURIL §4.1).

A location is reached through the conditions and handlers that dominate it, else through the invocation of its
function; a condition also through whoever writes what it reads, wherever that is (the jumping strategy of Pensieve); a
handler through what raises in its `try`. External exceptions are the end; internal ones only pass on.

Beyond the paper:
- A write of an attribute that an exception skips changes a condition as much as one that happens, and a log line that
  good runs have may be missing for that reason: what may raise above it is causally prior to it.
- The search goes on behind a new exception, to the conditions under which it is raised.
- A call that is resolved by its name alone is a guess, and the junctions of guesses are several steps away.
- What a driver gets from outside may come from the system that it started, by ways that are not seen.
"""

from collections.abc import Iterable, Iterator, Sequence

from cutset.model.reproduction.result import CausalKind
from cutset.reproduce.logs.recognition import Origin, Sighting
from cutset.reproduce.python.code_index import Code, Junction, NodeKey, scope_of
from cutset.reproduce.python.escapes import events_under, handled_types, is_reraise, narrowed, past, stopped
from cutset.reproduce.python.syntax import Chain, CodeEvent, EventKind, GuardKind, PythonProgram, self_class

_EXITS = ("__exit__", "__aexit__")
_ANYTHING = ("BaseException",)
_WAITING = {"gather", "shield", "wait", "wait_for"}
_WHATEVER = 0  # also what is caught
_CANCELLED = ("asyncio.CancelledError",)
_SKIPPING = ("Exception",)  # what makes control skip a write: cancellation and exit end more than that


def beginnings(code: Code, seen: Sighting) -> list[NodeKey]:
    found = []
    if seen.statement is not None:
        found.append(NodeKey(CausalKind.LOCATION, seen.statement.event, skipped=seen.missing))
    for origin in seen.origins:
        found += _raising(code, origin)
    return found


def _raising(code: Code, origin: Origin) -> list[NodeKey]:
    """What raised in the last known frame of a traceback; the frame itself if its line tells nothing."""
    at_line = [
        index
        for index in code.escapes.by_function[origin.function]
        if code.program.events[index].line <= origin.line <= code.program.events[index].end_line
    ]
    for wanted in (code.wanting((origin.type,)), code.wanting(_ANYTHING)):
        found = [
            key
            for index in at_line
            for key in _thrown(code, index, wanted, code.program.places[code.program.events[index].place].caught_by)
        ]
        if found:
            # Also why control was there: the fault may have come before, and this be a consequence.
            return found + [NodeKey(CausalKind.LOCATION, index) for index in dict.fromkeys(key.row for key in found)]
    return [NodeKey(CausalKind.INVOCATION, origin.function)]


# -- causally prior ----------------------------------------------------------------------------------------------------


def causally_prior(code: Code, key: NodeKey) -> Iterator[NodeKey]:  # noqa: C901 - one case per kind
    program = code.program
    match key.kind:
        case CausalKind.NEW:
            yield from _control(program, program.events[key.row].place)
        case CausalKind.EXTERNAL if code.drives(key.row):
            if not (program.callees[key.row] or program.joins[key.row]):  # else the way is seen
                yield NodeKey(Junction.STARTED, 0)
        case CausalKind.LOCATION if key.write:
            yield from _prior_to_write(code, key.row)
        case CausalKind.LOCATION:
            event = program.events[key.row]
            yield from _control(program, event.place, skipped=key.skipped)
            if key.skipped:
                yield from _skipping(code, event.place, event.line)
        case CausalKind.CONDITION:
            guard = program.guards[key.row]
            yield from _control(program, guard.place)
            yield from _values(code, guard.place, guard.reads, guard.values)
        case CausalKind.INVOCATION:
            yield from _prior_to_invocation(code, key)
        case CausalKind.HANDLER:
            guard = program.guards[key.row]
            types = narrowed(code.escapes.hierarchy, handled_types(program, guard), code.types[key.wanted])
            yield from _thrown_in(code, guard.attempt, code.wanting(types))
        case CausalKind.INTERNAL:
            yield from _prior_to_internal(code, key)
        case Junction():
            yield from _beyond(code, key)


def _beyond(code: Code, key: NodeKey) -> Iterator[NodeKey]:
    """What is prior to whatever leads to a junction."""
    match key.kind:
        case Junction.LEAVING:
            for index in code.escapes.by_function[key.row]:
                yield from _thrown(code, index, key.wanted, -1)
        case Junction.GUESSED:
            yield from _leaving(code, code.program.guesses[key.row], key.wanted)
        case Junction.CALLED:
            callers = code.callers.get(key.row, ())
            guessed = [index for index in callers if key.row in code.program.guesses[index]]
            yield from _callers(code, key, guessed)
        case Junction.STARTED:
            # What a driver gets from outside may come from the system that it started: a client and its server. How a
            # fault there comes to be felt here, through a socket or a file, is not seen, so that whatever can raise in
            # a function that runs on its own counts, caught or not.
            roots = sorted({one for started in code.program.starts for one in started})
            yield from _leaving(code, roots, _WHATEVER)


def _control(program: PythonProgram, place: int, *, skipped: bool = False) -> Iterator[NodeKey]:
    """Dominators: the conditions and handlers around a place, the conditions that it got past, its function."""
    row = program.places[place]
    for guard in (*((row.guard,) if row.guard >= 0 else ()), *row.passed):
        kind = CausalKind.CONDITION if program.guards[guard].kind == GuardKind.CONDITION else CausalKind.HANDLER
        yield NodeKey(kind, guard)
    if row.guard < 0:
        yield NodeKey(CausalKind.INVOCATION, row.function, skipped=skipped)


def _prior_to_write(code: Code, index: int) -> Iterator[NodeKey]:
    write = code.program.writes[index]
    # If it outlives its function, somebody may miss it.
    outlives = len(write.target) > 1 or write.scope != code.program.places[write.place].function
    yield from _control(code.program, write.place, skipped=outlives)
    yield from _values(code, write.place, write.reads, write.values)
    if outlives:
        yield from _skipping(code, write.place, write.line)


def _values(code: Code, place: int, reads: Sequence[Chain], values: Sequence[int]) -> Iterator[NodeKey]:
    """Where a value comes from: what called functions return, and all writes of the names that it reads."""
    program = code.program
    for index in values:
        for callee in program.callees[index]:
            yield from (NodeKey(CausalKind.LOCATION, one, write=True) for one in code.returns.get(callee, ()))
    for chain in reads:
        yield from _writers(code, program.places[place].function, chain)


def _writers(code: Code, function: int, chain: Chain) -> Iterator[NodeKey]:
    """The jumping strategy: whoever writes the name or attribute, or calls a method on it for its effect alone."""
    if len(chain) == 1:
        scope = scope_of(code.program, code.local_writes, function, chain[0])
        shared = scope != function
        yield from (
            NodeKey(CausalKind.LOCATION, one, write=True) for one in code.local_writes.get((scope, chain[0]), ())
        )
        yield from (
            NodeKey(CausalKind.LOCATION, one, skipped=shared) for one in code.local_changes.get((scope, chain[0]), ())
        )
        return
    related = _relatives(code, function, chain)
    for one in code.attribute_writes.get(chain[-1], ()):
        write = code.program.writes[one]
        if _fits(code, related, code.program.places[write.place].function, write.target):
            yield NodeKey(CausalKind.LOCATION, one, write=True)
    for one in code.attribute_changes.get(chain[-1], ()):
        event = code.program.events[one]
        if _fits(code, related, event.function, event.chain[:-1]):
            yield NodeKey(CausalKind.LOCATION, one, skipped=True)


def _relatives(code: Code, function: int, chain: Chain) -> frozenset[int]:
    """Classes whose `self.x` may be the attribute; empty: any, since nothing is known of its object."""
    owner = self_class(code.program.functions, function, chain[0]) if len(chain) == 2 else -1
    return code.program.families[owner] if owner >= 0 else frozenset()


def _fits(code: Code, related: frozenset[int], function: int, target: Chain) -> bool:
    if not related or len(target) != 2:
        return True
    owner = self_class(code.program.functions, function, target[0])
    return owner < 0 or owner in related


def _skipping(code: Code, place: int, line: int) -> Iterator[NodeKey]:
    """What may raise above a write in its function, so that the write does not happen."""
    program = code.program
    around = set(_tries(program, program.places[place].caught_by))
    loops = set(_loops(program, place))
    for index in code.escapes.by_function[program.places[place].function]:
        event = program.events[index]
        if event.line < line or not loops.isdisjoint(_loops(program, event.place)):
            until = next((one for one in _tries(program, program.places[event.place].caught_by) if one in around), -1)
            yield from _thrown(code, index, code.wanting(_SKIPPING), until)


def _loops(program: PythonProgram, place: int) -> Iterator[int]:
    """Loops around a place: what comes later in one comes before in its next turn."""
    guard = program.places[place].guard
    while guard >= 0:
        if program.guards[guard].repeats:
            yield guard
        guard = program.places[program.guards[guard].place].guard


def _tries(program: PythonProgram, attempt: int) -> Iterator[int]:
    while attempt >= 0:
        yield attempt
        attempt = program.tries[attempt].outer


def _prior_to_invocation(code: Code, key: NodeKey) -> Iterator[NodeKey]:
    guesses, callers = code.program.guesses, code.callers.get(key.row, ())
    sure = [index for index in callers if key.row not in guesses[index]]
    if len(sure) < len(callers):
        yield key._replace(kind=Junction.CALLED)
    yield from _callers(code, key, sure)


def _callers(code: Code, key: NodeKey, callers: Iterable[int]) -> Iterator[NodeKey]:
    for index in callers:
        yield NodeKey(CausalKind.LOCATION, index, skipped=key.skipped)
        event = code.program.events[index]
        if event.kind == EventKind.WITH and code.program.functions[key.row].name.endswith(_EXITS):
            yield from _thrown_in(code, event.body, code.wanting(_ANYTHING))


# -- exceptions --------------------------------------------------------------------------------------------------------


def _thrown(code: Code, index: int, wanted: int, until: int) -> list[NodeKey]:
    """The exception that an event raises, if it can be of the wanted types and gets past the tries up to one."""
    key = (index, wanted, until)
    found = code.thrown.get(key)
    if found is None:
        found = code.thrown[key] = _find_thrown(code, index, wanted, until)
    return found


def _find_thrown(code: Code, index: int, wanted: int, until: int) -> list[NodeKey]:
    program, escapes = code.program, code.escapes
    event = program.events[index]
    if wanted != _WHATEVER:
        attempt = program.places[event.place].caught_by
        if attempt != until and stopped(escapes, attempt, until, code.types[wanted]):
            return []
        kinds = escapes.raised[index]
        if attempt != until:
            kinds = frozenset(past(program, escapes.hierarchy, kinds, attempt, until))
        if not _any_may(code, kinds, wanted):
            return []
    if event.kind == EventKind.RAISE:
        kind = CausalKind.NEW if index in code.sites or _is_new(program, index) else CausalKind.INTERNAL
        return [NodeKey(kind, index, wanted=wanted if kind == CausalKind.INTERNAL else 0)]
    found = []
    if program.leaves[index] and (index in code.sites or code.drives(index)) and _arises(event, code.types[wanted]):
        found.append(NodeKey(CausalKind.EXTERNAL, index, wanted=wanted))
    called = program.callees[index] or program.joins[index]
    if (
        event.kind == EventKind.YIELD
        or (called and (wanted == _WHATEVER or _any_may(code, escapes.passed_on[index], wanted)))
        or _failed_futures(code, index)
    ):
        found.append(NodeKey(CausalKind.INTERNAL, index, wanted=wanted))
    return found


def _leaving(code: Code, functions: Iterable[int], wanted: int) -> Iterator[NodeKey]:
    """What comes out of functions."""
    for function in functions:
        if wanted == _WHATEVER or _any_may(code, code.escapes.leaving[function], wanted):
            yield NodeKey(Junction.LEAVING, function, wanted=wanted)


def _thrown_in(code: Code, attempt: int, wanted: int) -> Iterator[NodeKey]:
    """What comes out of the body of a try."""
    for index in events_under(code.escapes, attempt):
        yield from _thrown(code, index, wanted, attempt)


def _any_may(code: Code, kinds: frozenset[str], wanted: int) -> bool:
    key = (kinds, wanted)
    if key not in code.may:
        types, hierarchy = code.types[wanted], code.escapes.hierarchy
        code.may[key] = any(hierarchy.may(kind, one) for kind in kinds for one in types)
    return code.may[key]


def _arises(event: CodeEvent, wanted: tuple[str, ...]) -> bool:
    """Cancellation arises where a task waits, and nowhere else."""
    return wanted != _CANCELLED or event.awaited or event.kind == EventKind.AWAIT


def _is_new(program: PythonProgram, index: int) -> bool:
    event = program.events[index]
    return program.places[event.place].handler < 0 and (event.constructs or bool(program.resolved[index]))


def _prior_to_internal(code: Code, key: NodeKey) -> Iterator[NodeKey]:
    program, event = code.program, code.program.events[key.row]
    guesses = program.guesses[key.row]
    if guesses:
        yield NodeKey(Junction.GUESSED, code.same_guesses[key.row], wanted=key.wanted)
    callees = dict.fromkeys((*program.callees[key.row], *program.joins[key.row]))
    yield from _leaving(code, (callee for callee in callees if callee not in guesses), key.wanted)
    yield from (NodeKey(CausalKind.LOCATION, one) for one in _failed_futures(code, key.row))
    if event.kind == EventKind.RAISE:
        yield from _prior_to_raise(code, key)
    elif event.kind == EventKind.YIELD:
        for body in code.escapes.bodies.get(event.function, ()):
            yield from _thrown_in(code, body, key.wanted)


def _failed_futures(code: Code, index: int) -> list[int]:
    """Where a future that is waited for gets its exception: by its name, since who holds it is not known."""
    event = code.program.events[index]
    names: list[str] = []
    if event.kind == EventKind.AWAIT or (event.kind == EventKind.CALL and event.chain[-1] == "result"):
        names = [event.chain[-1] if event.kind == EventKind.AWAIT else event.chain[-2:][0]]
    elif event.kind == EventKind.CALL and event.chain[-1] in _WAITING:
        names = [chain[-1] for _, chain in event.passed]
    return [one for name in names for one in code.failed_futures.get(name, ())]


def _prior_to_raise(code: Code, key: NodeKey) -> Iterator[NodeKey]:
    """Of an exception that was caught before: its handler; of one that a variable holds: whoever wrote it."""
    program, event = code.program, code.program.events[key.row]
    handler = program.places[event.place].handler
    if handler < 0:
        yield from _control(program, event.place)
        yield from _writers(code, event.function, event.chain) if event.chain else ()
    elif is_reraise(program, key.row):
        yield NodeKey(CausalKind.HANDLER, handler, wanted=key.wanted)
    else:
        yield NodeKey(CausalKind.HANDLER, handler)
        if not event.constructs:
            yield from _writers(code, event.function, event.chain)
