import uuid
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.recorded_orders import START, exchange, orders

from cutset.model.exchange import Exchange
from cutset.workload.templates.rules import Rule, Rules
from cutset.workload.templates.template import templates_of
from cutset.workload.templates.variables import Variable


def variables(exchanges: Sequence[Exchange], rules: Rules = ()) -> dict[tuple[str, str], Variable]:
    """By request class and place; of several flows those of the last."""
    return {
        (step.name, variable.place): variable
        for template in templates_of(exchanges, rules)
        for step in template.steps
        for variable in (*step.blanks, *step.constants)
    }


def test_the_example_of_the_paper() -> None:
    """CAST's figure 2: the session is dynamic, domain and status are not."""
    spans = [
        exchange(
            number, "POST /query", {"session_id": session, "domain_id": "d-01"}, {"session_id": session, "status": "ok"}
        )
        for number, session in enumerate(("4f7k9q2x8m1p", "9r4m8p1z3k7q"))
    ]
    found = variables(spans)
    assert found["POST /query", "body/session_id"].kind == "fresh"
    assert found["POST /query", "body/domain_id"].kind == "constant"


def test_a_flow_is_what_shares_a_token_and_values_are_chained_from_where_they_came() -> None:
    exchanges = [each for number in range(3) for each in orders(number, f"ord-{number + 4711}")]
    templates = templates_of(exchanges)
    assert [len(template.steps) for template in templates] == [4, 4, 4]
    found = variables(exchanges)
    token = found["POST /orders", "header/authorization:2"]
    order = found["GET /orders/*", "path/2"]
    assert (token.kind, token.step, token.source) == ("chained", 0, "body/token")
    assert (order.kind, order.step, order.source) == ("chained", 2, "body/id")
    assert "another in each of 3 flows" in order.why


def test_small_numbers_are_chained_where_their_names_agree() -> None:
    exchanges = [each for number in range(2) for each in orders(number, number + 1)]
    found = variables(exchanges)
    assert found["GET /orders/*", "path/2"].kind == "chained"
    assert found["POST /orders", "body/q"].kind == "constant"


def test_what_every_flow_is_given_stays() -> None:
    exchanges = [each for number in range(2) for each in orders(number, f"ord-{number + 4711}")]
    assert variables(exchanges)["POST /orders", "body/product"].kind == "constant"


def test_a_thing_that_must_exist_is_not_made_up() -> None:
    ids = [str(uuid.UUID(int=number, version=4)) for number in (1, 2, 3)]
    exchanges = [exchange(at, f"GET /products/{each}", None, {"id": each}) for at, each in enumerate(ids)]
    exchanges += [exchange(at + 10, "POST /views", {"product": each}, {}) for at, each in enumerate([*ids, ids[0]])]
    found = variables(exchanges)
    assert found["GET /products/*", "path/2"].why == "names something that must exist"
    assert found["POST /views", "body/product"].kind == "constant"


def test_an_idempotency_key_is_fresh_although_no_answer_repeats_it() -> None:
    exchanges = [
        exchange(at, "POST /pay", {"sum": 5}, {}, headers=[("Idempotency-Key", str(uuid.UUID(int=at, version=4)))])
        for at in (1, 2)
    ]
    assert variables(exchanges)["POST /pay", "header/idempotency-key"].kind == "fresh"
    assert variables(exchanges[:1])["POST /pay", "header/idempotency-key"].kind == "fresh"


def test_a_name_that_the_server_created_is_fresh_and_one_that_it_looked_up_is_not() -> None:
    def users(line: str, status: int) -> list[Exchange]:
        return [exchange(at, line, {"name": f"ann{at}"}, {"name": f"ann{at}"}, status=status) for at in (17, 18)]

    assert variables(users("POST /signup", 201))["POST /signup", "body/name"].kind == "fresh"
    assert variables(users("POST /search", 200))["POST /search", "body/name"].kind == "constant"


def test_what_was_made_up_is_the_same_later_in_the_flow() -> None:
    exchanges = []
    for number in (1, 2):
        cart, at = str(uuid.UUID(int=number, version=4)), number * 10.0
        session = [("cookie", f"session=masked-000000000000000{number}")]
        exchanges.append(exchange(at, f"PUT /carts/{cart}", {}, {}, headers=session))
        exchanges.append(exchange(at + 1, f"GET /carts/{cart}", None, {}, headers=session))
    found = variables(exchanges)
    assert found["PUT /carts/*", "path/2"].kind == "fresh"
    assert found["GET /carts/*", "path/2"].why == "made up earlier in the flow"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (("2026-11-16T06:33:15Z", "2026-11-16T06:43:15Z"), "time"),
        ((int(START * 1000), int((START + 600) * 1000)), "time"),
        (("2026-11-16", "2026-11-16"), "time"),
        (("2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z"), "constant"),
        (("1984-02-29", "1990-03-01"), "constant"),
    ],
)
def test_times_are_those_that_a_clock_may_have_shown(values: tuple[object, object], kind: str) -> None:
    exchanges = [exchange(at * 600.0, "POST /slots", {"when": value}, {}) for at, value in enumerate(values)]
    assert variables(exchanges)["POST /slots", "body/when"].kind == kind


def test_cookies_come_from_the_answers_of_the_flow() -> None:
    exchanges = [
        exchange(0, "GET /", None, {}, set_headers=[("Set-Cookie", "sid=masked-1111111111111111; Path=/")]),
        exchange(1, "GET /cart", None, {}, headers=[("Cookie", "sid=masked-1111111111111111; lang=en; old=masked-22")]),
    ]
    found = variables(exchanges)
    assert found["GET /cart", "cookie/sid"].kind == "cookie"
    assert found["GET /cart", "cookie/lang"].kind == "constant"
    assert found["GET /cart", "cookie/old"].kind == "secret"


def test_people_have_the_last_word() -> None:
    exchanges = [each for number in range(2) for each in orders(number, f"ord-{number + 4711}")]
    rules = (
        Rule("POST /login", "body/user", "value", "USER"),
        Rule("*", "path/2", "constant"),
        Rule("POST /orders", "body/q", "chained", "GET /products body/0/id"),
    )
    found = variables(exchanges, rules)
    assert (found["POST /login", "body/user"].kind, found["POST /login", "body/user"].source) == ("value", "USER")
    assert found["GET /orders/*", "path/2"].kind == "constant"
    assert found["POST /orders", "body/q"].source == "body/0/id"


json_values = st.text(max_size=30) | st.integers(0, 10**20) | st.uuids().map(str)


@given(st.dictionaries(st.text("abcdef", min_size=1, max_size=4), json_values, max_size=4), st.integers(2, 4))
def test_what_is_the_same_in_all_requests_is_never_a_variable(body: dict[str, object], requests: int) -> None:
    exchanges = [exchange(at * 4000.0, "POST /things", body, body, status=201) for at in range(requests)]
    assert not any(step.blanks for template in templates_of(exchanges) for step in template.steps)


@given(st.lists(st.uuids(), min_size=2, max_size=6, unique=True))
def test_what_is_another_in_every_flow_and_random_is_always_a_variable(keys: list[uuid.UUID]) -> None:
    exchanges = [exchange(at, "POST /things", {"k": str(key)}, {}) for at, key in enumerate(keys)]
    assert all(step.blanks[0].kind == "fresh" for template in templates_of(exchanges) for step in template.steps)
