"""Services as boxes with one row for each call that can be made to fail, as a standalone SVG or as part of a page.

What there is (`PointGraph`) and where it goes (`place`) are the same for whoever looks; what is said of each call, what
fades and what is broken (`Marks`) change with the question. Names come from traces: they are escaped, and shortened.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cutset.model.call_tree import Component, Role
from cutset.report.drawing.boxes import SHAPE_NAMES, entry_arrow, outline, shape_of
from cutset.report.drawing.layout import Arc, Box, Density, Layout, Way, lay_out
from cutset.report.drawing.lines import arrow_tip, curve, stroke
from cutset.report.drawing.point_style import POINT_STYLE
from cutset.report.drawing.text import classes, escaped, shortened, text_width, tooltip

NAME, ROW, PADDING = 26.0, 22.0, 5.0  # heights: of a box's name, of a row, above and below all
FONT = 12
BADGE = 17.0  # width of a sign
MARGIN = 20
TIP = 6.0
WIDTH = 1.4  # of a line
LETTERS = 34
DENSITY = Density(
    "points", font=FONT, letters=LETTERS, box_height=30, box_gap=16, column_gap=76, lane=7, thin=1.2, thick=1.2
)
SLANT = 11  # of a queue's sides
SAMPLE, LEGEND_FONT, NARROWEST = 26, 11, 420


class RowAt(NamedTuple):
    """A row of a box, or the box itself."""

    box: int
    row: int = -1  # the box itself


@dataclass(frozen=True, slots=True)
class PointRow:
    name: str  # whole, as reports write it
    label: str
    is_button: bool = True  # whether it can be asked about


@dataclass(frozen=True, slots=True)
class PointBox:
    name: str
    component: Component
    rows: tuple[PointRow, ...]
    entry: bool = False  # what users ask for


class PointLine(NamedTuple):
    caller: RowAt
    callee: RowAt


@dataclass(frozen=True, slots=True)
class PointGraph:
    boxes: tuple[PointBox, ...]
    lines: tuple[PointLine, ...]


@dataclass(frozen=True, slots=True)
class RowMark:
    """What is said of a row: by a sign, by a class that has a colour, and in words."""

    look: str
    sign: str
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    rows: Mapping[RowAt, RowMark]
    failing: Collection[RowAt] = ()  # drawn as broken
    healthy: Collection[PointLine] = ()  # of calls that are made where nothing fails
    spare: Collection[PointLine] = ()  # of calls that are made only where something does
    faded: Collection[RowAt] = ()
    chosen: RowAt | None = None  # of what users ask for
    legend: Mapping[str, str] = field(default_factory=dict)  # of looks, what they mean


@dataclass(frozen=True, slots=True)
class PlacedGraph:
    graph: PointGraph
    layout: Layout
    ways: tuple[Way, ...]  # of each line: from row to row

    def middle(self, at: RowAt) -> float:
        box = self.layout.boxes[at.box]
        return box.top + PADDING + (NAME / 2 if at.row < 0 else NAME + ROW * (at.row + 0.5))


def place(graph: PointGraph) -> PlacedGraph:
    layout = lay_out(
        [_width(box) for box in graph.boxes],
        {number for number, box in enumerate(graph.boxes) if box.entry},
        [Arc(line.caller.box, line.callee.box, "") for line in graph.lines],
        DENSITY,
        [NAME + ROW * len(box.rows) + 2 * PADDING for box in graph.boxes],
    )
    placed = PlacedGraph(graph, layout, ())
    ways = tuple(_from_row_to_row(placed, line, way) for line, way in zip(graph.lines, layout.ways, strict=True))
    return replace(placed, ways=ways)


def _from_row_to_row(placed: PlacedGraph, line: PointLine, way: Way) -> Way:
    start, end = placed.middle(line.caller), placed.middle(line.callee)
    if way:
        return [(way[0][0], start), *way[1:-1], (way[-1][0], end)]
    right = placed.layout.boxes[line.caller.box].right
    return [(right, start), (right, end)]


def _width(box: PointBox) -> float:
    rows = (BADGE + 14 + text_width(shortened(row.label, LETTERS)) * FONT for row in box.rows)
    slant = 2 * SLANT if shape_of(box.component) == "queue" else 0
    return max(1.06 * text_width(shortened(box.name, LETTERS)) * FONT, *rows, 70.0) + 34 + slant


def point_graph_svg(placed: PlacedGraph, marks: Marks, *, title: str) -> str:
    """By itself: with a style, a legend and a size."""
    width = max(NARROWEST, placed.layout.width + 2 * MARGIN)
    left = (width - placed.layout.width) / 2
    legend, bottom = _legend(placed.graph, marks, width, placed.layout.height + 2.5 * MARGIN)
    size = f'width="{width:.0f}" height="{bottom:.0f}" viewBox="0 0 {width:.0f} {bottom:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="point-graph" role="img">',
            f"<title>{escaped(shortened(title, 200))}</title>",
            f"<style>{POINT_STYLE}</style>",
            '<rect class="ground" width="100%" height="100%"/>',
            f'<g transform="translate({left:.1f} {MARGIN})">',
            *_content(placed, marks, buttons=False),
            "</g>",
            *legend,
            "</svg>\n",
        ]
    )


def point_graph_content(placed: PlacedGraph, marks: Marks) -> str:
    """The part of a page's picture that moves: each row is a button by which its call fails, or works again."""
    return "\n".join(_content(placed, marks, buttons=True))


