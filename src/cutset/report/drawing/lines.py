"""The calls of a service graph as lines: as thick as they are frequent, as red as they fail."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import log

from cutset.model.call_tree import Role
from cutset.report.drawing.graph import Edge, ServiceGraph, failure_mark
from cutset.report.drawing.layout import Box, Density, Layout, Way
from cutset.report.drawing.text import calls_in_words, classes, tooltip

TOOLTIP_APIS = 12
WHEN = {Role.ALWAYS: "always", Role.SOMETIMES: "sometimes", Role.AFTER_FAILURE: "only after a failure"}


def draw_lines(graph: ServiceGraph, layout: Layout, density: Density) -> Iterator[str]:
    """Above the critical workflow, below it what fails, then what is always called, then what is frequent."""
    number = {node.name: index for index, node in enumerate(graph.nodes)}
    scale = width_scale(graph.edges, density)
    drawn = sorted(
        zip(graph.edges, layout.ways, strict=True),
        key=lambda each: (
            each[0].ends in graph.highlighted,
            failure_mark(each[0]) != "",
            each[0].role is not Role.SOMETIMES,
            each[0].calls,
        ),
    )
    for edge, way in drawn:
        critical = edge.ends in graph.highlighted
        ends = f"n{number[edge.caller]} n{number[edge.callee]}"
        width = scale(edge.calls)
        tip = 3 + 1.6 * width
        path, end = curve(way, tip) if way else _loop(layout.boxes[number[edge.caller]], tip)
        yield (
            f"<g {classes('edge', edge.role.value, ends, failure_mark(edge), 'critical' * critical)}>"
            f'<title>{_edge_tooltip(edge)}</title><path class="hit" d="{path}" stroke-width="{max(width, 7):.1f}"/>'
            f"{halo(path, width, density) if critical else ''}"
            f"{stroke(path, width, edge.role)}{arrow_tip(*end, tip)}</g>"
        )


def width_scale(edges: Sequence[Edge], density: Density) -> Callable[[int], float]:
    """From calls to the width of a line, logarithmic: traffic differs by orders of magnitude.

    The thinnest has at most a hundredth of the most calls: what is called nearly as often is drawn nearly as wide.
    """
    logs = [log(max(edge.calls, 1)) for edge in edges]
    low, high = min(logs, default=0.0), max(logs, default=0.0)
    slope = (density.thick - density.thin) / max(high - low, log(100))
    return lambda calls: density.thick - slope * (high - log(max(calls, 1)))


def halo(path: str, width: float, density: Density) -> str:
    """Under a line of the critical workflow: width and dashes of the line itself keep their meaning."""
    return f'<path class="halo" d="{path}" stroke-width="{width + 2 * density.thick:.1f}"/>'


def stroke(path: str, width: float, role: Role) -> str:
    dashes = f' stroke-dasharray="{4 + 2 * width:.1f} {3 + width:.1f}"' if role is Role.AFTER_FAILURE else ""
    return f'<path class="line" d="{path}" stroke-width="{width:.1f}"{dashes}/>'


def curve(way: Way, tip: float) -> tuple[str, tuple[float, float, int]]:
    """Curves between columns, straight inside them. The line ends inside its tip, so that the tip stays sharp."""
    forward = 1 if way[-1][0] > way[0][0] else -1
    end = way[-1]
    points = [*way[:-1], (end[0] - forward * tip * 0.8, end[1])]
    path = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x, y), (to_x, to_y) in pairwise(points):
        middle = (x + to_x) / 2
        bend = f"C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
        path.append(bend if abs(y - to_y) > 0.1 else f"L{to_x:.1f} {to_y:.1f}")
    return "".join(path), (end[0], end[1], forward)


def _loop(box: Box, tip: float) -> tuple[str, tuple[float, float, int]]:
    """From the right side of a box back to it."""
    x, start, end = box.right, box.middle - box.height * 0.3, box.middle + box.height * 0.3
    bulge = x + 10 + box.height * 0.5
    path = f"M{x:.1f} {start:.1f}C{bulge:.1f} {start - 4:.1f} {bulge:.1f} {end:.1f} {x + tip * 0.8:.1f} {end:.1f}"
    return path, (x, end, -1)


def arrow_tip(x: float, y: float, forward: int, size: float) -> str:
    return f'<path class="tip" d="M{x:.1f} {y:.1f}l{-forward * size:.1f} {-size / 2:.1f}v{size:.1f}Z"/>'


def _edge_tooltip(edge: Edge) -> str:
    shown = edge.apis[:TOOLTIP_APIS]
    more = [f"and {len(edge.apis) - len(shown):,} more"] if len(edge.apis) > len(shown) else []
    counts = calls_in_words(edge.calls, edge.failures, exact=True)
    return tooltip(f"{edge.caller} → {edge.callee}", f"{counts}, {WHEN[edge.role]}", *shown, *more)
