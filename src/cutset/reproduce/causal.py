"""The static causal graph: from log messages back to the faults that may have led to them (ANDURIL §4.1, Algorithm 1).

Sources of the search are the log statements, and the last frames of tracebacks, that observables were recognised by;
sites are reached as new or external exceptions. `reaches` is what the explorer ranks by; `path` is what a report
draws.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from cutset.reproduce.code_index import Code, Key, NodeKind, index_code
from cutset.reproduce.prior import beginnings, causally_prior
from cutset.reproduce.syntax import Program
from cutset.reproduce.tracebacks import Sighting


@dataclass(frozen=True, slots=True)
class Node:
    kind: NodeKind
    module: str
    function: str
    line: int
    text: str
    site: int = -1  # its number among the program's sites
    wanted: tuple[str, ...] = ()  # types of which an external exception must be to lead on; (): any


@dataclass(frozen=True, slots=True)
class CausalGraph:
    nodes: tuple[Node, ...]
    priors: tuple[tuple[int, ...], ...]  # the nodes that are causally prior to each
    sources: Mapping[str, tuple[int, ...]]  # where each observable, by its key, begins


def causal_graph(program: Program, sightings: Iterable[Sighting]) -> CausalGraph:
    """Algorithm 1, from the observables' statements and tracebacks."""
    code = index_code(program)
    numbers: dict[Key, int] = {}
    keys: list[Key] = []
    priors: list[tuple[int, ...]] = []

    def number(key: Key) -> int:
        if key not in numbers:
            numbers[key] = len(keys)
            keys.append(key)
        return numbers[key]

    sources: dict[str, dict[int, None]] = defaultdict(dict)
    for seen in sightings:
        sources[seen.key].update(dict.fromkeys(number(key) for key in beginnings(code, seen)))
    while len(priors) < len(keys):
        found = dict.fromkeys(causally_prior(code, keys[len(priors)]))
        priors.append(tuple(number(key) for key in found))
    return CausalGraph(
        tuple(_node(code, key) for key in keys), tuple(priors), {key: tuple(found) for key, found in sources.items()}
    )


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


def path(graph: CausalGraph, site: int, observable: str) -> list[Node]:
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
            return [node for node, _ in groupby(chain)]  # guesses take several steps on the spot
        for prior in graph.priors[node]:
            if prior not in came_from:
                came_from[prior] = node
                waiting.append(prior)
    return []


def _node(code: Code, key: Key) -> Node:
    program = code.program
    site = -1
    match key.kind:
        case NodeKind.INVOCATION:
            row = program.functions[key.row]
            return Node(key.kind, row.module, row.name, row.line, row.name)
        case NodeKind.CONDITION | NodeKind.HANDLER:
            guard = program.guards[key.row]
            place, line, text = guard.place, guard.line, guard.text
        case NodeKind.LOCATION if key.write:
            write = program.writes[key.row]
            place, line, text = write.place, write.line, write.text
        case _:
            event = program.events[key.row]
            place, line, text = event.place, event.line, event.expression
            site = code.sites.get(key.row, -1) if key.kind in (NodeKind.NEW, NodeKind.EXTERNAL) else -1
    function = program.functions[program.places[place].function]
    wanted = key.wanted if key.kind is NodeKind.EXTERNAL else ()
    return Node(key.kind, function.module, function.name, line, text, site, wanted)
