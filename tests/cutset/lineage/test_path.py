from dataclasses import replace

import pytest
from tests.samples.agent_traces import agent_call, of_mesh, serving
from tests.samples.trace_builder import ROOT, Made, trace

from cutset.lineage.path import Level, fired_at, foreign_attempts, read_lineage
from cutset.model.effect import Effect, EffectChoice
from cutset.model.fault import BASELINE, Fault, cut_of
from cutset.model.outcome import Points
from cutset.model.point import Point
from cutset.model.span import Span


def points(*texts: str) -> Points:
    return frozenset(Point.parse(text) for text in texts)


def test_the_path_holds_every_successful_call_but_not_the_request_itself() -> None:
    spans = trace(Made("cart/GetCart"), Made("checkout/PlaceOrder", [Made("payment/Charge")]))

    lineage = read_lineage(spans, ROOT, BASELINE, Level.API)

    assert lineage.path == points("cart/GetCart", "checkout/PlaceOrder", "payment/Charge")
    assert lineage.calls == lineage.path
    assert lineage.failed == frozenset()


def test_a_tolerated_failed_call_is_not_on_the_path() -> None:
    spans = trace(Made("cart/GetCart"), Made("ad/GetAds", status=14, flags="FI"))

    lineage = read_lineage(spans, ROOT, cut_of(points("ad/GetAds")), Level.API)

    assert lineage.path == points("cart/GetCart")
    assert lineage.failed == points("ad/GetAds")
    assert lineage.calls == points("cart/GetCart", "ad/GetAds")


def test_what_was_called_on_behalf_of_a_failed_call_is_not_on_the_path() -> None:
    spans = trace(Made("a/A", [Made("b/B"), Made("c/C", status=14, flags="FI")], status=13), Made("d/D"))

    assert read_lineage(spans, ROOT, BASELINE, Level.API).path == points("d/D")


def test_a_retried_call_relies_on_the_replica_that_answered() -> None:
    spans = trace(Made("cart/GetCart", replica="1", failed_attempts=1))
    cut = cut_of(points("cart/GetCart#2"))

    lineage = read_lineage(spans, ROOT, cut, Level.REPLICA)

    assert lineage.path == points("cart/GetCart#1")
    assert lineage.failed == frozenset()
    assert lineage.calls == points("cart/GetCart#1", "cart/GetCart#2")
    assert lineage.fired == cut
    assert lineage.escaped == frozenset()


def test_a_fault_happened_where_the_mesh_or_an_agent_says_so() -> None:
    spans = trace(Made("cart/GetCart"), Made("ad/GetAds", status=14, flags="FI"), Made("ad/GetAds"))
    cut = cut_of(points("ad/GetAds", "cart/GetCart"))

    (found,) = fired_at(spans, ROOT, cut).items()

    assert found[1] == Fault(Point.parse("ad/GetAds"))
    assert [span.attributes["response_flags"] for span in spans if span.span_id == found[0]] == ["FI"]
    assert fired_at(spans, ROOT, BASELINE) == {}
    at_agent = with_store(fault="timeout")
    ((_, fault),) = fired_at(at_agent, ROOT, cut_of(points("cart>cache/redis/get"))).items()
    assert str(fault.point) == "cart>cache/redis/get"


def test_a_replica_that_refuses_a_retry_does_not_stand_in_for_another() -> None:
    refused = trace(Made("payment/Charge", replica="1", failed_attempts=1, status=6))
    answered = trace(Made("payment/Charge", replica="1", failed_attempts=1))

    assert read_lineage(refused, ROOT, frozenset(), Level.REPLICA).retried == frozenset()
    both = points("payment/Charge#1", "payment/Charge#2")
    assert read_lineage(answered, ROOT, frozenset(), Level.REPLICA).retried == both


def test_a_call_that_failed_on_all_replicas_failed_on_each() -> None:
    spans = trace(Made("cart/GetCart", replica="1", failed_attempts=1, status=14, flags="FI"))

    lineage = read_lineage(spans, ROOT, cut_of(points("cart/GetCart#1", "cart/GetCart#2")), Level.REPLICA)

    assert lineage.failed == points("cart/GetCart#1", "cart/GetCart#2")
    assert lineage.path == frozenset()


