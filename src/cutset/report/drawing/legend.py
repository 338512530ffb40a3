"""The legend of a service graph: what occurs in the picture, and nothing else."""

from collections.abc import Iterator

from cutset.model.call_tree import Component, Role
from cutset.report.drawing.boxes import SHAPE_NAMES, badge, entry_arrow, outline, shape_of
from cutset.report.drawing.graph import ServiceGraph, failure_mark
from cutset.report.drawing.layout import Box, Density
from cutset.report.drawing.lines import WHEN, arrow_tip, curve, stroke
from cutset.report.drawing.text import amount, escaped, text_width

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
    if graph.cut:
        yield f'<g class="service cut">{outline(Component.UNKNOWN, box)}{badge(box)}</g>', "broken"
    if graph.edges:
        yield from _legend_lines(graph, density)


def _legend_lines(graph: ServiceGraph, density: Density) -> Iterator[tuple[str, str]]:
    roles = {edge.role for edge in graph.edges}
    for role in Role:
        if role in roles:
            yield _sample_line(role.value, role), WHEN[role]
    if any(edge.ends in graph.highlighted for edge in graph.edges):
        yield _sample_line("critical"), "critical workflow"
    failing = {failure_mark(edge) for edge in graph.edges}
    for mark, text in (("some-failed", "1 % or more of calls failed"), ("many-failed", "10 % or more failed")):
        if mark in failing:
            yield _sample_line(mark), text
    least, most = min(edge.calls for edge in graph.edges), max(edge.calls for edge in graph.edges)
    if least < most:
        wedge = f"M0 {-density.thin / 2}L{LEGEND_SAMPLE} {-density.thick / 2}v{density.thick}L0 {density.thin / 2}Z"
        yield f'<g class="always"><path class="tip" d="{wedge}"/></g>', f"{amount(least)} to {amount(most)} calls"


def _sample_line(classes: str, role: Role = Role.ALWAYS) -> str:
    path, end = curve([(0, 0), (LEGEND_SAMPLE, 0)], 6)
    return f'<g class="{classes}">{stroke(path, 2, role)}{arrow_tip(*end, 6)}</g>'
