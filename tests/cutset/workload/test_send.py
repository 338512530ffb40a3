import asyncio
import errno
import gzip
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer
from multidict import CIMultiDictProxy

from cutset.errors import TargetError
from cutset.model.request import Request, Response, Step
from cutset.workload.send import BODY_LIMIT, HEADER_LIMIT, open_client, send

PING = Request("GET /ping", Step("GET", "/ping"))


@dataclass(frozen=True, slots=True)
class Received:
    method: str
    target: str
    headers: CIMultiDictProxy[str]
    content: bytes


def answering(answer: Callable[[Received], web.Response]) -> RawTestServer:
    async def handle(request: web.BaseRequest) -> web.Response:
        return answer(Received(request.method, request.raw_path, request.headers, await request.read()))

    return RawTestServer(handle)


async def send_to(client: aiohttp.ClientSession, request: Request, base_url: str, **options: object) -> Response:
    return await send(
        client, request, **{"base_url": base_url, "plan": dict, "setup_headers": dict, "timeout": 30.0, **options}
    )


def exchange(answer: Callable[[Received], web.Response], request: Request, **options: object) -> Response:
    async def run() -> Response:
        async with answering(answer) as server, open_client(1) as client:
            return await send_to(client, request, str(server.make_url("/")), **options)

    return asyncio.run(run())