def _content(placed: PlacedGraph, marks: Marks, *, buttons: bool) -> Iterator[str]:
    looks = dict.fromkeys(marks.spare, "spare") | dict.fromkeys(marks.healthy, "healthy")
    lines = [(looks.get(line, "faded"), way) for line, way in zip(placed.graph.lines, placed.ways, strict=True)]
    for look in ("faded", "spare", "healthy"):  # what matters is above
        yield from (_line(way, look) for of_line, way in lines if of_line == look)
    for number, (box, place_of) in enumerate(zip(placed.graph.boxes, placed.layout.boxes, strict=True)):
        rows = [RowAt(number, row) for row in range(len(box.rows))]
        faded = bool(rows) and all(row in marks.faded for row in rows)
        head = placed.middle(RowAt(number))
        yield f"<g {classes('box', shape_of(box.component), 'entry' * box.entry, 'faded' * faded)}>"
        yield f"<title>{tooltip(box.name)}</title>{outline(box.component, place_of)}"
        yield entry_arrow(replace(place_of, top=head, height=0)) if box.entry else ""
        yield _text(box.name, place_of.left + place_of.width / 2, head, "name", anchor="middle")
        yield from (_row(placed, row, marks, button=buttons) for row in rows)
        yield "</g>"


def _row(placed: PlacedGraph, at: RowAt, marks: Marks, *, button: bool) -> str:
    box, place_of, middle = placed.graph.boxes[at.box], placed.layout.boxes[at.box], placed.middle(at)
    row, mark = box.rows[at.row], marks.rows.get(at, RowMark("", ""))
    pressed = at in marks.failing or at == marks.chosen
    inset = 6 + (SLANT if shape_of(box.component) == "queue" else 0)
    left, right = place_of.left + inset, place_of.right - inset
    said = "\n".join(filter(None, (row.name, mark.words)))
    looks = ("row", "request" if box.entry else "point", mark.look.replace(" ", "-"), "faded" * (at in marks.faded))
    attributes = classes(*looks, "pressed" * pressed)
    if button and row.is_button:
        of = "request" if box.entry else "point"
        attributes += (
            f' role="button" tabindex="0" aria-pressed="{str(pressed).lower()}" data-{of}="{escaped(row.name)}"'
        )
        attributes += f' aria-label="{tooltip(", ".join(said.splitlines()))}"'
    return (
        f"<g {attributes}><title>{tooltip(*said.splitlines())}</title>"
        f'<rect class="strip" x="{left:.1f}" y="{middle - ROW / 2 + 1:.1f}" width="{right - left:.1f}" '
        f'height="{ROW - 2:g}" rx="5"/>'
        f'<rect class="badge" x="{left + 3:.1f}" y="{middle - 8:.1f}" width="{BADGE:g}" height="16" rx="4"/>'
        f"{_text(mark.sign, left + 3 + BADGE / 2, middle, 'sign', anchor='middle')}"
        f"{_text(row.label, left + BADGE + 9, middle, 'label')}"
        f'<path class="cross" d="M{right - 13:.1f} {middle - 4:.1f}l8 8m0 -8l-8 8"/></g>'
    )


