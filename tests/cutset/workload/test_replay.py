"""Replay of recorded flows against a shop that refuses what is stale, used before, or somebody else's."""

import asyncio
import re
import socket
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import Random

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cutset.model.exchange import Exchange
from cutset.workload.masking import masker
from cutset.workload.replay import Tally, replay, send_flow
from cutset.workload.rules import Rule
from cutset.workload.send import open_client
from cutset.workload.template import Template, templates_of, verbatim

PASSWORD = "correct horse"
PASSWORD_RULE = Rule("POST /login", "form/password", "value", "SHOP_PASSWORD")
PRODUCTS = [{"id": str(uuid.UUID(int=number, version=4)), "name": f"Mug {number}"} for number in range(1, 5)]


@dataclass
class Shop:
    """Its clock can be set: what is recorded an hour ago is stale now."""

    clock_offset: float = -3600.0
    tokens: dict[str, float] = field(default_factory=dict)
    sessions: set[str] = field(default_factory=set)
    csrf: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    orders: dict[str, str] = field(default_factory=dict)
    next_order: int = 1000
    tracking_seen: list[str] = field(default_factory=list)

    def now(self) -> float:
        return time.time() + self.clock_offset

    def application(self) -> Starlette:
        handlers = {
            "GET /login": self.login_page,
            "POST /login": self.login,
            "POST /signup": self.signup,
            "GET /products": self.products,
            "GET /products/{id}": self.product,
            "POST /orders": self.order,
            "GET /orders/{id}": self.show,
            "POST /orders/{id}/pay": self.pay,
            "DELETE /orders/{id}": self.cancel,
            "GET /me": self.me,
        }
        return Starlette(
            routes=[Route(name.split()[1], handler, methods=[name.split()[0]]) for name, handler in handlers.items()]
        )

    async def login_page(self, request: Request) -> Response:
        token = uuid.uuid4().hex
        self.csrf.add(token)
        page = f'<form action="/login"><input type="hidden" name="csrf" value="{token}"><input name="user"></form>'
        return HTMLResponse(page)

    async def login(self, request: Request) -> Response:
        form = dict(re.findall(r"(\w+)=([^&]*)", (await request.body()).decode()))
        if form["csrf"] not in self.csrf:
            return JSONResponse({"error": "csrf"}, 403)
        self.csrf.discard(form["csrf"])
        if form["password"].replace("+", " ") != PASSWORD:
            return JSONResponse({"error": "password"}, 401)
        token, session = f"tok_{uuid.uuid4().hex}", uuid.uuid4().hex
        self.tokens[token] = self.now() + 600
        self.sessions.add(session)
        answer = JSONResponse({"access_token": token, "user": form["user"], "expires_in": 600})
        answer.set_cookie("sid", session)
        answer.set_cookie("lang", "en")
        return answer

    def refusal(self, request: Request) -> Response | None:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.tokens.get(token, 0.0) < self.now():
            return JSONResponse({"error": "token expired or unknown"}, 401)
        if request.cookies.get("sid") not in self.sessions:
            return JSONResponse({"error": "no session"}, 403)
        return None

    async def signup(self, request: Request) -> Response:
        name = (await request.json())["name"]
        if name in self.names:
            return JSONResponse({"error": "taken"}, 409)
        self.names.add(name)
        return JSONResponse({"name": name, "points": 0}, 201)

    async def products(self, request: Request) -> Response:
        return JSONResponse(PRODUCTS)

    async def product(self, request: Request) -> Response:
        found = [product for product in PRODUCTS if product["id"] == request.path_params["id"]]
        return JSONResponse(found[0]) if found else JSONResponse({}, 404)

    async def order(self, request: Request) -> Response:
        key, body = request.headers["idempotency-key"], await request.json()
        if refusal := self.refusal(request):
            return refusal
        if key in self.keys:
            return JSONResponse({"error": "duplicate"}, 409)
        if abs(datetime.fromisoformat(body["requested_at"]).timestamp() - self.now()) > 30:
            return JSONResponse({"error": "stale"}, 400)
        if body["product"] not in {product["id"] for product in PRODUCTS}:
            return JSONResponse({"error": "unknown product"}, 422)
        self.keys.add(key)
        self.next_order += 1
        number = f"ord-{self.next_order}"
        self.orders[number] = request.cookies["sid"]
        return JSONResponse({"id": number, "quantity": body["quantity"]}, 201, {"location": f"/orders/{number}"})

    def refusal_of_order(self, request: Request) -> Response | None:
        own = self.orders.get(request.path_params["id"]) == request.cookies.get("sid")
        return self.refusal(request) or (None if own else JSONResponse({"error": "no such order"}, 404))

    async def show(self, request: Request) -> Response:
        number = request.path_params["id"]
        return self.refusal_of_order(request) or JSONResponse({"id": number, "pay": f"/orders/{number}/pay"})

    async def pay(self, request: Request) -> Response:
        body = await request.json()
        if refusal := self.refusal_of_order(request):
            return refusal
        if body["nonce"] in self.keys or abs(body["at"] / 1000 - self.now()) > 30:
            return JSONResponse({"error": "nonce or time"}, 400)
        self.keys.add(body["nonce"])
        return JSONResponse({"order": body["order"], "nonce": body["nonce"], "receipt": uuid.uuid4().hex})

    async def cancel(self, request: Request) -> Response:
        refusal = self.refusal_of_order(request)
        self.orders.pop(request.path_params["id"], None)
        return refusal or Response(status_code=204)

    async def me(self, request: Request) -> Response:
        self.tracking_seen.append(request.headers["x-client-id"])
        return self.refusal(request) or JSONResponse({"points": 3})


