"""Our miner of frequent sub-graphs against the package `gspan-mining`: the same graphs, the same sub-graphs, how fast.

    python -m benchmarks.workflows_vs_gspan [FOLDER]    prints one line of JSON; FOLDER has the package's sample graphs

The package's directed mode overlooks sub-graphs (see `cutset.select.subgraphs`), so directed graphs reach it as
undirected ones whose edge labels say the direction: then it finds all. It gets them in memory and reports into a list,
which spares it the reading and the printing that it would do. Ours gets all traces, equal ones too, and has to find out
that they are equal. Seconds are of CPU, of one process, so that they do not depend on what else the machine does.
"""

import json
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from gspan_mining.graph import AUTO_EDGE_ID, VACANT_VERTEX_LABEL
from gspan_mining.graph import Graph as GspanGraph
from gspan_mining.gspan import gSpan

from cutset.select.graphs import Graph, canonical
from cutset.select.subgraphs import Bounds, frequent_subgraphs

_OURS_RUNS = 5  # it takes so little time that one run is noise


class CollectingGspan(gSpan):
    """Takes graphs as they are, and collects what it finds; its own report needs a pandas before 2."""

    def __init__(self, graphs: Sequence[Graph], *, min_support: int, vertices: tuple[int, int], directed: bool) -> None:
        super().__init__(
            None,
            min_support=min_support,
            min_num_vertices=vertices[0],
            max_num_vertices=vertices[1],
            is_undirected=not directed,
        )
        self.given = {number: self._converted(number, graph) for number, graph in enumerate(graphs)}
        self.found: list[tuple[Graph, int]] = []

    def _converted(self, number: int, graph: Graph) -> GspanGraph:
        converted = GspanGraph(number, is_undirected=self._is_undirected, eid_auto_increment=True)
        for vertex, label in enumerate(graph.vertices):
            converted.add_vertex(vertex, label)
        for source, target, label in graph.edges:
            converted.add_edge(AUTO_EDGE_ID, source, target, label)
        return converted

    def _read_graphs(self) -> None:
        self.graphs = self.given

    def _report_size1(self, g: GspanGraph, support: int) -> None:
        self.found.append((Graph((g.vertices[0].vlb,), ()), support))

    def _report(self, _projected: object) -> None:
        ends = [end for step in self._DFScode for end in ((step.frm, step.vevlb[0]), (step.to, step.vevlb[2]))]
        labels = {vertex: label for vertex, label in ends if label != VACANT_VERTEX_LABEL}
        if len(labels) >= self._min_num_vertices:
            edges = tuple((step.frm, step.to, step.vevlb[1]) for step in self._DFScode)
            self.found.append((Graph(tuple(labels[vertex] for vertex in sorted(labels)), edges), self._support))


def measure(
    graphs: Sequence[Graph], *, min_support: int, min_vertices: int = 2, max_vertices: int = 5, directed: bool = True
) -> dict[str, object]:
    """Directed graphs must have at most one edge between two vertices, which have different labels (`bundled`)."""
    for_gspan = [with_directions_in_labels(graph) for graph in graphs] if directed else graphs
    gspan = CollectingGspan(for_gspan, min_support=min_support, vertices=(min_vertices, max_vertices), directed=False)
    start = time.process_time()
    gspan.run()
    gspan_seconds = time.process_time() - start
    bounds = Bounds(
        min_support=min_support, min_vertices=min_vertices, max_vertices=max_vertices, max_steps=sys.maxsize
    )
    seconds = []
    for _ in range(_OURS_RUNS):
        start = time.process_time()
        ours = frequent_subgraphs(Counter(graphs), bounds, directed=directed).subgraphs
        seconds.append(time.process_time() - start)
    ours_seconds = statistics.median(seconds)
    comparable = ((with_directions_in_labels(one.graph) if directed else one.graph, one.support) for one in ours)
    return {
        "graphs": len(graphs),
        "distinct_graphs": len(set(graphs)),
        "min_support": min_support,
        "max_vertices": max_vertices,
        "subgraphs": len(ours),
        "gspan_seconds": round(gspan_seconds, 4),
        "ours_seconds": round(ours_seconds, 6),
        "speedup": round(gspan_seconds / ours_seconds, 1),
        "identical": sorted_canonical(comparable) == sorted_canonical(gspan.found),
    }


def sorted_canonical(
    found: Iterable[tuple[Graph, int]], *, directed: bool = False
) -> list[tuple[tuple[object, ...], tuple[object, ...], int]]:
    canonicals = ((canonical(graph, directed=directed), support) for graph, support in found)
    return sorted((graph.vertices, graph.edges, support) for graph, support in canonicals)


