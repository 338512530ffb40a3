import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.lineage.routes import as_the_mesh_names, is_placeholder, names_by_route
from cutset.model.span import Span, SpanKind
from cutset_agent.wire import normalise_api


def span(span_id: str, parent: str, kind: SpanKind = SpanKind.SERVER, at: int = 0, **attributes: str) -> Span:
    told = {name.replace("__", "."): value for name, value in attributes.items()}
    return Span("t", span_id, parent, "users", "x", kind, at, at + 1, attributes=told)


def mesh(path: str, span_id: str = "m", parent: str = "root") -> Span:
    api = normalise_api("GET", path, grpc=False)
    return span(
        span_id, parent, cutset__service="users", cutset__api=api, http__url=f"http://users{path}", http__method="GET"
    )


def named(path: str, *inside: Span) -> dict[tuple[str, str], str]:
    return names_by_route([mesh(path), *inside])


@pytest.mark.parametrize(
    ("path", "route", "name"),
    [
        ("/users/alice", "/users/{name}", "GET /users/*"),
        ("/users/alice/orders/17", "/users/:name/orders/:id", "GET /users/*/orders/*"),
        ("/users/alice?a=b", "/users/<string:name>", "GET /users/*"),
        ("/users/me", "/users/me", "GET /users/me"),
        ("/users/alice/", "/users/{name}/", "GET /users/*/"),
    ],
)
def test_an_api_is_called_by_the_route_of_the_span_inside(path: str, route: str, name: str) -> None:
    sidecar = normalise_api("GET", path, grpc=False)
    assert named(path, span("s", "m", at=1, http__route=route)) == {("users", sidecar): name}


def test_also_where_an_agent_or_a_library_has_a_span_in_between() -> None:
    inside = (
        span("a", "m", at=1),
        span("i", "a", SpanKind.INTERNAL, 2),
        span("s", "i", at=3, http__route="/users/{n}"),
    )
    assert named("/users/alice", *inside) == {("users", "GET /users/alice"): "GET /users/*"}


@pytest.mark.parametrize(
    "route", ["/{path:path}", "/*", "/**", "/{n}", "/orders/{n}", "/users/{n}/x", "/users/*", "*", "/users/{rest*}"]
)
def test_a_route_that_does_not_fit_or_fits_everything_tells_nothing(route: str) -> None:
    assert named("/users/alice", span("s", "m", at=1, http__route=route)) == {}


def test_what_is_called_past_the_mesh_is_not_what_the_sidecar_served() -> None:
    client, server = span("c", "m", SpanKind.CLIENT, 1), span("s", "c", at=2, http__route="/users/{name}")
    assert named("/users/alice", client, server) == {}


def test_the_outermost_span_has_the_last_word() -> None:
    outer, inner = span("o", "m", at=1, http__route="/users/{n}"), span("i", "o", at=2, http__route="/users/alice")
    assert named("/users/alice", outer, inner) == {("users", "GET /users/alice"): "GET /users/*"}


def test_a_cycle_of_parents_ends() -> None:
    assert names_by_route([span("a", "b", http__route="/x"), span("b", "a")]) == {}


@given(st.lists(st.sampled_from(["{id}", ":id", "<id>", "[id]", "*", "users", "17"]), min_size=1, max_size=5))
def test_names_by_route_are_what_sidecars_would_call_them(segments: list[str]) -> None:
    route = "/" + "/".join(segments)
    path = "/" + "/".join("17" if is_placeholder(each) else each for each in segments)
    assert as_the_mesh_names(f"GET {route}") == normalise_api("GET", path, grpc=False)
    assert as_the_mesh_names("GetCart") == "GetCart"
