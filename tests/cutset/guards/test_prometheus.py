"""The answers are of the shapes that Prometheus documents, from a server that stands where it would be."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from cutset.guards.prometheus import NoValueError, PrometheusGuard, WrongQueryError, beyond_limits, values_of
from cutset.guards.settings import PrometheusCondition

AT = 1_763_000_000.781
ABOVE = PrometheusCondition("http://prometheus:9090", "errors", above=0.5)


def success(kind: str, result: Any) -> bytes:
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": result}}).encode()


def vector(*values: str) -> bytes:
    return success(
        "vector", [{"metric": {"job": f"job-{number}"}, "value": [AT, value]} for number, value in enumerate(values)]
    )


def refused(kind: str, text: str) -> bytes:
    return json.dumps({"status": "error", "errorType": kind, "error": text}).encode()


@pytest.mark.parametrize(
    ("body", "values"),
    [
        (vector("0.25"), [0.25]),
        (vector("1", "+Inf", "-Inf"), [1, float("inf"), float("-inf")]),
        (success("scalar", [AT, "3"]), [3]),
    ],
)
def test_vectors_and_scalars_have_values(body: bytes, values: list[float]) -> None:
    assert values_of(200, body) == values


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, vector(), r"gives no value \(`or vector\(0\)` makes it 0\)"),
        (503, refused("timeout", "query timed out"), "was answered 503: query timed out"),
        (502, b"<html>bad gateway</html>", "was answered 502 with what Prometheus does not say"),
        (200, b"[]", "was answered 200 with"),
        (200, success("vector", [{"metric": {}, "histogram": [AT, {"count": "1"}]}]), "was answered 200 with"),
        (429, refused("too_many", "slow down"), "was answered 429"),
    ],
)
def test_what_has_no_value_now_may_have_one_later(status: int, body: bytes, words: str) -> None:
    with pytest.raises(NoValueError, match=words):
        values_of(status, body)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, success("matrix", [{"metric": {}, "values": [[AT, "1"]]}]), "gives a matrix, and a number or an instant"),
        (200, success("string", [AT, "text"]), "gives a string"),
        (400, refused("bad_data", "parse error: unexpected end of input"), "was answered 400: parse error"),
        (422, refused("execution", "many-to-many matching"), "was answered 422: many-to-many"),
    ],
)
def test_what_will_never_have_one_is_told_so(status: int, body: bytes, words: str) -> None:
    with pytest.raises(WrongQueryError, match=words):
        values_of(status, body)


def test_any_value_beyond_a_limit_is_enough() -> None:
    both = PrometheusCondition("http://p", "q", above=1, below=0)
    assert beyond_limits([0, 1], both) == ""
    assert beyond_limits([0.5, 2], both) == "is 2, above 1"
    assert beyond_limits([-1, 0.5], both) == "is -1, below 0"
    assert beyond_limits([float("nan"), float("inf")], ABOVE) == "is inf, above 0.5"
    with pytest.raises(NoValueError, match="is not a number"):
        beyond_limits([0.1, float("nan")], ABOVE)


Answer = Callable[[], tuple[int, bytes]]


async def looks(answer: Answer, times: list[float], *, patience: float = 10.0, token: str | None = None) -> list[str]:
    """What the guard says at these seconds, and what it asked."""
    asked: list[web.Request] = []
    now = 0.0

    async def look(guard: PrometheusGuard, at: float) -> str:
        nonlocal now
        now = at
        return await guard.look()

    async def handle(request: web.Request) -> web.Response:
        asked.append(request)
        status, body = answer()
        return web.Response(status=status, body=body, content_type="application/json")

    application = web.Application()
    application.router.add_get("/prefix/api/v1/query", handle)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/prefix"
        async with aiohttp.ClientSession() as client:
            condition = PrometheusCondition(url, 'rate(errors{job="shop"}[1m])', above=0.5, token=token)
            guard = PrometheusGuard(condition, client, patience, clock=lambda: now)
            said = [await look(guard, each) for each in times]
    finally:
        await runner.cleanup()
    assert {request.query["query"] for request in asked} == {'rate(errors{job="shop"}[1m])'}
    assert {request.headers.get("Authorization") for request in asked} == {"Bearer secret" if token else None}
    return [each.replace(url.partition("//")[2].partition("/")[0], "HOST") for each in said]


def test_a_value_is_asked_of_the_query_api_and_trips_at_once() -> None:
    answers = iter([(200, vector("0.5")), (200, vector("0.51"))])

    assert asyncio.run(looks(lambda: next(answers), [0, 1])) == [
        "",
        '`rate(errors{job="shop"}[1m])` at HOST is 0.51, above 0.5',
    ]


def test_no_value_trips_when_it_lasts_and_a_value_in_between_begins_anew() -> None:
    bodies = [vector("NaN"), vector("NaN"), vector("0"), vector(), vector(), vector("NaN")]
    answers = iter((200, body) for body in bodies)

    said = asyncio.run(looks(lambda: next(answers), [0, 9, 20, 29, 38, 40]))

    assert said == ["", "", "", "", "", '`rate(errors{job="shop"}[1m])` at HOST is not a number, for 11 s']


def test_a_wrong_query_trips_at_once() -> None:
    (said,) = asyncio.run(looks(lambda: (400, refused("bad_data", "parse error")), [0]))
    assert said == '`rate(errors{job="shop"}[1m])` at HOST was answered 400: parse error'


def test_a_token_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_TOKEN", "secret")
    assert asyncio.run(looks(lambda: (200, vector("0")), [0], token="PROMETHEUS_TOKEN")) == [""]


def test_a_server_that_is_not_there_trips_when_it_stays_away_and_no_password_is_told() -> None:
    async def said() -> list[str]:
        clock = iter([0.0, 10.0])
        async with aiohttp.ClientSession() as client:
            condition = PrometheusCondition("http://user:hunter2@127.0.0.1:9", "up", below=1)
            guard = PrometheusGuard(condition, client, 10, clock=lambda: next(clock))
            return [await guard.look(), await guard.look()]

    first, second = asyncio.run(said())
    assert first == ""
    assert second.startswith("`up` at 127.0.0.1:9 cannot be asked: ")
    assert second.endswith(", for 10 s")
    assert "hunter2" not in second
