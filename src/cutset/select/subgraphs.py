"""Frequent connected sub-graphs of labelled graphs: what gSpan finds (Yan & Han 2002; ART §3.2 mines traces with it).

A sub-graph occurs in a graph when its vertices can be mapped to different vertices there, of equal labels, such that
each of its edges is an edge there, of equal label and, if directed, equal direction (there may be more edges). It is
connected when one can get everywhere along edges, against their direction too. Its support is the weight of the graphs
that it occurs in, however often it does so in each. Edges of a graph are a set: parallel ones differ in their labels.

The Python package `gspan-mining` finds the same in undirected graphs. In directed ones it follows edges only forwards
and keeps gSpan's pruning, which assumes that a search may start at any vertex. So it misses what has two sources
(a→c←b), what reaches a vertex in two ways (a→b, a→c, b→c), and what has a label that sorts before its root's two or
more steps from it (b→c→a); of several edges between two vertices it keeps one, and it reports some sub-graphs twice.
What it reports is right, trees whose root's label is the smallest it reports all, and with the direction as part of the
edges' labels its undirected mode reports everything. The tests hold ours to that.

Support never grows with a sub-graph, so we extend whichever has the most: results come in order of support, and a
search that is stopped has all down to a support that it knows. Where labels are unique within each graph, as services
are in a trace, a sub-graph is a set of labelled edges, and its support the weight of an intersection of bit sets.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heappop, heappush
from typing import NamedTuple, TypeVar

from cutset.select.graphs import Graph, LabelledEdge, canonical, edge_name, with_edge_set


@dataclass(frozen=True, slots=True)
class Subgraph:
    graph: Graph  # canonical: equal for isomorphic ones
    support: int
    found_in: int  # bit i stands for the i-th of the graphs


@dataclass(frozen=True, slots=True)
class Mined:
    subgraphs: tuple[Subgraph, ...]  # by falling support
    complete_from: int  # none of at least this support is missing
    stopped: bool  # before all that was asked for was found


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    min_support: int  # at least 1
    min_vertices: int = 2
    max_vertices: int | None = None
    closed: bool = False  # only those that occur where no larger one, within `max_vertices`, always occurs too
    top: int | None = None  # at least 1: as many, and all that have the same support as the last of them
    max_steps: int = 100_000  # extensions tried before the search is stopped: seconds, 200 MB with thousands of graphs


def frequent_subgraphs(
    graphs: Mapping[Graph, int],
    bounds: Bounds,
    *,
    directed: bool,
    wanted: Callable[[Graph], bool] = lambda _: True,
) -> Mined:
    """`graphs` with the weight of each: how many equal ones it stands for. Time grows with the distinct ones only."""
    distinct = _without_rare_edges(graphs, bounds.min_support, directed=directed)
    weigh = _scales(list(graphs.values()))
    if all(len(set(graph.vertices)) == len(graph.vertices) for graph in distinct):
        union = _union_of(distinct, weigh, bounds, directed=directed)
        return _best_first(_parts_of_one_vertex(union), lambda part: _extend_part(part, union), weigh, bounds, wanted)
    places = _Places(distinct, bounds, directed)
    seeds = _patterns_of_one_vertex(places)
    return _best_first(seeds, lambda pattern: _extend_pattern(pattern, places), weigh, bounds, wanted)


class _Part(NamedTuple):
    """A sub-graph where labels are unique: a connected part of the union of all graphs. Sets are bits."""

    vertices: int
    edges: int
    near: int  # the edges at its vertices
    inside: int  # those of them that have no other vertex
    excluded: int  # edges that it must not get: with them, it is rare or reached another way
    graphs: int  # that contain it


class _Occurrence(NamedTuple):
    graph: int
    vertices: int
    edges: int


class _Pattern(NamedTuple):
    """A sub-graph where labels repeat, with all its occurrences."""

    vertices: tuple[str, ...]
    edges: tuple[LabelledEdge, ...]
    graphs: int
    occurrences: tuple[_Occurrence, ...]


_State = TypeVar("_State", _Part, _Pattern)  # tuples, so that heaps order them the same in every process


def _best_first(
    seeds: Iterable[_State],
    extend: Callable[[_State], tuple[Graph | None, Sequence[_State], int]],
    weigh: Callable[[int], int],
    bounds: Bounds,
    wanted: Callable[[Graph], bool],
) -> Mined:
    """`extend` gives a state's graph, or None if it is not closed but should be; what it can become; steps taken."""
    heap: list[tuple[int, _State]] = []
    found: list[Subgraph] = []
    steps = 0

    def admit(states: Iterable[_State]) -> None:
        for state in states:
            support = weigh(state.graphs)
            if support >= bounds.min_support:
                heappush(heap, (-support, state))

    admit(seeds)
    while heap:
        minus_support, state = heappop(heap)
        if bounds.top is not None and len(found) >= bounds.top and -minus_support < found[-1].support:
            return Mined(tuple(found), found[-1].support, stopped=False)
        if steps >= bounds.max_steps:
            return Mined(tuple(found), 1 - minus_support, stopped=True)
        graph, extended, tried = extend(state)
        steps += tried
        if graph is not None and len(graph.vertices) >= bounds.min_vertices and wanted(graph):
            found.append(Subgraph(graph, -minus_support, state.graphs))
        admit(extended)
    return Mined(tuple(found), bounds.min_support, stopped=False)


