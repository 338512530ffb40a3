from itertools import pairwise
from xml.etree import ElementTree as ET

from cutset.model.call_tree import Component
from cutset.report.drawing.point_graph import (
    Marks,
    PointBox,
    PointGraph,
    PointLine,
    PointRow,
    RowAt,
    RowMark,
    place,
    point_graph_content,
    point_graph_svg,
)

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '"><img src=x onerror=alert(1)>'
SHOP = PointGraph(
    (
        PointBox("Requests", Component.UNKNOWN, (PointRow("GET /", "GET /"),), entry=True),
        PointBox("cart", Component.RPC, (PointRow("cart/Get", "Get"), PointRow("cart/Put", "Put"))),
        PointBox("redis", Component.CACHE, (PointRow("cart>cache/redis/get", "get ← cart"),)),
        PointBox("orders", Component.QUEUE, (PointRow("GET /elsewhere", "GET /elsewhere", is_button=False),)),
    ),
    (
        PointLine(RowAt(0, 0), RowAt(1, 0)),
        PointLine(RowAt(1, 0), RowAt(1, 1)),
        PointLine(RowAt(1, 1), RowAt(2, 0)),
        PointLine(RowAt(1), RowAt(3, 0)),
    ),
)
MARKS = Marks(
    rows={
        RowAt(1, 0): RowMark("fatal", "✗", "fatal alone"),
        RowAt(1, 1): RowMark("shared", "2", "in a minimal cut of 2"),
        RowAt(2, 0): RowMark("not called", "·"),
    },
    failing={RowAt(1, 1)},
    healthy={SHOP.lines[0], SHOP.lines[1]},
    spare={SHOP.lines[2]},
    faded={RowAt(2, 0)},
    legend={"fatal": "fatal alone", "shared": "along with others", "degraded": "in part"},
)


def parsed(graph: PointGraph = SHOP, marks: Marks = MARKS) -> ET.Element:
    return ET.fromstring(point_graph_svg(place(graph), marks, title="a title"))


def buttons(graph: PointGraph = SHOP, marks: Marks = MARKS) -> list[ET.Element]:
    content = ET.fromstring(f"<g>{point_graph_content(place(graph), marks)}</g>")
    return [each for each in content.iter("g") if each.get("role") == "button"]


def with_class(picture: ET.Element, name: str) -> list[ET.Element]:
    return [each for each in picture.iter() if name in each.get("class", "").split()]


def title(row: ET.Element) -> str:
    return row.findtext(f"{SVG}title", "").split("\n")[0]


def looks(row: ET.Element) -> list[str]:
    return row.get("class", "").split()


def test_lines_go_from_row_to_row() -> None:
    placed = place(SHOP)

    for line, way in zip(SHOP.lines, placed.ways, strict=True):
        assert way[0][1] == placed.middle(line.caller)
        assert way[-1][1] == placed.middle(line.callee)


def test_rows_stand_below_each_other_in_their_box() -> None:
    placed = place(SHOP)
    box = placed.layout.boxes[1]

    middles = [placed.middle(RowAt(1, row)) for row in (-1, 0, 1)]
    assert box.top < middles[0] < middles[-1] < box.top + box.height
    assert all(lower - upper > 15 for upper, lower in pairwise(middles))


def test_each_row_has_its_sign_and_what_it_means_is_told_by_words() -> None:
    rows = {each.findtext(f"{SVG}title"): each for each in with_class(parsed(), "point")}

    assert "cart/Get\nfatal alone" in rows
    assert [text.text for text in rows["cart/Get\nfatal alone"].iter(f"{SVG}text")] == ["✗", "Get"]


def test_what_is_broken_faded_or_a_spare_is_drawn_so() -> None:
    picture = parsed()
    rows = with_class(picture, "point")

    assert [title(each) for each in rows if "pressed" in looks(each)] == ["cart/Put"]
    assert [title(each) for each in rows if "faded" in looks(each)] == ["cart>cache/redis/get"]
    spare, *_ = with_class(picture, "spare")
    assert [each for each in spare if each.get("stroke-dasharray")]


def test_the_legend_has_what_occurs_and_nothing_else() -> None:
    texts = {each.text for each in parsed().iter(f"{SVG}text")}

    assert {"fatal alone", "along with others", "made to fail", "called only where something fails", "queue"} <= texts
    assert "in part" not in texts


def test_a_picture_by_itself_has_nothing_to_press() -> None:
    assert not [each for each in parsed().iter() if each.get("role") == "button"]


def test_in_a_page_each_point_is_a_button_with_a_name_that_is_pressed_if_it_fails() -> None:
    told = {each.get("data-point"): (each.get("aria-pressed"), each.get("aria-label")) for each in buttons()}

    assert told == {
        None: ("false", "GET /"),
        "cart/Get": ("false", "cart/Get, fatal alone"),
        "cart/Put": ("true", "cart/Put, in a minimal cut of 2"),
        "cart>cache/redis/get": ("false", "cart>cache/redis/get"),
    }


def test_what_others_named_is_text() -> None:
    hostile = PointGraph((PointBox(HOSTILE, Component.RPC, (PointRow(HOSTILE, HOSTILE),)),), ())
    marks = Marks(rows={RowAt(0, 0): RowMark("unknown", "?", HOSTILE)})

    assert not list(parsed(hostile, marks).iter(f"{SVG}img"))
    (button,) = buttons(hostile, marks)
    assert button.get("data-point") == HOSTILE


def test_nothing_is_a_picture_too() -> None:
    assert parsed(PointGraph((), ()), Marks(rows={})) is not None
