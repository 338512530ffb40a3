"""What is causally prior to a node of the causal graph of a JVM program, by its kind (ANDURIL §4.1).

A location is reached through the conditions that decide about it and the handlers that it is in, else through the
invocation of its method; a condition also through whoever writes what it reads, wherever that is (the jumping strategy
of Pensieve); a handler through what throws in its `try`. External exceptions are the end; internal ones only pass on.

Beyond the paper, as for Python:
- A write of a field that an exception skips changes a condition as much as one that happens, and a log line that good
  runs have may be missing for that reason: what may throw above it is causally prior to it.
- The search goes on behind a new exception, to the conditions under which it is thrown. One that wraps what a handler
  caught is a consequence of that.
- A call that may reach many methods is a guess, and the junctions of guesses are several steps away.
- What javac writes by itself is no step: handlers of `finally` that throw on, accessors, bridges.
- What a driver gets from outside may come from the system that it started, by ways that are not seen.
"""

from collections.abc import Iterable, Iterator, Sequence

from cutset.model.reproduction.result import CausalKind
from cutset.reproduce.jvm.calls import Event
from cutset.reproduce.jvm.code_index import JvmCode, JvmJunction, JvmNode, Wanted
from cutset.reproduce.jvm.escapes import ThrownTypes, around
from cutset.reproduce.jvm.hierarchy import ANYTHING, callee_of
from cutset.reproduce.jvm.tables import JvmCall, ThrowRow, TryRange
from cutset.reproduce.logs.recognition import Origin, Sighting

_WHATEVER = 0  # also what is caught
_FAILURES = ("java.util.concurrent.ExecutionException", "java.util.concurrent.CompletionException")
_OF_THE_JVM = {  # no program need mention what the JVM itself throws
    f"java.lang.{name}Exception"
    for name in ("NullPointer", "ArrayIndexOutOfBounds", "ArrayStore", "ClassCast", "Arithmetic", "NegativeArraySize")
}
_RETURNS = -2  # where a LOCATION's returns are counted down from

# The handlers that an exception meets, and whether they keep it from what is to be reached.
_Way = Sequence[tuple[int, bool]]


def beginnings(code: JvmCode, seen: Sighting) -> list[JvmNode]:
    found = []
    if seen.statement is not None:
        statement = code.program.statements[seen.statement.event]
        blocks = {log.instruction: log.block for log in code.body(statement.method).method.logs}
        found += [
            _location(statement.method, blocks[instruction], instruction, skipped=seen.missing)
            for instruction in statement.instructions
        ]
    for origin in seen.origins:
        found += _raising(code, origin)
    return found


def _raising(code: JvmCode, origin: Origin) -> list[JvmNode]:
    """What threw in the last known frame of a stack trace; the frame itself if nothing there can.

    In a log of another version lines are elsewhere: then it may have been anything in the method.
    """
    body, method = code.body(origin.function), origin.function
    at_line = [each for each in body.raising if body.line_of(each) == origin.line]
    named = code.program.numbers.get(origin.type)
    exactly = code.wanting([named]) if named is not None else code.anything
    unchecked = origin.type in _OF_THE_JVM or (named is not None and code.hierarchy.may_be_unchecked([named]))
    for instructions, wanted in ((at_line, exactly), (at_line, code.anything), (body.raising, exactly)):
        found = [key for each in instructions for key in _thrown(code, method, each, wanted, ())]
        # A deeper method would have a frame of its own.
        here = [key for key in found if key.kind != CausalKind.INTERNAL or key.row in body.throws]
        found = here if unchecked else here or found
        if found:
            break
    # Also why control was there: the fault may have come before, and this be a consequence.
    found += [_place(code, method, each) for each in dict.fromkeys(key.row for key in found)]
    found += [_location(method, number) for number, row in enumerate(body.method.blocks) if row.line == origin.line]
    if unchecked:
        # The JVM itself throws for values that are wrong, as null is: those of the calls there.
        found += _values(code, method, at_line or body.calls, ())
    return found or [JvmNode(CausalKind.INVOCATION, method)]


def _location(method: int, block: int, at: int = -1, *, write: bool = False, skipped: bool = False) -> JvmNode:
    return JvmNode(CausalKind.LOCATION, method, block, at, write, skipped)


def _place(code: JvmCode, method: int, instruction: int, *, skipped: bool = False) -> JvmNode:
    """Of a call or throw, or of an object that is made."""
    body = code.body(method)
    row = body.calls.get(instruction) or body.throws.get(instruction)
    block = row.block if row else next(made.block for made in body.method.made if made.instruction == instruction)
    return _location(method, block, instruction, skipped=skipped)


