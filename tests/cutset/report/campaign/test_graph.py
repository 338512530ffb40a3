from xml.etree import ElementTree as ET

import pytest
from tests.samples.campaign import EVENTS, audited, cut, experiment, points

from cutset.model.call_tree import Component
from cutset.model.event import CampaignEvent, CampaignStarted, RequestAudited, RequestFinished
from cutset.model.outcome import CallSeen, Outcome, Verdict
from cutset.model.point import Point
from cutset.report.campaign.graph import MOST_BOXES, CampaignGraph, campaign_graph, cut_picture, marks_of
from cutset.report.campaign.significance import Significance
from cutset.report.drawing.point_graph import PointLine

SVG = "{http://www.w3.org/2000/svg}"
CALLS = ("cart/Get", "cart>cache/redis/get redis/0", "shop>rpc/grpc/Convert currency", "currency/Convert")


def seen(*calls: tuple[str, str]) -> tuple[CallSeen, ...]:
    return tuple(CallSeen(Point.parse(point), caller, "200", 1) for caller, point in calls)


SHOP: list[CampaignEvent] = [
    CampaignStarted(requests=("GET /", "GET /rates"), max_size=2),
    RequestAudited(
        request="GET /",
        healthy=True,
        reason="",
        calls=points(*CALLS),
        not_reached=frozenset(),
        trace_ids=(),
        runs=(
            Outcome(
                frozenset(),
                Verdict.SURVIVED,
                "200",
                calls=points(*CALLS),
                seen=seen(("", "cart/Get"), ("cart/Get", "cart>cache/redis/get redis/0"), ("", "currency/Convert")),
            ),
        ),
    ),
    audited("GET /rates", not_reached=points("currency/Convert")),
    experiment("GET /", Verdict.SURVIVED, "200", "cart/Get", seen=seen(("", "cart/Get"), ("", "backup/Get"))),
    RequestFinished(request="GET /", complete_up_to=1, reason=""),
]


def boxes(graph: CampaignGraph) -> dict[str, tuple[Component, list[str]]]:
    return {box.name: (box.component, [row.label for row in box.rows]) for box in graph.placed.graph.boxes}


def lines(graph: CampaignGraph, found: frozenset[PointLine]) -> set[tuple[str, str]]:
    def name(box: int, row: int) -> str:
        drawn = graph.placed.graph.boxes[box]
        return drawn.rows[row].name if row >= 0 else drawn.name

    return {(name(*line.caller), name(*line.callee)) for line in found}


def test_services_stores_and_hosts_are_boxes_and_their_calls_are_rows() -> None:
    assert boxes(campaign_graph(SHOP)) == {
        "Requests": (Component.UNKNOWN, ["GET /", "GET /rates"]),
        "ad": (Component.RPC, ["GetAds"]),
        "backup": (Component.RPC, ["Get"]),
        "cart": (Component.RPC, ["Get", "GetCart"]),
        "currency": (Component.RPC, ["Convert", "Convert ← shop"]),
        "shop": (Component.RPC, []),
        "redis/0": (Component.CACHE, ["get ← cart"]),
    }


def test_lines_are_the_calls_that_traces_showed_without_a_fault_or_only_with_one() -> None:
    graph = campaign_graph(SHOP)
    request = graph.requests["GET /"]

    assert lines(graph, request.spare) == {("GET /", "backup/Get")}
    assert lines(graph, request.healthy) == {
        ("GET /", "cart/Get"),
        ("GET /", "currency/Convert"),
        ("cart/Get", "cart>cache/redis/get redis/0"),
        ("shop", "shop>rpc/grpc/Convert currency"),  # no trace shows which of its APIs does
    }


