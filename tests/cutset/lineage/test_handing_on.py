from dataclasses import replace

from tests.samples.small_shop import points
from tests.samples.trace_builder import ROOT, Made, trace

from cutset.lineage.handing_on import HandedOn, Passage, passage_of, why_not_accepted
from cutset.model.span import Span


def tagged(spans: list[Span], service: str, **tags: str) -> list[Span]:
    """With more tags on the mesh's span of a service; an empty one takes a tag away."""

    def retagged(span: Span) -> Span:
        if span.attributes.get("cutset.service") != service:
            return span
        changed = {**span.attributes, **{f"cutset.{name}": value for name, value in tags.items()}}
        return replace(span, attributes={name: value for name, value in changed.items() if value})

    return [retagged(span) for span in spans]


def test_a_service_hands_on_what_comes_with_its_calls():
    spans = trace(Made("cart/GetCart", [Made("stock/Count")]), Made("ad/GetAds"))
    spans = tagged(spans, "cart", carriers="tracestate,baggage")
    spans = tagged(spans, "ad", carriers="baggage")
    spans = tagged(spans, "stock", carriers="jaeger", context="uber-trace-id")

    found = passage_of(spans, ROOT)

    nothing = frozenset()
    assert found == Passage(
        arrived=True,
        accepted=True,
        refused=False,
        entry="frontend",
        services=(
            HandedOn("cart", points("stock/Count"), ("uber-trace-id",), ("jaeger",), nothing, nothing),
            HandedOn("frontend", points("cart/GetCart", "ad/GetAds"), ("traceparent",), ("baggage",), nothing, nothing),
        ),
        quiet=frozenset({"ad", "stock"}),
    )
    assert found.joined


def test_a_call_without_the_plan_is_told_from_one_whose_plan_is_refused():
    spans = trace(Made("cart/GetCart", planned=False), Made("ad/GetAds", planned=False))
    spans = tagged(spans, "ad", refused="1")

    (frontend,) = passage_of(spans, ROOT).services

    assert (frontend.without_plan, frontend.refused) == (points("cart/GetCart"), points("ad/GetAds"))
    assert frontend.carriers == ()


def test_a_plan_that_the_mesh_refuses_at_the_entry_is_not_accepted():
    found = passage_of(tagged(trace(), "frontend", api="", refused="1"), ROOT)

    assert (found.arrived, found.accepted, found.joined, found.quiet) == (True, False, False, {"frontend"})
    assert why_not_accepted(found).startswith(
        "the mesh refused the plan that came with the request: either `CUTSET_KEY`"
    )


def test_a_plan_that_does_not_get_to_the_mesh_was_dropped_on_its_way():
    found = passage_of(tagged(trace(), "frontend", api=""), ROOT)

    assert why_not_accepted(found).startswith("no plan came with the request to the mesh: `target.url` must be")
    assert why_not_accepted(passage_of(trace(), ROOT)) == ""


def test_without_spans_nothing_has_arrived():
    assert passage_of([], ROOT) == Passage(
        arrived=False, accepted=False, refused=False, entry="", services=(), quiet=frozenset()
    )


def test_a_call_whose_caller_exports_no_spans_to_us_is_in_the_trace_all_the_same():
    spans = [span for span in trace(Made("cart/GetCart")) if span.service != "caller"]

    found = passage_of(spans, ROOT)

    assert found.joined
    assert [(each.service, each.calls) for each in found.services] == [("", points("cart/GetCart"))]


def test_a_caller_that_the_mesh_does_not_know_goes_by_its_own_name():
    spans = [span for span in trace(Made("cart/GetCart")) if span.attributes.get("cutset.service") != "frontend"]

    found = passage_of(spans, ROOT)

    assert not found.arrived
    assert [each.service for each in found.services] == ["caller"]


def test_calls_of_a_service_that_exports_no_span_are_in_the_trace_all_the_same():
    spans = [span for span in trace(Made("cart/GetCart")) if "cutset.service" in span.attributes]

    found = passage_of(spans, ROOT)

    assert found.joined
    assert [(each.service, each.calls) for each in found.services] == [("", points("cart/GetCart"))]
