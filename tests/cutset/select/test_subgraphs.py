from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random

import pytest
from benchmarks.workflows_vs_gspan import CollectingGspan, measure, random_trace_graphs, with_directions_in_labels
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.labelled_graphs import Code, few_examples, graphs, permuted, smallest_code

from cutset.select.graphs import Graph, LabelledEdge, canonical
from cutset.select.subgraphs import Bounds, Mined, Subgraph, frequent_subgraphs


def chain(*labels: str) -> Graph:
    return Graph(labels, tuple((vertex, vertex + 1, "x") for vertex in range(len(labels) - 1)))


any_graphs = st.lists(graphs(), min_size=1, max_size=4) | st.lists(graphs(unique=True), min_size=1, max_size=4)
weighted_graphs = any_graphs.flatmap(
    lambda several: st.fixed_dictionaries({graph: st.integers(1, 3) for graph in several})
)


def supports(mined: Mined) -> dict[Graph, int]:
    found = {subgraph.graph: subgraph.support for subgraph in mined.subgraphs}
    assert len(found) == len(mined.subgraphs), "one is there twice"
    return found


def mine(
    several: Mapping[Graph, int], *, directed: bool = True, min_support: int = 1, **bounds: int
) -> dict[Graph, int]:
    return supports(frequent_subgraphs(several, Bounds(min_support=min_support, **bounds), directed=directed))


def gspan(several: Sequence[Graph], *, directed: bool, min_support: int, max_vertices: int = 9) -> dict[Graph, int]:
    oracle = CollectingGspan(several, min_support=min_support, vertices=(2, max_vertices), directed=directed)
    oracle.run()
    return {canonical(graph, directed=directed): support for graph, support in oracle.found}


def enumerate_all(several: Mapping[Graph, int], bounds: Bounds, *, directed: bool) -> dict[Code, int]:
    """The definition, without any cleverness: all connected sets of edges of all graphs."""
    found: defaultdict[Code, set[Graph]] = defaultdict(set)
    for graph in several:
        for vertex in graph.vertices:
            found[(vertex,), ()].add(graph)
        for size in range(1, len(graph.edges) + 1):
            for edges in combinations(graph.edges, size):
                vertices = sorted({vertex for edge in edges for vertex in edge[:2]})
                if is_connected(edges, vertices):
                    part = Graph(
                        tuple(graph.vertices[vertex] for vertex in vertices),
                        tuple((vertices.index(u), vertices.index(v), label) for u, v, label in edges),
                    )
                    found[smallest_code(part, directed=directed)].add(graph)
    totals = {code: sum(several[graph] for graph in there) for code, there in found.items()}
    most = bounds.max_vertices or 9
    return {
        code: total
        for code, total in totals.items()
        if total >= bounds.min_support and bounds.min_vertices <= len(code[0]) <= most
    }


def is_connected(edges: Sequence[LabelledEdge], vertices: Sequence[int]) -> bool:
    reached = {vertices[0]}
    for _ in vertices:
        reached |= {end for edge in edges if reached & {*edge[:2]} for end in edge[:2]}
    return len(reached) == len(vertices)


@few_examples
@given(weighted_graphs, st.booleans(), st.integers(1, 4), st.integers(1, 3), st.integers(3, 5) | st.none())
def test_finds_what_trying_all_sets_of_edges_finds(
    several: dict[Graph, int], directed: bool, min_support: int, min_vertices: int, max_vertices: int | None
) -> None:
    bounds = Bounds(min_support=min_support, min_vertices=min_vertices, max_vertices=max_vertices)

    found = supports(frequent_subgraphs(several, bounds, directed=directed))

    codes = {smallest_code(graph, directed=directed): support for graph, support in found.items()}
    assert codes == enumerate_all(several, bounds, directed=directed)
    assert len(codes) == len(found)


@few_examples
@given(
    st.lists(graphs(simple=True), min_size=1, max_size=4)
    | st.lists(graphs(simple=True, unique=True), min_size=1, max_size=4),
    st.integers(1, 3),
    st.integers(2, 9),
)
def test_finds_what_gspan_finds_in_undirected_graphs(several: list[Graph], min_support: int, max_vertices: int) -> None:
    ours = mine(Counter(several), directed=False, min_support=min_support, max_vertices=max_vertices)

    assert ours == gspan(several, directed=False, min_support=min_support, max_vertices=max_vertices)


@few_examples
@given(st.lists(graphs(simple=True, different_ends=True), min_size=1, max_size=4), st.integers(1, 3))
def test_finds_what_gspan_finds_in_directed_graphs_that_say_the_direction_in_their_labels(
    several: list[Graph], min_support: int
) -> None:
    ours = mine(Counter(several), min_support=min_support)

    in_labels = {
        canonical(with_directions_in_labels(graph), directed=False): support for graph, support in ours.items()
    }
    labelled = [with_directions_in_labels(graph) for graph in several]
    assert in_labels == gspan(labelled, directed=False, min_support=min_support)


@few_examples
@given(st.lists(graphs(simple=True), min_size=1, max_size=4), st.integers(1, 3))
def test_finds_all_that_gspans_directed_mode_finds_which_overlooks_no_tree_whose_root_has_the_smallest_label(
    several: list[Graph], min_support: int
) -> None:
    ours = mine(Counter(several), min_support=min_support)
    theirs = gspan(several, directed=True, min_support=min_support)

    assert theirs.items() <= ours.items()
    assert not [graph for graph in ours.keys() - theirs.keys() if is_tree_with_smallest_root(graph)]


def is_tree_with_smallest_root(graph: Graph) -> bool:
    callers = Counter(target for _, target, _ in graph.edges)
    roots = [vertex for vertex in range(len(graph.vertices)) if not callers[vertex]]
    return (
        len(roots) == 1
        and len(graph.edges) == len(graph.vertices) - 1
        and all(graph.vertices[roots[0]] < label for v, label in enumerate(graph.vertices) if v != roots[0])
    )


@pytest.mark.parametrize(
    "overlooked",
    [
        pytest.param(Graph(("a", "b", "c"), ((0, 2, "x"), (1, 2, "x"))), id="two sources"),
        pytest.param(Graph(("a", "b", "c"), ((0, 1, "x"), (0, 2, "x"), (1, 2, "x"))), id="two ways to a vertex"),
        pytest.param(chain("b", "c", "a"), id="a later label sorts before the first"),
        pytest.param(Graph(("a", "b"), ((0, 1, "x"), (0, 1, "y"))), id="two edges between two vertices"),
    ],
)
def test_finds_what_gspans_directed_mode_overlooks(overlooked: Graph) -> None:
    whole = canonical(overlooked, directed=True)

    assert mine({overlooked: 1})[whole] == 1
    assert whole not in gspan([overlooked], directed=True, min_support=1)


def test_an_edge_in_the_other_direction_is_another_edge_only_if_directed() -> None:
    there, back = Graph(("a", "b"), ((0, 1, "x"),)), Graph(("a", "b"), ((1, 0, "x"),))

    assert mine({there: 2, back: 3}) == {there: 2, back: 3}
    assert mine({there: 2, back: 3}, directed=False) == {there: 5}


def test_a_subgraph_counts_once_for_a_graph_that_has_it_twice() -> None:
    star = Graph(("a", "b", "b"), ((0, 1, "x"), (0, 2, "x")))

    assert mine({star: 1, chain("a", "b"): 1}) == {chain("a", "b"): 2, star: 1}


@few_examples
@given(weighted_graphs, st.booleans())
def test_a_weight_is_as_many_equal_graphs(several: dict[Graph, int], directed: bool) -> None:
    # The same graph to the miner, but not equal: an edge is named twice.
    repeated = [
        Graph(graph.vertices, graph.edges * (number + 2)) for graph in several for number in range(several[graph])
    ]

    assert mine(several, directed=directed, min_support=2) == mine(Counter(repeated), directed=directed, min_support=2)


