from dataclasses import replace

from tests.samples.agent_traces import agent_call, of_mesh, serving
from tests.samples.trace_builder import ROOT, Made, trace

from cutset.lineage.agent_calls import agent_calls_of, calls_of_others, mesh_sides_of, sides_of, unseen_sites
from cutset.model.call_site import AgentCallSite
from cutset.model.point import Point
from cutset.model.span import Span

SPANS = trace(Made("cart/GetCart", [Made("stock/Count")]))
OWN = serving("cart", SPANS).span_id
SIDE = Point("stock", "Count", caller="cart")


def points(spans: list[Span]) -> list[str]:
    return [str(call.attempts[0].point) for call in agent_calls_of(spans, ROOT, {})]


def test_stores_and_third_parties_are_points_of_their_callers() -> None:
    spans = [
        *SPANS,
        agent_call("x", OWN, "cache/redis/get", peer="sessions/0", times=(1, 2)),
        agent_call("y", OWN, "rpc/httpx/POST /v1/charges", peer="api.example.com", times=(2, 3)),
    ]

    assert points(spans) == [
        "cart>cache/redis/get sessions/0",
        "cart>rpc/httpx/POST /v1/charges api.example.com",
    ]


def test_a_call_that_the_mesh_saw_inside_of_the_agents_is_its_callers_side() -> None:
    mesh = of_mesh("stock", SPANS)
    around = agent_call("a", OWN, "rpc/grpc/Count", peer="127.0.0.1:9")
    spans = [around, *(replace(each, parent_id="a") if each is mesh else each for each in SPANS)]

    assert sides_of(spans, ROOT) == {mesh.span_id: around}
    assert mesh_sides_of(spans, ROOT) == {AgentCallSite("cart", "rpc/grpc/Count", "127.0.0.1:9"): SIDE}
    assert points(spans) == ["cart>stock/Count"]
    assert not unseen_sites(spans, ROOT)


def test_where_an_sdk_goes_on_with_the_call_it_is_told_by_what_was_called_for_whom_and_when() -> None:
    """The SDK's client span is the parent of both."""
    mesh = of_mesh("stock", SPANS)
    beside = agent_call("a", mesh.parent_id, "rpc/grpc/Count", times=(mesh.start_ns, mesh.end_ns))
    other = agent_call("b", mesh.parent_id, "rpc/grpc/Other", times=(mesh.start_ns, mesh.end_ns))

    assert sides_of([*SPANS, beside, other], ROOT) == {mesh.span_id: beside}
    assert unseen_sites([*SPANS, beside, other], ROOT) == {AgentCallSite("cart", "rpc/grpc/Other")}


def test_two_calls_alike_are_two_sides() -> None:
    spans = trace(Made("cart/GetCart", [Made("stock/Count"), Made("stock/Count")]))
    first, second = (each for each in spans if each.attributes.get("cutset.service") == "stock")
    own = serving("cart", spans).span_id
    calls = [
        agent_call(name, own, "rpc/grpc/Count", times=(each.start_ns, each.end_ns))
        for name, each in (("a", first), ("b", second))
    ]

    assert {mesh: each.span_id for mesh, each in sides_of([*spans, *calls], ROOT).items()} == {
        first.span_id: "a",
        second.span_id: "b",
    }


def test_a_call_that_was_faulted_never_came_to_the_mesh_and_is_known_by_its_site() -> None:
    faulted = agent_call("a", OWN, "rpc/grpc/Count", peer="p", error=True, fault="connection-refused")
    spans = [each for each in SPANS if each.attributes.get("cutset.service") != "stock"] + [faulted]

    (call,) = agent_calls_of(spans, ROOT, {AgentCallSite("cart", "rpc/grpc/Count", "p"): SIDE})

    assert call.attempts[0].point == SIDE
    assert call.attempts[0].injected
    assert call.failed
    assert not unseen_sites(spans, ROOT)


def test_calls_of_others_count_for_proof_until_the_answer() -> None:
    end = of_mesh("cart", SPANS).end_ns
    during = agent_call("a", OWN, "cache/redis/get", occurrence="0", not_fired="shared", times=(end, end))
    after = agent_call("b", OWN, "cache/redis/get", occurrence="0", not_fired="ended", times=(end + 1, end + 2))

    assert [each.not_faulted for each in calls_of_others([*SPANS, during, after], {})] == ["shared"]
