from dataclasses import replace

from tests.samples.agent_traces import agent_call, serving
from tests.samples.small_shop import points
from tests.samples.trace_builder import ROOT, Made, trace

from cutset.lineage.uncoverable import in_other_traces, past_agents, past_mesh, untold, without_plan
from cutset.model.coverage import OutOfReach, Uncoverable
from cutset.model.point import Point
from cutset.model.span import Span, SpanKind


def client(parent: str, **attributes: object) -> Span:
    facts = {name.replace("_", "."): value for name, value in attributes.items()}
    return Span("t" * 32, "c" * 16, parent, "frontend", "GET", SpanKind.CLIENT, 1, 2, attributes=facts)


def of_mesh(service: str, spans: list[Span]) -> Span:
    return next(span for span in spans if span.attributes.get("cutset.service") == service)


def test_a_call_without_the_plan_says_what_was_handed_on_and_what_was_not():
    spans = trace(Made("cart/GetCart", [Made("stock/Count", planned=False)]))
    cart = of_mesh("cart", spans)
    spans[spans.index(cart)] = replace(cart, attributes={**cart.attributes, "cutset.carriers": "tracestate,baggage"})

    assert set(without_plan(spans, ROOT)) == {
        Uncoverable(
            "stock/Count",
            OutOfReach.WITHOUT_PLAN,
            "cart",
            detail="the call has `traceparent`, but not the plan that came to cart in `baggage`, `tracestate`",
        )
    }


def test_a_plan_that_a_sidecar_refused_is_told_from_one_that_never_came():
    spans = trace(Made("cart/GetCart", planned=False))
    cart = of_mesh("cart", spans)
    spans[spans.index(cart)] = replace(cart, attributes={**cart.attributes, "cutset.refused": "1"})

    assert set(without_plan(spans, ROOT)) == {Uncoverable("cart/GetCart", OutOfReach.REFUSED, "frontend")}


def test_calls_past_the_mesh_have_their_caller_and_address():
    spans = trace(Made("cart/GetCart"))
    server = next(span.span_id for span in spans if span.service == "frontend")
    third = client(server, http_method="GET", http_url="http://rates.example/v1/12345")
    store = client(server, db_system="redis", server_address="127.0.0.1", server_port=6379)

    assert past_mesh([[*spans, third]]) == {
        Uncoverable("GET /v1/*", OutOfReach.PAST_MESH, "frontend", "rates.example"),
    }
    assert past_mesh([[*spans, store]]) == {
        Uncoverable("redis", OutOfReach.DATA_STORE, "frontend", "127.0.0.1:6379"),
    }


def test_a_call_whose_mesh_span_got_lost_once_is_not_past_the_mesh():
    spans = trace(Made("cart/GetCart"))
    lossy = [span for span in spans if span.attributes.get("cutset.service") != "cart"]

    assert past_mesh([lossy, spans, lossy]) == frozenset()
    assert len(past_mesh([lossy, lossy])) == 1


def stray(start_ns: int, parent: str = "") -> Span:
    facts = {"cutset.service": "tax", "http.method": "GET", "http.url": "http://tax/rate"}
    return Span("s" * 32, "5" * 16, parent, "mesh", "", SpanKind.SERVER, start_ns, start_ns + 1, attributes=facts)


def test_who_lost_the_context_is_told_by_the_trace_that_it_began():
    begun = Span("s" * 32, "4" * 16, "", "checkout", "", SpanKind.CLIENT, 0, 9)

    (found,) = in_other_traces(points("tax/GET /rate"), [begun, stray(5, begun.span_id)], [])

    assert found == Uncoverable("tax/GET /rate", OutOfReach.OTHER_TRACE, "checkout")


def test_who_lost_the_context_is_the_one_service_at_work_each_time_if_there_is_but_one():
    def own(*services: str) -> list[Span]:
        return [
            Span("t" * 32, service, ROOT, "mesh", "", SpanKind.SERVER, 0, 10, attributes={"cutset.service": service})
            for service in services
        ]

    calls = points("tax/GET /rate")
    (known,) = in_other_traces(calls, [stray(5)], [own("web")])
    (unknown,) = in_other_traces(calls, [stray(5)], [own("web", "cart")])

    assert (known.caller, unknown.caller) == ("web", "")


def test_services_of_which_no_span_came_are_named_together():
    spans = trace(Made("cart/GetCart", [Made("stock/Count")]), Made("ad/GetAds"))
    mute = [span for span in spans if span.service not in ("stock", "ad")]

    assert list(untold([spans])) == []
    assert list(untold([mute, mute])) == [Uncoverable("calls past the mesh", OutOfReach.UNTOLD, "ad, stock")]
    assert list(untold([mute, spans])) == []


def test_a_store_that_an_agent_sees_as_well_is_not_past_everything():
    spans = trace(Made("cart/GetCart"))
    own = serving("cart", spans).span_id
    told = Span("t" * 32, "d", own, "cart", "GET", SpanKind.CLIENT, 5, 9, attributes={"db.system": "redis"})
    inside = agent_call("x", "d", "cache/redis/get", times=(6, 8))
    around = agent_call("x", own, "cache/redis/get", times=(4, 10))
    other = agent_call("x", own, "rpc/httpx/GET /a", times=(4, 10))

    assert [each.call for each in past_mesh([[*spans, told]])] == ["redis"]
    assert not past_mesh([[*spans, told, inside]])
    assert not past_mesh([[*spans, told, around]])
    assert past_mesh([[*spans, told, other]])


def test_calls_of_services_with_some_agents_name_the_replicas_without():
    point = Point.parse("cart>cache/redis/get sessions/0")
    lacking = {"cart": frozenset({"2"})}

    (found,) = past_agents(lacking, frozenset({point, Point("cart", "GetCart")}))

    assert (found.call, found.detail) == (str(point), "cart#2 without one")