def test_a_fault_whose_point_was_called_without_being_faulted_has_escaped() -> None:
    spans = trace(Made("cart/GetCart"), Made("ad/GetAds", status=14, flags="FI"))
    cut = cut_of(points("cart/GetCart", "ad/GetAds", "email/Send"))

    lineage = read_lineage(spans, ROOT, cut, Level.API)

    assert lineage.escaped == cut_of(points("cart/GetCart"))
    assert lineage.fired == cut_of(points("ad/GetAds"))


def test_an_answer_was_spoilt_if_the_mesh_says_so_and_it_was_relied_on_all_the_same() -> None:
    cut = frozenset({Fault.parse("cart/GetCart:garbled")})

    lineage = read_lineage(trace(Made("cart/GetCart", spoilt="garbled")), ROOT, cut, Level.API)
    assert (lineage.fired, lineage.escaped, lineage.path) == (cut, frozenset(), points("cart/GetCart"))

    lineage = read_lineage(trace(Made("cart/GetCart")), ROOT, cut, Level.API)
    assert (lineage.fired, lineage.escaped) == (frozenset(), cut)


def test_where_there_was_no_answer_to_spoil_the_fault_neither_fired_nor_escaped() -> None:
    cut = frozenset({Fault.parse("cart/GetCart:garbled")})

    lineage = read_lineage(trace(Made("cart/GetCart", status=13, spoilt="nothing")), ROOT, cut, Level.API)
    assert (lineage.fired, lineage.escaped, lineage.failed) == (frozenset(), frozenset(), points("cart/GetCart"))
    assert lineage.void == cut
    again = trace(Made("cart/GetCart", status=13, spoilt="nothing"), Made("cart/GetCart", spoilt="garbled"))
    assert read_lineage(again, ROOT, cut, Level.API).void == frozenset()
    abort = cut_of(points("cart/GetCart"))
    assert read_lineage(trace(Made("cart/GetCart", spoilt="nothing")), ROOT, abort, Level.API).escaped == abort


def test_a_fault_for_some_calls_only_has_not_escaped_when_it_leaves_one_alone() -> None:
    cut = frozenset({Fault.parse("cart/GetCart:abort(503),50%")})

    assert read_lineage(trace(Made("cart/GetCart")), ROOT, cut, Level.API).escaped == frozenset()


def test_the_same_api_called_by_two_callers_is_on_the_path_when_one_call_succeeded() -> None:
    spans = trace(Made("a/A", [Made("b/B")], status=13), Made("b/B"))

    assert read_lineage(spans, ROOT, BASELINE, Level.API).path == points("b/B")


def test_a_call_without_the_plan_is_named_as_the_filter_would_have() -> None:
    spans = trace(Made("currency/Convert", planned=False))

    assert read_lineage(spans, ROOT, BASELINE, Level.API).unplanned == points("currency/Convert")


def test_a_call_whose_caller_was_never_exported_still_counts_as_relied_on() -> None:
    spans = [span for span in trace(Made("cart/GetCart")) if span.service != "caller"]

    assert read_lineage(spans, ROOT, BASELINE, Level.API).path == points("cart/GetCart")


@pytest.mark.parametrize("planned", [False, True])
def test_calls_in_traces_of_others_are_foreign_whether_or_not_they_carry_a_plan(planned: bool) -> None:
    spans = trace(Made("currency/Convert", planned=planned), Made("cart/GetCart"))
    stray = [span for span in spans if span.attributes.get("cutset.service") == "currency"]

    ((point, attempt),) = foreign_attempts(stray)

    assert (point, attempt.planned) == (Point("currency", "Convert"), planned)


def test_a_cycle_of_parents_does_not_hang() -> None:
    spans = trace(Made("a/A"))
    looped = [*spans[:2], *(replace(span, parent_id=span.span_id) for span in spans[2:])]

    assert read_lineage(looped, ROOT, BASELINE, Level.API).path == points("a/A")


