"""The entry of aiohttp's own server."""

import base64

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from tests.cutset_agent.conftest import TRACE_ID, plan_headers

from cutset_agent import request
from cutset_agent.reports import errors


async def item(call):
    body = await call.read()
    if call.match_info["id"] == "bug":
        raise ValueError("a bug")
    if call.match_info["id"] == "gone":
        raise web.HTTPGone
    return web.json_response({"body": body.decode(), "carried": sorted(request.outgoing_headers())})


def application():
    inner = web.Application()
    inner.router.add_route("*", "/items/{id}", item)
    app = web.Application()
    app.router.add_route("*", "/items/{id}", item)
    app.add_subapp("/inner", inner)
    return app


@pytest.fixture
def ask(installed):
    """Sends requests one after the other and gives their statuses and texts."""

    async def send(asked):
        async with TestServer(application()) as server, aiohttp.ClientSession() as session:
            answers = []
            for method, path, headers in asked:
                async with session.request(method, server.make_url(path), headers=headers, data=b"x") as answer:
                    answers.append((answer.status, await answer.text()))
            return answers

    import asyncio

    return lambda *asked: asyncio.run(send(asked))


def test_a_request_with_a_plan_is_one_and_another_is_none(installed, ask):
    planned, plain = ask(("POST", "/items/12345678?a=1", plan_headers()), ("GET", "/items/7", {}))
    assert '"traceparent"' in planned[1]
    assert '"carried": []' in plain[1]
    (span,) = installed.spans()
    assert (span["name"], span["http.status_code"], span["traceId"]) == ("POST /items/*", "200", TRACE_ID)
    assert span["http.route"] == "/items/{id}"
    assert not errors


def test_the_route_is_that_of_the_whole_application(installed, ask):
    ask(*(("GET", path, plan_headers()) for path in ("/inner/items/1", "/nowhere")))
    assert [span.get("http.route") for span in installed.spans()] == ["/inner/items/{id}", None]


def test_failures_are_reported(installed, ask):
    answers = ask(*(("GET", f"/items/{id}", plan_headers()) for id in ("gone", "bug")))  # noqa: A001
    assert [status for status, _ in answers] == [410, 500]
    found = [(span["http.status_code"], span.get("error")) for span in installed.spans()]
    assert found == [("410", None), ("500", "true")]


def test_exchanges_are_recorded(installed, recorded, ask):
    ask(("POST", "/items/1?a=1", {}))
    (exchange,) = recorded()
    assert (exchange["method"], exchange["path"], exchange["status"]) == ("POST", "/items/1?a=1", 200)
    assert base64.b64decode(exchange["request_body"]) == b"x"
    assert b'"body": "x"' in base64.b64decode(exchange["response_body"])
