"""The legend of a service graph: what occurs in the picture, and nothing else."""

from collections.abc import Iterator

from cutset.model.call_tree import Component, Role
from cutset.report.drawing.boxes import SHAPE_NAMES, badge, entry_arrow, failure_bar, outline, question, shape_of
from cutset.report.drawing.graph import Node, ServiceGraph, failure_mark
from cutset.report.drawing.layout import Box, Density
from cutset.report.drawing.lines import WHEN, arrow_tip, curve, halo, stroke, width_scale
from cutset.report.drawing.text import amount, escaped, share_in_words, text_width

LEGEND_SAMPLE = 30
MARGIN = 24


def draw_legend(graph: ServiceGraph, density: Density, width: float, top: float) -> tuple[list[str], float]:
    """Explains what occurs in the picture, and nothing else."""
    parts = []
    x, y = float(MARGIN), top
    for sample, text in _legend_items(graph, density):
        length = LEGEND_SAMPLE + 8 + 11 * text_width(text)
        if x + length > width - MARGIN:
            x, y = float(MARGIN), y + 22
        words = f'<text class="muted" x="{LEGEND_SAMPLE + 8}" y="4" font-size="11">{escaped(text)}</text>'
        parts.append(f'<g transform="translate({x:.0f} {y:.0f})">{sample}{words}</g>')
        x += length + 18
    return parts, y + MARGIN


def _legend_items(graph: ServiceGraph, density: Density) -> Iterator[tuple[str, str]]:
    box = Box(2, -8, LEGEND_SAMPLE - 4, 16)
    components = {shape_of(node.component): node.component for node in graph.nodes}
    if any(node.entry for node in graph.nodes):
        yield entry_arrow(Box(LEGEND_SAMPLE - 2, -8, 0, 16)), "called from outside"
    for shape, name in SHAPE_NAMES.items():
        if shape in components:
            yield f'<g class="{shape}">{outline(components[shape], box)}</g>', name
    if any(node.by_unknown for node in graph.nodes):
        sample = f'<g class="service">{outline(Component.UNKNOWN, box)}{question(box)}</g>'
        yield sample, "also called by nobody knows whom: spans are lost"
    if graph.cut:
        yield f'<g class="service cut">{outline(Component.UNKNOWN, box)}{badge(box)}</g>', "broken"
    if any(map(failure_mark, graph.nodes)):
        half = Node("", Component.UNKNOWN, entry=False, calls=2, failures=1)
        yield (
            f'<g class="service">{outline(half.component, box)}{failure_bar(half, box)}</g>',
            "share of calls that failed",
        )
    if graph.edges:
        yield from _legend_lines(graph, density)


def _legend_lines(graph: ServiceGraph, density: Density) -> Iterator[tuple[str, str]]:
    roles = {edge.role for edge in graph.edges}
    for role in Role:
        if role in roles:
            # Of several classes the firmest use is drawn.
            within = ", in some request class" if role is Role.ALWAYS and graph.classes > 1 else ""
            yield _sample_line(role.value, role), f"{WHEN[role]}{within}"
    if any(edge.ends in graph.highlighted for edge in graph.edges):
        yield _critical_line(graph, density), _critical_in_words(graph)
    failing = {failure_mark(edge) for edge in graph.edges}
    for mark, text in (("some-failed", "1 % or more of calls failed"), ("many-failed", "10 % or more failed")):
        if mark in failing:
            yield _sample_line(mark), text
    least, most = min(edge.calls for edge in graph.edges), max(edge.calls for edge in graph.edges)
    thin, thick = map(width_scale(graph.edges, density), (least, most))
    if least < most:
        wedge = f"M0 {-thin / 2:.1f}L{LEGEND_SAMPLE} {-thick / 2:.1f}v{thick:.1f}L0 {thin / 2:.1f}Z"
        yield f'<g class="always"><path class="tip" d="{wedge}"/></g>', f"{amount(least)} to {amount(most)} calls"


def _critical_line(graph: ServiceGraph, density: Density) -> str:
    """In the role that its calls have, if it is the same for all."""
    roles = {edge.role for edge in graph.edges if edge.ends in graph.highlighted}
    role = roles.pop() if len(roles) == 1 else Role.ALWAYS
    return _sample_line(f"critical {role.value}", role, density)


def _critical_in_words(graph: ServiceGraph) -> str:
    if not graph.traces:
        return "critical workflow"
    return f"the first of the critical workflows, in {share_in_words(graph.critical_traces, graph.traces)} of traces"


def _sample_line(classes: str, role: Role = Role.ALWAYS, under: Density | None = None) -> str:
    path, end = curve([(0, 0), (LEGEND_SAMPLE, 0)], 6)
    return (
        f'<g class="{classes}">{halo(path, 2, under) if under else ""}{stroke(path, 2, role)}{arrow_tip(*end, 6)}</g>'
    )
