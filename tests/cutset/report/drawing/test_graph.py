import pytest

from cutset.model.call_tree import Component
from cutset.report.drawing.graph import Node, failed_share, failure_mark


def node(calls: int, failures: int) -> Node:
    return Node("a", Component.RPC, entry=False, calls=calls, failures=failures)


@pytest.mark.parametrize(
    ("calls", "failures", "share", "mark"),
    [(0, 0, 0.0, ""), (1000, 9, 0.009, ""), (100, 1, 0.01, "some-failed"), (10, 1, 0.1, "many-failed")],
)
def test_a_share_of_failures_has_a_mark(calls: int, failures: int, share: float, mark: str) -> None:
    assert failed_share(node(calls, failures)) == share
    assert failure_mark(node(calls, failures)) == mark


def test_more_failures_than_calls_are_all_of_them() -> None:
    assert failed_share(node(1, 3)) == 1.0