def with_directions_in_labels(graph: Graph) -> Graph:
    """Undirected, but as good as directed, provided that the vertices of an edge have different labels."""
    edges = []
    for source, target, label in graph.edges:
        first, second = graph.vertices[source], graph.vertices[target]
        if first == second:
            raise ValueError(
                f"An edge between two vertices of the label `{first}` has a direction that no label can say"
            )
        edges.append((source, target, f"{'forward' if first < second else 'backward'} {label}"))
    if len({frozenset(edge[:2]) for edge in edges}) < len(edges):
        raise ValueError("gspan-mining keeps one of several edges between two vertices: make them one with `bundled`")
    return Graph(graph.vertices, tuple(edges))


def bundled(graph: Graph) -> Graph:
    """With one edge in place of all between two vertices, in both directions; without edges from a vertex to itself."""
    bundles: dict[tuple[int, int], set[str]] = {}
    for source, target, label in graph.edges:
        if (target, source) in bundles:
            bundles[target, source].add(f"back {label}")
        elif source != target:
            bundles.setdefault((source, target), set()).add(label)
    return Graph(graph.vertices, tuple((*ends, " + ".join(sorted(labels))) for ends, labels in bundles.items()))


def random_trace_graphs(*, traces: int, services: int, classes: int, calls: int, seed: int) -> list[Graph]:
    """Requests of a few classes, some far more frequent than others; of a class, some calls are made only at times."""
    chance = random.Random(seed)
    names = [f"service-{number:02}" for number in chance.sample(range(services), services)]  # in no order of calls
    templates = []
    for _ in range(classes):
        reached, edges = [0], []
        for _ in range(calls):
            caller, callee = chance.choice(reached), chance.randrange(1, services)
            if caller < callee and not any(edge[:2] == (caller, callee) for edge in edges):
                edges.append((caller, callee, f"api-{chance.randrange(3)}", chance.choice((1, 1, 1, 0.7))))
                reached.append(callee)
        templates.append(edges)
    weights = [1 / rank for rank in range(1, classes + 1)]
    return [
        _trace_graph(names, [edge for edge in template if chance.random() < edge[3]])
        for template in chance.choices(templates, weights, k=traces)
    ]


def _trace_graph(names: Sequence[str], calls: Iterable[tuple[int, int, str, float]]) -> Graph:
    reached, edges = {0}, []
    for caller, callee, api, _ in calls:
        if caller in reached:  # else its own call was left out
            reached.add(callee)
            edges.append((names[caller], names[callee], api))
    vertices = sorted(names[service] for service in reached)
    return Graph(
        tuple(vertices), tuple((vertices.index(caller), vertices.index(callee), api) for caller, callee, api in edges)
    )


def read_graphs(text: str) -> list[Graph]:
    """The package's format: `t # number`, `v number label`, `e from to label`; `t # -1` ends it."""
    graphs: list[Graph] = []
    for block in text.split("t # ")[1:-1]:
        lines = [line.split() for line in block.splitlines()[1:]]
        graphs.append(
            Graph(
                tuple(line[2] for line in lines if line[:1] == ["v"]),
                tuple((int(line[1]), int(line[2]), line[3]) for line in lines if line[:1] == ["e"]),
            )
        )
    return graphs


def compare(samples: Path | None = None) -> dict[str, object]:
    """On traces of a small system; the more there are, the more of them are equal, which only ours makes use of.

    `samples` is a folder with the package's sample graphs, which are undirected and repeat labels.
    """
    results = {}
    for traces in (400, 2000, 4000):
        graphs = random_trace_graphs(traces=traces, services=20, classes=8, calls=30, seed=1)
        results[f"{traces} traces"] = measure(graphs, min_support=traces // 20)
    for file in sorted(samples.glob("graph.data.*5")) if samples is not None else ():
        for support in (2, 3, 4, 5):
            name = f"{file.name}, support {support}"
            results[name] = measure(
                read_graphs(file.read_text()), min_support=support, max_vertices=sys.maxsize, directed=False
            )
    for name, result in results.items():
        print(f"workflows of {name}: {result}")
    return {
        "workflow_speedup_vs_gspan": results["4000 traces"]["speedup"],
        "workflow_speedups": {name: result["speedup"] for name, result in results.items()},
        "workflows_identical": all(result["identical"] for result in results.values()),
    }


def main() -> None:
    print(json.dumps(compare(Path(sys.argv[1]) if len(sys.argv) > 1 else None)))


if __name__ == "__main__":
    main()