def _line(way: Way, look: str) -> str:
    role = Role.AFTER_FAILURE if look == "spare" else Role.ALWAYS
    if way[0][0] != way[-1][0]:
        path, end = curve(way, TIP)
        return f'<g class="call {look}">{stroke(path, WIDTH, role)}{arrow_tip(*end, TIP)}</g>'
    (x, start), (_, below) = way  # from one row of a box to another
    bulge = x + 14 + 0.4 * min(abs(below - start), 60)
    path = f"M{x:.1f} {start:.1f}C{bulge:.1f} {start:.1f} {bulge:.1f} {below:.1f} {x + TIP * 0.8:.1f} {below:.1f}"
    return f'<g class="call {look}">{stroke(path, WIDTH, role)}{arrow_tip(x, below, -1, TIP)}</g>'


def _text(text: str, x: float, middle: float, look: str, *, anchor: str = "") -> str:
    place_of = f'x="{x:.1f}" y="{middle + 0.36 * FONT:.1f}"' + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text class="{look}" {place_of}>{escaped(shortened(text, LETTERS))}</text>'


def _legend(graph: PointGraph, marks: Marks, width: float, top: float) -> tuple[list[str], float]:
    """Explains what occurs in the picture, and nothing else."""
    parts = []
    x, y = float(MARGIN), top
    for sample, words in legend_items(graph, marks):
        length = SAMPLE + 6 + LEGEND_FONT * text_width(words)
        if x > MARGIN and x + length > width - MARGIN:
            x, y = float(MARGIN), y + 22
        text = f'<text class="muted" x="{SAMPLE + 6}" y="4" style="font-size:{LEGEND_FONT}px">{escaped(words)}</text>'
        parts.append(f'<g transform="translate({x:.0f} {y:.0f})">{sample}{text}</g>')
        x += length + 16
    return parts, y + MARGIN


def legend_items(graph: PointGraph, marks: Marks) -> Iterator[tuple[str, str]]:
    """Samples, round the middle of their left side, and what they mean."""
    signs = {mark.look: mark.sign for mark in marks.rows.values()}
    for look, words in marks.legend.items():
        if look in signs:
            badge = f'<rect class="badge" x="2" y="-8" width="{BADGE:g}" height="16" rx="4"/>'
            sign = _text(signs[look], 2 + BADGE / 2, 0, "sign", anchor="middle")
            yield f'<g class="row {look.replace(" ", "-")}">{badge}{sign}</g>', words
    if marks.failing:
        yield '<g class="row pressed"><path class="cross" d="M7 -4l8 8m0 -8l-8 8"/></g>', "made to fail"
    for look, words in (("healthy", "called where nothing fails"), ("spare", "called only where something fails")):
        if marks.healthy if look == "healthy" else marks.spare:
            yield _line([(0, 0), (SAMPLE - 4, 0)], look), words
    shapes = {shape_of(box.component): box.component for box in graph.boxes if not box.entry}
    for shape in ("store", "queue"):
        if shape in shapes:
            sample = outline(shapes[shape], Box(2, -7, SAMPLE - 8, 14))
            yield f'<g class="{shape}">{sample}</g>', SHAPE_NAMES[shape]
