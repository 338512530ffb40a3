"""Which services call which: from request classes to the graph that is drawn, and to JSON."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from cutset.lineage.kinds import CallUse, call_uses
from cutset.model.call_tree import UNKNOWN_CALLER, CallTree, Component, Role
from cutset.model.point import Point
from cutset.model.survey import Kinds
from cutset.report.drawing.graph import Edge, Node, ServiceGraph
from cutset.select.workflows import critical_workflows

MAX_WORKFLOW_SERVICES = 5


def graph_of(classes: Iterable[Kinds]) -> ServiceGraph:
    """Of request classes, given by their call structures."""
    kinds: dict[CallTree, int] = defaultdict(int)
    uses: dict[tuple[str, str], list[CallUse]] = defaultdict(list)
    for of_class in classes:
        for tree, traces in of_class.items():
            kinds[tree] += traces
        for use in call_uses(of_class):
            if use.caller != UNKNOWN_CALLER:
                uses[use.caller.service, use.callee.service].append(use)
    entries = {tree.point.service for tree in kinds}
    components = {callee.point.service: callee.component for tree in kinds for callee in tree.callees()}
    calls: dict[str, int] = defaultdict(int)
    failures: dict[str, int] = defaultdict(int)
    for tree, traces in kinds.items():
        for call in tree.walk():
            calls[call.point.service] += traces
            failures[call.point.service] += traces if call.failed else 0
    nodes = tuple(
        Node(service, components.get(service, Component.UNKNOWN), service in entries, calls[service], failures[service])
        for service in sorted(calls)
    )
    highlighted = frozenset((call.caller, call.service) for call in _critical_calls(kinds))
    edges = tuple(_edge(caller, callee, between) for (caller, callee), between in sorted(uses.items()))
    return ServiceGraph(nodes, edges, highlighted)


def _critical_calls(kinds: Kinds) -> tuple[Point, ...]:
    """Of the most critical workflow that is worth a picture: of services alone, and more than two if there is one."""
    for fewest in (3, 2):
        found = critical_workflows(
            kinds.items(), min_services=fewest, max_services=MAX_WORKFLOW_SERVICES, top=1, stores=False
        )
        if found.workflows:
            return found.workflows[0].calls
    return ()


def _edge(caller: str, callee: str, uses: list[CallUse]) -> Edge:
    """Of several APIs and request classes between the same two services, the firmest use decides."""
    return Edge(
        caller,
        callee,
        tuple(sorted({use.callee.api for use in uses})),
        sum(use.calls for use in uses),
        sum(use.failures for use in uses),
        min((use.role for use in uses), key=list(Role).index),
    )


def to_document(graph: ServiceGraph) -> dict[str, Any]:
    return {
        "services": [
            {
                "name": node.name,
                "component": node.component,
                "entry": node.entry,
                "calls": node.calls,
                "failures": node.failures,
            }
            for node in graph.nodes
        ],
        "calls": [
            {
                "caller": edge.caller,
                "callee": edge.callee,
                "apis": edge.apis,
                "calls": edge.calls,
                "failures": edge.failures,
                "when": edge.role,
                "critical": edge.ends in graph.highlighted,
            }
            for edge in graph.edges
        ],
    }
