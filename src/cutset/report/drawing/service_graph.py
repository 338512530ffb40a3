"""The picture of which services call which, as a standalone SVG without scripts: callers left, callees right.

Names come from traces, and nobody has checked them: they are escaped, and shortened.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import log

from cutset.model.call_tree import Component, Role
from cutset.model.wording import count
from cutset.report.drawing.layout import DENSE, ROOMY, Arc, Box, Density, Layout, Way, lay_out

MOST_SERVICES = 250  # more than this is a blot at any size
MOST_CONNECTIONS = 1_000
ROOMY_UP_TO = 40  # services; beyond, boxes have one line and small letters
TITLE_LETTERS, TOOLTIP_LETTERS, TOOLTIP_APIS = 100, 300, 12
MARGIN, NARROWEST, LEGEND_SAMPLE = 24, 640, 30


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    component: Component
    entry: bool  # called from outside
    calls: int
    failures: int


@dataclass(frozen=True, slots=True)
class Edge:
    caller: str
    callee: str
    apis: tuple[str, ...]
    calls: int
    failures: int
    role: Role

    @property
    def ends(self) -> tuple[str, str]:
        return self.caller, self.callee


@dataclass(frozen=True, slots=True)
class ServiceGraph:
    nodes: tuple[Node, ...]  # of different names
    edges: tuple[Edge, ...]
    highlighted: frozenset[tuple[str, str]] = frozenset()  # caller and callee: the critical workflow
    cut: frozenset[str] = frozenset()  # services to draw as broken


def service_graph_svg(graph: ServiceGraph, *, title: str = "") -> str:
    drawn = _most_called(graph)
    density = ROOMY if len(drawn.nodes) <= ROOMY_UP_TO else DENSE
    number = {node.name: index for index, node in enumerate(drawn.nodes)}
    layout = lay_out(
        [_box_width(node, density) for node in drawn.nodes],
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
    heading, top = _heading(graph, drawn, title)
    legend, bottom = _legend(drawn, density, width, top + layout.height + 1.5 * MARGIN)
    size = f'width="{width:.0f}" height="{bottom:.0f}" viewBox="0 0 {width:.0f} {bottom:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="service-graph" role="img">',
            f"<title>{_text(_shortened(title, TITLE_LETTERS) or 'Service graph')}</title>",
            _style(len(drawn.nodes)),
            '<rect class="ground" width="100%" height="100%"/>',
            *heading,
            f'<g class="{density.name}" font-size="{density.font:g}" transform="translate({left:.1f} {top:.1f})">',
            *_edges(drawn, layout, density),
            *_nodes(drawn, layout, density),
            "</g>",
            *legend,
            "</svg>\n",
        ]
    )


def _most_called(graph: ServiceGraph) -> ServiceGraph:
    """What is drawn: what is marked, and the largest by traffic. Its order does not depend on that of `graph`."""
    marked = graph.cut.union(*graph.highlighted)
    nodes = sorted(graph.nodes, key=lambda node: (node.name not in marked, -node.calls, node.name))[:MOST_SERVICES]
    names = {node.name for node in nodes}
    edges = sorted(
        (edge for edge in graph.edges if edge.caller in names and edge.callee in names),
        key=lambda edge: (edge.ends not in graph.highlighted, -edge.calls, edge.ends, edge.role, edge.apis),
    )
    return ServiceGraph(tuple(nodes), tuple(edges[:MOST_CONNECTIONS]), graph.highlighted, graph.cut)


_WHEN = {Role.ALWAYS: "always", Role.SOMETIMES: "sometimes", Role.AFTER_FAILURE: "only after a failure"}
_SHAPE_NAMES = {"service": "service", "store": "data store", "queue": "queue"}
_PALETTE = {  # on light and on dark ground
    "ground": ("#ffffff", "#0d1117"),
    "ink": ("#1c2430", "#e6edf3"),
    "muted": ("#667085", "#8b98a9"),
    "line": ("#8a97a8", "#66758a"),
    "faint": ("#aab4c2", "#4d5a6a"),
    "critical": ("#1f6feb", "#58a6ff"),
    "some failed": ("#e08a80", "#a8554e"),
    "many failed": ("#d92d20", "#ff6b60"),
    "service": ("#f3f6fa", "#1a222d"),
    "store": ("#fdf3dc", "#2e2614"),
    "store rim": ("#c79a3b", "#a98434"),
    "queue": ("#f0ebfd", "#241f38"),
    "queue rim": ("#8f7ad1", "#7c6bb8"),
    "cut": ("#fdecea", "#3a1715"),
}
_COLOURS = (  # selector, property, entry of the palette; of equally specific ones the last wins
    (".ground", "fill", "ground"),
    ("text", "fill", "ink"),
    (".muted,.arrow", "fill", "muted"),
    (".always,.after-failure", "color", "line"),
    (".sometimes", "color", "faint"),
    (".some-failed", "color", "some failed"),
    (".many-failed", "color", "many failed"),
    (".critical .line", "stroke", "critical"),  # its tip still says whether calls fail
    (".critical:not(.some-failed):not(.many-failed)", "color", "critical"),
    (".edge:hover .line", "stroke", "ink"),
    (".service .body", "fill", "service"),
    (".service .body", "stroke", "line"),
    (".store .body", "fill", "store"),
    (".store .body,.store .lid", "stroke", "store rim"),
    (".queue .body", "fill", "queue"),
    (".queue .body", "stroke", "queue rim"),
    (".critical .body,.critical .lid", "stroke", "critical"),
    (".cut .body", "fill", "cut"),
    (".cut .body,.cut .lid", "stroke", "many failed"),
    (".share,.badge", "fill", "many failed"),
    (".cross", "stroke", "ground"),
)
_FORMS = (
    ("text", "font-family:system-ui,sans-serif"),
    (".name", "font-weight:600"),
    (".line,.hit,.lid,.cross", "fill:none"),
    (".line", "stroke:currentColor"),
    (".tip", "fill:currentColor"),
    (".hit", "stroke:transparent;pointer-events:stroke"),
    (".sometimes .line", "stroke-linecap:round"),
    (".critical .body,.critical .lid", "stroke-width:2"),
    (".cut .body", "stroke-dasharray:4 3"),
    (".roomy .edge:not(.critical):not(:hover)", "opacity:.85"),
    (".dense .edge:not(.critical):not(:hover)", "opacity:.6"),
)


def _style(services: int) -> str:
    light, dark = (
        _sheet((selector, f"{name}:{_PALETTE[colour][ground]}") for selector, name, colour in _COLOURS)
        for ground in (0, 1)
    )
    # Who points at a service sees the calls that it makes and gets; the others fade. Needs no script.
    fading = "\n".join(f".service-graph:has(.box.n{n}:hover) .edge:not(.n{n}){{opacity:.08}}" for n in range(services))
    return f"<style>\n{_sheet(_FORMS)}\n{light}\n@media (prefers-color-scheme:dark){{\n{dark}\n}}\n{fading}\n</style>"


def _sheet(rules: Iterable[tuple[str, str]]) -> str:
    """Rules that leave the rest of a page alone in which the picture is embedded."""
    return "\n".join(
        ",".join(f".service-graph {selector}" for selector in selectors.split(",")) + f"{{{declarations}}}"
        for selectors, declarations in rules
    )


def _edges(graph: ServiceGraph, layout: Layout, density: Density) -> Iterator[str]:
    """The critical workflow above, then what fails, then what is frequent."""
    number = {node.name: index for index, node in enumerate(graph.nodes)}
    scale = _width_scale(graph.edges, density)
    drawn = sorted(
        zip(graph.edges, layout.ways, strict=True),
        key=lambda each: (each[0].ends in graph.highlighted, _failing(each[0]) != "", each[0].calls),
    )
    for edge, way in drawn:
        critical = edge.ends in graph.highlighted
        ends = f"n{number[edge.caller]} n{number[edge.callee]}"
        width = max(scale(edge.calls), 0.7 * density.thick * critical)  # also a rare part of the workflow is to be seen
        tip = 3 + 1.6 * width
        path, end = _curve(way, tip) if way else _loop(layout.boxes[number[edge.caller]], tip)
        yield (
            f"<g {_classes('edge', edge.role.value, ends, _failing(edge), 'critical' * critical)}>"
            f'<title>{_edge_tooltip(edge)}</title><path class="hit" d="{path}" stroke-width="{max(width, 7):.1f}"/>'
            f"{_line(path, width, edge.role)}{_tip(*end, tip)}</g>"
        )


def _classes(*names: str) -> str:
    return f'class="{" ".join(filter(None, names))}"'


def _width_scale(edges: Sequence[Edge], density: Density) -> Callable[[int], float]:
    """From calls to the width of a line, logarithmic: traffic differs by orders of magnitude."""
    logs = [log(max(edge.calls, 1)) for edge in edges]
    low, high = min(logs, default=0.0), max(logs, default=0.0)
    range_of_logs, range_of_widths = (high - low) or 1.0, density.thick - density.thin
    return lambda calls: density.thin + range_of_widths * (log(max(calls, 1)) - low) / range_of_logs


def _line(path: str, width: float, role: Role) -> str:
    dashes = {
        Role.ALWAYS: "",
        Role.SOMETIMES: f' stroke-dasharray="0.1 {1.7 * width + 1.6:.1f}"',
        Role.AFTER_FAILURE: f' stroke-dasharray="{4 + 2 * width:.1f} {3 + width:.1f}"',
    }
    return f'<path class="line" d="{path}" stroke-width="{width:.1f}"{dashes[role]}/>'


def _curve(way: Way, tip: float) -> tuple[str, tuple[float, float, int]]:
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


def _tip(x: float, y: float, forward: int, size: float) -> str:
    return f'<path class="tip" d="M{x:.1f} {y:.1f}l{-forward * size:.1f} {-size / 2:.1f}v{size:.1f}Z"/>'


def _nodes(graph: ServiceGraph, layout: Layout, density: Density) -> Iterator[str]:
    critical = {name for ends in graph.highlighted for name in ends}
    for index, (node, box) in enumerate(zip(graph.nodes, layout.boxes, strict=True)):
        cut = node.name in graph.cut
        marks = "critical" * (node.name in critical), "cut" * cut
        yield "".join(
            [
                f"<g {_classes('box', _shape(node.component), f'n{index}', *marks)}>",
                f"<title>{_node_tooltip(node)}</title>",
                _body(node.component, box),
                _failed_share(node, box),
                *_label(node, box, density),
                _entry_arrow(box) if node.entry else "",
                _badge(box) if cut else "",
                "</g>",
            ]
        )


def _shape(component: Component) -> str:
    if component in (Component.DATABASE, Component.CACHE):
        return "store"
    return "queue" if component is Component.QUEUE else "service"


def _body(component: Component, box: Box) -> str:
    left, top, width, height = box.left, box.top, box.width, box.height
    match _shape(component):
        case "store":
            lid = height / 10
            rim = f"a{width / 2:.1f} {lid:.1f} 0 0"
            outline = f"M{left:.1f} {top + lid:.1f}{rim} 1 {width:.1f} 0v{height - 2 * lid:.1f}{rim} 1 {-width:.1f} 0Z"
            return (
                f'<path class="body" d="{outline}"/>'
                f'<path class="lid" d="M{left:.1f} {top + lid:.1f}{rim} 0 {width:.1f} 0"/>'
            )
        case "queue":
            slant = height / 4
            outline = f"M{left + slant:.1f} {top:.1f}H{box.right:.1f}l{-slant:.1f} {height:.1f}H{left:.1f}Z"
            return f'<path class="body" d="{outline}"/>'
    place = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{height / 7:.1f}"'
    return f'<rect class="body" {place}/>'


def _failed_share(node: Node, box: Box) -> str:
    """A red bar at the bottom, as long as the share of the calls that failed."""
    if not _failing(node):
        return ""
    left, width = box.left + box.height / 4, box.width - box.height / 2
    length = max(6.0, width * _share(node))
    return f'<rect class="share" x="{left:.1f}" y="{box.top + box.height - 2.5:.1f}" width="{length:.1f}" height="2"/>'


def _entry_arrow(box: Box) -> str:
    return f'<path class="arrow" d="M{box.left - 3:.1f} {box.middle:.1f}l-9 -5v3.5h-8v3h8v3.5Z"/>'


def _badge(box: Box) -> str:
    """A cross in the corner: does not work."""
    r = box.height / 9 + 3
    arm = 0.42 * r
    cross = f"M{box.right - arm:.1f} {box.top - arm:.1f}l{2 * arm:.1f} {2 * arm:.1f}m0 {-2 * arm:.1f}"
    return (
        f'<circle class="badge" cx="{box.right:.1f}" cy="{box.top:.1f}" r="{r:.1f}"/>'
        f'<path class="cross" d="{cross}l{-2 * arm:.1f} {2 * arm:.1f}" stroke-width="{r / 4:.1f}"/>'
    )


def _label(node: Node, box: Box, density: Density) -> Iterator[str]:
    name, small = _text(_shortened(node.name, density.letters)), f'font-size="{0.8 * density.font:g}"'
    sink = box.height / 14 if _shape(node.component) == "store" else 0
    if density is ROOMY:
        place, y = f'x="{box.left + box.width / 2:.1f}" text-anchor="middle"', box.middle - 1 + sink
        yield f'<text class="name" {place} y="{y:.1f}">{name}</text>'
        counts = _counts(node.calls, node.failures)
        yield f'<text class="muted" {place} y="{y + density.font:.1f}" {small}>{_text(counts)}</text>'
    else:
        y, calls = box.middle + 0.36 * density.font + sink / 2, _amount(node.calls)
        yield f'<text x="{box.left + 6:.1f}" y="{y:.1f}">{name}</text>'
        yield f'<text class="muted" x="{box.right - 6:.1f}" text-anchor="end" y="{y:.1f}" {small}>{calls}</text>'


def _box_width(node: Node, density: Density) -> float:
    name = _text_width(_shortened(node.name, density.letters)) * density.font
    if density is ROOMY:
        return max(1.06 * name, _text_width(_counts(node.calls, node.failures)) * 0.8 * density.font, 70) + 24
    return name + _text_width(_amount(node.calls)) * 0.8 * density.font + 22


def _heading(graph: ServiceGraph, drawn: ServiceGraph, title: str) -> tuple[list[str], float]:
    shapes = Counter(_shape(node.component) for node in graph.nodes)
    calls, failures = sum(edge.calls for edge in graph.edges), sum(edge.failures for edge in graph.edges)
    summary = [
        *(count(shapes[shape], name) for shape, name in _SHAPE_NAMES.items() if shapes[shape] or shape == "service"),
        count(len(graph.edges), "connection"),
        _counts(calls, failures),
    ]
    texts = [(17, "name", _shortened(title, TITLE_LETTERS))] if title else []
    texts.append((12, "muted", " · ".join(summary)))
    services, connections = len(graph.nodes) - len(drawn.nodes), len(graph.edges) - len(drawn.edges)
    if services or connections:
        left_out = f"{count(services, 'service')} and {count(connections, 'connection')}"
        texts.append((12, "muted", f"Not drawn: {left_out} with the least traffic"))
    y = float(MARGIN)
    lines = []
    for size, style, text in texts:
        y += size
        lines.append(f'<text class="{style}" x="{MARGIN}" y="{y:.0f}" font-size="{size}">{_text(text)}</text>')
        y += 6
    return lines, y + MARGIN


def _legend(graph: ServiceGraph, density: Density, width: float, top: float) -> tuple[list[str], float]:
    """Explains what occurs in the picture, and nothing else."""
    parts = []
    x, y = float(MARGIN), top
    for sample, text in _legend_items(graph, density):
        length = LEGEND_SAMPLE + 8 + 11 * _text_width(text)
        if x + length > width - MARGIN:
            x, y = float(MARGIN), y + 22
        words = f'<text class="muted" x="{LEGEND_SAMPLE + 8}" y="4" font-size="11">{_text(text)}</text>'
        parts.append(f'<g transform="translate({x:.0f} {y:.0f})">{sample}{words}</g>')
        x += length + 18
    return parts, y + MARGIN


def _legend_items(graph: ServiceGraph, density: Density) -> Iterator[tuple[str, str]]:
    box = Box(2, -8, LEGEND_SAMPLE - 4, 16)
    components = {_shape(node.component): node.component for node in graph.nodes}
    if any(node.entry for node in graph.nodes):
        yield _entry_arrow(Box(LEGEND_SAMPLE - 2, -8, 0, 16)), "called from outside"
    for shape, name in _SHAPE_NAMES.items():
        if shape in components:
            yield f'<g class="{shape}">{_body(components[shape], box)}</g>', name
    if graph.cut:
        yield f'<g class="service cut">{_body(Component.UNKNOWN, box)}{_badge(box)}</g>', "broken"
    if graph.edges:
        yield from _legend_lines(graph, density)


def _legend_lines(graph: ServiceGraph, density: Density) -> Iterator[tuple[str, str]]:
    roles = {edge.role for edge in graph.edges}
    for role in Role:
        if role in roles:
            yield _sample_line(role.value, role), _WHEN[role]
    if any(edge.ends in graph.highlighted for edge in graph.edges):
        yield _sample_line("critical"), "critical workflow"
    failing = {_failing(edge) for edge in graph.edges}
    for mark, text in (("some-failed", "1 % or more of calls failed"), ("many-failed", "10 % or more failed")):
        if mark in failing:
            yield _sample_line(mark), text
    least, most = min(edge.calls for edge in graph.edges), max(edge.calls for edge in graph.edges)
    if least < most:
        wedge = f"M0 {-density.thin / 2}L{LEGEND_SAMPLE} {-density.thick / 2}v{density.thick}L0 {density.thin / 2}Z"
        yield f'<g class="always"><path class="tip" d="{wedge}"/></g>', f"{_amount(least)} to {_amount(most)} calls"


def _sample_line(classes: str, role: Role = Role.ALWAYS) -> str:
    path, end = _curve([(0, 0), (LEGEND_SAMPLE, 0)], 6)
    return f'<g class="{classes}">{_line(path, 2, role)}{_tip(*end, 6)}</g>'


def _text(text: str) -> str:
    """What XML forbids, and what would turn round or hide the letters after it, becomes visible."""
    return escape("".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text))


def _shortened(text: str, letters: int) -> str:
    """Both ends of a name tell: its system, and its part of it."""
    if len(text) <= letters:
        return text
    head = letters // 2
    return f"{text[:head]}…{text[len(text) - (letters - head - 1) :]}"


def _text_width(text: str) -> float:
    """In sizes of the font, rather too wide than too narrow: which font there is, nobody knows."""
    return sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if letter in "iljtfr.,:;|!'()[]/ -":
        return 0.4
    return 1.0 if letter in "mwMW@%…" or ord(letter) > 0x2E80 else 0.7 if letter.isupper() else 0.6


def _edge_tooltip(edge: Edge) -> str:
    shown = edge.apis[:TOOLTIP_APIS]
    more = [f"and {len(edge.apis) - len(shown):,} more"] if len(edge.apis) > len(shown) else []
    counts = _counts(edge.calls, edge.failures, exact=True)
    return _tooltip(f"{edge.caller} → {edge.callee}", f"{counts}, {_WHEN[edge.role]}", *shown, *more)


def _node_tooltip(node: Node) -> str:
    return _tooltip(node.name, node.component.value, _counts(node.calls, node.failures, exact=True))


def _tooltip(*lines: str) -> str:
    return "\n".join(_text(_shortened(line, TOOLTIP_LETTERS)) for line in lines)


def _share(counted: Node | Edge) -> float:
    return min(1.0, counted.failures / counted.calls) if counted.calls else 0.0


def _failing(counted: Node | Edge) -> str:
    """The class that a share of failures gets; below a hundredth they are in the tooltip only."""
    share = _share(counted)
    return "many-failed" if share >= 0.1 else "some-failed" if share >= 0.01 else ""


def _counts(calls: int, failures: int, *, exact: bool = False) -> str:
    number = f"{calls:,}" if exact else _amount(calls)
    percent = 100 * failures / max(calls, failures, 1)
    share = f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}" if percent >= 0.01 else "<0.01"
    return f"{number} call{'' if calls == 1 else 's'}{f', {share} % failed' if failures else ''}"


def _amount(number: int) -> str:
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= 0.9995 * size:
            return f"{number / size:.3g}{unit}"
    return str(number)
