import re

from cutset.model.call_tree import Component, Role
from cutset.report.drawing.graph import Edge, Node, ServiceGraph
from cutset.report.drawing.layout import ROOMY
from cutset.report.drawing.legend import draw_legend

WEB = Node("web", Component.RPC, entry=True, calls=1, failures=0)
REDIS = Node("redis", Component.CACHE, entry=False, calls=1, failures=0)


def explained(graph: ServiceGraph, width: float = 2000) -> list[str]:
    parts, _ = draw_legend(graph, ROOMY, width, 0)
    return [re.findall(r">([^<>]+)</text>", part)[0] for part in parts]


def test_only_what_occurs_is_explained() -> None:
    assert explained(ServiceGraph((WEB,), ())) == ["called from outside", "service"]
    edges = (
        Edge("web", "redis", (), 2000, 200, Role.ALWAYS),
        Edge("web", "web", (), 10, 0, Role.SOMETIMES),
    )
    assert explained(ServiceGraph((WEB, REDIS), edges, frozenset({("web", "redis")}), frozenset({"redis"}))) == [
        "called from outside",
        "service",
        "data store",
        "broken",
        "always",
        "sometimes",
        "critical workflow",
        "10 % or more failed",
        "10 to 2k calls",
    ]


def test_what_does_not_fit_goes_to_the_next_row() -> None:
    graph = ServiceGraph((WEB, REDIS), ())
    one_row, several = (draw_legend(graph, ROOMY, width, 0)[1] for width in (2000, 200))
    assert several > one_row


def test_of_several_classes_always_means_always_in_one_of_them() -> None:
    edges = (Edge("web", "redis", (), 2, 0, Role.ALWAYS),)
    assert "always" in explained(ServiceGraph((WEB, REDIS), edges))
    assert "always, in some request class" in explained(ServiceGraph((WEB, REDIS), edges, classes=3))


def test_the_workflow_is_shown_as_its_lines_are_with_how_common_it_is() -> None:
    edges = (Edge("web", "redis", (), 2, 0, Role.AFTER_FAILURE),)
    graph = ServiceGraph((WEB, REDIS), edges, frozenset({("web", "redis")}), traces=30, critical_traces=20)
    parts, _ = draw_legend(graph, ROOMY, 2000, 0)
    (sample,) = (part for part in parts if "critical" in part)
    assert "the first of the critical workflows, in 67 % of traces" in sample
    assert 'class="critical after-failure"' in sample
    assert "stroke-dasharray" in sample


def test_the_bar_of_failures_is_explained_where_there_is_one() -> None:
    failing = Node("pay", Component.RPC, entry=False, calls=10, failures=1)
    assert explained(ServiceGraph((failing,), ())) == ["service", "share of calls that failed"]


def test_widths_of_the_wedge_are_those_of_the_lines() -> None:
    edges = (Edge("web", "redis", (), 594, 0, Role.ALWAYS), Edge("web", "web", (), 585, 0, Role.ALWAYS))
    parts, _ = draw_legend(ServiceGraph((WEB, REDIS), edges), ROOMY, 2000, 0)
    assert f"M0 -{ROOMY.thick / 2}L30 -{ROOMY.thick / 2}v{ROOMY.thick:.1f}" in parts[-1]
