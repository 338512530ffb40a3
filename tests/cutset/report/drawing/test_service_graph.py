import random
import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.model.call_tree import Component, Role
from cutset.report.drawing.graph import Edge, Node, ServiceGraph, around
from cutset.report.drawing.layout import ROOMY
from cutset.report.drawing.service_graph import MOST_CONNECTIONS, MOST_SERVICES, service_graph_svg

SVG = "{http://www.w3.org/2000/svg}"


def node(name: str, component: Component = Component.RPC, **changes) -> Node:
    return replace(Node(name, component, entry=False, calls=10, failures=0), **changes)


def edge(caller: str, callee: str, role: Role = Role.ALWAYS, **changes) -> Edge:
    return replace(Edge(caller, callee, ("Get",), calls=10, failures=0, role=role), **changes)


def graph_of(*edges: Edge, **marks) -> ServiceGraph:
    names = dict.fromkeys(name for each in edges for name in each.ends)
    return ServiceGraph(tuple(node(name) for name in names), edges, **marks)


def random_graph(services: int, connections: int) -> ServiceGraph:
    """Few services get most calls; there are cycles, self-calls, stores and unconnected services."""
    chance = random.Random(7)
    nodes = [
        node(f"service-{each}", chance.choice(list(Component)), entry=each < 5, calls=int(chance.paretovariate(0.5)))
        for each in range(services)
    ]
    popular = [1 / (each + 1) for each in range(services)]
    pairs = {
        (chance.randrange(services), chance.choices(range(services), popular)[0]): None for _ in range(connections)
    }
    edges = [
        edge(f"service-{one}", f"service-{other}", chance.choice(list(Role)), calls=chance.randrange(10**6))
        for one, other in pairs
    ]
    return ServiceGraph(tuple(nodes), tuple(edges))


def parsed(graph: ServiceGraph, title: str = "") -> ET.Element:
    return ET.fromstring(service_graph_svg(graph, title=title))


def groups(picture: ET.Element, *classes: str) -> list[ET.Element]:
    """Those of the graph, which have a tooltip; those of the legend have none."""
    return [
        each
        for each in picture.iter(f"{SVG}g")
        if {*classes} <= {*each.get("class", "").split()} and each.find(f"{SVG}title") is not None
    ]


def tooltip(group: ET.Element) -> str:
    return group.findtext(f"{SVG}title")


def texts(picture: ET.Element) -> list[str]:
    return [each.text for each in picture.iter(f"{SVG}text")]


def test_every_service_and_every_connection_is_drawn_with_its_counts():
    picture = parsed(
        graph_of(
            edge("frontend", "cart", calls=1_234_567, failures=12_345, apis=("GetCart", "AddItem")),
            edge("cart", "redis", calls=1),
        )
    )
    assert [tooltip(each).split("\n")[0] for each in groups(picture, "box")] == ["cart", "frontend", "redis"]
    assert [tooltip(each) for each in groups(picture, "edge")] == [
        "cart → redis\n1 call, always\nGet",
        "frontend → cart\n1,234,567 calls, 1 % failed, always\nGetCart\nAddItem",
    ]
    assert {"frontend", "cart", "redis", "3 services · 2 connections · 1.23M calls, 1 % failed"} <= {*texts(picture)}


def test_roles_are_classes_and_what_is_called_after_a_failure_is_dashed():
    picture = parsed(graph_of(*(edge("a", role.value, role) for role in Role)))
    for role in Role:
        [group] = groups(picture, "edge", role.value)
        line = next(each for each in group if each.get("class") == "line")
        assert (line.get("stroke-dasharray") is None) == (role is not Role.AFTER_FAILURE)


def test_the_critical_workflow_is_drawn_last_with_its_services():
    picture = parsed(
        graph_of(
            edge("a", "b", calls=1), edge("a", "c", calls=999), edge("c", "d"), highlighted=frozenset({("a", "b")})
        )
    )
    assert tooltip(groups(picture, "edge")[-1]).startswith("a → b")
    assert [tooltip(each).split("\n")[0] for each in groups(picture, "edge", "critical")] == ["a → b"]
    assert {tooltip(each).split("\n")[0] for each in groups(picture, "box", "critical")} == {"a", "b"}
    assert "critical workflow" in texts(picture)


def test_the_workflow_has_a_halo_and_keeps_the_width_of_its_calls():
    rare, common = edge("a", "b", calls=1), edge("a", "c", calls=10_000)
    [line] = groups(parsed(graph_of(rare, common, highlighted=frozenset({("a", "b")}))), "edge", "critical")
    widths = {each.get("class"): float(each.get("stroke-width")) for each in line if each.get("stroke-width")}
    assert widths["line"] == ROOMY.thin
    assert widths["halo"] > ROOMY.thick


def test_what_is_called_nearly_as_often_is_drawn_nearly_as_wide():
    picture = parsed(graph_of(edge("a", "b", calls=585), edge("a", "c", calls=594)))
    lines = [part for group in groups(picture, "edge") for part in group if part.get("class") == "line"]
    thin, thick = (float(each.get("stroke-width")) for each in lines)
    assert thick - thin < 0.1 * ROOMY.thick


def test_the_centre_is_marked():
    picture = parsed(around(graph_of(edge("a", "b"), edge("b", "c"), edge("c", "d")), "b"), title="Calls around b")
    assert [tooltip(each).split("\n")[0] for each in groups(picture, "centre")] == ["b"]
    assert "Not drawn: 1 service and 1 connection" in texts(picture)


def test_broken_services_have_a_badge():
    picture = parsed(graph_of(edge("a", "b"), cut=frozenset({"b"})))
    [broken] = groups(picture, "cut")
    assert tooltip(broken).startswith("b\n")
    assert broken.find(f"{SVG}circle") is not None


