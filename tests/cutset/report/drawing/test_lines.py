from cutset.model.call_tree import Component, Role
from cutset.report.drawing.graph import Edge, Node, ServiceGraph
from cutset.report.drawing.layout import DENSE, Arc, lay_out
from cutset.report.drawing.lines import TOOLTIP_APIS, arrow_tip, curve, draw_lines, stroke

NODES = tuple(Node(name, Component.RPC, name == "a", 10, 0) for name in "abc")


def edge(caller: str, callee: str, calls: int = 10, failures: int = 0, apis: tuple[str, ...] = ("Get",)) -> Edge:
    return Edge(caller, callee, apis, calls, failures, Role.ALWAYS)


def drawn(*edges: Edge, highlighted: frozenset[tuple[str, str]] = frozenset()) -> list[str]:
    pairs = [("abc".index(each.caller), "abc".index(each.callee)) for each in edges]
    layout = lay_out([80, 80, 80], {0}, [Arc(*pair, "always") for pair in pairs], DENSE)
    return list(draw_lines(ServiceGraph(NODES, edges, highlighted), layout, DENSE))


def test_what_matters_more_is_drawn_later() -> None:
    often, failing, critical = edge("a", "b", calls=99), edge("b", "c", failures=5), edge("a", "c")
    first, second, third = drawn(critical, failing, often, highlighted=frozenset({("a", "c")}))
    assert "<title>a → b\n" in first
    assert "many-failed" in second
    assert "critical" in third


def test_a_tooltip_lists_only_so_many_apis() -> None:
    (line,) = drawn(edge("a", "b", apis=tuple(f"M{number:02}" for number in range(TOOLTIP_APIS + 2))))
    assert "M00\nM01" in line
    assert "and 2 more" in line


def test_a_call_to_itself_is_a_loop() -> None:
    (line,) = drawn(edge("b", "b"))
    assert 'class="edge always n1 n1"' in line


def test_lines_end_inside_their_tips_and_follow_the_role() -> None:
    path, end = curve([(0, 0), (30, 0)], 10)
    assert path == "M0.0 0.0L22.0 0.0"
    assert end == (30, 0, 1)
    assert arrow_tip(*end, 10) == '<path class="tip" d="M30.0 0.0l-10.0 -5.0v10.0Z"/>'
    assert "dasharray" not in stroke(path, 2, Role.ALWAYS)
    assert stroke(path, 2, Role.SOMETIMES) != stroke(path, 2, Role.AFTER_FAILURE)
