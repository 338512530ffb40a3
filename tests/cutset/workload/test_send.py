import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping

import httpx
import pytest

from cutset.errors import TargetError
from cutset.model.request import Request, Response, Step
from cutset.workload.send import BODY_LIMIT, open_client, send

Handler = Callable[[httpx.Request], Awaitable[httpx.Response]] | Callable[[httpx.Request], httpx.Response]
PING = Request("GET /ping", Step("GET", "/ping"))


async def send_to(client: httpx.AsyncClient, request: Request, **options: object) -> Response:
    arguments = {"base_url": "http://shop.test/", "plan": {}, "setup_headers": dict, "timeout": 30.0, **options}
    return await send(client, request, **arguments)


def exchange(handler: Handler, request: Request, **options: object) -> Response:
    async def run() -> Response:
        async with httpx.AsyncClient(transport=httpx.MockTransport(handler)) as client:
            return await send_to(client, request, **options)

    return asyncio.run(run())


def record(request: Request, **options: object) -> list[httpx.Request]:
    seen: list[httpx.Request] = []

    def answer(received: httpx.Request) -> httpx.Response:
        seen.append(received)
        return httpx.Response(200)

    exchange(answer, request, **options)
    return seen


def test_the_answer_comes_back_whole():
    response = exchange(lambda _: httpx.Response(201, json={"a": 1}), PING)
    assert (response.status, response.content_type, response.body) == (201, "application/json", b'{"a":1}')
    assert response.error == ""
    assert response.seconds > 0


def test_only_the_request_under_test_carries_the_plan():
    request = Request("buy", Step("POST", "/buy"), setup=(Step("POST", "/cart"), Step("GET", "/cart")))
    numbers = iter(range(9))

    def setup_headers() -> Mapping[str, str]:
        return {"traceparent": f"set-up {next(numbers)}"}

    seen = record(request, plan={"traceparent": "plan", "tracestate": "x=y"}, setup_headers=setup_headers)
    sent = [(str(one.url), one.headers["traceparent"], one.headers.get("tracestate")) for one in seen]
    assert sent == [
        ("http://shop.test/cart", "set-up 0", None),
        ("http://shop.test/cart", "set-up 1", None),
        ("http://shop.test/buy", "plan", "x=y"),
    ]


def test_the_plan_wins_over_a_header_of_the_step_whatever_its_case():
    (seen,) = record(Request("x", Step("GET", "/", headers={"TraceParent": "mine"})), plan={"traceparent": "plan"})
    assert seen.headers.get_list("traceparent") == ["plan"]


@pytest.mark.parametrize(
    ("step", "content_type", "content"),
    [
        (Step("POST", "/", form={"q": "a b&c"}), "application/x-www-form-urlencoded", b"q=a+b%26c"),
        (Step("POST", "/", json={"q": [1, None]}), "application/json", b'{"q":[1,null]}'),
        (Step("POST", "/", json=[]), "application/json", b"[]"),
        (Step("PUT", "/", headers={"Content-Type": "text/plain"}, body="hi"), "text/plain", b"hi"),
        (Step("GET", "/"), None, b""),
    ],
)
def test_a_step_is_sent_as_form_or_json_or_text(step, content_type, content):
    (seen,) = record(Request("x", step))
    assert (seen.method, seen.headers.get("content-type"), seen.content) == (step.method, content_type, content)


def test_the_session_is_filled_in_everywhere():
    body = {"id": "{session}", "{session}": ["u-{session}", 1, {"deep": "{session}"}]}
    setup = (Step("POST", "/a", form={"user": "{session}@x.y"}), Step("POST", "/b", body="<{session}>"))
    request = Request("x", Step("POST", "/c/{session}?s={session}", {"X-User": "{session}"}, json=body), setup=setup)
    first, second, third = record(request, session="s1")
    assert first.content == b"user=s1%40x.y"
    assert second.content == b"<s1>"
    assert (third.url.raw_path, third.headers["x-user"]) == (b"/c/s1?s=s1", "s1")
    assert json.loads(third.content) == {"id": "s1", "s1": ["u-s1", 1, {"deep": "s1"}]}


def test_every_call_gets_a_session_that_all_its_steps_share():
    request = Request("x", Step("GET", "/{session}"), setup=(Step("GET", "/{session}"),))
    first, again = record(request)
    (other, _) = record(request)
    assert first.url == again.url
    assert first.url != other.url


