"""A web shop under uvicorn: requests put orders into a database, a task in the background sends them off.

The task looks for new orders five times a second and logs what goes wrong. Two waves of orders come, with a
calm second between them.
"""
import asyncio
import contextlib
import json
import logging
import sqlite3
import urllib.error
import urllib.request

import uvicorn
import wl
from databases import Database
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

log = logging.getLogger("uvicorn.error")
database = Database("sqlite:///shop.db")


async def place_order(request: Request) -> JSONResponse:
    order = await request.json()
    number = await database.execute("INSERT INTO orders (item, sent) VALUES (:item, 0)", order)
    return JSONResponse({"order": number}, status_code=201)


async def waiting_orders(request: Request) -> JSONResponse:
    return JSONResponse({"waiting": await database.fetch_val("SELECT count(*) FROM orders WHERE sent = 0")})


async def send_orders() -> None:
    while True:
        await asyncio.sleep(0.2)
        try:
            orders = await database.fetch_all("SELECT id, item FROM orders WHERE sent = 0 ORDER BY id")
            for order in orders:
                await database.execute("UPDATE orders SET sent = 1 WHERE id = :id", {"id": order["id"]})
            if orders:
                log.info("%d orders sent", len(orders))
        except Exception as error:
            log.error("Sending orders failed, trying again: %s: %s", type(error).__name__, error)


@contextlib.asynccontextmanager
async def lifespan(app: Starlette):
    await database.connect()
    sender = asyncio.create_task(send_orders())
    yield
    sender.cancel()


def call(url: str, order: dict[str, str] | None = None) -> dict[str, int]:
    try:
        with urllib.request.urlopen(url, order and json.dumps(order).encode(), timeout=5) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return {"status": error.code}


async def main() -> None:
    with sqlite3.connect("shop.db") as setup:
        setup.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT, sent INTEGER)")
    port = wl.free_port()
    app = Starlette(
        routes=[Route("/orders", place_order, methods=["POST"]), Route("/waiting", waiting_orders)], lifespan=lifespan
    )
    server = uvicorn.Server(uvicorn.Config(app, port=port))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    accepted = 0
    for wave in range(2):
        for number in range(20):
            answer = await asyncio.to_thread(call, f"http://127.0.0.1:{port}/orders", {"item": f"item-{wave}-{number}"})
            accepted += "order" in answer
        await asyncio.sleep(1.5)
    answer = await asyncio.to_thread(call, f"http://127.0.0.1:{port}/waiting")
    log.info("%d orders accepted, %s not sent", accepted, answer.get("waiting"))
    wl.report(accepted=accepted, waiting=answer.get("waiting"))
    server.should_exit = True
    await serving


asyncio.run(main())
wl.finish()
