from dataclasses import replace
from itertools import pairwise

import pytest

from cutset.model.call_tree import Component, Role
from cutset.report.drawing.graph import Edge, Node, ServiceGraph, around, failed_share, failure_mark, largest


def node(calls: int, failures: int) -> Node:
    return Node("a", Component.RPC, entry=False, calls=calls, failures=failures)


@pytest.mark.parametrize(
    ("calls", "failures", "share", "mark"),
    [(0, 0, 0.0, ""), (1000, 9, 0.009, ""), (100, 1, 0.01, "some-failed"), (10, 1, 0.1, "many-failed")],
)
def test_a_share_of_failures_has_a_mark(calls: int, failures: int, share: float, mark: str) -> None:
    assert failed_share(node(calls, failures)) == share
    assert failure_mark(node(calls, failures)) == mark


def test_more_failures_than_calls_are_all_of_them() -> None:
    assert failed_share(node(1, 3)) == 1.0


def chain(*names: str, **marks: object) -> ServiceGraph:
    """Each calls the next, and the first ones have the most calls."""
    nodes = tuple(Node(name, Component.RPC, False, 100 - place, 0) for place, name in enumerate(names))
    edges = tuple(
        Edge(one, other, (), 100 - place, 0, Role.ALWAYS) for place, (one, other) in enumerate(pairwise(names))
    )
    return ServiceGraph(nodes, edges, **marks)  # type: ignore[arg-type]


def names(graph: ServiceGraph) -> set[str]:
    return {each.name for each in graph.nodes}


def test_the_largest_are_those_with_the_most_calls_and_the_rest_is_counted() -> None:
    chosen = largest(chain("a", "b", "c", "d", "e"), 3)
    assert names(chosen) == {"a", "b", "c"}
    assert [edge.ends for edge in chosen.edges] == [("a", "b"), ("b", "c")]
    assert chosen.without == (2, 2)
    assert largest(chosen, 2).without == (3, 3)


def test_what_is_marked_is_chosen_whatever_its_traffic() -> None:
    graph = chain("a", "b", "c", "d", "e", highlighted=frozenset({("d", "e")}))
    assert names(largest(graph, 3)) == {"a", "d", "e"}


def test_around_a_service_are_its_callers_and_callees_and_not_those_of_its_callers() -> None:
    graph = chain("a", "b", "c", "d", "e")
    beside = Edge("b", "aside", (), 1, 0, Role.ALWAYS)
    graph = replace(
        graph, nodes=(*graph.nodes, Node("aside", Component.RPC, False, 1, 0)), edges=(*graph.edges, beside)
    )
    assert names(around(graph, "c")) == {"b", "c", "d"}
    assert names(around(graph, "c", 2)) == {"a", "b", "c", "d", "e"}
    assert around(graph, "c").without == (3, 3)
    assert around(graph, "c").centre == "c"


def test_a_workflow_that_is_not_in_the_part_is_not_marked_in_it() -> None:
    graph = chain("a", "b", "c", "d", highlighted=frozenset({("a", "b")}))
    assert not around(graph, "d").highlighted
