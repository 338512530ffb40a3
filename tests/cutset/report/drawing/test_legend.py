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
