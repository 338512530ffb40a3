import pytest

from cutset.model.call_tree import Component
from cutset.report.drawing.boxes import box_width, draw_boxes, outline, shape_of
from cutset.report.drawing.graph import Node, ServiceGraph
from cutset.report.drawing.layout import DENSE, ROOMY, Box, Density, Layout

BOX = Box(10, 20, 100, 40)


def drawn(node: Node, density: Density = ROOMY, **marks: frozenset[object]) -> str:
    graph = ServiceGraph((node,), (), **marks)  # type: ignore[arg-type]
    (box,) = draw_boxes(graph, Layout([BOX], [], 200, 100), density)
    return box


@pytest.mark.parametrize(
    ("component", "shape", "element"),
    [
        (Component.RPC, "service", "<rect"),
        (Component.CACHE, "store", '<path class="body"'),
        (Component.DATABASE, "store", '<path class="body"'),
        (Component.QUEUE, "queue", '<path class="body"'),
    ],
)
def test_stores_and_queues_have_shapes_of_their_own(component: Component, shape: str, element: str) -> None:
    assert shape_of(component) == shape
    assert outline(component, BOX).startswith(element)


def test_a_box_says_what_is_known_of_its_service() -> None:
    shown = drawn(Node("cart", Component.RPC, entry=True, calls=2000, failures=200))
    assert "<title>cart\nrpc\n2,000 calls, 10 % failed</title>" in shown
    assert ">2k calls, 10 % failed</text>" in shown
    assert 'class="share"' in shown
    assert 'class="arrow"' in shown
    assert 'class="badge"' not in shown


def test_marks_are_drawn() -> None:
    node = Node("cart", Component.RPC, entry=False, calls=1, failures=0)
    assert 'class="badge"' in drawn(node, cut=frozenset({"cart"}))
    assert "critical" in drawn(node, highlighted=frozenset({("web", "cart")}))


def test_where_room_is_scarce_there_is_one_line() -> None:
    node = Node("cart", Component.RPC, entry=False, calls=2000, failures=0)
    assert drawn(node).count("<text") == drawn(node, DENSE).count("<text") == 2
    assert ">2k</text>" in drawn(node, DENSE)
    assert box_width(node, DENSE) < box_width(node, ROOMY)


@pytest.mark.parametrize("component", [Component.RPC, Component.CACHE, Component.QUEUE])
def test_corners_of_tall_boxes_are_those_of_usual_ones(component: Component) -> None:
    usual, tall = (outline(component, Box(0, 0, 100, height)) for height in (ROOMY.box_height, 400))
    corner = {Component.RPC: 'rx="6.0"', Component.CACHE: "a50.0 4.2 ", Component.QUEUE: "M10.5 "}[component]
    assert corner in usual
    assert corner in tall


def test_who_has_unknown_callers_has_a_question_mark() -> None:
    shown = drawn(Node("cart", Component.RPC, entry=False, calls=9, failures=0, by_unknown=4))
    assert ">?</text>" in shown
    assert "9 calls\n4 by unknown callers</title>" in shown
    assert ">?<" not in drawn(Node("cart", Component.RPC, entry=False, calls=9, failures=0))


def test_whose_a_nameless_store_is_the_line_to_it_says_and_the_tooltip() -> None:
    shown = drawn(Node("mysql(orders)", Component.DATABASE, entry=False, calls=9, failures=0))
    assert ">mysql</text>" in shown
    assert "<title>mysql(orders)\n" in shown
    assert ">(orders)</text>" in drawn(Node("(orders)", Component.DATABASE, entry=False, calls=9, failures=0))
