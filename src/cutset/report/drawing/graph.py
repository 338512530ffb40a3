"""What is drawn: services, and the calls between them. Of many, some can be chosen."""

from dataclasses import dataclass, replace

from cutset.model.call_tree import Component, Role


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    component: Component
    entry: bool  # called from outside
    calls: int
    failures: int
    by_unknown: int = 0  # calls, or work for them, of which nobody knows who made them


@dataclass(frozen=True, slots=True)
class Edge:
    caller: str
    callee: str
    apis: tuple[str, ...]
    calls: int
    failures: int
    role: Role
    traces: int = 0  # in which one called the other

    @property
    def ends(self) -> tuple[str, str]:
        return self.caller, self.callee


@dataclass(frozen=True, slots=True)
class ServiceGraph:
    nodes: tuple[Node, ...]  # of different names
    edges: tuple[Edge, ...]
    highlighted: frozenset[tuple[str, str]] = frozenset()  # caller and callee: the critical workflow
    cut: frozenset[str] = frozenset()  # services to draw as broken
    traces: int = 0  # that all this was seen in
    classes: int = 1  # of requests: "always" then means always in one of them
    critical_traces: int = 0  # that have the highlighted workflow
    centre: str = ""  # the service that others were chosen around
    without: tuple[int, int] = (0, 0)  # services and connections that were left out of the choice


def largest(graph: ServiceGraph, services: int, connections: int | None = None) -> ServiceGraph:
    """What is marked, and of the rest what has the most traffic. Its order does not depend on that of `graph`."""
    marked = graph.cut.union({graph.centre}, *graph.highlighted)
    nodes = sorted(graph.nodes, key=lambda node: (node.name not in marked, -node.calls, node.name))[:services]
    return _chosen(graph, {node.name for node in nodes}, connections)


def around(graph: ServiceGraph, centre: str, hops: int = 1) -> ServiceGraph:
    """A service with those that call it and those that it calls, through at most so many calls."""
    calling, called = {centre}, {centre}
    for _ in range(hops):
        calling |= {edge.caller for edge in graph.edges if edge.callee in calling}
        called |= {edge.callee for edge in graph.edges if edge.caller in called}
    return replace(_chosen(graph, calling | called), centre=centre)


def _chosen(graph: ServiceGraph, names: set[str], connections: int | None = None) -> ServiceGraph:
    nodes = sorted((node for node in graph.nodes if node.name in names), key=lambda node: (-node.calls, node.name))
    edges = sorted(
        (edge for edge in graph.edges if edge.caller in names and edge.callee in names),
        key=lambda edge: (edge.ends not in graph.highlighted, -edge.calls, edge.ends, edge.role, edge.apis),
    )[:connections]
    services_before, connections_before = graph.without
    without = (
        services_before + len(graph.nodes) - len(nodes),
        connections_before + len(graph.edges) - len(edges),
    )
    highlighted = graph.highlighted & {edge.ends for edge in edges}
    return replace(graph, nodes=tuple(nodes), edges=tuple(edges), highlighted=highlighted, without=without)


def failed_share(counted: Node | Edge) -> float:
    return min(1.0, counted.failures / counted.calls) if counted.calls else 0.0


def failure_mark(counted: Node | Edge) -> str:
    """The class that a share of failures gets; below a hundredth they are in the tooltip only."""
    share = failed_share(counted)
    return "many-failed" if share >= 0.1 else "some-failed" if share >= 0.01 else ""
