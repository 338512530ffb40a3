from dataclasses import replace

from trace_builder import Made, trace

from cutset.lineage.classes import request_class
from cutset.model.span import Span, SpanKind


def test_the_route_that_the_application_names_is_the_class() -> None:
    spans = trace(Made("cart/GetCart"))
    spans[1] = replace(spans[1], name="GET /product/{id}")

    assert request_class(spans) == "GET /product/{id}"


def test_without_a_route_identifiers_in_the_path_are_left_out() -> None:
    assert request_class(trace(Made("cart/GetCart"))) == "GET /product/*"


def test_a_trace_that_does_not_begin_with_http_is_named_after_its_first_span() -> None:
    span = Span("t" * 32, "1" * 16, "", "worker", "consume orders", SpanKind.CONSUMER, 0, 1)

    assert request_class([span]) == "consume orders"


def test_no_spans_no_class() -> None:
    assert request_class([]) == "unknown"
