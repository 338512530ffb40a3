"""Which services call which: from request classes to the graph that is drawn, and to JSON."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape

from cutset.lineage.kinds import CallUse, call_uses
from cutset.model.call_tree import (
    STORES,
    UNKNOWN_CALLER,
    CallTree,
    Component,
    Role,
    ToldCall,
    callees_telling_stores,
    calls_inside,
    gathering,
    occurrences,
)
from cutset.model.survey import Kinds
from cutset.model.wording import count
from cutset.report.drawing.graph import Edge, Node, ServiceGraph, largest
from cutset.report.drawing.service_graph import MOST_CONNECTIONS, MOST_SERVICES, left_out_in_words
from cutset.report.survey.frequency import share_document
from cutset.select.workflows import Workflow

MANY_SERVICES = 60  # in one picture


def graph_of(classes: Sequence[Kinds], critical: Workflow | None = None) -> ServiceGraph:
    """Of request classes, given by their call structures, with the workflow to highlight."""
    kinds: Counter[CallTree] = Counter()
    uses: dict[tuple[str, str], list[CallUse]] = defaultdict(list)
    for of_class in classes:
        kinds.update(of_class)
        for use in call_uses(of_class):
            if use.caller != UNKNOWN_CALLER:
                uses[use.caller.service, use.callee.service].append(use)
    entries = {tree.point.service for tree in kinds}
    calls: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    seen: Counter[tuple[str, str]] = Counter()
    unknown: Counter[str] = Counter()
    ends_of = gathering(
        lambda caller: [(caller.point.service, callee.point.service) for callee in caller.calls], calls_inside
    )
    for tree, traces in kinds.items():
        calls[tree.point.service] += traces
        failures[tree.point.service] += traces if tree.failed else 0
        for ends in ends_of(tree):
            seen[ends] += traces
    for caller, traces in occurrences(kinds, calls_inside).items():
        calls[caller.point.service] += 0  # also who only works for others
        for call in (*caller.calls, *caller.known_orphans):
            calls[call.point.service] += traces
            failures[call.point.service] += traces if call.failed else 0
        for orphan in caller.orphans:
            unknown[orphan.point.service] += traces
    components = _components(kinds)
    return ServiceGraph(
        tuple(
            Node(service, components[service], service in entries, calls[service], failures[service], unknown[service])
            for service in sorted(calls)
        ),
        tuple(_edge(*ends, between, seen[ends]) for ends, between in sorted(uses.items())),
        highlighted=frozenset((call.caller, call.service) for call in critical.calls) if critical else frozenset(),
        traces=kinds.total(),
        classes=len(classes),
        critical_traces=critical.traces if critical else 0,
    )


def _components(kinds: Kinds) -> dict[str, Component]:
    """What each service is most often called as."""
    votes: dict[str, Counter[Component]] = defaultdict(Counter)
    starts: Counter[ToldCall] = Counter()
    for tree, traces in kinds.items():
        for entered in (tree, *tree.orphans):
            starts[entered, False] += traces
    for (call, store), traces in occurrences(starts, callees_telling_stores).items():
        component = Component.UNKNOWN if call.component in STORES and not store else call.component
        votes[call.point.service][component] += traces
    return {
        service: min(counts, key=lambda component: (-counts[component], component)) for service, counts in votes.items()
    }


def _edge(caller: str, callee: str, uses: Sequence[CallUse], traces: int) -> Edge:
    """Of several APIs and request classes between the same two services, the firmest use decides."""
    return Edge(
        caller,
        callee,
        tuple(sorted({use.callee.api for use in uses})),
        sum(use.calls for use in uses),
        sum(use.failures for use in uses),
        min((use.role for use in uses), key=list(Role).index),
        traces,
    )


def to_lines(graph: ServiceGraph, out: Path) -> Iterator[str]:
    drawn = largest(graph, MOST_SERVICES, MOST_CONNECTIONS)
    parts = f"{count(len(drawn.nodes), 'service')} and {count(len(drawn.edges), 'connection')}"
    yield f"Drew {parts} in {escape(str(out))}"
    if left_out := left_out_in_words(drawn):
        yield f"[dim]{left_out}[/]"
    if len(drawn.nodes) > MANY_SERVICES:
        yield "[dim]That is a large picture: `--around SERVICE`, `--top 30` or `--class CLASS` draw a part of it[/]"


def to_document(graph: ServiceGraph) -> dict[str, Any]:
    services, connections = graph.without
    return {
        "traces": graph.traces,
        "left_out": {"services": services, "calls": connections},
        "services": [
            {
                "name": node.name,
                "component": node.component,
                "entry": node.entry,
                "calls": node.calls,
                "failures": node.failures,
                "by_unknown_callers": node.by_unknown,
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
                "traces": edge.traces,
                **share_document(edge.traces, graph.traces),
            }
            for edge in graph.edges
        ],
    }
