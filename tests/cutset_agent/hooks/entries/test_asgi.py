"""The entry of ASGI applications, served by uvicorn: what reaches them, what is reported and recorded of them."""

import base64
import contextvars

import httpx
import pytest
import redis.asyncio
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware as StarletteMiddleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Mount, Route
from tests.cutset_agent.conftest import TRACE_ID, plan_headers, served

import cutset_agent
from cutset_agent import recording, request


@pytest.fixture
def shop(installed, redis_address):
    """A service that uses Redis."""

    async def product(call):
        async with redis.asyncio.Redis.from_url(f"redis://{redis_address}") as client:
            try:
                found = await client.get("missing")
            except redis.ConnectionError:
                return JSONResponse({"error": "cache"}, 503)
        return JSONResponse({"found": found, "carried": sorted(request.outgoing_headers())})

    async def echo(call):
        return StreamingResponse(iter([await call.body(), b"!"]))

    async def fail(call):
        raise ValueError("a bug")

    routes = [Route("/product/{id}", product), Route("/echo", echo, methods=["POST"]), Route("/fail", fail)]
    app = Starlette(routes=[*routes, Mount("/inner", Starlette(routes=routes))])
    return served(cutset_agent.asgi(app))  # once it has ended, all that was asked is done


def test_a_plan_reaches_the_calls_of_its_request_alone(installed, shop):
    headers = plan_headers(("cache/redis/get", "connection-refused"))
    with shop as url:
        assert httpx.get(f"{url}/product/12345678", headers=headers).status_code == 503
        plain = httpx.get(f"{url}/product/12345678")
    assert (plain.status_code, plain.json()) == (200, {"found": None, "carried": []})
    entry, call = installed.spans()
    assert (entry["name"], entry["http.status_code"], entry["error"]) == ("GET /product/*", "503", "true")
    assert entry["http.route"] == "/product/{id}"
    assert (call["fault"], call["parentSpanId"], call["traceId"]) == ("connection-refused", entry["spanId"], TRACE_ID)


def test_an_empty_plan_is_reported_and_carried_on(installed, shop):
    with shop as url:
        answer = httpx.get(f"{url}/product/1", headers=plan_headers())
    assert answer.json()["carried"] == ["baggage", "traceparent", "tracestate"]
    assert [span["name"] for span in installed.spans()] == ["GET /product/*", "cache/redis/get"]


def test_an_application_within_another_is_one_request(installed, shop):
    with shop as url:
        assert httpx.get(f"{url}/inner/product/1", headers=plan_headers()).status_code == 200
    assert [span["name"] for span in installed.spans()] == ["GET /inner/product/*", "cache/redis/get"]
    assert installed.spans()[0]["http.route"] == "/inner/product/{id}"


def test_an_application_that_fails_is_reported_as_failed(installed, shop):
    with shop as url:
        assert httpx.get(f"{url}/fail", headers=plan_headers()).status_code == 500
    (span,) = installed.spans()
    assert (span["http.status_code"], span["error"]) == ("500", "true")


def test_a_recording_has_both_bodies_and_the_query(installed, shop, recorded):
    with shop as url, httpx.Client() as client:
        client.post(f"{url}/echo?a=%20b", content=b"hello", headers={"x-two": "1"})
        client.post(f"{url}/echo", content=b"x" * (recording.MAX_BODY_BYTES + 1))
    first, second = recorded()
    assert (first["method"], first["path"], first["status"]) == ("POST", "/echo?a=%20b", 200)
    assert ["x-two", "1"] in first["request_headers"]
    assert base64.b64decode(first["request_body"]) == b"hello"
    assert base64.b64decode(first["response_body"]) == b"hello!"
    assert (first["truncated"], second["truncated"]) == (False, True)
    assert len(base64.b64decode(second["request_body"])) == recording.MAX_BODY_BYTES


def test_the_operations_of_a_recorded_request_are_with_it(installed, shop, recorded):
    with shop as url:
        httpx.get(f"{url}/product/1")
    (exchange,) = recorded()
    assert [operation["endpoint"] for operation in exchange["operations"]] == ["cache/redis/get"]


def test_a_request_ends_with_its_body_and_not_with_what_is_done_afterwards(installed):
    ended = []

    def note():
        ended.append(request.current().reach.ended is not None)

    async def pieces():
        note()
        yield b"1"
        note()
        yield b"2"

    async def serve(call):
        return StreamingResponse(pieces(), background=BackgroundTask(note))

    with served(Starlette(routes=[Route("/", serve)])) as url:
        assert httpx.get(url, headers=plan_headers()).text == "12"
    assert ended == [False, False, True]


@pytest.mark.parametrize("kind", ["asynchronous", "blocking"])
def test_what_frameworks_run_for_a_request_is_its_own_also_beside_others(installed, kind):
    """In tasks of middlewares, and in threads."""
    request.configure(request.settings._replace(uncontained=False))
    refusals = []

    async def serve(call):
        refusals.append(request.current().refusal())
        return JSONResponse({})

    def serve_in_thread(call):
        refusals.append(request.current().refusal())
        return JSONResponse({})

    class Middleware(BaseHTTPMiddleware):
        async def dispatch(self, call, call_next):
            return await call_next(call)

    other = contextvars.copy_context().run(request.enter, [], "GET /other")
    route = Route("/", serve if kind == "asynchronous" else serve_in_thread)
    with served(Starlette(routes=[route], middleware=[StarletteMiddleware(Middleware)] * 2)) as url:
        assert httpx.get(url, headers=plan_headers()).status_code == 200
    contextvars.copy_context().run(request.leave, other)
    assert refusals == [""]