def test_cookies_of_the_set_up_reach_the_request_and_no_other_experiment():
    def shop(received: httpx.Request) -> httpx.Response:
        if received.url.path == "/login":
            cookie = [("set-cookie", f"user={received.headers['x-user']}; Path=/; HttpOnly"), ("set-cookie", "old=1")]
            return httpx.Response(302, headers=[*cookie, ("location", "/")])
        if received.url.path == "/forget":
            return httpx.Response(200, headers={"set-cookie": "old=; Max-Age=0"})
        return httpx.Response(200, text=received.headers.get("cookie", "none"), headers={"set-cookie": "leak=1"})

    login = Step("POST", "/login", headers={"X-User": "{session}"})
    buy = Request("buy", Step("GET", "/", headers={"Cookie": "currency=EUR"}), setup=(login, Step("GET", "/forget")))

    async def run() -> list[bytes]:
        async with httpx.AsyncClient(transport=httpx.MockTransport(shop)) as client:
            many = [send_to(client, buy, session=f"s{number}") for number in range(20)]
            answers = [*await asyncio.gather(*many), await send_to(client, PING)]
            return [answer.body for answer in answers]

    assert asyncio.run(run()) == [*(f"currency=EUR; user=s{number}".encode() for number in range(20)), b"none"]


def test_the_client_for_experiments_keeps_no_cookies():
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 0\r\n\r\n")

    async def run() -> tuple[Response, int]:
        async with open_client(1) as client:
            return await send_to_server(client, answer), len(client.cookies.jar)

    response, kept = asyncio.run(run())
    assert (response.status, kept) == (200, 0)


@pytest.mark.parametrize("location", ["/elsewhere", "http://other.test/", ""])
def test_a_redirect_is_the_answer(location):
    seen = []

    def redirect(received: httpx.Request) -> httpx.Response:
        seen.append(received)
        return httpx.Response(302, headers={"location": location})

    assert exchange(redirect, PING).status == 302
    assert len(seen) == 1


def test_a_failed_set_up_step_voids_the_experiment():
    request = Request("buy", Step("POST", "/buy"), setup=(Step("GET", "/"), Step("POST", "/cart")))
    seen = []

    def shop(received: httpx.Request) -> httpx.Response:
        seen.append(received.url.path)
        return httpx.Response(503 if received.url.path == "/cart" else 200)

    with pytest.raises(TargetError) as caught:
        exchange(shop, request)
    assert caught.value.message == "Set-up step 2 of 2 of `buy`, `POST /cart`, was answered 503; the experiment is void"
    assert caught.value.hint == "Set-up steps carry no faults: see whether the target is healthy and the step is right"
    assert seen == ["/", "/cart"]


def test_a_set_up_step_without_an_answer_voids_the_experiment():
    def broken(received: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("")

    with pytest.raises(TargetError) as caught:
        exchange(broken, Request("buy", Step("POST", "/buy"), setup=(Step("GET", "/"),)))
    message = "Set-up step 1 of 1 of `buy`, `GET /`, got no answer: connection lost; the experiment is void"
    assert caught.value.message == message


def test_no_answer_in_time_is_a_result():
    async def hang(received: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    assert exchange(hang, PING, timeout=0.01).error == "no whole answer within 0.01s"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (httpx.ConnectError("All connection attempts failed"), "could not connect (All connection attempts failed)"),
        (httpx.RemoteProtocolError("gone"), "connection closed without a whole answer (gone)"),
        (httpx.WriteError(""), "connection lost"),
        (httpx.DecodingError("bad gzip"), "DecodingError (bad gzip)"),
    ],
)
def test_a_transport_error_is_a_result(error, told):
    def broken(received: httpx.Request) -> httpx.Response:
        raise error

    assert exchange(broken, PING).error == told


def test_a_connection_that_closes_without_an_answer_is_a_result():
    async def close(writer: asyncio.StreamWriter) -> None:
        writer.close()

    response = asyncio.run(exchange_with_server(close))
    told = "connection closed without a whole answer (Server disconnected without sending a response.)"
    assert response.error == told


def test_a_closed_port_is_a_result():
    async def run() -> Response:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        address = address_of(server)
        server.close()
        await server.wait_closed()
        async with open_client(1) as client:
            return await send_to(client, PING, base_url=address)

    assert asyncio.run(run()).error == "could not connect (All connection attempts failed)"


def test_of_an_endless_body_a_bounded_part_is_kept():
    async def answer_without_end(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    response = asyncio.run(exchange_with_server(answer_without_end))
    assert (response.status, response.error) == (200, "")
    assert response.body == b"x" * BODY_LIMIT


async def exchange_with_server(answer: Callable[[asyncio.StreamWriter], Awaitable[None]]) -> Response:
    async with open_client(1) as client:
        return await send_to_server(client, answer)


async def send_to_server(
    client: httpx.AsyncClient, answer: Callable[[asyncio.StreamWriter], Awaitable[None]]
) -> Response:
    closed = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            await answer(writer)
            await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        closed.set()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        response = await send_to(client, PING, base_url=address_of(server))
        await closed.wait()
        return response


def address_of(server: asyncio.Server) -> str:
    host, port = server.sockets[0].getsockname()
    return f"http://{host}:{port}"
