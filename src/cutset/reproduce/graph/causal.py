"""The static causal graph: from log messages back to the faults that may have led to them (ANDURIL §4.1, Algorithm 1).

Sources are the log statements, and the last frames of tracebacks, that observables were recognised by. What is causally
prior to a node is for the front end of a language to say; new or external exceptions at sites are where faults go.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from cutset.model.reproduction.result import CausalStep

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class CausalNode:
    step: CausalStep
    site: int = -1  # its number among the program's sites
    wanted: tuple[str, ...] = ()  # types of which an external exception must be to lead on; (): any


@dataclass(frozen=True, slots=True)
class CausalGraph:
    nodes: tuple[CausalNode, ...]
    priors: tuple[tuple[int, ...], ...]  # the nodes that are causally prior to each
    sources: Mapping[str, tuple[int, ...]]  # where each observable, by its key, begins


def grow(
    beginnings: Iterable[tuple[str, Iterable[_Key]]],
    prior: Callable[[_Key], Iterable[_Key]],
    node_of: Callable[[_Key], CausalNode],
) -> CausalGraph:
    """Algorithm 1, from the keys of nodes at which observables begin to all that is causally prior to them."""
    numbers: dict[_Key, int] = {}
    keys: list[_Key] = []
    priors: list[tuple[int, ...]] = []

    def number(key: _Key) -> int:
        if key not in numbers:
            numbers[key] = len(keys)
            keys.append(key)
        return numbers[key]

    sources: dict[str, dict[int, None]] = {}
    for observable, begins in beginnings:
        sources.setdefault(observable, {}).update(dict.fromkeys(map(number, begins)))
    while len(priors) < len(keys):
        priors.append(tuple(map(number, dict.fromkeys(prior(keys[len(priors)])))))
    return CausalGraph(tuple(map(node_of, keys)), tuple(priors), {key: tuple(found) for key, found in sources.items()})