# -- causally prior ----------------------------------------------------------------------------------------------------


def causally_prior(code: JvmCode, key: JvmNode) -> Iterator[JvmNode]:  # noqa: C901 - one case per kind
    match key.kind:
        case CausalKind.NEW:
            yield from _control(code, key.method, code.body(key.method).throws[key.row].block)
        case CausalKind.EXTERNAL if code.program.drives(key.method):
            if not code.graph.targets(callee_of(code.body(key.method).calls[key.row])):  # else the way is seen
                yield JvmNode(JvmJunction.STARTED, -1)
        case CausalKind.LOCATION:
            yield from _control(code, key.method, key.row, skipped=key.skipped)
            yield from _made_of(code, key)
            if key.skipped:
                yield from _skipping(code, key.method, key.row, key.at)
        case CausalKind.CONDITION:
            yield from _control(code, key.method, key.row)
            yield from _tested(code, key)
        case CausalKind.INVOCATION:
            if code.graph.guessed_callers(key.method):
                yield key._replace(kind=JvmJunction.CALLED)
            yield from (_place(code, *event, skipped=key.skipped) for event in code.graph.callers(key.method))
        case CausalKind.HANDLER | JvmJunction.PASSED:
            yield from _caught(code, key)
        case CausalKind.INTERNAL:
            yield from _prior_to_internal(code, key)
        case JvmJunction():
            yield from _beyond(code, key)


def _beyond(code: JvmCode, key: JvmNode) -> Iterator[JvmNode]:
    """What is prior to whatever leads to a junction."""
    match key.kind:
        case JvmJunction.LEAVING:
            for instruction in code.body(key.method).raising:
                yield from _thrown(code, key.method, instruction, key.wanted, _way(code, key.method, instruction))
        case JvmJunction.GUESSED:
            yield from _leaving(code, code.callees[key.row], key.wanted)
        case JvmJunction.CALLED:
            for event in code.graph.guessed_callers(key.method):
                yield _place(code, *event, skipped=key.skipped)
        case JvmJunction.FAILED:
            yield from _failures(code, None)
        case JvmJunction.STARTED:
            # What a driver gets from outside may come from the system that it started: a client and its server. How a
            # fault there comes to be felt here, through a socket or a file, is not seen, so that whatever can throw in
            # a method that runs on its own counts, caught or not.
            yield from _leaving(code, code.graph.roots, _WHATEVER)


def _control(code: JvmCode, method: int, block: int, *, skipped: bool = False) -> Iterator[JvmNode]:
    """The conditions and handlers that a block depends on, else its method."""
    row = code.body(method).method.blocks[block]
    for condition in row.conditions:
        yield JvmNode(CausalKind.CONDITION, method, condition)
    for handler in (*row.handlers, *code.bypassing(method, block)):
        yield JvmNode(CausalKind.HANDLER, method, handler)
    # What is decided further down, at the end of a loop, does not decide about its first turn. And whatever does: if
    # nobody calls the method, it is skipped.
    if skipped or (not row.handlers and all(condition >= block for condition in row.conditions)):
        yield JvmNode(CausalKind.INVOCATION, method, skipped=skipped)


def _made_of(code: JvmCode, key: JvmNode) -> Iterator[JvmNode]:
    """What decides about the value that a write or return has."""
    body = code.body(key.method)
    if key.write:
        write = body.writes[key.at]
        yield from _values(code, key.method, write.calls, write.fields)
    elif key.at <= _RETURNS:
        returned = body.method.returns[_RETURNS - key.at]
        yield from _values(code, key.method, returned.calls, returned.fields)
        if not returned.calls and not returned.fields and returned.constant is None:
            yield from _made_here(code, key.method, key.row)


def _tested(code: JvmCode, key: JvmNode) -> Iterator[JvmNode]:
    for condition in code.body(key.method).conditions.get(key.row, ()):
        yield from _values(code, key.method, condition.calls, condition.fields)
        yield from (_location(key.method, block) for block in condition.chosen)
        if condition.parameters:
            yield JvmNode(CausalKind.INVOCATION, key.method)
        if not (condition.calls or condition.fields or condition.chosen or condition.parameters):
            yield from _made_here(code, key.method, key.row)


def _made_here(code: JvmCode, method: int, block: int) -> Iterator[JvmNode]:
    """Of what a method makes itself, as a list that it fills: all that has decided what it does until then."""
    body = code.body(method)
    for number in body.conditions:
        if number != block and body.leads(number, block):
            yield JvmNode(CausalKind.CONDITION, method, number)
    for attempt in body.method.tries:
        if attempt.type != ANYTHING and body.leads(attempt.handler, block):
            yield JvmNode(CausalKind.HANDLER, method, attempt.handler)


