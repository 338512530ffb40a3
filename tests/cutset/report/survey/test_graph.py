from tests.samples.surveyed_shop import surveyed_shop

from cutset.model.call_tree import Component, Role
from cutset.report.survey.graph import graph_of, to_document

CLASSES = surveyed_shop().classes
GRAPH = graph_of(summary.judged for summary in CLASSES.values())


def test_services_and_their_calls_of_all_classes_are_in_the_graph() -> None:
    assert [(node.name, node.component, node.entry, node.calls, node.failures) for node in GRAPH.nodes] == [
        ("cart", Component.RPC, False, 4, 0),
        ("redis", Component.CACHE, False, 20, 4),
        ("web", Component.UNKNOWN, True, 29, 0),
    ]
    assert [(edge.caller, edge.callee, edge.calls, edge.role) for edge in GRAPH.edges] == [
        ("web", "cart", 4, Role.AFTER_FAILURE),
        ("web", "redis", 20, Role.ALWAYS),
    ]


def test_the_most_critical_workflow_of_services_is_marked() -> None:
    document = to_document(GRAPH)
    assert [(call["callee"], call["critical"]) for call in document["calls"]] == [("cart", True), ("redis", False)]
    assert document["calls"][0]["apis"] == ("GetCart",)
    assert [service["name"] for service in document["services"]] == ["cart", "redis", "web"]


def test_a_class_without_calls_is_its_service_alone() -> None:
    graph = graph_of([CLASSES["GET /"].judged])
    assert [node.name for node in graph.nodes] == ["web"]
    assert not graph.edges