@asynccontextmanager
async def serving(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[str]:
    """A server for what no well-behaved one does; at the end waits until its clients are gone."""
    ends: list[asyncio.Event] = []

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends.append(end := asyncio.Event())
        with suppress(ConnectionError):
            await handle(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        end.set()

    async with await asyncio.start_server(converse, "127.0.0.1", 0) as server:
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            await asyncio.gather(*(end.wait() for end in ends))


def exchange_with_server(answer: Callable[[asyncio.StreamWriter], Awaitable[None]], request: Request) -> Response:
    """Each connection serves one request."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await answer(writer)
        await writer.drain()

    async def run() -> Response:
        async with serving(handle) as url, open_client(1) as client:
            return await send_to(client, request, url)

    return asyncio.run(run())


def record(request: Request, **options: object) -> list[Received]:
    seen: list[Received] = []

    def answer(received: Received) -> web.Response:
        seen.append(received)
        return web.Response()

    exchange(answer, request, **options)
    return seen


def test_the_answer_comes_back_whole():
    response = exchange(
        lambda _: web.Response(status=201, body=b'{"a":1}', headers={"content-type": "application/json"}), PING
    )
    assert (response.status, response.content_type, response.body) == (201, "application/json", b'{"a":1}')
    assert response.error == ""
    assert response.seconds > 0


def test_only_the_request_under_test_carries_the_plan():
    request = Request("buy", Step("POST", "/buy"), setup=(Step("POST", "/cart"), Step("GET", "/cart")))
    numbers = iter(range(9))

    def setup_headers() -> Mapping[str, str]:
        return {"traceparent": f"set-up {next(numbers)}"}

    seen = record(request, plan=lambda: {"traceparent": "plan", "tracestate": "x=y"}, setup_headers=setup_headers)
    sent = [(one.target, one.headers["traceparent"], one.headers.get("tracestate")) for one in seen]
    assert sent == [
        ("/cart", "set-up 0", None),
        ("/cart", "set-up 1", None),
        ("/buy", "plan", "x=y"),
    ]


def test_the_plan_wins_over_a_header_of_the_step_whatever_its_case():
    request = Request("x", Step("GET", "/", headers={"TraceParent": "mine"}))
    (seen,) = record(request, plan=lambda: {"traceparent": "plan"})
    assert seen.headers.getall("traceparent") == ["plan"]


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
    assert (third.target, third.headers["x-user"]) == ("/c/s1?s=s1", "s1")
    assert json.loads(third.content) == {"id": "s1", "s1": ["u-s1", 1, {"deep": "s1"}]}


def test_every_call_gets_a_session_that_all_its_steps_share():
    request = Request("x", Step("GET", "/{session}"), setup=(Step("GET", "/{session}"),))
    first, again = record(request)
    (other, _) = record(request)
    assert first.target == again.target
    assert first.target != other.target


def test_only_what_is_needed_is_added_to_the_headers_of_the_step():
    (seen,) = record(Request("x", Step("POST", "/", headers={"user-agent": "Firefox", "X-One": "1"}, body="hi")))
    sent = {name.lower(): value for name, value in seen.headers.items() if name != "Host"}
    assert sent == {"accept": "*/*", "user-agent": "Firefox", "x-one": "1", "content-length": "2"}


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/a%2Fb/../c//d?e=%7B&f=1+2,3", "/a%2Fb/../c//d?e=%7B&f=1+2,3"),
        ("/café au lait?q=<tea>#milk", "/caf%C3%A9%20au%20lait?q=%3Ctea%3E"),
    ],
)
def test_the_path_is_sent_as_written_but_for_what_no_url_may_hold(path, target):
    (seen,) = record(Request("x", Step("GET", path)))
    assert seen.target == target


def test_cookies_of_the_set_up_reach_the_request_and_no_other_experiment():
    def shop(received: Received) -> web.Response:
        if received.target == "/login":
            cookies = [("set-cookie", f"user={received.headers['x-user']}; Path=/; HttpOnly"), ("set-cookie", "old=1")]
            return web.Response(status=302, headers=[*cookies, ("location", "/")])
        if received.target == "/forget":
            return web.Response(headers={"set-cookie": "old=; Max-Age=0"})
        return web.Response(text=received.headers.get("cookie", "none"), headers={"set-cookie": "leak=1"})

    login = Step("POST", "/login", headers={"X-User": "{session}"})
    buy = Request("buy", Step("GET", "/", headers={"Cookie": "in=EUR"}), setup=(login, Step("GET", "/forget")))

    async def run() -> list[bytes]:
        async with answering(shop) as server, open_client(8) as client:
            url = str(server.make_url("/"))
            many = [send_to(client, buy, url, session=f"s{number}") for number in range(20)]
            answers = [*await asyncio.gather(*many), await send_to(client, PING, url)]
            return [answer.body for answer in answers]

    assert asyncio.run(run()) == [*(f"in=EUR; user=s{number}".encode() for number in range(20)), b"none"]


@pytest.mark.parametrize("value", ["YWJj/+8=", "eyJh.bGci_-", '"a b"', "{a:1}"])
def test_a_cookie_is_given_back_letter_for_letter(value):
    cookies = []

    def shop(received: Received) -> web.Response:
        cookies.append(received.headers.get("cookie", ""))
        return web.Response(headers={"set-cookie": f"token={value}; Path=/"})

    exchange(shop, Request("buy", Step("GET", "/buy"), setup=(Step("GET", "/login"),)))
    assert cookies == ["", f"token={value}"]


def test_the_client_for_experiments_keeps_no_cookies():
    async def run() -> tuple[Response, int]:
        async with (
            answering(lambda _: web.Response(headers={"set-cookie": "a=b"})) as server,
            open_client(1) as client,
        ):
            return await send_to(client, PING, str(server.make_url("/"))), len(client.cookie_jar)

    response, kept = asyncio.run(run())
    assert (response.status, kept) == (200, 0)


@pytest.mark.parametrize("location", ["/elsewhere", "http://other.test/", ""])
def test_a_redirect_is_the_answer(location):
    seen = []

    def redirect(received: Received) -> web.Response:
        seen.append(received)
        return web.Response(status=302, headers={"location": location})

    assert exchange(redirect, PING).status == 302
    assert len(seen) == 1


def test_a_failed_set_up_step_voids_the_experiment():
    request = Request("buy", Step("POST", "/buy"), setup=(Step("GET", "/"), Step("POST", "/cart")))
    seen = []

    def shop(received: Received) -> web.Response:
        seen.append(received.target)
        return web.Response(status=503 if received.target == "/cart" else 200)

    with pytest.raises(TargetError) as caught:
        exchange(shop, request)
    assert caught.value.message == "Set-up step 2 of 2 of `buy`, `POST /cart`, was answered 503; the experiment is void"
    assert caught.value.hint == "Set-up steps carry no faults: see whether the target is healthy and the step is right"
    assert seen == ["/", "/cart"]


def test_a_set_up_step_without_an_answer_voids_the_experiment():
    buy = Request("buy", Step("POST", "/buy"), setup=(Step("POST", "/cart"),))
    with pytest.raises(TargetError) as caught:
        exchange_with_server(reset, buy)
    what = f"got no answer: connection lost ([Errno {errno.ECONNRESET}] Connection reset by peer)"
    assert caught.value.message == f"Set-up step 1 of 1 of `buy`, `POST /cart`, {what}; the experiment is void"


@pytest.mark.parametrize("part", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"])
def test_no_whole_answer_in_time_is_a_result(part):
    async def answer_partly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(part)
        await reader.read()  # until the other side gives up

    async def run() -> Response:
        async with serving(answer_partly) as url, open_client(1) as client:
            return await send_to(client, PING, url, timeout=0.05)

    response = asyncio.run(run())
    assert (response.status, response.body, response.error) == (0, b"", "no whole answer within 0.05s")


async def reset(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"", "connection closed without a whole answer (Server disconnected)"),
        (b"HTTP/1.1 200 O", "connection closed without a whole answer (Server disconnected)"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi",
            "no whole answer (Not enough data to satisfy content length header (received 2 of 9 bytes).)",
        ),
        (
            b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 8\r\n\r\nbad gzip",
            "no whole answer (Can not decode content-encoding: gzip)",
        ),
        (b"SSH-2.0-x\r\n\r\n", "malformed answer (Bad status line: Expected HTTP/, RTSP/ or ICE/: b'SSH-2.0-x' ^)"),
    ],
)
def test_a_broken_answer_is_a_result(answer, told):
    async def break_off(writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    assert exchange_with_server(break_off, PING).error == told


@pytest.mark.parametrize("step", [Step("GET", "/", headers={"a": "b\nc: d"}), Step("GET it", "/")])
def test_what_is_not_http_is_not_sent(step):
    response = exchange(lambda _: web.Response(), Request("x", step))
    assert response.status == 0
    assert response.error.startswith("ValueError (")


def test_a_request_dropped_on_a_new_connection_is_not_sent_again():
    dropped = []

    async def drop(writer: asyncio.StreamWriter) -> None:
        dropped.append(writer)

    response = exchange_with_server(drop, PING)
    assert response.error == "connection closed without a whole answer (Server disconnected)"
    assert response.sent
    assert len(dropped) == 1


@pytest.mark.parametrize(
    ("method", "outcome", "sent"),
    [
        ("GET", (200, ""), 3),
        ("POST", (0, "connection closed without a whole answer (Server disconnected)"), 2),
    ],
)
def test_a_request_lost_on_a_kept_connection_is_sent_again_but_never_a_post(method, outcome, sent):
    received = []

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        with suppress(asyncio.IncompleteReadError):
            received.append(await reader.readuntil(b"\r\n\r\n"))

    async def run() -> Response:
        async with serving(answer_once) as url, open_client(1) as client:
            return await send_to(client, Request("x", Step(method, "/"), setup=(Step("GET", "/"),)), url)

    response = asyncio.run(run())
    assert (response.status, response.error) == outcome
    assert len(received) == sent


def test_a_closed_port_is_a_result():
    async def run() -> tuple[Response, str]:
        async with serving(reset) as url:
            pass
        async with open_client(1) as client:
            return await send_to(client, PING, url), url

    response, url = asyncio.run(run())
    why = f"[Errno {errno.ECONNREFUSED}] Connect call failed ('127.0.0.1', {url.rpartition(':')[2]})"
    assert response.error == f"could not connect ({why})"
    assert not response.sent


def test_an_answer_is_decompressed_if_the_step_asks_for_compression():
    def compress(received: Received) -> web.Response:
        encoding = received.headers["accept-encoding"]
        return web.Response(body=gzip.compress(b"hello"), headers={"content-encoding": encoding})

    assert exchange(compress, Request("x", Step("GET", "/", headers={"Accept-Encoding": "gzip"}))).body == b"hello"


def test_long_headers_of_an_answer_are_read():
    answer = web.Response(headers={"x-long": "x" * (HEADER_LIMIT - 100)})
    assert exchange(lambda _: answer, PING).status == 200


def test_of_an_endless_body_a_bounded_part_is_kept():
    async def answer_without_end(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    response = exchange_with_server(answer_without_end, PING)
    assert (response.status, response.error) == (200, "")
    assert response.body == b"x" * BODY_LIMIT


def test_later_steps_have_what_earlier_answers_gave():
    request = Request(
        "pay",
        Step("POST", "/orders/{order}/pay", headers={"x-token": "{token}"}, json={"of": "{order}", "not": "{other}"}),
        setup=(
            Step("POST", "/orders", take={"order": "json.order.id", "token": "header.x-token", "sid": "cookie.sid"}),
        ),
    )
    seen: list[Received] = []

    def answer(received: Received) -> web.Response:
        seen.append(received)
        headers = {"x-token": "a-token-of-this-session", "set-cookie": "sid=1"}
        if received.target == "/orders":
            return web.json_response({"order": {"id": 42}}, headers=headers)
        return web.json_response({"token": received.headers["x-token"], "order": 42})

    response = exchange(answer, request)

    assert (seen[1].target, seen[1].headers["x-token"]) == ("/orders/42/pay", "a-token-of-this-session")
    assert json.loads(seen[1].content) == {"of": "42", "not": "{other}"}
    assert json.loads(response.body) == {"token": "…", "order": 42}


def test_a_value_that_is_not_in_the_answer_is_named():
    request = Request("pay", Step("GET", "/{order}"), setup=(Step("POST", "/orders?key=k", take={"order": "json.id"}),))
    with pytest.raises(TargetError) as caught:
        exchange(lambda _: web.json_response({"error": "sold out"}), request)
    assert caught.value.message == (
        "Set-up step 1 of 1 of `pay`, `POST /orders?…`, was answered 200 without `json.id`, "
        "which `{order}` stands for; the experiment is void"
    )