def recorded_by(shop: Shop, application: ASGIApp, exchanges: list[Exchange]) -> ASGIApp:
    """Keeps what passes, as the agent does."""

    async def recording(scope: Scope, receive: Receive, send: Send) -> None:
        started, request, answer = shop.now(), bytearray(), bytearray()
        start: Message = {}

        async def seen_receive() -> Message:
            message = await receive()
            request.extend(message.get("body", b""))
            return message

        async def seen_send(message: Message) -> None:
            start.update(message if message["type"] == "http.response.start" else {})
            answer.extend(message.get("body", b""))
            await send(message)

        await application(scope, seen_receive, seen_send)
        exchanges.append(
            Exchange(
                id=uuid.uuid4().hex,
                service="shop",
                trace_id="",
                started_at=started,
                seconds=0.01,
                method=scope["method"],
                path=scope["raw_path"].decode()
                + ("?" + scope["query_string"].decode() if scope["query_string"] else ""),
                request_headers=tuple((name.decode(), value.decode()) for name, value in scope["headers"]),
                request_body=bytes(request),
                status=start["status"],
                response_headers=tuple((name.decode(), value.decode()) for name, value in start["headers"]),
                response_body=bytes(answer),
            )
        )

    return recording


@asynccontextmanager
async def served(application: ASGIApp) -> AsyncIterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application, lifespan="off", log_config=None, access_log=False, ws="none")
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        await server.shutdown(sockets=[listener])


