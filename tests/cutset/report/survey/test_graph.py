from pathlib import Path

from tests.samples.surveyed_shop import surveyed_shop

from cutset.app.survey import find_workflows, service_graph
from cutset.model.call_tree import UNKNOWN, CallTree, Component, Role
from cutset.model.point import Point
from cutset.report.drawing.graph import Node, ServiceGraph
from cutset.report.survey.graph import MANY_SERVICES, graph_of, to_document, to_lines

CLASSES = surveyed_shop().classes
CRITICAL = find_workflows(surveyed_shop()).workflows[0]
GRAPH = graph_of([summary.judged for summary in CLASSES.values()], CRITICAL)


def test_services_and_their_calls_of_all_classes_are_in_the_graph() -> None:
    assert [(node.name, node.component, node.entry, node.calls, node.failures) for node in GRAPH.nodes] == [
        ("cart", Component.RPC, False, 4, 0),
        ("redis", Component.CACHE, False, 20, 4),
        ("web", Component.HTTP, True, 29, 0),
    ]
    assert [(edge.caller, edge.callee, edge.calls, edge.role) for edge in GRAPH.edges] == [
        ("web", "cart", 4, Role.AFTER_FAILURE),
        ("web", "redis", 20, Role.ALWAYS),
    ]


def test_the_first_of_the_workflows_is_marked() -> None:
    document = to_document(service_graph(surveyed_shop()))
    marked = {(call["caller"], call["callee"]) for call in document["calls"] if call["critical"]}
    assert marked == {(call.caller, call.service) for call in CRITICAL.calls} == {("web", "redis")}
    assert document["calls"][0]["apis"] == ("GetCart",)
    assert [service["name"] for service in document["services"]] == ["cart", "redis", "web"]


def test_of_one_class_the_first_of_its_workflows_is_marked() -> None:
    graph = service_graph(surveyed_shop(), "GET /cart")
    assert graph.highlighted == {("web", "redis")}
    assert (graph.critical_traces, graph.traces, graph.classes) == (20, 20, 1)


def test_connections_come_with_the_share_of_traces_that_have_them_and_its_interval() -> None:
    cart, redis = to_document(GRAPH)["calls"]
    assert (cart["traces"], redis["traces"], to_document(GRAPH)["traces"]) == (4, 20, 29)
    assert cart["share"] == 4 / 29
    assert 0.05 < cart["share_low"] < cart["share"] < cart["share_high"] < 0.31


def handled(service: str, *calls: CallTree) -> CallTree:
    return CallTree(Point(service, "poll"), component=Component.QUEUE, calls=calls)


def test_a_service_is_no_queue_because_messages_come_from_one() -> None:
    published = CallTree(Point("kafka", "publish"), component=Component.QUEUE, calls=(handled("mail"),))
    order = CallTree(Point("shop", "order"), component=Component.HTTP, calls=(published,))
    later = handled("shop", published)  # its trace begins with a message
    nodes = {node.name: node.component for node in graph_of([{order: 1, later: 5}]).nodes}
    assert nodes == {"kafka": Component.QUEUE, "mail": Component.UNKNOWN, "shop": Component.UNKNOWN}


def test_what_a_service_is_most_often_called_as_decides_what_it_is() -> None:
    def asked(component: Component) -> CallTree:
        return CallTree(Point("web", "GET /"), calls=(CallTree(Point("search", "query"), component=component),))

    kinds = {asked(Component.HTTP): 2, asked(Component.DATABASE): 9, asked(Component.RPC): 1}
    assert {node.component for node in graph_of([kinds]).nodes if node.name == "search"} == {Component.DATABASE}


def test_of_calls_whose_caller_is_lost_no_caller_is_drawn() -> None:
    lost = CallTree(Point("stock", "Reserve"), component=Component.RPC, calls=(CallTree(Point("db", "UPDATE")),))
    work = CallTree(Point("audit", UNKNOWN), calls=(CallTree(Point("log", "Write")),))  # for an unknown call
    tree = CallTree(Point("web", "GET /"), orphans=(work, lost))
    graph = graph_of([{tree: 7}])
    assert [edge.ends for edge in graph.edges] == [("audit", "log"), ("stock", "db")]
    assert [(node.name, node.calls, node.entry, node.by_unknown) for node in graph.nodes] == [
        ("audit", 0, False, 7),
        ("db", 7, False, 0),
        ("log", 7, False, 0),
        ("stock", 7, False, 7),
        ("web", 7, True, 0),
    ]
    assert to_document(graph)["services"][0]["by_unknown_callers"] == 7


def test_what_was_drawn_is_told_with_what_was_not(tmp_path: Path) -> None:
    assert list(to_lines(GRAPH, Path("[shop].svg"))) == ["Drew 3 services and 2 connections in \\[shop].svg"]
    nodes = tuple(Node(f"s{number}", Component.RPC, False, 1, 0) for number in range(MANY_SERVICES + 1))
    _, left_out, advice = to_lines(ServiceGraph(nodes, (), without=(3, 1)), tmp_path)
    assert left_out == "[dim]Not drawn: 3 services and 1 connection with the least traffic[/]"
    assert "--around SERVICE" in advice


def test_a_class_without_calls_is_its_service_alone() -> None:
    graph = graph_of([CLASSES["GET /"].judged])
    assert [node.name for node in graph.nodes] == ["web"]
    assert not graph.edges
