from cutset.model.call_tree import CallTree
from cutset.model.point import Point
from cutset.select.api_rank import TraceKind
from cutset.select.rankings import dynamic_rank, static_rank, trace_kinds

A, B, C = (Point("shop", name) for name in "ABC")
PAGE = Point("web", "page")


def call(point: Point, *calls: CallTree) -> CallTree:
    return CallTree(point, calls=tuple(sorted(calls)))


KINDS = {
    call(PAGE, call(A, call(B)), call(C)): 2,
    call(PAGE, call(A, call(B), call(B)), call(C)): 3,
    call(PAGE, call(B)): 4,
    call(PAGE): 9,
}


def test_traces_that_call_the_same_apis_from_the_same_are_one_kind() -> None:
    assert set(trace_kinds(KINDS)) == {
        TraceKind(frozenset({A, B, C}), frozenset({(A, B)}), seen=5),
        TraceKind(frozenset({B}), frozenset(), seen=4),
    }


def test_static_counts_callers_dynamic_counts_calls() -> None:
    assert static_rank(KINDS) == {A: 0.5, B: 1.0, C: 0.5}
    assert dynamic_rank(KINDS) == {A: 5 / 12, B: 1.0, C: 5 / 12}


def test_nothing_called_nothing_ranked() -> None:
    assert static_rank([call(PAGE)]) == dynamic_rank({call(PAGE): 3}) == {}
