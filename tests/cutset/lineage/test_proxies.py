from dataclasses import replace

from cutset.lineage.calls import calls_of, entry_span
from cutset.lineage.proxies import without_proxies
from cutset.model.span import Span, SpanKind

ROOT = "f" * 16


def span(name: str, parent: str, service: str = "", **attributes: str) -> Span:
    told = {"cutset.service": service, "cutset.api": "GET /"} if service else {}
    kind = SpanKind.SERVER if service else SpanKind.CLIENT
    return Span("1" * 32, name, parent, service or "proxy", "GET /", kind, 0, 1, False, {**told, **attributes})


def called(*spans: Span) -> tuple[str, list[str]]:
    """The service of the request itself, and those that it calls."""
    seen = without_proxies(spans, ROOT)
    entry = entry_span(seen, ROOT)
    return (
        str(entry.attributes["cutset.service"]) if entry else "",
        [call.attempts[0].point.service for call in calls_of(seen, ROOT)],
    )


def test_a_gateway_is_no_call_and_the_request_is_what_it_asked_for():
    gateway = span("gateway", ROOT, component="proxy")
    entry, cart = span("entry", "gateway", "web"), span("cart", "entry", "cart")

    assert called(gateway, entry, cart) == ("web", ["cart"])


def test_the_outbound_side_of_a_sidecar_is_no_call():
    entry, outbound = span("entry", ROOT, "web"), span("outbound", "entry", component="proxy")
    cart = span("cart", "outbound", "cart", component="proxy")

    assert called(entry, outbound, cart) == ("web", ["cart"])
    assert without_proxies([entry, outbound, cart], ROOT) == (entry, replace(cart, parent_id="entry"))


def test_an_application_in_front_of_the_mesh_is_no_proxy():
    application = span("application", ROOT)
    assert called(application, span("cart", "application", "cart")) == ("", ["cart"])


def test_the_entry_is_known_by_its_mark_when_the_span_of_the_gateway_went_elsewhere():
    entry = span("entry", "elsewhere", "web", **{"cutset.entry": ROOT})
    assert called(entry, span("cart", "entry", "cart")) == ("web", ["cart"])


def test_without_a_mark_and_without_the_gateway_nobody_knows_the_entry():
    other = span("entry", "elsewhere", "web", **{"cutset.entry": "e" * 16})
    assert called(other, span("cart", "entry", "cart")) == ("", ["web", "cart"])


def test_a_circle_of_proxies_ends():
    first, second = span("first", "second", component="proxy"), span("second", "first", component="proxy")
    assert called(first, second, span("cart", "first", "cart")) == ("", ["cart"])
