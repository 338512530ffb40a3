import asyncio
import gzip
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

import httpx
import pytest
import uvicorn
from aiohttp import web
from aiohttp.test_utils import RawTestServer
from multidict import CIMultiDictProxy

from cutset.inject.local.playground import COOKIE, playground
from cutset.model.point import Point
from cutset_agent import wire

KEY = b"a key for tests that nobody guesses"
CART, PRICE = Point("cart", "GetCart"), Point("price", "GET /price/*")
POINTS = (PRICE, CART)


@dataclass(frozen=True, slots=True)
class Received:
    method: str
    target: str
    headers: CIMultiDictProxy[str]
    content: bytes

    def faults_at(self, point: Point) -> tuple[wire.WireFault, ...]:
        return self.plan.faults_at(wire.WireTarget(point.service, point.api))

    @property
    def plan(self) -> wire.WirePart:
        (tracestate,) = self.headers.getall("tracestate")
        trace = self.headers["traceparent"].split("-")[1]
        return wire.decode(tracestate.removeprefix("cutset="), KEY, "test", trace, time.time())


def fine(_: Received) -> web.Response:
    return web.Response(text="fine")


def visit(
    *requests: httpx.Request,
    shop: Callable[[Received], web.Response] = fine,
    points: tuple[Point, ...] = POINTS,
    is_shop_up: bool = True,
) -> tuple[list[httpx.Response], list[Received]]:
    """Sends requests for `http://playground/…` through a playground in front of `shop`; what each side received."""
    received: list[Received] = []

    async def handle(request: web.BaseRequest) -> web.Response:
        received.append(Received(request.method, request.raw_path, request.headers, await request.read()))
        return shop(received[-1])

    async def run() -> list[httpx.Response]:
        async with RawTestServer(handle) as server:
            app = playground(f"http://127.0.0.1:{server.port}", points, key=KEY, environment="test")
            if not is_shop_up:
                await server.close()
            return await send_all(uvicorn.Config(app, log_level="warning", server_header=False, date_header=False))

    async def send_all(config: uvicorn.Config) -> list[httpx.Response]:
        listener = socket.create_server(("127.0.0.1", 0))  # accepts from now on, so nobody need wait for the server
        front = uvicorn.Server(config)
        async with asyncio.TaskGroup() as group, httpx.AsyncClient(trust_env=False, timeout=30) as client:
            group.create_task(front.serve(sockets=[listener]))
            answers = []
            for request in requests:
                own = f"127.0.0.1:{listener.getsockname()[1]}"
                request.url = request.url.copy_with(host="127.0.0.1", port=listener.getsockname()[1])
                for header in ("host", "origin"):
                    if header in request.headers:
                        request.headers[header] = request.headers[header].replace("playground", own)
                answers.append(await client.send(request))
            front.should_exit = True
        return answers

    return asyncio.run(run()), received


def get(path: str, *ticked: Point | str, **headers: str) -> httpx.Request:
    cookie = {"cookie": f"{COOKIE}={quote(chr(10).join(map(str, ticked)), safe='')}"} if ticked else {}
    return httpx.Request("GET", f"http://playground{path}", headers={**cookie, **headers})


def test_the_ticked_points_reach_the_shop_as_a_signed_plan():
    _, (received,) = visit(get("/", CART))
    assert received.faults_at(CART) != ()
    assert received.faults_at(PRICE) == ()
    assert received.headers["traceparent"].endswith("-01")


def test_without_a_tick_the_plan_is_empty():
    _, (received,) = visit(get("/"))
    assert received.plan.faults == ()


def test_every_request_is_a_trace_of_its_own():
    _, (first, second) = visit(get("/"), get("/"))
    assert first.headers["traceparent"] != second.headers["traceparent"]


def test_the_plan_replaces_what_the_browser_sends_in_its_place():
    _, (received,) = visit(get("/", CART, tracestate="cutset=forged", traceparent="00-0-0-00", baggage="cutset=forged"))
    assert received.faults_at(CART) != ()
    assert "forged" not in str(received.headers)
    assert len(received.headers.getall("traceparent")) == len(received.headers.getall("baggage")) == 1


def test_points_of_the_cookie_that_do_not_exist_are_ignored():
    names = ["cart/DeleteCart", "admin/*", "web>cart/GetCart", "cart/GetCart#1", "no point", "", "%zz", "\x00", "<b>/x"]
    answers, received = visit(*(get("/", PRICE, forged) for forged in names))
    assert {answer.status_code for answer in answers} == {200}
    assert {len(each.plan.faults) for each in received} == {1}
    assert all(each.faults_at(PRICE) for each in received)


def test_a_choice_is_kept_in_the_cookie_and_shown():
    form = {"content": f"point={quote(str(CART))}&point={quote(str(PRICE))}"}
    (chosen,), _ = visit(httpx.Request("POST", "http://playground/_cutset", **form))
    cookie = chosen.headers["set-cookie"].partition(";")[0]
    assert (chosen.status_code, chosen.headers["location"]) == (303, "/_cutset")

    (page, _), (received,) = visit(get("/_cutset", cookie=cookie), get("/", cookie=cookie))
    assert page.text.count(" checked>") == 2
    assert len(received.plan.faults) == 2


