"""Which functions may run in this workload once a fault is there, though no good run has run them.

Good runs do not run what handles faults. So what handlers in code that ran call counts as well, and all that these
functions call in turn, as far as calls are sure: a guess by name would wake half of the program.
"""

from collections.abc import Collection, Mapping

from cutset.reproduce.python.syntax import PythonProgram


def may_run(program: PythonProgram, executed: Mapping[str, Collection[int]]) -> dict[str, frozenset[int]]:
    """By path: first lines of functions, those that ran among them. Nothing is known if nothing ran."""
    if not executed:
        return {}
    ran = {
        index
        for index, row in enumerate(program.functions)
        if row.line in executed.get(program.modules[row.module].path, ())
    }
    called = [set(program.callees[index]) - set(program.guesses[index]) for index in range(len(program.events))]
    in_handlers: dict[int, set[int]] = {}
    anywhere: dict[int, set[int]] = {}
    for index, event in enumerate(program.events):
        reached = called[index].union(program.starts[index])
        anywhere.setdefault(event.function, set()).update(reached)
        if program.places[event.place].handler >= 0:
            in_handlers.setdefault(event.function, set()).update(reached)
    woken = {one for function in ran for one in in_handlers.get(function, ())} - ran
    waiting = list(woken)
    while waiting:
        new = anywhere.get(waiting.pop(), set()) - woken - ran
        woken |= new
        waiting.extend(new)
    lines: dict[str, set[int]] = {path: set(found) for path, found in executed.items()}
    for function in woken:
        row = program.functions[function]
        lines.setdefault(program.modules[row.module].path, set()).add(row.line)
    return {path: frozenset(found) for path, found in lines.items()}