@dataclass(frozen=True, slots=True)
class _Union:
    """All graphs in one, where labels are unique in each: a vertex for each label, an edge for each labelled edge."""

    graph: Graph
    ends: list[int]  # of each edge, its vertices
    near: list[int]  # of each vertex, its edges
    loops: list[int]  # of each vertex, its edges to itself
    vertex_graphs: list[int]
    edge_graphs: list[int]
    weigh: Callable[[int], int]
    bounds: Bounds


def _union_of(graphs: Sequence[Graph], weigh: Callable[[int], int], bounds: Bounds, *, directed: bool) -> _Union:
    with_vertex: defaultdict[str, list[int]] = defaultdict(list)
    with_edge: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
    for number, graph in enumerate(graphs):
        for vertex in graph.vertices:
            with_vertex[vertex].append(number)
        for edge in graph.edges:
            with_edge[edge_name(edge, graph, directed=directed)].append(number)
    vertices = sorted(with_vertex)
    position = {vertex: number for number, vertex in enumerate(vertices)}
    edges = tuple((position[first], position[second], label) for first, second, label in sorted(with_edge))
    near, loops = [0] * len(vertices), [0] * len(vertices)
    for number, (source, target, _) in enumerate(edges):
        near[source] |= 1 << number
        near[target] |= 1 << number
        loops[source] |= (source == target) << number
    return _Union(
        Graph(tuple(vertices), edges),
        [1 << source | 1 << target for source, target, _ in edges],
        near,
        loops,
        [_as_bits(with_vertex[vertex]) for vertex in vertices],
        [_as_bits(with_edge[edge]) for edge in sorted(with_edge)],
        weigh,
        bounds,
    )


def _parts_of_one_vertex(union: _Union) -> Iterator[_Part]:
    """Each part of the union is reached from the first of its vertices, and from there by adding edges in order."""
    excluded = 0
    for vertex, near in enumerate(union.near):
        yield _Part(1 << vertex, 0, near, union.loops[vertex], excluded, union.vertex_graphs[vertex])
        excluded |= near


def _extend_part(part: _Part, union: _Union) -> tuple[Graph | None, list[_Part], int]:
    bounds = union.bounds
    if bounds.closed:
        part = _with_implied_edges(part, union)
        if part.edges & part.excluded:  # so all that is closed and contains it has an edge that it must not get
            return None, [], 0
    is_full = bounds.max_vertices is not None and part.vertices.bit_count() >= bounds.max_vertices
    in_reach = (part.inside if is_full else part.near) & ~part.edges
    is_wanted = not bounds.closed or not _implied_edges(part, in_reach, union)
    candidates = in_reach & ~part.excluded
    excluded = part.excluded
    frequent = []
    for edge in _positions(candidates):
        if union.weigh(part.graphs & union.edge_graphs[edge]) >= bounds.min_support:
            frequent.append(edge)
        else:
            excluded |= 1 << edge
    extended = []
    for edge in frequent:
        extended.append(_with_edge(part, edge, excluded, union))
        excluded |= 1 << edge
    return _cut_out(part, union.graph) if is_wanted else None, extended, candidates.bit_count()


def _with_edge(part: _Part, edge: int, excluded: int, union: _Union) -> _Part:
    near, inside = part.near, part.inside
    for vertex in _positions(union.ends[edge] & ~part.vertices):
        inside |= near & union.near[vertex] | union.loops[vertex]
        near |= union.near[vertex]
    graphs = part.graphs & union.edge_graphs[edge]
    return _Part(part.vertices | union.ends[edge], part.edges | 1 << edge, near, inside, excluded, graphs)


def _with_implied_edges(part: _Part, union: _Union) -> _Part:
    """With those that every closed sub-graph has that contains it.

    Where the number of vertices is limited, an edge to another vertex is not such: one may have others in its place.
    """
    while edges := _implied_edges(part, part.near if union.bounds.max_vertices is None else part.inside, union):
        for edge in edges:
            part = _with_edge(part, edge, part.excluded, union)
    return part


