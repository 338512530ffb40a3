from collections.abc import Sequence

from tests.samples.recorded_orders import exchange, orders

from cutset.model.exchange import Exchange
from cutset.workload.templates.flows import flows_of, read, request_class


def lengths(exchanges: Sequence[Exchange]) -> list[int]:
    return [len(flow) for flow in flows_of([read(each) for each in exchanges])]


def test_a_token_that_one_answer_gave_out_joins_the_requests_that_have_it() -> None:
    first, second = orders(1, "ord-4711"), orders(2, "ord-4712")
    interleaved = [each for pair in zip(first, second, strict=True) for each in pair]
    flows = flows_of([read(each) for each in interleaved])
    assert [[reading.exchange for reading in flow] for flow in flows] == [first, second]


def test_requests_of_one_trace_are_of_one_client() -> None:
    assert lengths(
        [exchange(0, "GET /a", trace_id="t"), exchange(1, "GET /b", trace_id="t"), exchange(2, "GET /c")]
    ) == [
        2,
        1,
    ]


def test_a_cookie_that_everybody_gets_joins_nobody() -> None:
    lang = "lang=masked-1111111111111111"
    exchanges = [exchange(at, "GET /", None, {}, set_headers=[("Set-Cookie", lang)]) for at in (0, 1)]
    exchanges += [exchange(at, "GET /cart", None, {}, headers=[("Cookie", lang)]) for at in (2, 3)]
    assert lengths(exchanges) == [1, 1, 1, 1]


def test_a_long_pause_ends_a_flow() -> None:
    session = [("cookie", "session=masked-1111111111111111")]
    exchanges = [exchange(at, "GET /cart", None, {}, headers=session) for at in (0, 60, 4000)]
    assert lengths(exchanges) == [2, 1]


def test_a_class_is_named_without_what_differs() -> None:
    assert request_class(exchange(0, "GET /orders/4711")) == "GET /orders/*"


def test_what_proxies_add_is_not_read() -> None:
    reading = read(exchange(0, "GET /a", headers=[("traceparent", "00-1-2-01"), ("X-Key", "k")]))
    assert set(reading.request) == {"path/1", "header/x-key"}
