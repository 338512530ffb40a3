"""The causal graph of a Python program: what its nodes are called, and where they are."""

from collections.abc import Iterable
from functools import partial

from cutset.model.reproduction.result import CausalKind, CausalStep
from cutset.reproduce.graph.causal import CausalGraph, CausalNode, grow
from cutset.reproduce.logs.recognition import Sighting
from cutset.reproduce.python.code_index import Code, NodeKey, index_code
from cutset.reproduce.python.prior import beginnings, causally_prior
from cutset.reproduce.python.syntax import PythonProgram


def causal_graph(program: PythonProgram, sightings: Iterable[Sighting]) -> CausalGraph:
    """From the observables' statements and tracebacks."""
    code = index_code(program)
    begins = ((seen.key, beginnings(code, seen)) for seen in sightings)
    return grow(begins, partial(causally_prior, code), partial(_node, code))


def _node(code: Code, key: NodeKey) -> CausalNode:
    program = code.program
    site = -1
    match key.kind:
        case CausalKind.INVOCATION:
            row = program.functions[key.row]
            return CausalNode(CausalStep(key.kind, row.module, row.name, row.line, row.name))
        case CausalKind.CONDITION | CausalKind.HANDLER:
            guard = program.guards[key.row]
            place, line, text = guard.place, guard.line, guard.text
        case CausalKind.LOCATION if key.write:
            write = program.writes[key.row]
            place, line, text = write.place, write.line, write.text
        case _:
            event = program.events[key.row]
            place, line, text = event.place, event.line, event.expression
            site = code.sites.get(key.row, -1) if key.kind in (CausalKind.NEW, CausalKind.EXTERNAL) else -1
    function = program.functions[program.places[place].function]
    wanted = key.wanted if key.kind is CausalKind.EXTERNAL else ()
    return CausalNode(CausalStep(key.kind, function.module, function.name, line, text), site, wanted)
