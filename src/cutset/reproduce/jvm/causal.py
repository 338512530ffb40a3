"""The causal graph of a JVM program: the nodes of `prior`, numbered, with their names for reports."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial

from cutset.model.reproduction.result import CausalKind, CausalStep
from cutset.reproduce.collection import collection_paused
from cutset.reproduce.graph.causal import NOWHERE, CausalGraph, CausalNode, FunctionPlace, grow
from cutset.reproduce.jvm.code_index import JvmCode, JvmJunction, JvmNode, index_code
from cutset.reproduce.jvm.node_words import words_of
from cutset.reproduce.jvm.prior import beginnings, causally_prior
from cutset.reproduce.jvm.tables import JvmProgram
from cutset.reproduce.logs.recognition import Sighting

_GUESS = 3  # steps that a guess takes: more than two that are sure
_WRAPPED = 2  # a new exception in a handler: what it wraps comes first


@collection_paused()
def causal_graph(program: JvmProgram, sightings: Iterable[Sighting]) -> CausalGraph:
    """From the observables' statements and stack traces."""
    code = index_code(program)
    begins = ((seen.key, beginnings(code, seen)) for seen in sightings)
    return grow(begins, partial(causally_prior, code), partial(_node, code), partial(_step, code), _covers(code))


def _place(code: JvmCode, method: int) -> FunctionPlace:
    """Of drivers, of what initialises classes and of what javac writes, it is not known whether it ran."""
    function = code.program.functions[method]
    unknown = code.program.drives(method) or function.name == "<clinit>" or code.is_between(method)
    return NOWHERE if unknown else (function.path, function.line)


def _node(code: JvmCode, key: JvmNode) -> CausalNode:
    wanted = tuple(map(code.program.type_name, code.types[key.wanted]))
    kin = (key.kind, key.method, key.row) if wanted else None
    if key.method < 0 or key.kind in (JvmJunction.CALLED, JvmJunction.UNTOLD):
        return CausalNode(-1, wanted, steps=_GUESS, junction=True, kin=kin)
    place, body = _place(code, key.method), code.body(key.method)
    if key.kind == CausalKind.LOCATION:
        return CausalNode(-1, (), place, junction=code.is_between(key.method))
    throw = body.throws.get(key.row)
    match key.kind:
        case CausalKind.EXTERNAL:
            return CausalNode(body.calls[key.row].site, wanted, place, kin=kin)
        case CausalKind.NEW if throw:
            return CausalNode(throw.site, (), place, steps=_WRAPPED if body.method.blocks[throw.block].handlers else 1)
        case JvmJunction():
            return CausalNode(-1, wanted, place, junction=True, kin=kin)
    passes = key.kind == CausalKind.INTERNAL and throw is not None and bool(throw.handlers)
    return CausalNode(-1, wanted, place, junction=passes or code.is_between(key.method), kin=kin)


def _step(code: JvmCode, key: JvmNode) -> CausalStep:
    assert isinstance(key.kind, CausalKind), "a junction is no step"
    function = code.program.functions[key.method]
    line, text = words_of(code, key)
    return CausalStep(key.kind, function.module, function.name, line, text)


def _covers(code: JvmCode) -> Callable[[Sequence[str], Sequence[str]], bool]:
    numbers, hierarchy = code.program.numbers, code.hierarchy

    @cache
    def covers(some: Sequence[str], others: Sequence[str]) -> bool:
        return bool(some and others) and all(
            any(one == each or hierarchy.surely(numbers.get(one, -1), numbers.get(each, -2)) for each in some)
            for one in others
        )

    return covers
