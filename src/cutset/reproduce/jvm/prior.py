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

from collections.abc import Iterable, Iterator

from cutset.model.reproduction.result import CausalKind
from cutset.reproduce.jvm.calls import Event
from cutset.reproduce.jvm.code_index import JvmCode, JvmJunction, JvmNode, Wanted
from cutset.reproduce.jvm.escapes import around, caught_before
from cutset.reproduce.jvm.hierarchy import ANYTHING, callee_of
from cutset.reproduce.jvm.table_rows import ThrowRow
from cutset.reproduce.jvm.thrown import WHATEVER, WayOut, fails, thrown, way_out
from cutset.reproduce.logs.recognition import Origin, Sighting

_OF_THE_JVM = {  # no program need mention what the JVM itself throws
    f"java.lang.{name}Exception"
    for name in ("NullPointer", "ArrayIndexOutOfBounds", "ArrayStore", "ClassCast", "Arithmetic", "NegativeArraySize")
}
_RETURNS = -2  # where a LOCATION's returns are counted down from


def beginnings(code: JvmCode, seen: Sighting) -> list[JvmNode]:
    found = []
    if seen.statement is not None:
        statement = code.program.statements[seen.statement.event]
        blocks = {log.instruction: log.block for log in code.body(statement.method).method.logs}
        for instruction in statement.instructions:
            place = _location(statement.method, blocks[instruction], instruction, skipped=seen.missing)
            found.append(place._replace(wanted=_told(code, place, seen.caught)))
    for origin in seen.origins:
        found += _raising(code, origin)
    return found


def _told(code: JvmCode, place: JvmNode, caught: str) -> int:
    """What a handler wants that is said to have caught an exception; 0 if the place is in none that can have."""
    named = code.program.numbers.get(caught)
    types = [each.type for each in caught_before(code.body(place.method).method, [place.row])]
    fits = named is not None and any(each == ANYTHING or code.hierarchy.may(named, each) for each in types)
    return code.wanting([named]) if named is not None and fits else 0


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
        found = [key for each in instructions for key in thrown(code, method, each, wanted, ())]
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
            yield from _control(code, key.method, key.row, skipped=key.skipped, caught=key.wanted)
            if key.wanted:
                yield key._replace(kind=JvmJunction.UNTOLD, wanted=0)
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
                yield from thrown(code, key.method, instruction, key.wanted, way_out(code, key.method, instruction))
        case JvmJunction.GUESSED:
            yield from _leaving(code, code.callees[key.row], key.wanted)
        case JvmJunction.CALLED:
            for event in code.graph.guessed_callers(key.method):
                yield _place(code, *event, skipped=key.skipped)
        case JvmJunction.FAILED:
            yield from _failures(code, None)
        case JvmJunction.UNTOLD:
            yield from _control(code, key.method, key.row)
        case JvmJunction.STARTED:
            # What a driver gets from outside may come from the system that it started: a client and its server. How a
            # fault there comes to be felt here, through a socket or a file, is not seen, so that whatever can throw in
            # a method that runs on its own counts, caught or not.
            yield from _leaving(code, code.graph.roots, WHATEVER)


def _control(code: JvmCode, method: int, block: int, *, skipped: bool = False, caught: int = 0) -> Iterator[JvmNode]:
    """The conditions and handlers that a block depends on, else its method."""
    row = code.body(method).method.blocks[block]
    for condition in row.conditions:
        yield JvmNode(CausalKind.CONDITION, method, condition)
    for handler in row.handlers:
        yield JvmNode(CausalKind.HANDLER, method, handler, wanted=caught)
    for handler in code.bypassing(method, block):
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
            yield from thrown(code, method, instruction, code.exceptions, way)


def _way_past(code: JvmCode, method: int, instruction: int, block: int, at: int) -> WayOut:
    """Handlers from which control surely goes on to a place keep exceptions from skipping it, others do not."""
    body = code.body(method)
    way = []
    for each in around(body.method, instruction):
        if each.start <= at < each.end:
            break
        way.append((each.type, not code.may_miss(method, each.handler, block)))
    return way


# -- exceptions --------------------------------------------------------------------------------------------------------


def _leaving(code: JvmCode, methods: Iterable[int], wanted: int) -> Iterator[JvmNode]:
    """What comes out of methods."""
    for method in methods:
        if wanted == WHATEVER or code.any_may(code.escapes.leaving[method], wanted):
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
                way = way_out(code, key.method, instruction, attempt)
                yield from thrown(code, key.method, instruction, wanted, way)


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
    if fails(code, call, key.wanted):
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


def _any_failure(code: JvmCode, scope: object) -> bool:
    return bool(code.graph.tasks.get(scope) or code.graph.failing.get(scope))


def _failures(code: JvmCode, scope: object) -> Iterator[JvmNode]:
    """What ends tasks, and who says that a future has failed."""
    yield from _leaving(code, code.graph.tasks.get(scope, ()), code.anything)
    yield from (_place(code, *event) for event in code.graph.failing.get(scope, ()))
