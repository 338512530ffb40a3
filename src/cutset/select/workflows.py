"""Critical workflows (ART §3.2, §4.2): the connected parts of call graphs that most traces have in common.

A trace becomes a graph with a vertex for each service and an edge for each API that one service calls of another,
however often it does and whether or not the call fails. ART takes all sub-graphs that gSpan finds; most of them repeat
each other, so we show a part of a larger workflow only if it occurs in more traces than that.

ART hides workflows that "only cover the frontend service", since to fail the front end is to lose the request before
anything handles it. So a workflow must have a call to a service behind: one that is no front end. Front ends are the
services that no other calls, and those that the user names, such as a front end behind a gateway.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from cutset.model.call_tree import CallTree, ToldCall, callees_telling_stores, gathering
from cutset.model.point import Point
from cutset.select.graphs import Graph
from cutset.select.subgraphs import Bounds, Subgraph, frequent_subgraphs


@dataclass(frozen=True, slots=True)
class Workflow:
    services: tuple[str, ...]
    calls: tuple[Point, ...]  # each with its caller
    traces: int
    share: float  # of all traces


@dataclass(frozen=True, slots=True)
class CriticalWorkflows:
    workflows: tuple[Workflow, ...]  # those of most traces first, then the largest
    traces: int  # that there are
    complete_from: int  # of workflows with at least so many traces, none was overlooked
    stopped: bool  # there are so many that the search was given up: those of fewer traces may be missing


def critical_workflows(
    kinds: Iterable[tuple[CallTree, int]],
    *,
    min_traces: int = 1,
    min_share: float = 0.01,
    min_services: int = 2,
    max_services: int | None = None,
    top: int | None = None,
    overlapping: bool = False,
    stores: bool = True,
    front_ends: Collection[str] = (),
) -> CriticalWorkflows:
    """`kinds` are traces with how often each was seen; with `overlapping`, also those parts of larger workflows that
    occur in no more traces than these; with `stores`, data stores and queues are services too."""
    graphs = _graphs_of(kinds, stores=stores)
    total = graphs.total()
    bounds = Bounds(
        min_support=max(min_traces, math.ceil(min_share * total - 1e-9), 1),  # 7% of 100 are 7.000000000000001
        min_vertices=min_services,
        max_vertices=max_services,
        closed=not overlapping,
        top=top,
    )
    behind = {callee for graph in graphs for caller, callee, _ in _calls(graph) if callee != caller} - {*front_ends}
    mined = frequent_subgraphs(
        graphs, bounds, directed=True, wanted=lambda graph: any(callee in behind for _, callee, _ in _calls(graph))
    )
    workflows = [_workflow_of(subgraph, total) for subgraph in sorted(mined.subgraphs, key=_importance)[:top]]
    return CriticalWorkflows(tuple(workflows), total, mined.complete_from, mined.stopped)


def _importance(subgraph: Subgraph) -> tuple[object, ...]:
    graph = subgraph.graph
    return -subgraph.support, -len(graph.vertices), -len(graph.edges), graph.vertices, graph.edges


def _graphs_of(kinds: Iterable[tuple[CallTree, int]], *, stores: bool) -> Counter[Graph]:
    """Of the services alone, unless `stores`."""

    def facts(caller: ToldCall) -> Iterator[tuple[str, ...]]:
        """Services, and calls: by whom, of whom, and which API."""
        for callee in callees_telling_stores(caller):
            ends = [tree.point.service for tree, store in (caller, callee) if stores or not store]
            yield from ((service,) for service in ends)
            if len(ends) == 2:
                yield (*ends, callee[0].point.api)

    def inside(caller: ToldCall) -> list[ToldCall]:
        return [*callees_telling_stores(caller), *((orphan, False) for orphan in caller[0].orphans)]

    facts_of = gathering(facts, inside)
    seen: Counter[tuple[str, frozenset[tuple[str, ...]]]] = Counter()
    for tree, traces in kinds:
        seen[tree.point.service, facts_of((tree, False))] += traces
    graphs: Counter[Graph] = Counter()
    for (entry, found), traces in seen.items():
        # Sorted, so that traces with the same calls are the same graph.
        names = sorted({entry, *(fact[0] for fact in found if len(fact) == 1)})
        position = {name: number for number, name in enumerate(names)}
        calls = sorted(fact for fact in found if len(fact) == 3)
        edges = tuple((position[caller], position[callee], api) for caller, callee, api in calls)
        graphs[Graph(tuple(names), edges)] += traces
    return graphs


def _calls(graph: Graph) -> Iterator[tuple[str, str, str]]:
    return ((graph.vertices[caller], graph.vertices[callee], api) for caller, callee, api in graph.edges)


def _workflow_of(subgraph: Subgraph, traces: int) -> Workflow:
    calls = tuple(sorted(Point(callee, api, caller) for caller, callee, api in _calls(subgraph.graph)))
    return Workflow(subgraph.graph.vertices, calls, subgraph.support, subgraph.support / traces)
