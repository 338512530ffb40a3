from dataclasses import replace
from xml.etree import ElementTree as ET

from tests.samples.impacts import HOME, IMPACT, impact_events, impact_started

from cutset.judge.impact import impact_of
from cutset.model.impact import Impact
from cutset.model.point import Point
from cutset.report.impact.graph import MOST_SERVICES, draw_impact_graph

SVG = "{http://www.w3.org/2000/svg}"


def boxes(impact: Impact) -> dict[str, list[str]]:
    """By name: its class, and what is written in it."""
    picture = ET.fromstring(draw_impact_graph(impact))
    found = [each for each in picture.iter(f"{SVG}g") if (each.get("class") or "").startswith("box ")]
    shown = [[text.text or "" for text in each.iter(f"{SVG}text")] for each in found]
    return {texts[0]: [(each.get("class") or "")[4:], *texts[1:]] for each, texts in zip(found, shown, strict=True)}


def lines(impact: Impact) -> dict[str, str]:
    picture = ET.fromstring(draw_impact_graph(impact))
    edges = [each for each in picture.iter(f"{SVG}g") if (each.get("class") or "").startswith("edge")]
    return {(each.findtext(f"{SVG}title") or "").splitlines()[0]: (each.get("class") or "")[5:] for each in edges}


def test_what_became_of_a_service_is_said_by_a_word_and_a_sign() -> None:
    assert boxes(impact_of(impact_events())) == {
        "frontend": ["affected", "+24.9 points failed, 1 of 4 APIs", "✗"],
        "checkout": ["affected", "+24.9 points failed", "✗"],
        "shipping": ["cannot-tell", "cannot tell", "?"],
        "currency": ["target", "the fault is here", "↯"],
        "cart": ["aside", "not upstream"],
        "catalog": ["aside", "not upstream"],
        "payment": ["aside", "not upstream"],
    }


def test_the_faulted_calls_and_those_that_hand_failures_on_are_marked() -> None:
    assert lines(IMPACT) == {
        "frontend → checkout": "bad",
        "frontend → shipping": "",
        "frontend → currency": "target",
        "checkout → currency": "target",
        "checkout → cart": "",
        "shipping → currency": "target",
    }


def test_a_fault_at_one_caller_s_side_is_marked_there_alone() -> None:
    of_one = replace(IMPACT, started=impact_started("checkout>currency/Convert:connection-refused"))

    assert lines(of_one)["checkout → currency"] == "target"
    assert lines(of_one)["frontend → currency"] == ""


def test_a_store_that_no_span_tells_of_is_drawn_beside_its_caller() -> None:
    impact = replace(IMPACT, started=impact_started("checkout>cache/redis/get rates:6379/0:connection-refused"))

    assert boxes(impact)["rates:6379/0"] == ["target", "the fault is here", "↯"]
    assert lines(impact)["checkout → rates:6379/0"] == "target"


def test_many_services_are_cut_off_after_those_that_are_judged() -> None:
    calls = tuple((HOME, Point(f"service-{number}", "Get")) for number in range(200))
    shown = boxes(replace(IMPACT, callers=(*IMPACT.callers, *calls)))

    assert len(shown) == MOST_SERVICES
    assert {"frontend", "checkout", "currency"} <= shown.keys()


def test_hostile_names_stay_text() -> None:
    hostile = Point("</svg><script>", "\N{RIGHT-TO-LEFT OVERRIDE}")
    svg = draw_impact_graph(replace(IMPACT, callers=((HOME, hostile),)), title="<b>")

    ET.fromstring(svg)
    assert "<script" not in svg
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in svg
