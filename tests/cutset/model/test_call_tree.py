import pickle
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cutset.model.call_tree import UNKNOWN, CallTree, Component, occurrences, without_repeats
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
    st.builds(CallTree, names, st.booleans()),
    lambda inner: st.builds(
        lambda tree, calls, orphans: CallTree(
            tree.point, tree.failed, calls=tuple(sorted(calls)), orphans=tuple(sorted(orphans))
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

    assert occurrences(of_traces) == plain


@given(kinds)
def test_without_repeats_traces_have_the_same_calls_by_the_same_callers(of_traces: dict[CallTree, int]) -> None:
    def done(tree: CallTree) -> tuple[object, ...]:
        points = frozenset((call.point, call.failed) for call in tree.walk())
        edges = frozenset((one.point, other.point, other.failed) for one, other in tree.edges())
        return tree.point, points, edges, frozenset(call.point for call in tree.callees())

    found = without_repeats(of_traces.items())
    assert sum(found.values()) == sum(of_traces.values())
    assert all(len(set(call.calls)) == len(call.calls) for tree in found for call in tree.walk())
    before, after = Counter[object](), Counter[object]()
    for tree, traces in of_traces.items():
        before[done(tree)] += traces
    for tree, traces in found.items():
        after[done(tree)] += traces
    assert before == after


def test_what_is_inside_is_compared_once_and_in_every_process_anew() -> None:
    assert hash(TREE) == hash(call("web", call("cart", call("redis")), call("ad")))
    assert pickle.loads(pickle.dumps(TREE)) == TREE
    assert {TREE: 1}[pickle.loads(pickle.dumps(TREE))] == 1
