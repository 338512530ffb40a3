"""The static causal graph: from log messages back to the faults that may have led to them (ANDURIL §4.1, Algorithm 1).

Sources are the log statements, and the last frames of tracebacks, that observables were recognised by. What is causally
prior to a node is for the front end of a language to say; new or external exceptions at sites are where faults go.

Of a large program, most of the graph is never needed: it grows where somebody looks.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from cutset.model.reproduction.result import CausalStep

_Key = TypeVar("_Key", bound=Hashable)

FunctionPlace = tuple[str, int]  # the path of a function's file, and its first line
NOWHERE: FunctionPlace = ("", 0)


class CausalNode(NamedTuple):  # made for every node: a dataclass takes three times as long
    site: int = -1  # its number among the program's sites
    wanted: tuple[str, ...] = ()  # types of which an exception must be to lead on; (): any
    function: FunctionPlace = NOWHERE  # that it is in
    steps: int = 1  # that it takes to get here: more for a guess
    junction: bool = False  # it is no step of its own, and what is prior to it is so to whatever leads here
    kin: Hashable = None  # nodes of one kin differ in nothing but what they want; None: it has no kin


@dataclass(frozen=True, slots=True)
class CausalGraph:
    """Nodes are numbers."""

    sources: Mapping[str, tuple[int, ...]]  # where each observable, by its key, begins
    node: Callable[[int], CausalNode]
    priors: Callable[[int], Sequence[int]]  # the nodes that are causally prior to one
    step: Callable[[int], CausalStep]  # what a node that is no junction is called in a report
    covers: Callable[[Sequence[str], Sequence[str]], bool]  # whether to want the first is to want the second as well


def grow(
    beginnings: Iterable[tuple[str, Iterable[_Key]]],
    prior: Callable[[_Key], Iterable[_Key]],
    node_of: Callable[[_Key], CausalNode],
    step_of: Callable[[_Key], CausalStep],
    covers: Callable[[Sequence[str], Sequence[str]], bool] = lambda some, others: set(some) >= set(others),
) -> CausalGraph:
    """From the keys of nodes at which observables begin, on to all that is causally prior to them."""
    numbers: dict[_Key, int] = {}
    keys: list[_Key] = []
    nodes: list[CausalNode] = []
    priors: dict[int, tuple[int, ...]] = {}

    def number(key: _Key) -> int:
        known = numbers.get(key)
        if known is None:
            known = numbers[key] = len(keys)
            keys.append(key)
            nodes.append(node_of(key))
        return known

    def priors_of(node: int) -> tuple[int, ...]:
        if node not in priors:
            priors[node] = tuple(map(number, dict.fromkeys(prior(keys[node]))))
        return priors[node]

    sources: dict[str, dict[int, None]] = {}
    for observable, begins in beginnings:
        sources.setdefault(observable, {}).update(dict.fromkeys(map(number, begins)))
    return CausalGraph(
        sources={key: tuple(found) for key, found in sources.items()},
        node=nodes.__getitem__,
        priors=priors_of,
        step=lambda node: step_of(keys[node]),
        covers=covers,
    )
