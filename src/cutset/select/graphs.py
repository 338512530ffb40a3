"""Labelled graphs, and a form that all isomorphic ones share."""

from collections.abc import Sequence
from dataclasses import dataclass

LabelledEdge = tuple[int, int, str]  # positions of the vertices from and to, label


@dataclass(frozen=True, slots=True)
class Graph:
    vertices: tuple[str, ...]  # their labels
    edges: tuple[LabelledEdge, ...]


def canonical(graph: Graph, *, directed: bool) -> Graph:
    """The same for all isomorphic graphs: vertices by label, equal ones told apart by what is around them."""
    graph = with_edge_set(graph, directed=directed)
    around: list[list[tuple[int, str, int]]] = [[] for _ in graph.vertices]
    for source, target, label in graph.edges:
        around[source].append((0, label, target))
        around[target].append((int(directed), label, source))

    def smallest(colours: list[int]) -> list[LabelledEdge]:
        colours = _refined(colours, around)
        shared = [colour for colour in colours if colours.count(colour) > 1]
        if not shared:
            return sorted(_edge(colours[u], colours[v], label, directed=directed) for u, v, label in graph.edges)
        to_try: list[int] = []
        for vertex, colour in enumerate(colours):
            if colour == min(shared) and not any(_are_twins(vertex, other, around) for other in to_try):
                to_try.append(vertex)
        return min(smallest([2 * colour - (v == first) for v, colour in enumerate(colours)]) for first in to_try)

    labels = sorted(graph.vertices)
    return Graph(tuple(labels), tuple(smallest([labels.index(label) for label in graph.vertices])))


def _refined(colours: list[int], around: Sequence[Sequence[tuple[int, str, int]]]) -> list[int]:
    """Tell vertices apart by the colours around them until that tells no more; the order of colours stays."""
    while True:
        signatures = [
            (colour, tuple(sorted((side, label, colours[other]) for side, label, other in near)))
            for colour, near in zip(colours, around, strict=True)
        ]
        ranks = {signature: rank for rank, signature in enumerate(sorted(set(signatures)))}
        told_apart = len(set(colours))
        colours = [ranks[signature] for signature in signatures]
        if len(ranks) == told_apart:
            return colours


def _are_twins(one: int, other: int, around: Sequence[Sequence[tuple[int, str, int]]]) -> bool:
    """Does swapping them change nothing? Then trying one of them will do: without this, stars take factorial time."""
    swapped = {one: other, other: one}
    return sorted((side, label, swapped.get(near, near)) for side, label, near in around[one]) == sorted(around[other])


def edge_name(edge: LabelledEdge, graph: Graph, *, directed: bool) -> tuple[str, str, str]:
    """By the labels of its vertices; of an undirected one, in their order."""
    source, target, label = edge
    first, second = graph.vertices[source], graph.vertices[target]
    return (first, second, label) if directed or first <= second else (second, first, label)


def with_edge_set(graph: Graph, *, directed: bool) -> Graph:
    """Each edge once, in order; of undirected ones, the lower vertex first."""
    edges = {_edge(source, target, label, directed=directed) for source, target, label in graph.edges}
    return Graph(graph.vertices, tuple(sorted(edges)))


def _edge(source: int, target: int, label: str, *, directed: bool) -> LabelledEdge:
    return (source, target, label) if directed or source <= target else (target, source, label)
