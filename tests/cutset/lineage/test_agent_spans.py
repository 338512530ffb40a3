import pytest
from tests.samples.agent_traces import agent_call, agent_request

from cutset.lineage.agent_spans import (
    call_site_of,
    has_failed,
    is_agent_call,
    is_agent_request,
    is_agent_span,
    is_own,
    own_calls,
)
from cutset.lineage.calls import is_mesh_span
from cutset.model.call_site import AgentCallSite
from cutset.model.span import SpanKind


def test_an_agents_spans_are_not_the_meshs_although_they_name_a_service() -> None:
    request, call = agent_request("r", "m"), agent_call("c", "r", "cache/redis/get")

    assert is_agent_span(request)
    assert is_agent_span(call)
    assert not is_mesh_span(request)
    assert not is_mesh_span(call)
    assert is_agent_request(request)
    assert not is_agent_request(agent_request("r", "m", refused="1"))
    assert is_agent_call(call)
    assert not is_agent_call(agent_call("c", "r", "mq/nats/handle", kind=SpanKind.CONSUMER))


def test_a_call_is_the_requests_own_if_the_agent_has_counted_it() -> None:
    assert is_own(agent_call("c", "r", "cache/redis/get"))
    assert not is_own(agent_call("c", "r", "cache/redis/get", occurrence="0"))


def test_a_call_site_is_what_plans_address() -> None:
    call = agent_call("c", "r", "cache/redis/get", peer="sessions/0")

    assert call_site_of(call) == AgentCallSite("cart", "cache/redis/get", "sessions/0")


def test_what_a_library_does_to_have_a_connection_is_no_call_nor_is_a_part_of_a_call() -> None:
    outer = agent_call("o", "r", "db/sqlalchemy/execute")
    spans = [
        outer,
        agent_call("i", "o", "db/psycopg/execute"),
        agent_call("p", "r", "cache/redis/ping"),
        agent_call("n", "r", "db/psycopg/connect"),
    ]

    assert own_calls(spans) == [outer]


@pytest.mark.parametrize(
    ("status", "error", "failed"), [("", False, False), ("", True, True), ("200", False, False), ("503", False, True)]
)
def test_a_call_failed_if_it_raised_or_was_answered_so(status: str, *, error: bool, failed: bool) -> None:
    facts = {"status": status} if status else {}

    assert has_failed(agent_call("c", "r", "rpc/httpx/GET /a", error=error, **facts)) == failed