def test_calls_past_the_mesh_are_rows_that_cannot_be_asked_about() -> None:
    graph = campaign_graph(EVENTS)

    (rates,) = [box for box in graph.placed.graph.boxes if box.name == "rates.example:443"]
    assert [(row.label, row.is_button) for row in rates.rows] == [("GET /rates", False)]
    (store,) = [box for box in graph.placed.graph.boxes if box.name == "127.0.0.1:6379"]
    assert store.component is Component.DATABASE


def test_who_chooses_a_request_sees_what_it_calls_and_the_rest_fades() -> None:
    graph = campaign_graph(EVENTS)
    marks = marks_of(graph, "GET /", cut("cart/GetCart"))

    assert marks.chosen == graph.entries["GET /"]
    assert marks.failing == {graph.points[Point.parse("cart/GetCart")]}
    faded = graph.points[Point.parse("pay/Charge")]
    assert marks.rows[faded].look == Significance.NOT_CALLED
    assert faded in marks.faded
    assert graph.entries["POST /pay"] in marks.faded
    assert not marks_of(graph).faded


def test_for_all_requests_the_worst_is_shown() -> None:
    graph = campaign_graph(EVENTS)

    mark = marks_of(graph).rows[graph.points[Point.parse("cart/GetCart")]]
    assert (mark.look, mark.words) == ("fatal", "fatal alone, for GET /")


def picture(events: list[CampaignEvent], request: str, *faults: str) -> ET.Element:
    return ET.fromstring(cut_picture(events, request, cut(*faults)))


def broken(svg: ET.Element) -> set[str]:
    rows = [each for each in svg.iter(f"{SVG}g") if {"point", "pressed"} <= {*each.get("class", "").split()}]
    return {row.findtext(f"{SVG}title", "").split("\n")[0] for row in rows}


def test_a_cut_is_drawn_within_what_its_request_calls() -> None:
    svg = picture(EVENTS, "POST /pay", "pay/Charge:delay(250ms)", "backup/Charge:abort(503),50%")

    assert broken(svg) == {"pay/Charge", "backup/Charge"}
    texts = {each.text for each in svg.iter(f"{SVG}text")}
    assert "GET /" not in texts
    assert "made to fail" in texts


def test_of_many_services_those_on_the_way_to_the_cut_are_drawn() -> None:
    others = [("", f"service-{number}/Get") for number in range(MOST_BOXES)]
    made = seen(("", "a/Get"), ("a/Get", "b/Get"), ("b/Get", "c/Get"), ("c/Get", "d/Get"), *others)
    calls = frozenset(call.point for call in made)
    events: list[CampaignEvent] = [
        CampaignStarted(requests=("GET /",), max_size=1),
        audited("GET /", runs=(Outcome(frozenset(), Verdict.SURVIVED, "200", calls=calls, seen=made),)),
    ]

    svg = picture(events, "GET /", "c/Get")

    assert broken(svg) == {"c/Get"}
    drawn = [each for each in svg.iter(f"{SVG}g") if "box" in each.get("class", "").split()]
    assert {each.findtext(f"{SVG}title") for each in drawn} == {"Requests", "a", "b", "c"}


@pytest.mark.parametrize("request_name", ["GET /", "nobody asked"])
def test_a_cut_of_which_nothing_is_recorded_is_drawn_by_itself(request_name: str) -> None:
    assert broken(picture([], request_name, "cart/GetCart")) == {"cart/GetCart"}


def test_what_services_call_themselves_is_text() -> None:
    hostile = '<script>alert(1)</script>"><img onerror=x>'
    point = Point(hostile, hostile)
    made = CallSeen(point, f"{hostile}/{hostile}", "200", 1)
    events = [
        CampaignStarted(requests=(hostile,), max_size=1),
        audited(hostile, runs=(Outcome(frozenset(), Verdict.SURVIVED, "200", calls=frozenset({point}), seen=(made,)),)),
    ]

    svg = ET.fromstring(cut_picture(events, hostile, frozenset()))

    assert not [each for each in svg.iter() if each.tag.endswith(("script", "img"))]
