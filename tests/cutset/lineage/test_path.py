from dataclasses import replace

import pytest
from tests.samples.trace_builder import ROOT, Made, trace

from cutset.lineage.path import Level, foreign_attempts, read_lineage
from cutset.model.fault import BASELINE, Fault, cut_of
from cutset.model.outcome import Points
from cutset.model.point import Point


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
