import pytest
from hypothesis import given
from tests.samples.effects import EFFECTS

from cutset.errors import InputError
from cutset.model.effect import UNAVAILABLE, Effect, EffectChoice, EffectKind
from cutset.model.point import Point
from cutset_agent.effects import agent_effect

TIMEOUT, EMPTY = Effect(EffectKind.TIMEOUT), Effect(EffectKind.EMPTY)
REFUSED, RESET = Effect(EffectKind.CONNECTION_REFUSED), Effect(EffectKind.CONNECTION_RESET)
ENDPOINTS = (
    "cache/redis/get",
    "cache/redis/hgetall",
    "cache/redis/set",
    "db/psycopg/execute",
    "db/psycopg/commit",
    "db/asyncpg/fetch",
    "db/sqlalchemy/execute",
    "db/pymongo/find",
    "mq/nats/publish",
    "mq/nats/request",
    "mq/aiokafka/send",
    "mq/pika/publish",
    "rpc/httpx/GET /rates",
    "rpc/urllib3/GET /rates",
    "rpc/aiohttp/GET /rates",
    "rpc/grpc/Get",
)
MISS = Effect(EffectKind.LIBRARY, name="cache-miss")


@given(EFFECTS)
def test_an_effect_parses_back(effect):
    assert Effect.parse(str(effect)) == effect


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("delay(2s)", Effect(EffectKind.DELAY, 2000)),
        (" timeout ", TIMEOUT),
        ("library(cache-miss)", MISS),
        ("abort(503,busy%2C later)", Effect(EffectKind.ABORT, 503, body="busy, later")),
        ("abort(503),attempts=1", Effect(EffectKind.ABORT, 503, attempts=1)),
        ("timeout,call=2", Effect(EffectKind.TIMEOUT, call=2)),
    ],
)
def test_effects_are_written_as_documented(text, effect):
    assert Effect.parse(text) == effect


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abort",
        "timeout(3)",
        "delay(5)",
        "grpc(14,body)",
        "library()",
        "abort(503),times=2",
        "delay(1h)",
        "abort(503))",
    ],
)
def test_what_is_no_effect_is_refused(text):
    with pytest.raises(InputError):
        Effect.parse(text)


def test_the_closest_rule_says_what_is_tried_at_a_point():
    choice = EffectChoice((UNAVAILABLE,), (("cart", (TIMEOUT,)), ("cart/Get", (EMPTY,)), ("a>cart/Get", (RESET,))))
    assert choice.at(Point("mail", "Send")) == (UNAVAILABLE,)
    assert choice.at(Point("cart", "Add")) == (TIMEOUT,)
    assert choice.at(Point("cart", "Get", replica="2")) == (EMPTY,)
    assert choice.at(Point("cart", "Get", caller="a")) == (RESET,)


@pytest.mark.parametrize("kind", sorted(set(EffectKind) - {EffectKind.ABORT, EffectKind.LIBRARY}))
def test_what_is_tried_at_an_endpoint_is_what_agents_can_do_there(kind):
    value = {EffectKind.GRPC: 14, EffectKind.DELAY: 100}.get(kind, 0)
    choice = EffectChoice((Effect(kind, value),))
    for endpoint in ENDPOINTS:
        component, _, method = endpoint.partition("/")
        tried = choice.at(Point(component, method, caller="shop"))
        assert all(agent_effect(each.kind, each.value, endpoint=endpoint) for each in tried), endpoint
        assert tried or agent_effect(kind, value, endpoint=endpoint) is None, endpoint


@pytest.mark.parametrize(
    ("point", "effects"),
    [
        (Point("cart", "Get"), (UNAVAILABLE, TIMEOUT)),  # the proxy in front of the callee
        (Point("cart", "Get", caller="shop"), (REFUSED,)),  # what that one cannot do
        (Point("cache", "redis/get", caller="cart"), (REFUSED, TIMEOUT, MISS)),
        (Point("rpc", "httpx/GET /rates", caller="cart"), (UNAVAILABLE, TIMEOUT, REFUSED, MISS)),
    ],
)
def test_each_point_has_the_effects_that_are_possible_there(point, effects):
    assert EffectChoice((UNAVAILABLE, TIMEOUT, REFUSED, MISS)).at(point) == effects


def test_whether_there_is_a_single_effect():
    assert EffectChoice().single == UNAVAILABLE
    assert EffectChoice((UNAVAILABLE, TIMEOUT)).single is None
    assert EffectChoice((UNAVAILABLE,), (("cart", (TIMEOUT,)),)).all == (UNAVAILABLE, TIMEOUT)
