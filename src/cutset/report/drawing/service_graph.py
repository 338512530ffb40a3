"""The picture of which services call which, as a standalone SVG without scripts: callers left, callees right.

Names come from traces, and nobody has checked them: they are escaped, and shortened.
"""

from collections import Counter

from cutset.model.wording import count
from cutset.report.drawing.boxes import SHAPE_NAMES, box_width, draw_boxes, shape_of
from cutset.report.drawing.graph import ServiceGraph, largest
from cutset.report.drawing.layout import DENSE, ROOMY, Arc, lay_out
from cutset.report.drawing.legend import MARGIN, draw_legend
from cutset.report.drawing.lines import draw_lines
from cutset.report.drawing.style import style_sheet
from cutset.report.drawing.text import calls_in_words, escaped, shortened

MOST_SERVICES = 250  # more than this is a blot at any size
MOST_CONNECTIONS = 1_000
ROOMY_UP_TO = 40  # services; beyond, boxes have one line and small letters
TITLE_LETTERS, NARROWEST = 100, 640


def service_graph_svg(graph: ServiceGraph, *, title: str = "") -> str:
    drawn = largest(graph, MOST_SERVICES, MOST_CONNECTIONS)
    density = ROOMY if len(drawn.nodes) <= ROOMY_UP_TO else DENSE
    number = {node.name: index for index, node in enumerate(drawn.nodes)}
    layout = lay_out(
        [box_width(node, density) for node in drawn.nodes],
        {number[node.name] for node in drawn.nodes if node.entry},
        [
            Arc(
                number[edge.caller], number[edge.callee], f"{edge.role}{' critical' * (edge.ends in drawn.highlighted)}"
            )
            for edge in drawn.edges
        ],
        density,
    )
    width = max(NARROWEST, layout.width + 2 * MARGIN)
    left = (width - layout.width) / 2
    heading, top = _heading(drawn, title)
    legend, bottom = draw_legend(drawn, density, width, top + layout.height + 1.5 * MARGIN)
    size = f'width="{width:.0f}" height="{bottom:.0f}" viewBox="0 0 {width:.0f} {bottom:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="service-graph" role="img">',
            f"<title>{escaped(shortened(title, TITLE_LETTERS) or 'Service graph')}</title>",
            style_sheet(len(drawn.nodes)),
            '<rect class="ground" width="100%" height="100%"/>',
            *heading,
            f'<g class="{density.name}" font-size="{density.font:g}" transform="translate({left:.1f} {top:.1f})">',
            *draw_lines(drawn, layout, density),
            *draw_boxes(drawn, layout, density),
            "</g>",
            *legend,
            "</svg>\n",
        ]
    )


def left_out_in_words(graph: ServiceGraph) -> str:
    services, connections = graph.without
    if not (services or connections):
        return ""
    left_out = f"{count(services, 'service')} and {count(connections, 'connection')}"
    return f"Not drawn: {left_out}{'' if graph.centre else ' with the least traffic'}"


def _heading(graph: ServiceGraph, title: str) -> tuple[list[str], float]:
    shapes = Counter(shape_of(node.component) for node in graph.nodes)
    calls, failures = sum(edge.calls for edge in graph.edges), sum(edge.failures for edge in graph.edges)
    summary = [
        *(count(shapes[shape], name) for shape, name in SHAPE_NAMES.items() if shapes[shape] or shape == "service"),
        count(len(graph.edges), "connection"),
        calls_in_words(calls, failures),
        *([f"seen in {count(graph.traces, 'trace')}"] if graph.traces else []),
    ]
    texts = [(17, "name", shortened(title, TITLE_LETTERS))] if title else []
    texts.append((12, "muted", " · ".join(summary)))
    texts += [(12, "muted", left_out)] if (left_out := left_out_in_words(graph)) else []
    y = float(MARGIN)
    lines = []
    for size, style, text in texts:
        y += size
        lines.append(f'<text class="{style}" x="{MARGIN}" y="{y:.0f}" font-size="{size}">{escaped(text)}</text>')
        y += 6
    return lines, y + MARGIN
