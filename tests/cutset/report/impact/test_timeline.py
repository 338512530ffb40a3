from xml.etree import ElementTree as ET

from tests.samples.impacts import BEGIN, CHECKOUT, HOME, PICTURE, TARGET, impact_events, picture

from cutset.model.impact import ApiCall, Group, GuardTripped, ObservedRequest, RequestsObserved, WindowStarted
from cutset.model.point import Point
from cutset.report.impact.columns import impact_timelines
from cutset.report.impact.timeline import NAMES, draw_impact_timeline

EVENTS = tuple(impact_events())
SVG = "{http://www.w3.org/2000/svg}"


def drawn(api: Point, events: object = EVENTS) -> ET.Element:
    [timeline] = impact_timelines([api], events)  # type: ignore[arg-type]
    return ET.fromstring(draw_impact_timeline(timeline))


def texts(picture: ET.Element) -> list[str]:
    return ["".join(each.itertext()) for each in picture.iter(f"{SVG}text")]


def test_windows_groups_and_scales_are_named() -> None:
    shown = texts(drawn(CHECKOUT))

    assert {"before", "during · 5 %", "after", *NAMES.values()} <= set(shown)
    assert {"50 %", "75 %", "100 %", "good answers", "p50 to p95"} <= set(shown)


def test_groups_differ_by_their_markers_and_not_by_colour_alone() -> None:
    groups = {each.get("class"): each for each in drawn(HOME).iter(f"{SVG}g")}

    markers = {group: {each.tag for each in groups[group].iter() if each.get("class") == "mark"} for group in Group}
    assert all(groups[group].findall(f"{SVG}path") for group in Group if group is not Group.OTHERS)
    assert markers[Group.OTHERS] == set()


def test_columns_tell_their_numbers_under_the_pointer() -> None:
    told = [each.findtext(f"{SVG}title") for each in drawn(TARGET).iter(f"{SVG}rect") if each.get("class") == "hit"]

    assert told[0] is not None
    assert told[0].startswith("0 to 2 s\ncontrol: 80 of 80 good, p95 ")
    assert "unmarked: 718 of 718 good" in told[0]


def test_what_stopped_it_is_marked_and_small_failure_rates_are_enlarged() -> None:
    shown = texts(drawn(HOME, (*EVENTS, GuardTripped(guard="error-rate", reason="", at=BEGIN + 70))))

    assert "stopped: error-rate" in shown
    assert "50 %" not in shown


def test_a_hostile_name_stays_text() -> None:
    started = EVENTS[2]
    assert isinstance(started, WindowStarted)
    api = Point("a", "<script>\x00\N{RIGHT-TO-LEFT OVERRIDE}")
    request = ObservedRequest("1", Group.CONTROL, "u", started.at, api, (ApiCall(api, failed=True, seconds=1.0),))
    seen = RequestsObserved(window=started.window, at=started.at + 1, requests=(request,))

    picture = drawn(api, (started, seen))

    assert texts(picture)[0] == "a/<script%3E%00%E2%80%AE"
    assert not list(picture.iter(f"{SVG}script"))


def test_the_picture_in_the_documentation_is_what_is_drawn_today() -> None:
    assert PICTURE.read_text(encoding="utf-8") == picture(), "draw it again: python -m tests.samples.impacts"
