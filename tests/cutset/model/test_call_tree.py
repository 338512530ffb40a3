import pickle
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cutset.model.call_tree import (
    UNKNOWN,
    CallTree,
    Component,
    callees_telling_stores,
    calls_inside,
    gathering,
    occurrences,
)
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


def test_a_queue_is_told_from_whom_it_hands_messages_to() -> None:
    def of_queue(name: str, *calls: CallTree) -> CallTree:
        return CallTree(Point(name, "Get"), component=Component.QUEUE, calls=calls)

    cached = CallTree(Point("redis", "GET"), component=Component.CACHE)
    # It is handed a message, asks a cache, and publishes again.
    consumer = of_queue("mail", cached, of_queue("kafka", of_queue("audit")))
    tree = of_queue("shop", of_queue("kafka", consumer))
    told = {(callee.point.service, store) for _, _, callee, store in tree.edges_telling_stores()}

    assert told == {("kafka", True), ("mail", False), ("redis", True), ("audit", False)}
    assert {(one.point, other.point) for one, _, other, _ in tree.edges_telling_stores()} == {
        (one.point, other.point) for one, other in tree.edges()
    }


names = st.builds(Point, st.sampled_from("ab"), st.sampled_from(["Get", UNKNOWN]))
trees = st.recursive(
    st.builds(CallTree, names, st.booleans(), st.sampled_from(Component)),
    lambda inner: st.builds(
        lambda tree, calls, orphans: CallTree(
            tree.point, tree.failed, tree.component, calls=tuple(sorted(calls)), orphans=tuple(sorted(orphans))
        ),
        inner,
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=2),
    ),
    max_leaves=12,
)
kinds = st.dictionaries(trees, st.integers(1, 5), max_size=4)


@given(kinds)
def test_calls_are_counted_as_often_as_a_walk_meets_them(of_traces: dict[CallTree, int]) -> None:
    plain: Counter[CallTree] = Counter()
    for tree, traces in of_traces.items():
        for call in tree.walk():
            plain[call] += traces

    assert occurrences(of_traces, calls_inside) == plain


@given(trees)
def test_facts_of_a_call_and_of_what_is_inside_it_are_gathered(tree: CallTree) -> None:
    edges_of = gathering(lambda caller: [(caller.point, callee.point) for callee in caller.calls], calls_inside)

    assert edges_of(tree) == {(caller.point, callee.point) for caller, callee in tree.edges()}


@given(trees)
def test_calls_of_stores_are_the_same_by_steps_and_in_a_walk(tree: CallTree) -> None:
    stepped = gathering(
        lambda caller: [(caller[0].point, *callee) for callee in callees_telling_stores(caller)],
        lambda caller: [*callees_telling_stores(caller), *((orphan, False) for orphan in caller[0].orphans)],
    )
    if not any(call.orphans for call in tree.walk() if call is not tree):  # only requests have some
        assert stepped((tree, False)) == {
            (caller.point, callee, store) for caller, _, callee, store in tree.edges_telling_stores()
        }


def test_what_is_inside_is_compared_once_and_in_every_process_anew() -> None:
    assert hash(TREE) == hash(call("web", call("cart", call("redis")), call("ad")))
    assert pickle.loads(pickle.dumps(TREE)) == TREE
    assert {TREE: 1}[pickle.loads(pickle.dumps(TREE))] == 1