def test_attributes_that_are_no_numbers_count_as_absent() -> None:
    odd = {"cutset.attempt": "first", "grpc.status_code": "bad", "http.status_code": "9" * 5000}
    spans = [replace(span, attributes={**span.attributes, **odd}) for span in trace(Made("a/A"))]

    assert read_lineage(spans, ROOT, BASELINE, Level.API).failed == points("a/A")


def test_each_attempt_is_told_as_whoever_made_it_saw_it() -> None:
    spans = trace(Made("a/A", [Made("b/B", status=14, flags="FI")]))

    seen = read_lineage(spans, ROOT, cut_of(points("b/B")), Level.API).seen

    assert [(str(each.point), each.caller, each.status) for each in seen] == [
        ("a/A", "", "grpc 0"),
        ("b/B", "a/A", "grpc 14"),
    ]


STORE = "cart>cache/redis/get sessions/0"
SERVED = trace(Made("cart/GetCart", [Made("stock/Count")]), Made("ad/GetAds"))


def with_store(**facts: str) -> list[Span]:
    call = agent_call("x", serving("cart", SERVED).span_id, "cache/redis/get", peer="sessions/0", **facts)
    return [*SERVED, call]


def test_what_an_agent_saw_is_on_the_path_like_any_call() -> None:
    lineage = read_lineage(with_store(), ROOT, BASELINE, Level.API)

    assert lineage.path == lineage.calls == points("cart/GetCart", "stock/Count", "ad/GetAds", STORE)
    assert (str(lineage.seen[0].point), lineage.seen[0].caller, lineage.seen[0].status) == (STORE, "cart/GetCart", "ok")


def test_a_store_that_failed_and_was_tolerated_is_not_on_the_path() -> None:
    cut = cut_of(points(STORE))

    lineage = read_lineage(with_store(error=True, fault="connection-refused"), ROOT, cut, Level.API)

    assert lineage.path == points("cart/GetCart", "stock/Count", "ad/GetAds")
    assert lineage.failed == points(STORE)
    assert lineage.fired == cut
    assert not lineage.escaped


def test_a_fault_that_an_agent_did_not_cause_has_escaped_for_the_reason_that_it_gives() -> None:
    cut = frozenset({Fault.parse(f"{STORE}:connection-refused,call=1")})

    lineage = read_lineage(with_store(not_fired="waiting here would stop everybody"), ROOT, cut, Level.API)

    assert lineage.escaped == cut
    assert lineage.why_escaped == (f"{STORE}: waiting here would stop everybody",)


def test_a_point_without_a_peer_is_at_every_peer_and_one_of_another_caller_is_not() -> None:
    cut = cut_of(points("cart>cache/redis/get", "web>cache/redis/get sessions/0"))

    lineage = read_lineage(with_store(error=True, fault="connection-refused"), ROOT, cut, Level.API)

    assert lineage.fired == cut_of(points("cart>cache/redis/get"))
    assert not lineage.escaped


def test_the_callers_side_of_a_call_is_a_point_if_something_is_tried_there() -> None:
    mesh = of_mesh("stock", SERVED)
    call = agent_call("x", mesh.parent_id, "rpc/grpc/Count", times=(mesh.start_ns, mesh.end_ns))
    refused = EffectChoice((Effect.parse("connection-refused"),))

    usual = read_lineage([*SERVED, call], ROOT, BASELINE, Level.API)
    both = read_lineage([*SERVED, call], ROOT, BASELINE, Level.API, effects=refused)

    assert usual.calls == points("cart/GetCart", "stock/Count", "ad/GetAds")
    assert both.path == both.calls == usual.calls | points("cart>stock/Count")


def test_an_answer_that_the_caller_never_got_is_not_relied_on() -> None:
    mesh = of_mesh("stock", SERVED)
    lost = agent_call("x", mesh.parent_id, "rpc/grpc/Count", error=True, times=(mesh.start_ns, mesh.end_ns))

    lineage = read_lineage([*SERVED, lost], ROOT, BASELINE, Level.API)

    assert lineage.path == points("cart/GetCart", "ad/GetAds")
    assert lineage.calls == points("cart/GetCart", "stock/Count", "ad/GetAds")