async def visit(shop: Shop, url: str, number: int) -> None:
    """What one user does."""
    client_id, random = str(uuid.uuid4()), Random(number)
    async with aiohttp.ClientSession(url, cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:

        async def call(method: str, path: str, **options: object) -> aiohttp.ClientResponse:
            async with browser.request(method, path, **options) as response:
                await response.read()
                assert response.status < 400, (method, path, await response.text())
                return response

        await call("POST", "/signup", json={"name": f"ann{number + 17}", "country": random.choice(["DE", "FR"])})
        page = await (await call("GET", "/login")).text()
        csrf = re.search(r'value="(\w+)"', page)[1]
        form = {"csrf": csrf, "user": f"ann{number + 17}", "password": PASSWORD}
        token = (await (await call("POST", "/login", data=form)).json())["access_token"]
        headers = {"Authorization": f"Bearer {token}", "X-Client-Id": client_id}
        await call("GET", "/me", headers=headers | {"Origin": url, "Referer": f"{url}/login?next=/me"})
        product = random.choice(await (await call("GET", "/products")).json())
        await call("GET", f"/products/{product['id']}")
        requested_at = datetime.fromtimestamp(shop.now(), UTC).isoformat(timespec="milliseconds")
        order = {"product": product["id"], "quantity": number + 1, "requested_at": requested_at}
        made = await call("POST", "/orders", json=order, headers=headers | {"Idempotency-Key": str(uuid.uuid4())})
        order_id = (await made.json())["id"]
        await call("GET", f"/orders/{order_id}", headers=headers)
        payment = {"order": order_id, "nonce": uuid.uuid4().hex, "at": int(shop.now() * 1000)}
        await call("POST", f"/orders/{order_id}/pay", json=payment, headers=headers)
        await call("DELETE", f"/orders/{order_id}", headers=headers)


async def recorded_visits(shop: Shop, visits: int) -> list[Exchange]:
    exchanges: list[Exchange] = []
    async with served(recorded_by(shop, shop.application(), exchanges)) as url, asyncio.TaskGroup() as users:
        for number in range(visits):
            users.create_task(visit(shop, url, number))
    mask = masker()
    return [mask(exchange) for exchange in exchanges]


async def replayed(shop: Shop, templates: Sequence[Template], values: Mapping[str, str]) -> dict[str, Tally]:
    shop.clock_offset = 0.0
    async with served(shop.application()) as url:
        return await replay(templates, base_url=url, values=values)


def total(tallies: Mapping[str, Tally]) -> tuple[int, int]:
    return sum(tally.succeeded for tally in tallies.values()), sum(tally.tried for tally in tallies.values())


def test_templates_succeed_where_a_naive_replay_is_refused() -> None:
    async def scenario() -> tuple[dict[str, Tally], dict[str, Tally]]:
        shop = Shop()
        templates = templates_of(await recorded_visits(shop, visits=4), (PASSWORD_RULE,))
        values = {"SHOP_PASSWORD": PASSWORD}
        return (
            await replayed(shop, [verbatim(template) for template in templates], values),
            await replayed(shop, templates, values),
        )

    naive, templated = asyncio.run(scenario())
    assert {name for name, tally in naive.items() if tally.succeeded} == {
        "GET /login",
        "GET /products",
        "GET /products/*",
    }
    assert total(naive) == (12, 40)
    assert total(templated) == (40, 40), templated


def test_a_template_can_be_replayed_again_and_again() -> None:
    async def scenario() -> list[dict[str, Tally]]:
        shop = Shop()
        templates = templates_of(await recorded_visits(shop, visits=2), (PASSWORD_RULE,))
        return [await replayed(shop, templates, {"SHOP_PASSWORD": PASSWORD}) for _ in range(3)]

    assert [total(tallies) for tallies in asyncio.run(scenario())] == [(20, 20)] * 3


def test_a_client_s_own_id_is_new_in_each_flow_and_the_same_within_it() -> None:
    async def scenario() -> Shop:
        shop = Shop()
        templates = templates_of(await recorded_visits(shop, visits=2), (PASSWORD_RULE,))
        await replayed(shop, templates, {"SHOP_PASSWORD": PASSWORD})
        return shop

    assert len(set(asyncio.run(scenario()).tracking_seen)) == 4


def test_what_is_missing_is_named() -> None:
    async def scenario() -> dict[str, Tally]:
        shop = Shop()
        return await replayed(shop, templates_of(await recorded_visits(shop, visits=2), (PASSWORD_RULE,)), {})

    tallies = asyncio.run(scenario())
    assert list(tallies["POST /login"].failures) == ["needs the environment variable `SHOP_PASSWORD`"]
    assert list(tallies["GET /me"].failures) == [
        "needs `body/access_token` of the answer to `POST /login`, which has none"
    ]


def test_each_step_can_carry_headers_of_its_own() -> None:
    async def scenario() -> tuple[list[str], list[Exchange]]:
        shop = Shop()
        template = max(templates_of(await recorded_visits(shop, visits=1)), key=lambda each: len(each.steps))
        again: list[Exchange] = []
        async with served(recorded_by(shop, shop.application(), again)) as url, open_client(1) as client:
            sent = await send_flow(client, template, base_url=url, headers=lambda step: {"x-step": str(step)})
        return [each.name for each in sent], again

    names, again = asyncio.run(scenario())
    assert len(names) == 9
    assert dict(again[0].request_headers)["x-step"] == "0"
    assert dict(again[1].request_headers)["x-step"] == "1"


def test_a_replay_comes_from_the_pages_of_the_server_that_it_goes_to() -> None:
    async def scenario() -> tuple[str, dict[str, str]]:
        shop = Shop()
        templates = templates_of(await recorded_visits(shop, visits=1), (PASSWORD_RULE,))
        shop.clock_offset, again = 0.0, []
        async with served(recorded_by(shop, shop.application(), again)) as url:
            await replay(templates, base_url=url, values={"SHOP_PASSWORD": PASSWORD})
        return url, dict(next(each for each in again if each.path == "/me").request_headers)

    url, headers = asyncio.run(scenario())
    assert headers["origin"] == url
    assert headers["referer"] == f"{url}/login?next=/me"


def test_a_server_that_is_gone_is_a_failure_of_each_request() -> None:
    async def scenario() -> dict[str, Tally]:
        templates = templates_of(await recorded_visits(Shop(), visits=1))
        return await replay([verbatim(each) for each in templates], base_url="http://127.0.0.1:1", values={})

    assert {reason for tally in asyncio.run(scenario()).values() for reason in tally.failures} == {
        "no answer: ClientConnectorError"
    }


def test_cookies_that_a_recording_came_without_are_sent_as_a_browser_does() -> None:
    async def scenario() -> dict[str, Tally]:
        shop = Shop()
        without = [
            replace(each, request_headers=tuple(pair for pair in each.request_headers if pair[0] != "cookie"))
            for each in await recorded_visits(shop, visits=2)
        ]
        return await replayed(shop, templates_of(without, (PASSWORD_RULE,)), {"SHOP_PASSWORD": PASSWORD})

    assert asyncio.run(scenario())["GET /me"].succeeded == 2
