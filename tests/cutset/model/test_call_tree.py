from cutset.model.call_tree import CallTree
from cutset.model.point import Point


def call(name: str, *calls: CallTree) -> CallTree:
    return CallTree(Point(name, "Get"), calls=calls)


TREE = call("web", call("cart", call("redis")), call("ad"))


def test_a_walk_meets_callers_before_those_they_called() -> None:
    assert [tree.point.service for tree in TREE.walk()] == ["web", "cart", "redis", "ad"]


def test_every_call_but_the_request_has_one_caller() -> None:
    edges = [(caller.point.service, callee.point.service) for caller, callee in TREE.edges()]

    assert sorted(edges) == [("cart", "redis"), ("web", "ad"), ("web", "cart")]


def test_a_deep_tree_is_walked_without_recursion() -> None:
    deep = call("last")
    for _ in range(5_000):
        deep = call("next", deep)

    assert sum(1 for _ in deep.walk()) == 5_001