@pytest.mark.parametrize(
    ("component", "shape"),
    [
        (Component.HTTP, "service"),
        (Component.UNKNOWN, "service"),
        (Component.DATABASE, "store"),
        (Component.CACHE, "store"),
        (Component.QUEUE, "queue"),
    ],
)
def test_stores_and_queues_have_shapes_of_their_own(component, shape):
    [box] = groups(parsed(ServiceGraph((node("a", component),), ())), "box")
    assert shape in box.get("class").split()


def test_lines_are_thicker_the_more_calls_and_redder_the_more_fail():
    picture = parsed(
        graph_of(
            edge("a", "b", calls=10),
            edge("a", "c", calls=1_000, failures=9),
            edge("a", "d", calls=100_000, failures=1_000),
            edge("a", "e", calls=10_000_000, failures=1_000_000),
        )
    )
    lines = {tooltip(each).split("\n")[0][-1]: each for each in groups(picture, "edge")}
    widths = [
        float(next(part for part in lines[name] if part.get("class") == "line").get("stroke-width")) for name in "bcde"
    ]
    assert all(thin < thick for thin, thick in pairwise(widths))
    marks = [{"some-failed", "many-failed"} & {*lines[name].get("class").split()} for name in "bcde"]
    assert marks == [set(), set(), {"some-failed"}, {"many-failed"}]


def test_a_service_that_always_fails_is_said_to_do_so():
    picture = parsed(ServiceGraph((node("a", calls=7, failures=7),), ()))
    assert "7 calls, 100 % failed" in texts(picture)


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "\"'><svg onload=x>", "]]>&amp;&#0;", "a\x00b\x1b\ud800\uffff", "x\u202ey"]
)
def test_hostile_names_stay_text(name):
    picture = parsed(
        ServiceGraph((node(name), node("b")), (edge(name, "b", apis=(name,)), edge("b", name))), title=name
    )
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    assert len(groups(picture, "box")) == 2
    assert f"{shown} → b\n10 calls, always\n{shown}" in map(tooltip, groups(picture, "edge"))
    assert not [each for each in picture.iter() if each.tag.removeprefix(SVG) == "script" or each.get("onload")]


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_name_gives_well_formed_xml_that_can_be_written(name, api):
    svg = service_graph_svg(ServiceGraph((node(name),), (edge(name, name, apis=(api,)),)), title=name)
    ET.fromstring(svg.encode())


def test_long_names_lose_their_middle_but_not_in_the_tooltip():
    name = "payments-" + "very-" * 20 + "internal"
    picture = parsed(ServiceGraph((node(name),), ()))
    [label] = [text for text in texts(picture) if text.startswith("payments")]
    assert re.fullmatch(r"payments-.*….*internal", label)
    assert len(label) <= ROOMY.letters
    assert tooltip(groups(picture, "box")[0]).startswith(name + "\n")


def test_tooltips_are_bounded_too():
    name, apis = "x" * 10**6, tuple(f"Api{each}" for each in range(1_000))
    svg = service_graph_svg(ServiceGraph((node(name), node("b")), (edge("b", name, apis=apis),)), title=name)
    assert len(svg) < 20_000
    assert "and 988 more" in svg


def test_an_empty_graph_is_a_picture_that_says_so():
    assert "0 services · 0 connections · 0 calls" in texts(parsed(ServiceGraph((), ())))


def test_cycles_and_self_calls_are_drawn_between_the_right_services():
    picture = parsed(graph_of(edge("a", "b"), edge("b", "c"), edge("c", "a"), edge("b", "a"), edge("c", "c")))
    assert {tooltip(each).split("\n")[0] for each in groups(picture, "edge")} == {
        "a → b", "b → c", "c → a", "b → a", "c → c",
    }  # fmt: skip


def test_the_picture_does_not_depend_on_the_order_of_its_parts():
    graph = random_graph(60, 150)
    turned = replace(graph, nodes=graph.nodes[::-1], edges=graph.edges[::-1])
    assert service_graph_svg(graph) == service_graph_svg(graph) == service_graph_svg(turned)


def test_200_services_are_all_drawn():
    graph = random_graph(200, 500)
    picture = parsed(graph)
    assert len(groups(picture, "box")) == 200
    assert len(groups(picture, "edge")) == len(graph.edges)


def test_of_2000_services_those_with_the_most_traffic_and_the_marked_ones_are_drawn_and_the_rest_is_counted():
    graph = random_graph(2_000, 6_000)
    least = min(graph.nodes, key=lambda each: each.calls).name
    picture = parsed(replace(graph, cut=frozenset({least})))
    drawn = {tooltip(each).split("\n")[0] for each in groups(picture, "box")}
    busiest = sorted(graph.nodes, key=lambda each: -each.calls)[: MOST_SERVICES // 2]
    assert drawn >= {least, *(each.name for each in busiest)}
    assert len(drawn) == MOST_SERVICES
    left_out = len(graph.edges) - len(groups(picture, "edge"))
    assert f"Not drawn: 1,750 services and {left_out:,} connections with the least traffic" in texts(picture)


def test_of_too_many_connections_those_with_the_most_traffic_are_drawn():
    names = [str(each) for each in range(50)]
    picture = parsed(graph_of(*(edge(one, other, calls=int(one)) for one in names for other in names)))
    assert len(groups(picture, "edge")) == MOST_CONNECTIONS
    assert f"Not drawn: 0 services and {2_500 - MOST_CONNECTIONS:,} connections with the least traffic" in texts(
        picture
    )
