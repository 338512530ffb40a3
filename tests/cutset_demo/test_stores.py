import asyncio
import uuid

from opentelemetry.trace import NoOpTracer

from cutset_demo.stores import open_stores, publish, redis_command, select, subscribe

TRACER = NoOpTracer()
SECONDS = 20  # what is published comes at once


def run(boutique, use):
    async def with_stores():
        async with open_stores(boutique.shop.datastores) as stores:
            return await asyncio.wait_for(use(stores), SECONDS)

    return asyncio.run(with_stores())


def test_carts_and_cache_are_databases_of_their_own(boutique):
    async def use(stores):
        key = str(uuid.uuid4())
        await redis_command(TRACER, stores.carts, "SET", key, b"1")
        return [await redis_command(TRACER, client, "GET", key) for client in (stores.carts, stores.cache)]

    assert run(boutique, use) == [b"1", None]


def test_arguments_of_a_query_are_never_part_of_it(boutique):
    async def use(stores):
        return await select(TRACER, stores.catalogue, "SELECT %s", "'; DROP TABLE products; --")

    assert run(boutique, use) == [("'; DROP TABLE products; --",)]


def test_an_event_reaches_one_member_of_a_group(boutique):
    async def use(stores):
        subject, taken = f"test.{uuid.uuid4()}", asyncio.Queue()
        for _ in range(3):
            await subscribe(TRACER, stores.events, subject, "group", taken.put)
        for number in (b"1", b"2"):
            await publish(TRACER, stores.events, subject, number)
        got = {await taken.get(), await taken.get()}
        await stores.events.flush()
        return got, taken.qsize()

    assert run(boutique, use) == ({b"1", b"2"}, 0)