def test_healing_clears_the_choice():
    heal = httpx.Request("POST", "http://playground/_cutset", content=f"point={quote(str(CART))}&clear=1")
    (healed,), _ = visit(heal)
    assert healed.headers["set-cookie"].startswith(f'{COOKIE}="";')


def test_names_are_escaped_in_the_page():
    evil = Point('<script>alert("1")</script>', "GET /<img src=x onerror='alert(2)'>&")
    (page,), _ = visit(get("/_cutset", evil), points=(evil, CART))
    assert "alert" in page.text
    assert "<script>alert" not in page.text
    assert "<img" not in page.text
    assert "onerror='" not in page.text
    assert page.text.count(" checked>") == 1


def test_method_target_headers_and_body_pass_unchanged():
    target = "/a%2Fb//%C3%A9/c?q=%26+x&q=;"
    headers = [("X-Many", "1"), ("X-Many", "2"), ("Accept-Encoding", "br"), ("Cookie", "session=a/b=")]
    sent = {"GET": b"", "POST": b"\x00\xffq=1", "PUT": b"{}", "PATCH": b"", "DELETE": b"all", "OPTIONS": b""}
    _, received = visit(
        *(
            httpx.Request(method, f"http://playground{target}", headers=headers, content=content)
            for method, content in sent.items()
        )
    )
    assert {each.method: each.content for each in received} == sent
    for each in received:
        assert each.target == target
        assert each.headers.getall("x-many") == ["1", "2"]
        assert each.headers.getall("cookie") == ["session=a/b="]
        assert each.headers.getall("accept-encoding") == ["br"]
        assert not {"user-agent", "accept", "content-type"} & {name.lower() for name in each.headers}


def test_status_headers_and_body_of_the_answer_pass_unchanged():
    body = gzip.compress(b"<h1>Oh</h1>")
    headers = [
        ("Set-Cookie", "a=1; Path=/; HttpOnly"),
        ("Set-Cookie", 'b="x y"'),
        ("Content-Type", "text/html"),
        ("Content-Encoding", "gzip"),
        ("Server", "shop"),
    ]
    (answer,), _ = visit(get("/"), shop=lambda _: web.Response(status=418, headers=headers, body=body))
    assert (answer.status_code, answer.text) == (418, "<h1>Oh</h1>")
    assert answer.headers.get_list("set-cookie") == ["a=1; Path=/; HttpOnly", 'b="x y"']
    assert answer.headers.get_list("server") == ["shop"]
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers.get_list("content-length") == [str(len(body))]
    assert len(answer.headers.get_list("date")) == 1


def test_cookies_of_one_visitor_are_not_sent_for_another():
    set_cookie = {"set-cookie": "session=1"}
    _, (_, second) = visit(get("/"), get("/", CART), shop=lambda _: web.Response(headers=set_cookie))
    assert "session" not in second.headers["cookie"]


@pytest.mark.parametrize("location", ["/cart", "http://elsewhere.test/?a=b"])
def test_a_redirect_is_passed_on_not_followed(location):
    (answer,), received = visit(
        get("/"), shop=lambda _: web.Response(status=302, headers={"location": location}, text="")
    )
    assert (answer.status_code, answer.headers["location"]) == (302, location)
    assert len(received) == 1


def test_an_answer_without_a_length_is_passed_on():
    def stream(_: Received) -> web.Response:
        response = web.Response(body=b"piece by piece")
        response.enable_chunked_encoding()
        return response

    (answer,), _ = visit(get("/"), shop=stream)
    assert answer.text == "piece by piece"


def test_a_head_request_tells_the_length_of_what_is_not_sent():
    (answer, after), _ = visit(httpx.Request("HEAD", "http://playground/"), get("/"))
    assert (answer.status_code, answer.headers["content-length"], answer.content) == (200, "4", b"")
    assert after.text == "fine"  # on the same connection


def test_a_shop_that_does_not_answer_is_a_bad_gateway():
    (answer,), _ = visit(get("/"), is_shop_up=False)
    assert (answer.status_code, answer.headers["content-type"]) == (502, "text/plain; charset=utf-8")
    assert answer.text.startswith("The shop does not answer: Cannot connect to host 127.0.0.1:")


FOREIGN = [
    {"host": "evil.example"},
    {"host": "evil.example:80"},
    {"host": "127.0.0.1"},
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "https://playground"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
]
OWN: list[dict[str, str]] = [
    {},
    {"origin": "http://playground"},
    {"origin": "http://playground", "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},  # a link to it
]


def test_what_other_pages_send_is_refused_whatever_it_is() -> None:
    wanted = [("POST", "/_cutset"), ("GET", "/_cutset"), ("POST", "/cart"), ("GET", "/")]
    requests = [
        httpx.Request(method, f"http://playground{path}", headers=headers)
        for method, path in wanted
        for headers in FOREIGN
    ]
    answers, received = visit(*requests)
    assert ({answer.status_code for answer in answers}, received) == ({403}, [])
    assert not any("set-cookie" in answer.headers for answer in answers)


def test_its_own_pages_and_links_are_answered() -> None:
    answers, received = visit(*(httpx.Request("GET", "http://playground/cart", headers=headers) for headers in OWN))
    assert ([answer.status_code for answer in answers], len(received)) == ([200] * len(OWN), len(OWN))
