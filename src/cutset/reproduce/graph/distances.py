"""How far sites are from log messages in the causal graph, and by which way (ANDURIL §5.2.2).

`reaches` is what faults are ranked by; `path` is what a report draws.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from cutset.model.reproduction.result import CausalStep
from cutset.reproduce.graph.causal import CausalGraph


@dataclass(frozen=True, slots=True)
class Reach:
    """How a site leads to an observable."""

    steps: int  # edges of a shortest path
    wanted: tuple[str, ...]  # types of which its exception must be to take a shortest path; (): any


def reaches(graph: CausalGraph) -> dict[int, dict[str, Reach]]:
    """Of every site that is in the graph, to every observable that it can lead to.

    One breadth-first search from all observables at once; a node is visited again only for observables that it has not
    been reached from yet, which are the bits of a number.
    """
    names = list(graph.sources)
    reached = [0] * len(graph.nodes)
    frontier: dict[int, int] = defaultdict(int)
    for bit, name in enumerate(names):
        for node in graph.sources[name]:
            frontier[node] |= 1 << bit
    found: dict[int, dict[str, Reach]] = defaultdict(dict)
    distance = 0
    while frontier:
        following: dict[int, int] = defaultdict(int)
        for node, bits in frontier.items():
            new = bits & ~reached[node]
            if not new:
                continue
            reached[node] |= new
            if graph.nodes[node].site >= 0:
                _note(found[graph.nodes[node].site], _named(names, new), distance, graph.nodes[node].wanted)
            for prior in graph.priors[node]:
                if new & ~reached[prior]:
                    following[prior] |= new
        frontier = following
        distance += 1
    return dict(found)


def _note(found: dict[str, Reach], names: Iterable[str], steps: int, wanted: tuple[str, ...]) -> None:
    for name in names:
        known = found.get(name)
        if known is None:
            found[name] = Reach(steps, wanted)
        elif known.steps == steps and known.wanted:
            found[name] = Reach(steps, tuple(dict.fromkeys((*known.wanted, *wanted))) if wanted else ())


def _named(names: Sequence[str], bits: int) -> Iterator[str]:
    while bits:
        lowest = bits & -bits
        yield names[lowest.bit_length() - 1]
        bits ^= lowest


def path(graph: CausalGraph, site: int, observable: str) -> list[CausalStep]:
    """A shortest causal chain, from the site to the log message; empty if there is none."""
    came_from: dict[int, int] = dict.fromkeys(graph.sources.get(observable, ()), -1)
    waiting = deque(came_from)
    while waiting:
        node = waiting.popleft()
        if graph.nodes[node].site == site:
            chain = []
            while node >= 0:
                chain.append(graph.nodes[node])
                node = came_from[node]
            return [node.step for node, _ in groupby(chain)]  # guesses take several steps on the spot
        for prior in graph.priors[node]:
            if prior not in came_from:
                came_from[prior] = node
                waiting.append(prior)
    return []