def _values(code: JvmCode, method: int, calls: Iterable[int], fields: Iterable[int]) -> Iterator[JvmNode]:
    """Where a value comes from: what called methods return, and all writes of the fields that it reads."""
    body = code.body(method)
    for instruction in calls:
        call = body.calls.get(instruction)
        if call is None:
            continue
        event = Event(method, instruction)
        targets = () if code.graph.is_guess(callee_of(call)) else code.graph.targets(callee_of(call))
        for target in (*targets, *code.graph.run.get(event, ()), *code.graph.started.get(event, ())):
            yield from _returns(code, target)
    for each in fields:
        for event in code.writers(each):
            block = code.body(event.method).writes[event.instruction].block
            yield _location(event.method, block, event.instruction, write=True, skipped=True)


def _returns(code: JvmCode, method: int) -> Iterator[JvmNode]:
    for number, row in enumerate(code.body(method).method.returns):
        yield _location(method, row.block, _RETURNS - number)


def _skipping(code: JvmCode, method: int, block: int, at: int) -> Iterator[JvmNode]:
    """What may throw above a place in its method, so that control does not get there."""
    body = code.body(method)
    for instruction in body.raising:
        row = body.calls.get(instruction) or body.throws[instruction]
        after = bool(body.reachable[row.block] >> block & 1) or (row.block == block and instruction < at)
        if after:
            way = _way_past(code, method, instruction, block, at)
            yield from _thrown(code, method, instruction, code.exceptions, way)


def _way_past(code: JvmCode, method: int, instruction: int, block: int, at: int) -> _Way:
    """Handlers from which control surely goes on to a place keep exceptions from skipping it, others do not."""
    body = code.body(method)
    way = []
    for each in around(body.method, instruction):
        if each.start <= at < each.end:
            break
        way.append((each.type, not code.may_miss(method, each.handler, block)))
    return way


# -- exceptions --------------------------------------------------------------------------------------------------------


def _way(code: JvmCode, method: int, instruction: int, until: TryRange | None = None) -> _Way:
    """The tries around, up to but without one."""
    way = []
    for each in around(code.body(method).method, instruction):
        if each is until:
            break
        way.append((each.type, True))
    return way


def _past(code: JvmCode, kinds: Iterable[int], way: _Way) -> ThrownTypes:
    """Those that no handler on the way surely keeps."""
    if not way:
        return frozenset(kinds)
    left = set()
    for kind in kinds:
        for caught, keeps in way:
            if code.hierarchy.surely(kind, caught):
                if not keeps:
                    left.add(kind)
                break
        else:
            left.add(kind)
    return frozenset(left)


def _thrown(code: JvmCode, method: int, instruction: int, wanted: int, way: _Way) -> list[JvmNode]:
    """The exception that a call or throw gives rise to, if it can be of the wanted types and gets past handlers."""
    body = code.body(method)
    throw = body.throws.get(instruction)
    if wanted != _WHATEVER and way and not _past(code, code.types[wanted], way):
        return []
    if throw is not None:
        return _thrown_here(code, method, throw, wanted, way)
    call = body.calls[instruction]
    event = Event(method, instruction)
    found = []
    if call.site >= 0 or (code.program.drives(method) and call.owner not in code.hierarchy.analysed):
        fitting = _fitting(code, code.outside(method, call), wanted, way)
        if fitting is not None:
            found.append(JvmNode(CausalKind.EXTERNAL, method, instruction, wanted=fitting))
    passed_on = _past(code, code.passed_on(event, call), way)
    if (passed_on and (wanted == _WHATEVER or code.any_may(passed_on, wanted))) or _fails(code, call, wanted):
        found.append(JvmNode(CausalKind.INTERNAL, method, instruction, wanted=wanted))
    return found


def _fitting(code: JvmCode, kinds: ThrownTypes, wanted: int, way: _Way) -> int | None:
    """Of what can be thrown, what is wanted and gets past handlers; None: nothing."""
    if wanted == _WHATEVER:
        return wanted
    hierarchy = code.hierarchy
    found = [
        hierarchy.narrowed(kind, one)
        for kind in _past(code, kinds, way)
        for one in code.types[wanted]
        if hierarchy.may(kind, one)
    ]
    found = [kind for kind in found if _past(code, (kind,), way)]
    return code.wanting(found) if found else None


