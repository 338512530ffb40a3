"""`cutset graph`: a picture of which services call which."""

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from cutset.cli.options import (
    DEFAULT_STORE,
    ByCallsOption,
    JsonOption,
    SinceOption,
    StoreOption,
    UntilOption,
    WorkersOption,
)
from cutset.cli.survey import named, run_survey
from cutset.errors import TargetError
from cutset.lineage.kinds import CallUse, call_uses
from cutset.model.call_tree import CallTree, Component, Role
from cutset.model.point import Point
from cutset.model.wording import count
from cutset.report.drawing.service_graph import Edge, Node, ServiceGraph, service_graph_svg
from cutset.select.workflows import critical_workflows

MAX_WORKFLOW_SERVICES = 5


def graph_command(
    out: Annotated[Path, typer.Option("--out", "-o", help="The SVG file to write.")] = Path("graph.svg"),
    name: Annotated[str, typer.Option("--class", help="Only this request class.", metavar="CLASS")] = "",
    by_calls: ByCallsOption = False,
    since: SinceOption = "",
    until: UntilOption = "",
    workers: WorkersOption = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Draw the services of the stored traces and their calls, with the most critical workflow highlighted.

    Lines are as wide as there are calls; dotted ones are made sometimes, dashed ones only after another call failed.

    Examples:

    - `cutset graph -o shop.svg`: then open it in a browser
    - `cutset graph --class "POST /cart/checkout" -o checkout.svg`: one kind of request
    - `cutset graph --json | jq '.calls[] | select(.when == "after-failure")'`: fallbacks seen in the wild
    """
    survey = run_survey(store, since, until, workers, by_calls=by_calls)
    classes = {name: named(name, survey.classes, "class")} if name else survey.classes
    graph = _service_graph({each: summary.judged for each, summary in classes.items()})
    if as_json:
        print(json.dumps(_document(graph), indent=2))
        return
    try:
        out.write_text(service_graph_svg(graph, title=name or "Calls between services"))
    except OSError as error:
        raise TargetError(f"Cannot write `{out}`: {error.strerror}", hint="Choose another file with `--out`") from None
    drawn = f"{count(len(graph.nodes), 'service')} and {count(len(graph.edges), 'connection')}"
    Console(highlight=False, soft_wrap=True).print(f"Drew {drawn} in {out}")


def _service_graph(classes: Mapping[str, Mapping[CallTree, int]]) -> ServiceGraph:
    kinds: dict[CallTree, int] = defaultdict(int)
    uses: dict[tuple[str, str], list[CallUse]] = defaultdict(list)
    for of_class in classes.values():
        for tree, traces in of_class.items():
            kinds[tree] += traces
        for use in call_uses(of_class):
            uses[use.caller.service, use.callee.service].append(use)
    entries = {tree.point.service for tree in kinds}
    components = {callee.point.service: callee.component for tree in kinds for _, callee in tree.edges()}
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


def _critical_calls(kinds: Mapping[CallTree, int]) -> tuple[Point, ...]:
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


def _document(graph: ServiceGraph) -> dict[str, Any]:
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
