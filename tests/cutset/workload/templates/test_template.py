from tests.samples.recorded_orders import exchange, orders

from cutset.workload.templates.template import (
    Template,
    TemplateStep,
    entry_exchanges,
    marked,
    templates_of,
    unsendable,
    verbatim,
)
from cutset.workload.templates.variables import Variable


def flow() -> Template:
    return templates_of([each for number in range(2) for each in orders(number, f"ord-{number + 4711}")])[0]


def test_templates_are_shown_with_their_variables() -> None:
    assert marked(flow().steps[3]).path == "/orders/#{3: body/id}"
    made_up = TemplateStep(
        "",
        exchange(0, "POST /a?b=1", {"c": 2}),
        (Variable("body/c", "fresh", ""), Variable("query/b", "value", "", source="B")),
    )
    assert marked(made_up).path == "/a?b=#{$B}"
    assert marked(made_up).body == b'{"c":"#{fresh}"}'


def test_a_template_has_the_same_name_for_the_same_exchanges() -> None:
    assert flow().id == flow().id


def test_what_cannot_be_sent_again_is_left_out() -> None:
    message = exchange(0, "MESSAGE orders.created", {})
    lost = exchange(1, "GET /a", status=0)
    assert unsendable(message)
    assert unsendable(lost)
    assert templates_of([message, lost]) == ()


def test_calls_between_services_are_not_users_requests() -> None:
    inner = exchange(1, "GET /stock", service="stock", trace_id="t")
    outer = exchange(0, "GET /shop", service="shop", trace_id="t")
    direct = exchange(2, "GET /stock", service="stock")
    assert entry_exchanges([outer, inner, direct]) == [outer, direct]


def test_the_naive_replay_has_the_same_requests() -> None:
    assert verbatim(flow()).steps == flow().steps
    assert verbatim(flow()).verbatim
