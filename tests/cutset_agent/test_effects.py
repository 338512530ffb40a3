"""Which effect is possible where, and what it is on the wire."""

import pytest

from cutset_agent.effects import agent_effect, reported_as, why_not
from cutset_agent.hooks import HOOKS
from cutset_agent.hooks.library import faults_at
from cutset_agent.wire import WireFault, fault_code

HTTP = [f"rpc/{client}/GET /quote/*" for client in ("httpx", "requests", "urllib3", "aiohttp")]
SQL = ["db/psycopg/execute", "db/psycopg/commit", "db/asyncpg/fetch", "db/asyncpg/commit", "db/sqlalchemy/execute"]
STORES = ["cache/redis/get", "cache/redis/set", "cache/redis/pipeline", *SQL, "db/pymongo/insert_one"]
KAFKA = ["mq/aiokafka/send", "mq/aiokafka/send_and_wait"]
BROKERS = ["mq/nats/publish", "mq/nats/request", *KAFKA, "mq/pika/basic_publish"]
HANDLERS = ["mq/nats/handle", "mq/aiokafka/handle", "mq/pika/handle"]
EVERYWHERE = [*HTTP, "rpc/grpc/GetQuote", *STORES, *BROKERS, *HANDLERS]


def library(name):
    return WireFault("L", fault_code(name))


@pytest.mark.parametrize("endpoint", EVERYWHERE)
def test_every_call_can_be_delayed(endpoint):
    assert agent_effect("delay", 250, endpoint=endpoint) == WireFault("D", 250)
    assert reported_as("delay", 250, endpoint=endpoint) == "delay(250ms)"


@pytest.mark.parametrize("endpoint", EVERYWHERE)
def test_statuses_are_for_calls_that_are_answered_with_one(endpoint):
    by_http = endpoint in HTTP or endpoint.startswith("rpc/grpc/")
    assert agent_effect("abort", 418, endpoint=endpoint) == (WireFault("A", 418) if by_http else None)
    by_grpc = endpoint.startswith("rpc/grpc/")
    assert agent_effect("grpc", 14, endpoint=endpoint) == (WireFault("G", 14) if by_grpc else None)
    assert bool(why_not("abort", 418, endpoint=endpoint)) != by_http
    assert bool(why_not("grpc", 14, endpoint=endpoint)) != by_grpc
    assert (reported_as("abort", 418, endpoint=endpoint), reported_as("grpc", 14, endpoint=endpoint)) == (
        "status-418",
        "grpc-14",
    )


@pytest.mark.parametrize("endpoint", [*HTTP, "rpc/grpc/GetQuote", *STORES, *BROKERS])
@pytest.mark.parametrize("effect", ["connection-refused", "connection-reset"])
def test_every_connection_can_break(effect, endpoint):
    name = "broker-unavailable" if (effect, endpoint) in {("connection-refused", each) for each in BROKERS} else effect
    assert agent_effect(effect, endpoint=endpoint) == library(name)
    assert reported_as(effect, endpoint=endpoint) == name
    assert why_not(effect, endpoint=endpoint) == ""


@pytest.mark.parametrize("endpoint", [*HTTP, "rpc/grpc/GetQuote", *STORES, *BROKERS])
def test_an_answer_can_stay_out_where_somebody_waits(endpoint):
    assert agent_effect("timeout", endpoint=endpoint) == library("no-answer")


@pytest.mark.parametrize("endpoint", [*HANDLERS, "mq/nats/respond"])
def test_nobody_waits_for_the_answer_of_a_handler(endpoint):
    assert agent_effect("timeout", endpoint=endpoint) is None
    assert why_not("timeout", endpoint=endpoint) == f"nobody waits for an answer at `{endpoint}`"


@pytest.mark.parametrize("endpoint", [*HTTP, "rpc/grpc/GetQuote", "cache/redis/get", "mq/nats/request", *HANDLERS])
def test_bodies_can_be_spoilt_where_there_are_some(endpoint):
    empty = "cache-miss" if endpoint.startswith("cache/") else "empty-body"
    for effect, name in (("empty", empty), ("truncated", "truncated-body"), ("garbled", "garbled-body")):
        assert agent_effect(effect, endpoint=endpoint) == library(name)


@pytest.mark.parametrize("endpoint", [*SQL, "cache/redis/set", "mq/pika/basic_publish", "mq/nats/publish"])
def test_what_has_no_body_cannot_be_spoilt(endpoint):
    for effect in ("empty", "truncated", "garbled"):
        assert agent_effect(effect, endpoint=endpoint) is None
        assert why_not(effect, endpoint=endpoint) == f"`{effect}` is no fault of `{endpoint}`"


def test_faults_of_the_library_are_known_by_the_method():
    assert agent_effect("library", name="deadlock", endpoint="db/psycopg/execute") == library("deadlock")
    assert agent_effect("library", name="deadlock", endpoint="db/psycopg/connect") is None
    assert agent_effect("library", name="read-only", endpoint="cache/redis/get") is None
    assert why_not("library", name="deadlock", endpoint="db/psycopg/connect") == (
        "`deadlock` is no fault of `db/psycopg/connect`"
    )


def test_without_a_hook_nothing_is_possible():
    assert why_not("timeout", endpoint="cache/memcache/get") == "the agent has no faults for `cache/memcache/get`"


def test_a_body_travels_with_the_status():
    assert agent_effect("abort", 503, endpoint=HTTP[0], text="busy") == WireFault("A", 503, text="busy")


def test_all_hooks_of_clients_are_looked_at():
    frameworks = {endpoint.split("/")[1] for endpoint in EVERYWHERE}
    entries = {"aiohttp_web", "asgi", "grpc_aio", "grpc_server", "opentelemetry", "uvicorn", "wsgi"}
    assert frameworks - {"requests"} == set(HOOKS) - entries
    assert all(faults_at(endpoint) for endpoint in EVERYWHERE)