def _implied_edges(part: _Part, among: int, union: _Union) -> list[int]:
    """Those that it does not have, and all graphs with it have."""
    return [edge for edge in _positions(among & ~part.edges) if not part.graphs & ~union.edge_graphs[edge]]


@dataclass(frozen=True, slots=True)
class _Places:
    """Where sub-graphs occur, when labels repeat within graphs."""

    graphs: list[Graph]
    bounds: Bounds
    directed: bool
    pattern_of: dict[_Occurrence, Graph] = field(default_factory=dict)
    graphs_of: dict[Graph, int] = field(default_factory=dict)


def _patterns_of_one_vertex(places: _Places) -> list[_Pattern]:
    return _new_patterns(
        [
            _Occurrence(number, 1 << vertex, 0)
            for number, graph in enumerate(places.graphs)
            for vertex in range(len(graph.vertices))
        ],
        places,
    )


def _extend_pattern(pattern: _Pattern, places: _Places) -> tuple[Graph | None, list[_Pattern], int]:
    limit = places.bounds.max_vertices
    extended = [
        _Occurrence(number, vertices | ends, edges | 1 << edge)
        for number, vertices, edges in pattern.occurrences
        for edge, (source, target, _) in enumerate(places.graphs[number].edges)
        if not edges >> edge & 1
        and (ends := 1 << source | 1 << target) & vertices
        and (limit is None or (vertices | ends).bit_count() <= limit)
    ]
    patterns = _new_patterns(extended, places)
    closed = not places.bounds.closed or all(
        places.graphs_of[places.pattern_of[occurrence]] != pattern.graphs for occurrence in extended
    )
    return Graph(pattern.vertices, pattern.edges) if closed else None, patterns, len(extended)


def _new_patterns(occurrences: Sequence[_Occurrence], places: _Places) -> list[_Pattern]:
    """Those whose occurrences were not met before. They are all here: whichever of its edges a pattern was without
    until now, each of its occurrences is an occurrence of that smaller one, extended."""
    new: defaultdict[Graph, list[_Occurrence]] = defaultdict(list)
    for occurrence in occurrences:
        if occurrence not in places.pattern_of:
            graph = canonical(_cut_out(occurrence, places.graphs[occurrence.graph]), directed=places.directed)
            places.pattern_of[occurrence] = graph
            new[graph].append(occurrence)
    for graph, found in new.items():
        places.graphs_of[graph] = _as_bits([occurrence.graph for occurrence in found])
    return [_Pattern(graph.vertices, graph.edges, places.graphs_of[graph], tuple(new[graph])) for graph in new]


def _cut_out(place: _Part | _Occurrence, graph: Graph) -> Graph:
    position = {vertex: number for number, vertex in enumerate(_positions(place.vertices))}
    edges = [graph.edges[edge] for edge in _positions(place.edges)]
    return Graph(
        tuple(graph.vertices[vertex] for vertex in position),
        tuple((position[source], position[target], label) for source, target, label in edges),
    )


def _without_rare_edges(graphs: Mapping[Graph, int], min_support: int, *, directed: bool) -> list[Graph]:
    """Nothing that has an edge that is rare by itself is frequent."""
    support: Counter[tuple[str, str, str]] = Counter()
    sets = [with_edge_set(graph, directed=directed) for graph in graphs]
    for graph, weight in zip(sets, graphs.values(), strict=True):
        for name in {edge_name(edge, graph, directed=directed) for edge in graph.edges}:
            support[name] += weight
    return [
        Graph(
            graph.vertices,
            tuple(edge for edge in graph.edges if support[edge_name(edge, graph, directed=directed)] >= min_support),
        )
        for graph in sets
    ]


def _scales(weights: Sequence[int]) -> Callable[[int], int]:
    """Gives the weight of a set, from the sets of those whose weights have each binary digit: a few operations."""
    having_digit = [
        _as_bits([number for number, weight in enumerate(weights) if weight >> digit & 1])
        for digit in range(max(weights, default=0).bit_length())
    ]

    @lru_cache(10_000)  # most sub-graphs share their graphs with others
    def weigh(members: int) -> int:
        return sum((members & having).bit_count() << digit for digit, having in enumerate(having_digit))

    return weigh


def _as_bits(members: Sequence[int]) -> int:
    """In time linear in the largest; adding up powers of two takes its square."""
    bits = bytearray(max(members, default=0) // 8 + 1)
    for member in members:
        bits[member // 8] |= 1 << member % 8
    return int.from_bytes(bits, "little")


def _positions(members: int) -> Iterator[int]:
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest
