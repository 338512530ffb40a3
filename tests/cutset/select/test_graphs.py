from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tests.samples.labelled_graphs import few_examples, graphs, permuted, smallest_code

from cutset.select.graphs import Graph, canonical, edge_name, with_edge_set


@few_examples
@given(graphs(), graphs(), st.booleans())
def test_only_isomorphic_graphs_have_the_same_canonical_form(one: Graph, other: Graph, directed: bool) -> None:
    as_other = smallest_code(one, directed=directed) == smallest_code(other, directed=directed)

    assert (canonical(one, directed=directed) == canonical(other, directed=directed)) is as_other


@few_examples
@given(graphs(), st.booleans(), st.randoms(use_true_random=False))
def test_isomorphic_graphs_have_the_same_canonical_form(graph: Graph, directed: bool, chance: Random) -> None:
    shuffled = permuted(graph, chance.sample(range(len(graph.vertices)), len(graph.vertices)))

    assert canonical(shuffled, directed=directed) == canonical(graph, directed=directed)


def test_a_star_of_many_equal_vertices_has_a_canonical_form_before_the_end_of_the_world() -> None:
    outwards = Graph(("a",) * 31, tuple((0, leaf, "x") for leaf in range(1, 31)))

    assert canonical(outwards, directed=True) == canonical(permuted(outwards, range(30, -1, -1)), directed=True)


def test_an_edge_is_named_by_labels_whose_order_matters_only_if_directed() -> None:
    graph = Graph(("b", "a"), ((0, 1, "x"),))

    assert edge_name((0, 1, "x"), graph, directed=True) == ("b", "a", "x")
    assert edge_name((0, 1, "x"), graph, directed=False) == ("a", "b", "x")


def test_edges_are_a_set_and_parallel_ones_differ_in_their_labels() -> None:
    graph = Graph(("a", "b"), ((1, 0, "x"), (0, 1, "x"), (0, 1, "x"), (0, 1, "w")))

    assert with_edge_set(graph, directed=True).edges == ((0, 1, "w"), (0, 1, "x"), (1, 0, "x"))
    assert with_edge_set(graph, directed=False).edges == ((0, 1, "w"), (0, 1, "x"))
