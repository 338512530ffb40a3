from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from cutset.harden.frontier import Frontier, FrontierPoint
from cutset.report.hardening.plot import HEIGHT, WIDTH, frontier_svg, place_of

THREE = Frontier(
    (FrontierPoint(2, 0, 0.0, None), FrontierPoint(3, 6, 0.6, 6), FrontierPoint(5, 10, 1.0, 2)), knee=1, proven=True
)


def drawn(frontier: Frontier, budget: float) -> ET.Element:
    return ET.fromstring(frontier_svg(frontier, budget=budget))


def texts(root: ET.Element) -> list[ET.Element]:
    return [each for each in root.iter() if each.tag.endswith("text")]


def line(count: int) -> Frontier:
    points = tuple(FrontierPoint(n, n, (n + 1) / count, None if not n else 1) for n in range(count))
    return Frontier(points, knee=count - 1, proven=True)


def test_coverage_budget_and_the_point_of_diminishing_returns_are_marked_by_shape_and_words() -> None:
    root = drawn(THREE, 4)
    said = [each.text for each in texts(root)]
    assert {"0%", "100%", "0", "5", "budget", "cuts gone"} <= set(said)
    assert {"Budget 4: 60% gone", "From 3 on (60%) returns diminish"} <= set(said)
    shapes = [each.tag.rpartition("}")[2] for each in root.iter() if each.get("class") in ("budget", "knee")]
    assert sorted(shapes) == ["circle", "circle", "path", "path"]  # a disc and a diamond; both are explained


def test_who_cannot_see_it_is_told() -> None:
    root = drawn(THREE, 4)
    known = {each.get("id"): each.text for each in root.iter() if each.get("id")}
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == " ".join(known)
    assert "Budget 4: 60% gone. From 3 on (60%) returns diminish." in known.values()


@pytest.mark.parametrize("count", [1, 13, 500, 9_999])
def test_labels_of_the_axis_never_overlap(count: int) -> None:
    ticks = [each for each in texts(drawn(line(count), 0)) if each.get("text-anchor") == "middle" and each.text]
    places = sorted(float(each.get("x", "0")) for each in ticks if each.text and each.text[0].isdigit())
    assert 2 <= len(places) <= 11
    assert min(b - a for a, b in pairwise(places)) > 40


@pytest.mark.parametrize("budget", [0, 1, 5, 12, 1e6])
def test_any_budget_is_inside_the_picture(budget: float) -> None:
    root = drawn(THREE, budget)
    (handle,) = (each for each in root.iter() if each.get("class") == "handle")
    x, y = map(float, (handle.get("transform") or "").removeprefix("translate(").rstrip(")").split())
    assert 0 < x <= WIDTH
    assert 0 < y <= HEIGHT


def test_places_in_the_picture_are_those_of_the_curve() -> None:
    x, y = place_of(THREE, 5, 1.0)
    assert f"V{y}" in frontier_svg(THREE, budget=3)
    assert f"H{x}" in frontier_svg(THREE, budget=3)