def _thrown_here(code: JvmCode, method: int, throw: ThrowRow, wanted: int, way: _Way) -> list[JvmNode]:
    if throw.handlers:  # what got there is thrown on, if it is wanted
        return [JvmNode(CausalKind.INTERNAL, method, throw.instruction, wanted=wanted)]
    kinds = _past(code, code.thrown_by(method, throw), way)
    if not kinds or (wanted != _WHATEVER and not code.any_may(kinds, wanted)):
        return []
    wraps = bool(code.body(method).method.blocks[throw.block].handlers)
    found = [JvmNode(CausalKind.INTERNAL, method, throw.instruction)] if wraps or throw.site < 0 else []
    if throw.site >= 0:
        found.append(JvmNode(CausalKind.NEW, method, throw.instruction))
    return found


def _leaving(code: JvmCode, methods: Iterable[int], wanted: int) -> Iterator[JvmNode]:
    """What comes out of methods."""
    for method in methods:
        if wanted == _WHATEVER or code.any_may(code.escapes.leaving[method], wanted):
            yield JvmNode(JvmJunction.LEAVING, method, wanted=wanted)


def _caught(code: JvmCode, key: JvmNode) -> Iterator[JvmNode]:
    """What gets to a handler."""
    body = code.body(key.method)
    for attempt in body.method.tries:
        if attempt.handler != key.row:
            continue
        wanted = code.wanting(_narrowed(code, attempt.type, code.types[key.wanted]))
        if not code.types[wanted]:
            continue
        for instruction in body.raising:
            if attempt.start <= instruction < attempt.end:
                way = _way(code, key.method, instruction, attempt)
                yield from _thrown(code, key.method, instruction, wanted, way)


def _narrowed(code: JvmCode, caught: int, wanted: Wanted) -> list[int]:
    """Of what a handler catches, what is wanted behind it."""
    hierarchy = code.hierarchy
    if caught == ANYTHING:
        return list(wanted) or [hierarchy.throwable]
    if not wanted:
        return [caught]
    return [hierarchy.narrowed(one, caught) for one in wanted if hierarchy.may(one, caught)]


def _prior_to_internal(code: JvmCode, key: JvmNode) -> Iterator[JvmNode]:
    body = code.body(key.method)
    throw = body.throws.get(key.row)
    if throw is not None:
        yield from _prior_to_throw(code, key, throw)
        return
    call, event = body.calls[key.row], Event(key.method, key.row)
    callee = callee_of(call)
    if code.graph.is_guess(callee):
        yield JvmNode(JvmJunction.GUESSED, -1, code.guess(code.graph.targets(callee)), wanted=key.wanted)
    else:
        yield from _leaving(code, code.graph.targets(callee), key.wanted)
    yield from _leaving(code, code.graph.run.get(event, ()), key.wanted)
    if _fails(code, call, key.wanted):
        scope = next((one for one in code.graph.scopes(key.method) if _any_failure(code, one)), None)
        if scope is None:
            yield JvmNode(JvmJunction.FAILED, -1)
        else:
            yield from _failures(code, scope)


def _prior_to_throw(code: JvmCode, key: JvmNode, throw: ThrowRow) -> Iterator[JvmNode]:
    """Of an exception that was caught before: its handler; of one from elsewhere: what decides about the `throw`."""
    handlers = throw.handlers or code.body(key.method).method.blocks[throw.block].handlers
    for handler in handlers:
        kind = JvmJunction.PASSED if throw.handlers and _is_finally(code, key.method, handler) else CausalKind.HANDLER
        yield JvmNode(kind, key.method, handler, wanted=key.wanted if throw.handlers else 0)
    if not handlers:
        yield from _control(code, key.method, throw.block)


def _is_finally(code: JvmCode, method: int, handler: int) -> bool:
    """Whether a handler is for everything, so that what it throws on is just passed on."""
    types = {each.type for each in code.body(method).method.tries if each.handler == handler}
    return types <= {ANYTHING, code.hierarchy.throwable}


# -- futures -----------------------------------------------------------------------------------------------------------


def _fails(code: JvmCode, call: JvmCall, wanted: int) -> bool:
    """Whether it may throw what a task that it waits for has thrown."""
    if not code.graph.waits(call):
        return False
    failures = [code.program.numbers[name] for name in _FAILURES if name in code.program.numbers]
    return wanted == _WHATEVER or code.any_may(frozenset(failures), wanted)


def _any_failure(code: JvmCode, scope: object) -> bool:
    return bool(code.graph.tasks.get(scope) or code.graph.failing.get(scope))


def _failures(code: JvmCode, scope: object) -> Iterator[JvmNode]:
    """What ends tasks, and who says that a future has failed."""
    yield from _leaving(code, code.graph.tasks.get(scope, ()), code.anything)
    yield from (_place(code, *event) for event in code.graph.failing.get(scope, ()))
