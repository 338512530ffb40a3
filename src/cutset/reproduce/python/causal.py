"""The causal graph of a Python program: what its nodes are called, and where they are."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial

from cutset.model.reproduction.result import CausalKind, CausalStep
from cutset.reproduce.collection import collection_paused
from cutset.reproduce.graph.causal import NOWHERE, CausalGraph, CausalNode, FunctionPlace, grow
from cutset.reproduce.logs.recognition import Sighting
from cutset.reproduce.python.code_index import Code, Junction, NodeKey, index_code
from cutset.reproduce.python.prior import beginnings, causally_prior
from cutset.reproduce.python.syntax import PythonProgram

_GUESS = 3  # steps that a guess takes: more than two that are sure


@collection_paused()
def causal_graph(program: PythonProgram, sightings: Iterable[Sighting]) -> CausalGraph:
    """From the observables' statements and tracebacks."""
    code = index_code(program)
    begins = ((seen.key, beginnings(code, seen)) for seen in sightings)
    places = [_place(program, function) for function in range(len(program.functions))]
    return grow(
        begins, partial(causally_prior, code), partial(_node, code, places), partial(_step, code), _covers(code)
    )


def _place(program: PythonProgram, function: int) -> FunctionPlace:
    """Of drivers, and of what runs while a module is imported, it is not known whether it ran."""
    row = program.functions[function]
    module = program.modules[row.module]
    return (module.path, row.line) if module.injectable and not row.imported else NOWHERE


def _node(code: Code, places: Sequence[FunctionPlace], key: NodeKey) -> CausalNode:
    wanted = code.types[key.wanted]
    match key.kind:
        case CausalKind.NEW | CausalKind.EXTERNAL:
            function = places[code.program.events[key.row].function]
            return CausalNode(code.sites.get(key.row, -1), wanted, function, kin=key.row if wanted else None)
        case CausalKind.INTERNAL:
            return CausalNode(-1, wanted, places[code.program.events[key.row].function], kin=-1 - key.row)
        case Junction.LEAVING:
            return CausalNode(-1, wanted, places[key.row], junction=True, kin=(key.kind, key.row))
        case Junction():
            return CausalNode(-1, wanted, steps=_GUESS, junction=True, kin=(key.kind, key.row) if wanted else None)
    return CausalNode(function=places[_function(code, key)])


def _function(code: Code, key: NodeKey) -> int:
    program = code.program
    match key.kind:
        case CausalKind.INVOCATION:
            return key.row
        case CausalKind.CONDITION | CausalKind.HANDLER:
            return program.places[program.guards[key.row].place].function
        case CausalKind.LOCATION if key.write:
            return program.places[program.writes[key.row].place].function
    return program.events[key.row].function


def _step(code: Code, key: NodeKey) -> CausalStep:
    program = code.program
    assert isinstance(key.kind, CausalKind), "a junction is no step"
    function = program.functions[_function(code, key)]
    match key.kind:
        case CausalKind.INVOCATION:
            line, text = function.line, function.name
        case CausalKind.CONDITION | CausalKind.HANDLER:
            line, text = program.guards[key.row].line, program.guards[key.row].text
        case CausalKind.LOCATION if key.write:
            line, text = program.writes[key.row].line, program.writes[key.row].text
        case _:
            line, text = program.events[key.row].line, program.events[key.row].expression
    return CausalStep(key.kind, function.module, function.name, line, text)


def _covers(code: Code) -> Callable[[Sequence[str], Sequence[str]], bool]:
    hierarchy = code.escapes.hierarchy

    @cache
    def covers(some: Sequence[str], others: Sequence[str]) -> bool:
        return bool(some and others) and all(any(hierarchy.surely(one, each) for each in some) for one in others)

    return covers
