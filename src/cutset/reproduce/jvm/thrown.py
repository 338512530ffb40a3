"""The exceptions that calls and throws give rise to, of the types that somebody wants, and past the handlers between.

An exception from outside is narrowed to the types that get there: what is wanted of a site is what leads on from it.
"""

from collections.abc import Iterable, Sequence

from cutset.model.reproduction.result import CausalKind
from cutset.reproduce.jvm.calls import Event
from cutset.reproduce.jvm.code_index import JvmCode, JvmNode
from cutset.reproduce.jvm.escapes import ThrownTypes, around
from cutset.reproduce.jvm.table_rows import JvmCall, ThrowRow, TryRange

WHATEVER = 0  # also what is caught
_FAILURES = ("java.util.concurrent.ExecutionException", "java.util.concurrent.CompletionException")

# The handlers that an exception meets, and whether they keep it from what is to be reached.
WayOut = Sequence[tuple[int, bool]]


def thrown(code: JvmCode, method: int, instruction: int, wanted: int, way: WayOut) -> list[JvmNode]:
    """The exception that a call or throw gives rise to, if it can be of the wanted types and gets past handlers."""
    body = code.body(method)
    throw = body.throws.get(instruction)
    if wanted != WHATEVER and way and not _past(code, code.types[wanted], way):
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
    if (passed_on and (wanted == WHATEVER or code.any_may(passed_on, wanted))) or fails(code, call, wanted):
        found.append(JvmNode(CausalKind.INTERNAL, method, instruction, wanted=wanted))
    return found


def way_out(code: JvmCode, method: int, instruction: int, until: TryRange | None = None) -> WayOut:
    """The tries around, up to but without one."""
    way = []
    for each in around(code.body(method).method, instruction):
        if each is until:
            break
        way.append((each.type, True))
    return way


def _past(code: JvmCode, kinds: Iterable[int], way: WayOut) -> ThrownTypes:
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


def _fitting(code: JvmCode, kinds: ThrownTypes, wanted: int, way: WayOut) -> int | None:
    """Of what can be thrown, what is wanted and gets past handlers; None: nothing."""
    if wanted == WHATEVER:
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


def _thrown_here(code: JvmCode, method: int, throw: ThrowRow, wanted: int, way: WayOut) -> list[JvmNode]:
    if throw.handlers:  # what got there is thrown on, if it is wanted
        return [JvmNode(CausalKind.INTERNAL, method, throw.instruction, wanted=wanted)]
    kinds = _past(code, code.thrown_by(method, throw), way)
    if not kinds or (wanted != WHATEVER and not code.any_may(kinds, wanted)):
        return []
    wraps = bool(code.body(method).method.blocks[throw.block].handlers)
    found = [JvmNode(CausalKind.INTERNAL, method, throw.instruction)] if wraps or throw.site < 0 else []
    if throw.site >= 0:
        found.append(JvmNode(CausalKind.NEW, method, throw.instruction))
    return found


def fails(code: JvmCode, call: JvmCall, wanted: int) -> bool:
    """Whether it may throw what a task that it waits for has thrown."""
    if not code.graph.waits(call):
        return False
    failures = [code.program.numbers[name] for name in _FAILURES if name in code.program.numbers]
    return wanted == WHATEVER or code.any_may(frozenset(failures), wanted)
