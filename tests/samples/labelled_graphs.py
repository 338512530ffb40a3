"""Small labelled graphs, and a form of them that is found by trying all orders of vertices."""

from collections.abc import Sequence
from itertools import permutations

from hypothesis import settings
from hypothesis import strategies as st

from cutset.select.graphs import Graph, LabelledEdge

Code = tuple[tuple[str, ...], tuple[LabelledEdge, ...]]

few_examples = settings(deadline=None, max_examples=60)


@st.composite
def graphs(draw: st.DrawFn, *, unique: bool = False, simple: bool = False, different_ends: bool = False) -> Graph:
    """`simple`: at most one edge between two vertices, in one direction, and none from a vertex to itself."""
    label = st.sampled_from("abcdef" if unique else "abc")
    labels = draw(st.lists(label, min_size=1, max_size=5, unique=unique))
    vertex = st.integers(0, len(labels) - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex, st.sampled_from("xy")), max_size=6, unique=True))
    if simple:
        edges = list({frozenset(edge[:2]): edge for edge in edges if edge[0] != edge[1]}.values())
    if different_ends:
        edges = [edge for edge in edges if labels[edge[0]] != labels[edge[1]]]
    return Graph(tuple(labels), tuple(edges))


def smallest_code(graph: Graph, *, directed: bool) -> Code:
    """Equal for isomorphic graphs, by trying all orders of the vertices."""
    codes = []
    for order in permutations(range(len(graph.vertices))):
        labels = sorted(zip(order, graph.vertices, strict=True))
        edges = {
            (order[u], order[v], label) if directed or order[u] < order[v] else (order[v], order[u], label)
            for u, v, label in graph.edges
        }
        codes.append((tuple(label for _, label in labels), tuple(sorted(edges))))
    return min(codes)


def permuted(graph: Graph, order: Sequence[int]) -> Graph:
    labels = sorted(zip(order, graph.vertices, strict=True))
    return Graph(
        tuple(label for _, label in labels),
        tuple((order[source], order[target], label) for source, target, label in graph.edges),
    )
