"""The services of a service graph as boxes, in shapes that tell stores and queues from the rest."""

from collections.abc import Iterator

from cutset.model.call_tree import Component
from cutset.report.drawing.graph import Node, ServiceGraph, failed_share, failure_mark
from cutset.report.drawing.layout import ROOMY, Box, Density, Layout
from cutset.report.drawing.text import amount, calls_in_words, classes, escaped, shortened, text_width, tooltip

SHAPE_NAMES = {"service": "service", "store": "data store", "queue": "queue"}


def draw_boxes(graph: ServiceGraph, layout: Layout, density: Density) -> Iterator[str]:
    critical = {name for ends in graph.highlighted for name in ends}
    for index, (node, box) in enumerate(zip(graph.nodes, layout.boxes, strict=True)):
        cut = node.name in graph.cut
        marks = "critical" * (node.name in critical), "cut" * cut, "centre" * (node.name == graph.centre)
        yield "".join(
            [
                f"<g {classes('box', shape_of(node.component), f'n{index}', *marks)}>",
                f"<title>{_node_tooltip(node)}</title>",
                outline(node.component, box),
                failure_bar(node, box),
                *_label(node, box, density),
                entry_arrow(box) if node.entry else "",
                question(box) if node.by_unknown else "",
                badge(box) if cut else "",
                "</g>",
            ]
        )


def shape_of(component: Component) -> str:
    if component in (Component.DATABASE, Component.CACHE):
        return "store"
    return "queue" if component is Component.QUEUE else "service"


def outline(component: Component, box: Box) -> str:
    left, top, width, height = box.left, box.top, box.width, box.height
    bend = min(height, ROOMY.box_height)  # corners and slants of tall boxes are those of a usual one
    match shape_of(component):
        case "store":
            lid = bend / 10
            rim = f"a{width / 2:.1f} {lid:.1f} 0 0"
            outline = f"M{left:.1f} {top + lid:.1f}{rim} 1 {width:.1f} 0v{height - 2 * lid:.1f}{rim} 1 {-width:.1f} 0Z"
            return (
                f'<path class="body" d="{outline}"/>'
                f'<path class="lid" d="M{left:.1f} {top + lid:.1f}{rim} 0 {width:.1f} 0"/>'
            )
        case "queue":
            slant = bend / 4
            outline = f"M{left + slant:.1f} {top:.1f}H{box.right:.1f}l{-slant:.1f} {height:.1f}H{left:.1f}Z"
            return f'<path class="body" d="{outline}"/>'
    place = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{bend / 7:.1f}"'
    return f'<rect class="body" {place}/>'


def failure_bar(node: Node, box: Box) -> str:
    """A red bar at the bottom, as long as the share of the calls that failed."""
    if not failure_mark(node):
        return ""
    left, width = box.left + box.height / 4, box.width - box.height / 2
    length = max(6.0, width * failed_share(node))
    bottom = box.top + box.height - (box.height / 10 if shape_of(node.component) == "store" else 0)
    return f'<rect class="share" x="{left:.1f}" y="{bottom - 2.5:.1f}" width="{length:.1f}" height="2"/>'


def entry_arrow(box: Box) -> str:
    return f'<path class="arrow" d="M{box.left - 3:.1f} {box.middle:.1f}l-9 -5v3.5h-8v3h8v3.5Z"/>'


def question(box: Box) -> str:
    """A question mark in the corner where callers are: nobody knows all of them."""
    r = box.height / 9 + 3
    text = f'x="{box.left:.1f}" y="{box.top + 0.5 * r:.1f}" text-anchor="middle" font-size="{1.5 * r:.1f}"'
    place = f'cx="{box.left:.1f}" cy="{box.top:.1f}" r="{r:.1f}"'
    return f'<circle class="question" {place}/><text class="asked" {text}>?</text>'


def badge(box: Box) -> str:
    """A cross in the corner: does not work."""
    r = box.height / 9 + 3
    arm = 0.42 * r
    cross = f"M{box.right - arm:.1f} {box.top - arm:.1f}l{2 * arm:.1f} {2 * arm:.1f}m0 {-2 * arm:.1f}"
    return (
        f'<circle class="badge" cx="{box.right:.1f}" cy="{box.top:.1f}" r="{r:.1f}"/>'
        f'<path class="cross" d="{cross}l{-2 * arm:.1f} {2 * arm:.1f}" stroke-width="{r / 4:.1f}"/>'
    )


def _label(node: Node, box: Box, density: Density) -> Iterator[str]:
    name, small = escaped(_short_name(node, density)), f'font-size="{0.8 * density.font:g}"'
    sink = box.height / 14 if shape_of(node.component) == "store" else 0
    if density is ROOMY:
        place, y = f'x="{box.left + box.width / 2:.1f}" text-anchor="middle"', box.middle - 1 + sink
        yield f'<text class="name" {place} y="{y:.1f}">{name}</text>'
        counts = calls_in_words(node.calls, node.failures)
        yield f'<text class="muted" {place} y="{y + density.font:.1f}" {small}>{escaped(counts)}</text>'
    else:
        y, calls = box.middle + 0.36 * density.font + sink / 2, amount(node.calls)
        yield f'<text x="{box.left + 6:.1f}" y="{y:.1f}">{name}</text>'
        yield f'<text class="muted" x="{box.right - 6:.1f}" text-anchor="end" y="{y:.1f}" {small}>{calls}</text>'


def box_width(node: Node, density: Density) -> float:
    name = text_width(_short_name(node, density)) * density.font
    if density is ROOMY:
        return max(1.06 * name, text_width(calls_in_words(node.calls, node.failures)) * 0.8 * density.font, 70) + 24
    return name + text_width(amount(node.calls)) * 0.8 * density.font + 22


def _short_name(node: Node, density: Density) -> str:
    """Whose a nameless store is, as in `mysql(orders)`, the line to it says."""
    name, bracket, _ = node.name.partition("(")
    return shortened(name if name and bracket and node.name.endswith(")") else node.name, density.letters)


def _node_tooltip(node: Node) -> str:
    lines = [node.name, node.component.value, calls_in_words(node.calls, node.failures, exact=True)]
    return tooltip(*lines, *([f"{node.by_unknown:,} by unknown callers"] if node.by_unknown else []))
