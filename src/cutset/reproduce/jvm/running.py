"""Which methods may run in this workload once a fault is there, though no good run has run them.

Good runs do not run what handles faults. So what handlers in code that ran call counts as well, and all that these
methods call in turn, as far as calls are sure: a guess would wake half of the program.
"""

from collections.abc import Collection, Iterator, Mapping

from cutset.reproduce.jvm.calls import Event
from cutset.reproduce.jvm.code_index import JvmCode, index_code
from cutset.reproduce.jvm.hierarchy import callee_of
from cutset.reproduce.jvm.tables import JvmProgram


def may_run(program: JvmProgram, executed: Mapping[str, Collection[int]]) -> dict[str, frozenset[int]]:
    """By path: first lines of methods, those that ran among them. Nothing is known if nothing ran."""
    if not executed:
        return {}
    code, functions = index_code(program), program.functions
    ran = {number for number, row in enumerate(functions) if row.line in executed.get(row.path, ())}
    woken = {one for method in ran for one in _called(code, method, in_handlers=True)} - ran
    waiting = list(woken)
    while waiting:
        new = set(_called(code, waiting.pop(), in_handlers=False)) - woken - ran
        woken |= new
        waiting.extend(new)
    lines: dict[str, set[int]] = {path: set(found) for path, found in executed.items()}
    for method in woken:
        lines.setdefault(functions[method].path, set()).add(functions[method].line)
    return {path: frozenset(found) for path, found in lines.items()}


def _called(code: JvmCode, method: int, *, in_handlers: bool) -> Iterator[int]:
    row, graph = code.program.method(method), code.graph
    for call in row.calls:
        if in_handlers and not row.blocks[call.block].handlers:
            continue
        if not graph.is_guess(callee_of(call)):
            yield from graph.targets(callee_of(call))
        event = Event(method, call.instruction)
        yield from graph.run.get(event, ())
        yield from graph.started.get(event, ())
