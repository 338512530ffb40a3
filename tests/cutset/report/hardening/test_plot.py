from xml.etree import ElementTree as ET

import pytest

from cutset.harden.frontier import Frontier, FrontierPoint
from cutset.report.hardening.plot import frontier_svg


def shown(frontier: Frontier, budget: float) -> list[str]:
    root = ET.fromstring(frontier_svg(frontier, budget=budget))
    return [each.text or "" for each in root.iter() if each.tag.endswith("text")]


def test_coverage_budget_and_the_point_of_diminishing_returns_are_marked() -> None:
    points = (FrontierPoint(2, 0, 0.0, None), FrontierPoint(3, 6, 0.6, 6), FrontierPoint(5, 10, 1.0, 2))
    texts = shown(Frontier(points, knee=1, proven=True), budget=4)
    assert {"0%", "100%", "2", "3", "5", "budget 4", "60% at 3: from here on returns diminish"} <= set(texts)


@pytest.mark.parametrize("count", [1, 13, 500])
def test_any_number_of_points_can_be_drawn(count: int) -> None:
    points = tuple(FrontierPoint(n, n, (n + 1) / count, None if not n else 1) for n in range(count))
    texts = shown(Frontier(points, knee=count - 1, proven=True), budget=0)
    assert len(texts) <= 12 + 9
