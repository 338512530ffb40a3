from tests.samples.agent_traces import agent_request, of_mesh, serving
from tests.samples.trace_builder import Made, trace

from cutset.experiment.agent_checks import agent_checks
from cutset.model.checkup import LineState
from cutset.model.span import Span, SpanKind

SPANS = trace(Made("cart/GetCart"))
MESH = of_mesh("cart", SPANS).span_id


def lines(*told: Span) -> list[tuple[LineState, str]]:
    return [(line.state, line.text) for line in agent_checks([[*SPANS, *told]])]


def test_without_agents_and_stores_nothing_is_said() -> None:
    assert lines() == []


def test_agents_are_named_with_their_versions() -> None:
    assert lines(agent_request("r", MESH)) == [(LineState.WELL, "agents obey our plans in cart (1)")]


def test_an_agent_that_refuses_our_plans_is_wrong() -> None:
    ((state, text),) = lines(agent_request("r", MESH, refused="1"))

    assert state is LineState.WRONG
    assert text.startswith("the agent in cart refuses our plans")


def test_an_agent_with_another_name_is_noted() -> None:
    told = lines(agent_request("r", MESH, service="basket"))

    assert told[1:] == [(LineState.NOTE, "the agent in cart calls it basket: points at its calls are named so")]


def test_a_store_that_no_agent_reaches_is_noted_with_what_to_do() -> None:
    own = serving("cart", SPANS).span_id
    facts = {"db.system": "redis", "server.address": "sessions", "server.port": 6379}
    get = Span("t" * 32, "d", own, "cart", "GET", SpanKind.CLIENT, 5, 9, attributes=facts)

    (line,) = agent_checks([[*SPANS, get]])

    assert line.text == "nothing can be injected into redis (called by cart at sessions:6379 directly)"
    assert line.remedy == "Put the agent into cart: `cutset agent run --service cart -- COMMAND`"
    (_, line) = agent_checks([[*SPANS, get, agent_request("r", MESH)]])
    assert line.remedy == "The agents there have no hook for these libraries"
