from cutset.model.call_tree import CallTree, calls_inside, occurrences
from cutset.model.point import Point
from cutset.select.api_rank import Preference, TraceKind, api_rank
from cutset.select.rankings import api_rank_of, dynamic_rank, static_rank, trace_kinds

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
    points, found = trace_kinds(KINDS)
    a, b, c = map(points.index, (A, B, C))
    assert points == sorted(points)
    assert set(found) == {
        TraceKind(frozenset({a, b, c}), frozenset({(a, b)}), seen=5),
        TraceKind(frozenset({b}), frozenset(), seen=4),
    }


def test_numbers_rank_as_their_points_do() -> None:
    named = [
        TraceKind(frozenset({A, B, C}), frozenset({(A, B)}), seen=5),
        TraceKind(frozenset({B}), frozenset[tuple[Point, Point]](), seen=4),
    ]
    for preference in Preference:
        assert api_rank_of(KINDS, preference) == api_rank(named, preference=preference)


def test_static_counts_callers_dynamic_counts_calls() -> None:
    callers = occurrences(KINDS, calls_inside)
    assert static_rank(callers) == {A: 0.5, B: 1.0, C: 0.5}
    assert dynamic_rank(callers) == {A: 5 / 12, B: 1.0, C: 5 / 12}


def test_nothing_called_nothing_ranked() -> None:
    assert static_rank([call(PAGE)]) == dynamic_rank({call(PAGE): 3}) == {}
