from tests.cutset.lineage.test_routes import mesh, span

from cutset.experiment.route_names import RouteNames
from cutset.lineage.calls import calls_of
from cutset.model.effect import UNAVAILABLE
from cutset.model.fault import cut_of
from cutset.model.point import Point
from cutset.model.span import Span

ROUTE = "/users/{name}"


def trace(*paths: str, route: str = ROUTE) -> list[Span]:
    spans: list[Span] = []
    for number, path in enumerate(paths):
        spans.append(mesh(path, f"m{number}", "caller"))
        if route:
            spans.append(span(f"s{number}", f"m{number}", at=1, http__route=route))
    return spans


def calls(names: RouteNames, spans: list[Span]) -> set[str]:
    return {str(call.attempts[0].point) for call in calls_of(names.seen(spans), "root")}


def planned(names: RouteNames, api: str, **more: str) -> set[str]:
    return {str(fault.point) for fault in names.planned(cut_of([Point("users", api, **more)], UNAVAILABLE))}


def test_calls_of_one_route_are_one_point_and_a_fault_at_it_is_planned_for_each_name() -> None:
    names, spans = RouteNames(), trace("/users/alice", "/users/bob")
    assert calls(names, spans) == {"users/GET /users/alice", "users/GET /users/bob"}
    names.learn(spans)
    assert calls(names, spans) == {"users/GET /users/*"}
    assert planned(names, "GET /users/*") == {"users/GET /users/alice", "users/GET /users/bob"}
    assert names.known([Point("users", "GET /users/*")]) == {
        Point("users", "GET /users/alice"),
        Point("users", "GET /users/bob"),
    }


def test_a_call_that_was_faulted_and_has_no_span_inside_is_named_as_before() -> None:
    names = RouteNames()
    names.learn(trace("/users/alice"))
    assert calls(names, trace("/users/alice", route="")) == {"users/GET /users/*"}


def test_a_new_name_of_the_route_is_the_same_point_and_planned_from_then_on() -> None:
    names, new = RouteNames(), trace("/users/carol")
    names.learn(trace("/users/alice"))
    names.learn(new)
    assert calls(names, new) == {"users/GET /users/*"}
    assert planned(names, "GET /users/*") == {"users/GET /users/alice", "users/GET /users/carol"}


def test_the_first_trace_with_a_name_decides_so_that_points_stay_the_same() -> None:
    names = RouteNames()
    names.learn(trace("/users/alice", route=""))
    names.learn(trace("/users/alice"))
    assert calls(names, trace("/users/alice")) == {"users/GET /users/alice"}
    assert planned(names, "GET /users/alice") == {"users/GET /users/alice"}


def test_what_nobody_routes_is_planned_as_it_is_and_so_is_the_side_of_a_caller() -> None:
    names = RouteNames()
    names.learn(trace("/users/alice"))
    assert planned(names, "GetUser") == {"users/GetUser"}
    assert planned(names, "GET /users/*", caller="web") == {"web>users/GET /users/*"}
    assert planned(names, "GET /users/*", replica="2") == {"users/GET /users/alice#2"}
