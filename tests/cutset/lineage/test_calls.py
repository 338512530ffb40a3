from dataclasses import replace

import pytest
from tests.samples.trace_builder import ROOT, Made, trace

from cutset.lineage.calls import answered_badly, attempt_number, calls_of, entry_span, is_mesh_span
from cutset.model.point import Point
from cutset.model.span import Span, SpanKind


def span(**attributes: object) -> Span:
    return Span("t" * 32, "a" * 16, "", "mesh", "name", SpanKind.SERVER, 0, 1, False, dict(attributes))


def test_a_call_has_all_its_attempts_in_their_order_and_the_last_one_decides() -> None:
    (call,) = calls_of(trace(Made("cart/GetCart", replica="1", failed_attempts=2)), ROOT)

    assert [str(attempt.point) for attempt in call.attempts] == ["cart/GetCart#2", "cart/GetCart#3", "cart/GetCart#1"]
    assert [attempt.failed for attempt in call.attempts] == [True, True, False]
    assert not call.failed


def test_two_calls_of_the_same_api_are_two_calls() -> None:
    assert len(calls_of(trace(Made("cart/GetCart"), Made("cart/GetCart")), ROOT)) == 2


def test_the_request_itself_is_no_call() -> None:
    spans = trace(Made("cart/GetCart"))

    assert [str(call.attempts[0].point.of_api) for call in calls_of(spans, ROOT)] == ["cart/GetCart"]
    assert entry_span(spans, ROOT) is spans[0]
    assert entry_span(spans[1:], ROOT) is None


def test_a_call_says_whether_the_mesh_injected_and_whether_the_plan_arrived() -> None:
    aborted, plain, unplanned = calls_of(
        trace(Made("a/A", status=14, flags="FI"), Made("b/B"), Made("c/C", planned=False)), ROOT
    )

    assert [call.attempts[-1].injected for call in (aborted, plain, unplanned)] == [True, False, False]
    assert [call.attempts[-1].planned for call in (aborted, plain, unplanned)] == [True, True, False]


def test_what_an_enclosing_call_that_failed_made_was_relied_on_by_nobody() -> None:
    spans = trace(Made("a/A", [Made("b/B", [Made("c/C")])], status=13), Made("d/D", [Made("e/E")]))

    within = {call.attempts[0].point.service: call.within_failure for call in calls_of(spans, ROOT)}

    assert within == {"a": False, "b": True, "c": True, "d": False, "e": False}


def test_a_failed_request_does_not_make_its_calls_pointless() -> None:
    (call,) = calls_of(trace(Made("a/A"), entry_status=500), ROOT)

    assert not call.within_failure


def test_a_span_that_came_twice_is_one_attempt() -> None:
    spans = trace(Made("a/A"))

    (call,) = calls_of([*spans, *spans], ROOT)

    assert len(call.attempts) == 1


@pytest.mark.parametrize(
    ("attributes", "failed"),
    [
        ({"grpc.status_code": "0"}, False),
        ({"grpc.status_code": "5"}, False),  # not found: an answer
        ({"grpc.status_code": "14", "http.status_code": "200"}, True),
        ({"http.status_code": "404"}, False),
        ({"http.status_code": "503"}, True),
        ({"http.status_code": "0"}, True),  # the caller hung up
        ({}, True),
    ],
)
def test_a_bad_answer_is_one_of_the_server(attributes: dict[str, object], failed: bool) -> None:
    assert answered_badly(span(**attributes)) is failed


@pytest.mark.parametrize(("text", "number"), [("3", 3), ("", 1), ("third", 1), ("-1", 1), ("9" * 10, 1), ("²", 1)])
def test_an_attempt_that_is_no_number_is_the_first(text: str, number: int) -> None:
    assert attempt_number(span(**{"cutset.attempt": text})) == number


def test_spans_of_applications_are_not_the_meshs() -> None:
    assert is_mesh_span(span(**{"cutset.service": "cart"}))
    assert not is_mesh_span(span(**{"rpc.system": "grpc"}))


def test_a_call_without_a_plan_is_named_by_its_path() -> None:
    (call,) = calls_of(trace(Made("a/A", planned=False)), ROOT)
    http = replace(
        call.attempts[0].span,
        attributes={"cutset.service": "web", "http.method": "GET", "http.url": "http://x/carts/17?q=1"},
    )

    assert call.attempts[0].point == Point("a", "A", replica="1")
    assert [attempt.point.service for each in calls_of([http], ROOT) for attempt in each.attempts] == ["web"]
