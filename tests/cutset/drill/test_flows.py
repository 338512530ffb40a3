from dataclasses import replace

from cutset.drill.flows import MESSAGE, flows_of
from cutset.model.exchange import Exchange

PLACE = Exchange("1", "shop", "t1", 1.0, 0.1, "POST", "/orders", (), b"", 201)
HANDLED = replace(PLACE, id="2", method=MESSAGE, path="orders.placed", started_at=2.0)
INNER = replace(PLACE, id="3", service="stock", method="GET", path="/stock", started_at=1.5)


def test_messages_and_calls_that_a_request_caused_belong_to_it() -> None:
    [found] = flows_of([HANDLED, INNER, PLACE])

    assert found.name == "POST /orders"
    assert found.steps[0].exchange == PLACE
    assert found.steps[0].consequences == (INNER, HANDLED)


def test_requests_of_no_trace_stand_for_themselves() -> None:
    alone = [replace(PLACE, id=number, trace_id="", path=f"/{number}") for number in ("a", "b")]

    assert {flow.name for flow in flows_of(alone)} == {"POST /a", "POST /b"}
    assert all(not step.consequences for flow in flows_of(alone) for step in flow.steps)


def test_a_message_that_no_request_caused_is_no_flow() -> None:
    assert flows_of([HANDLED]) == []
