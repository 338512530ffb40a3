"""In processes of their own: the client of NATS leaves sockets of its reconnects to the garbage collector."""

import asyncio
import json
import threading
import uuid

import nats
import pytest

from cutset_demo.flaws.swallowed_publish import SUBJECT


@pytest.fixture
def announced(stores):
    """The ids of the orders that were announced, as they come."""
    orders, listening, done = [], threading.Event(), threading.Event()

    async def listen():
        client = await nats.connect(f"nats://{stores.addresses['nats']}")

        async def note(message):
            orders.append(json.loads(message.data)["order_id"])

        await client.subscribe(SUBJECT, cb=note)
        await client.flush()
        listening.set()
        await asyncio.to_thread(done.wait)
        await client.close()

    thread = threading.Thread(target=lambda: asyncio.run(listen()))
    thread.start()
    assert listening.wait(20)
    yield orders
    done.set()
    thread.join()


def order(client):
    order_id = str(uuid.uuid4())
    assert client.post("/orders", json={"order_id": order_id, "item": "mug"}).status_code == 201
    return order_id


def test_an_order_that_was_not_announced_is_forgotten(start_alone, proxy, announced, eventually):
    broker = proxy("nats")
    _, client = start_alone("swallowed-publish", "broken", nats=broker.address)
    broker.cut()
    forgotten = order(client)
    broker.heal()
    eventually(lambda: order(client) in announced)
    eventually(lambda: order(client) in announced)
    assert forgotten not in announced


def test_an_order_that_was_not_announced_is_announced_later(start_alone, proxy, announced, eventually):
    broker = proxy("nats")
    _, client = start_alone("swallowed-publish", "correct", nats=broker.address)
    broker.cut()
    delayed = order(client)
    assert delayed not in announced
    broker.heal()
    eventually(lambda: delayed in announced)
