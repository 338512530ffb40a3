"""A shop that refuses what is stale, used before, or somebody else's; visits to it, as recorded; and their replay."""

import asyncio
import re
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

import aiohttp
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cutset.model.exchange import Exchange
from cutset.receive.server import listen, serve, url_of
from cutset.workload.recording.masking import masker
from cutset.workload.replay import ReplayTally, replay
from cutset.workload.templates.rules import Rule
from cutset.workload.templates.template import Template

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
    listener = listen("127.0.0.1", 0, for_what="visits", hint="")
    async with serve(application, listener):
        yield url_of("127.0.0.1", listener)


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


async def replayed(shop: Shop, templates: Sequence[Template], values: Mapping[str, str]) -> dict[str, ReplayTally]:
    shop.clock_offset = 0.0
    async with served(shop.application()) as url:
        return await replay(templates, base_url=url, values=values)


def total(tallies: Mapping[str, ReplayTally]) -> tuple[int, int]:
    return sum(tally.succeeded for tally in tallies.values()), sum(tally.tried for tally in tallies.values())
