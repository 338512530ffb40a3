import asyncio
import json
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import aiohttp
import httpx
import pytest
import requests
from aiohttp import web
from aiohttp.test_utils import RawTestServer

from cutset.errors import UsageError
from cutset.model.request import Request, Response, Step, WorkloadStep
from cutset.workload.functions import run_function
from cutset.workload.send import open_client, send

PLAN = {"traceparent": "00-1-2-01", "tracestate": "cutset=plan"}


def sent_by(
    function: Callable[..., Any], *, setup: tuple[Step | WorkloadStep, ...] = (), timeout: float = 20.0
) -> tuple[Response, list]:
    """What the function is said to have got, and the requests that came, with what carried the plan."""
    seen = []

    async def handle(request: web.BaseRequest) -> web.Response:
        body = (await request.read()).decode()
        seen.append((request.method, request.raw_path, request.headers.get("tracestate"), body))
        answer = web.json_response({"path": request.path, "cookie": request.headers.get("cookie")})
        answer.set_cookie("sid", "cookie-of-session")
        return answer

    async def run() -> Response:
        async with RawTestServer(handle) as server, open_client(1) as client:
            step = WorkloadStep("flows:shop", partial(run_function, "flows:shop", function))
            return await send(
                client,
                Request("shop", step, setup),
                base_url=str(server.make_url("/")),
                plan=lambda: PLAN,
                setup_headers=dict,
                timeout=timeout,
                session="s1",
            )

    return asyncio.run(run()), seen


def test_all_requests_of_a_function_carry_the_plan_and_are_counted():
    async def shop(call):
        item = (await call.get("/items/{session}")).json()
        return await call.post("/cart", json={"of": item["path"]})

    response, seen = sent_by(shop)

    assert seen == [
        ("GET", "/items/s1", "cutset=plan", ""),
        ("POST", "/cart", "cutset=plan", '{"of":"/items/s1"}'),
    ]
    assert (response.status, response.content_type, response.exchanges) == (200, "application/json; charset=utf-8", 2)
    assert json.loads(response.body)["path"] == "/cart"


def test_a_plain_function_runs_beside_the_loop_in_the_session_of_the_set_up():
    def shop(call):
        assert (call.session, call.values["first"]) == ("s1", "/login")
        return call.get("/cart")

    response, seen = sent_by(shop, setup=(Step("POST", "/login", take={"first": "json.path"}),))

    assert [path for _, path, _, _ in seen] == ["/login", "/cart"]
    assert json.loads(response.body) == {"path": "/cart", "cookie": "sid=…"}  # it was sent, and is nobody's business


async def _by_aiohttp(call):
    async with aiohttp.ClientSession() as client, client.get(f"{call.url}/x", headers=call.headers) as answer:
        await answer.read()
        return answer


async def _by_httpx(call):
    async with httpx.AsyncClient() as client:
        return await client.get(f"{call.url}/x", headers=call.headers)


def _by_requests(call):
    return requests.get(f"{call.url}/x", headers=dict(call.metadata), timeout=20)


@pytest.mark.parametrize("function", [_by_aiohttp, _by_httpx, _by_requests])
def test_answers_of_other_clients_are_understood_and_their_requests_not_counted(function):
    response, seen = sent_by(function)

    assert seen == [("GET", "/x", "cutset=plan", "")]
    assert (response.status, json.loads(response.body)["path"], response.exchanges) == (200, "/x", 0)
    assert response.header("content-type") == response.content_type == "application/json; charset=utf-8"


@pytest.mark.parametrize(
    ("returned", "content_type", "body"),
    [
        (None, "", b""),
        ("Thanks", "text/plain; charset=utf-8", b"Thanks"),
        (b"\x00", "", b"\x00"),
        ({"order": 1}, "application/json", b'{"order": 1}'),
    ],
)
def test_what_else_a_function_returns_is_the_answer(returned, content_type, body):
    async def shop(call):
        await call.get("/")
        return returned

    response, _ = sent_by(shop)
    assert (response.status, response.content_type, response.body) == (200, content_type, body)


async def _fails(call):
    await call.get("/")
    raise AssertionError("no order in the answer")


def _fails_plainly(call):
    call.get("/")
    raise AssertionError("no order in the answer")


@pytest.mark.parametrize("function", [_fails, _fails_plainly])
def test_what_a_function_raises_is_what_the_user_sees(function):
    response, _ = sent_by(function)
    assert (response.status, response.error) == (0, "AssertionError: no order in the answer")


def test_a_function_that_takes_too_long_is_not_waited_for():
    async def shop(call):
        await call.get("/")
        await asyncio.Event().wait()

    assert sent_by(shop, timeout=0.2)[0].error == "no answer within 0.2s"


def test_what_outlives_its_time_sends_nothing_any_more():
    goes_on, went_on = threading.Event(), threading.Event()

    def shop(call):
        call.get("/first")
        goes_on.wait(20)
        with pytest.raises(ConnectionError, match="the time of this request is over"):
            call.get("/late")
        went_on.set()

    async def cart(call):
        goes_on.set()
        assert await asyncio.to_thread(went_on.wait, 20)
        await call.get("/")

    async def both(call):
        await asyncio.wait_for(run_function("flows:shop", shop, call._errand), 0.3)

    def run(call):
        with pytest.raises(TimeoutError):
            asyncio.run_coroutine_threadsafe(both(call._call), call._loop).result()
        asyncio.run_coroutine_threadsafe(cart(call._call), call._loop).result()

    assert [path for _, path, _, _ in sent_by(run)[1]] == ["/first", "/"]


def test_a_function_that_sends_nothing_with_the_plan_is_no_experiment():
    with pytest.raises(UsageError, match="`flows:shop` sent nothing with the headers that carry the plan"):
        sent_by(lambda call: "fine")


def test_a_set_up_step_need_not_send_anything_and_gives_what_it_returns():
    seed = WorkloadStep("seed", partial(run_function, "seed", lambda call: {"id": 7}), take={"order": "json.id"})
    response, seen = sent_by(lambda call: call.get("/{order}"), setup=(seed,))
    assert (response.status, seen[0][1]) == (200, "/7")


def test_an_answer_that_says_nothing_is_refused():
    with pytest.raises(UsageError, match="`flows:shop` returned int, which says nothing of an answer"):
        sent_by(lambda call: call.get("/") and 7)