@few_examples
@given(weighted_graphs, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_graphs_and_vertices_does_not_matter(
    several: dict[Graph, int], directed: bool, chance: Random
) -> None:
    shuffled: Counter[Graph] = Counter()
    for graph in sorted(several, key=lambda _: chance.random()):
        shuffled[permuted(graph, chance.sample(range(len(graph.vertices)), len(graph.vertices)))] += several[graph]

    assert mine(several, directed=directed) == mine(shuffled, directed=directed)


@few_examples
@given(weighted_graphs, st.booleans())
def test_other_labels_give_the_same_subgraphs_with_other_labels(several: dict[Graph, int], directed: bool) -> None:
    other = {"a": "m", "b": "k", "c": "z", "d": "y", "e": "b", "f": "a", "x": "2", "y": "1"}

    def renamed(found: dict[Graph, int]) -> dict[Graph, int]:
        return {
            canonical(
                Graph(
                    tuple(other[label] for label in graph.vertices),
                    tuple((source, target, other[label]) for source, target, label in graph.edges),
                ),
                directed=directed,
            ): support
            for graph, support in found.items()
        }

    counted: Counter[Graph] = Counter()
    for graph, weight in several.items():
        counted[next(iter(renamed({graph: weight})))] += weight
    assert renamed(mine(several, directed=directed)) == mine(counted, directed=directed)


@few_examples
@given(weighted_graphs, st.booleans(), st.integers(1, 3), st.integers(2, 4) | st.none())
def test_a_subgraph_is_closed_if_no_larger_one_is_in_the_same_graphs(
    several: dict[Graph, int], directed: bool, min_support: int, max_vertices: int | None
) -> None:
    every = Bounds(min_support=min_support, min_vertices=1, max_vertices=max_vertices)
    closed = Bounds(min_support=min_support, min_vertices=1, max_vertices=max_vertices, closed=True)
    subgraphs = frequent_subgraphs(several, every, directed=directed).subgraphs

    def is_in(small: Subgraph, large: Subgraph) -> bool:
        return small.graph in mine({large.graph: 1}, directed=directed, min_vertices=1)

    expected = {
        one
        for one in subgraphs
        if not any(one != other and one.found_in == other.found_in and is_in(one, other) for other in subgraphs)
    }
    found = frequent_subgraphs(several, closed, directed=directed).subgraphs
    assert set(found) == expected
    assert len(found) == len(expected)


@few_examples
@given(weighted_graphs, st.integers(0, 20))
def test_a_search_that_was_stopped_knows_down_to_which_support_it_found_all(
    several: dict[Graph, int], max_steps: int
) -> None:
    every = mine(several)

    mined = frequent_subgraphs(several, Bounds(min_support=1, max_steps=max_steps), directed=True)

    found = supports(mined)
    assert found.items() <= every.items()
    assert {graph for graph, support in every.items() if support >= mined.complete_from} <= found.keys()
    assert mined.stopped or found == every


@few_examples
@given(weighted_graphs, st.integers(1, 5))
def test_the_top_are_those_of_most_support_and_their_equals(several: dict[Graph, int], top: int) -> None:
    every = mine(several)
    enough = sorted(every.values(), reverse=True)[:top]

    mined = frequent_subgraphs(several, Bounds(min_support=1, top=top), directed=True)

    assert supports(mined) == {graph: support for graph, support in every.items() if support >= min(enough)}
    assert not mined.stopped
    assert list(supports(mined).values()) == sorted(supports(mined).values(), reverse=True)


def test_says_which_graphs_contain_a_subgraph_and_leaves_out_what_is_not_wanted() -> None:
    several = {chain("a", "b"): 1, chain("c", "d"): 5, chain("a", "b", "c"): 1}

    mined = frequent_subgraphs(
        several, Bounds(min_support=1), directed=True, wanted=lambda graph: graph.vertices == ("a", "b")
    )

    assert mined.subgraphs == (Subgraph(chain("a", "b"), 2, found_in=0b101),)


def test_no_graphs_have_no_subgraphs() -> None:
    assert frequent_subgraphs({}, Bounds(min_support=1), directed=True) == Mined((), 1, stopped=False)


def test_finds_what_gspan_finds_in_traces() -> None:
    traces = random_trace_graphs(traces=60, services=12, classes=4, calls=20, seed=7)

    measured = measure(traces, min_support=5)

    assert measured["identical"]
    assert measured["subgraphs"] == len(mine(Counter(traces), min_support=5, max_vertices=5)) > 50


# The package's own small sample (`graph.data.simple.5`, MIT): labels of vertices, and edges with their labels.
SAMPLE = [
    ("2 2 2 3 2 4 2 3 3 3", "0-1-2 0-2-2 2-3-3 2-4-2 3-5-2 4-6-2 5-7-2 5-8-2 5-9-2 6-9-3"),
    ("2 2 6 6 3 3 3 3 3 3", "0-1-2 0-2-2 1-3-2 2-4-3 2-5-3 2-6-2 3-7-3 3-8-3 3-9-2"),
    ("6 6 2 2 2 2 2 2 2", "0-1-2 0-2-2 1-3-2 2-4-5 2-5-5 3-6-5 3-7-5 4-8-2"),
    ("2 2 2 3 2 4", "0-1-2 0-2-2 2-3-3 2-4-2 3-5-2"),
    ("7 3 5 3 2 7 2 2 2 2", "0-1-2 0-2-2 0-3-3 0-4-2 1-5-2 2-6-2 2-7-2 4-8-5 4-9-5 3-4-6 3-5-5"),
]


@pytest.mark.parametrize(("min_support", "found"), [(2, 17), (3, 1), (4, 1), (5, 0)])
def test_the_packages_own_sample_has_the_sub_graphs_that_the_package_finds(min_support: int, found: int) -> None:
    several = [
        Graph(
            tuple(labels.split()),
            tuple((int(source), int(target), label) for source, target, label in (e.split("-") for e in edges.split())),
        )
        for labels, edges in SAMPLE
    ]
    ours = mine(Counter(several), directed=False, min_support=min_support)

    assert len(ours) == found
    assert ours == gspan(several, directed=False, min_support=min_support)
