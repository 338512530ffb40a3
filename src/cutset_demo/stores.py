"""The shop's data stores, as its services use them: real clients with a span around each operation."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import nats
from nats.aio.client import Client as NatsClient
from nats.aio.msg import Msg
from opentelemetry.trace import SpanKind, Tracer
from psycopg import AsyncConnection
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool
from redis.asyncio import Redis

from cutset_demo.telemetry import extract, inject, record

ORDERS_PLACED = "orders.placed"

CART_DATABASE = 0
CACHE_DATABASE = 1
CATALOGUE_CONNECTIONS = 4  # per process; a query takes well under a millisecond

Catalogue = AsyncConnectionPool[AsyncConnection[TupleRow]]


@dataclass(frozen=True, slots=True)
class Stores:
    carts: Redis
    cache: Redis
    catalogue: Catalogue
    events: NatsClient


@asynccontextmanager
async def open_stores(addresses: Mapping[str, str]) -> AsyncIterator[Stores]:
    async with AsyncExitStack() as stack:
        carts, cache = [
            await stack.enter_async_context(Redis.from_url(f"redis://{addresses['redis']}/{database}"))
            for database in (CART_DATABASE, CACHE_DATABASE)
        ]
        catalogue: Catalogue = AsyncConnectionPool(
            f"postgresql://postgres@{addresses['postgres']}/postgres",
            min_size=1,
            max_size=CATALOGUE_CONNECTIONS,
            kwargs={"autocommit": True},  # single reads: a transaction would only add round trips
            open=False,
        )
        await stack.enter_async_context(catalogue)
        events = await nats.connect(f"nats://{addresses['nats']}")
        stack.push_async_callback(events.close)
        yield Stores(carts, cache, catalogue, events)


async def redis_command(tracer: Tracer, client: Redis, *command: str | bytes | int) -> Any:
    operation = str(command[0])
    with record(tracer, operation, SpanKind.CLIENT, {"db.system": "redis", "db.operation": operation}):
        # redis-py leaves this method untyped
        return await client.execute_command(*command)  # type: ignore[no-untyped-call]


async def select(tracer: Tracer, catalogue: Catalogue, query: str, *arguments: str) -> list[TupleRow]:
    attributes = {"db.system": "postgresql", "db.operation": "SELECT", "db.statement": query}
    with record(tracer, "SELECT products", SpanKind.CLIENT, attributes):
        async with catalogue.connection() as connection:
            cursor = await connection.execute(query.encode(), arguments)
            return await cursor.fetchall()


async def publish(tracer: Tracer, events: NatsClient, subject: str, body: bytes) -> None:
    with record(tracer, f"{subject} publish", SpanKind.PRODUCER, _messaging(subject)):
        await events.publish(subject, body, headers=dict(inject()))


async def subscribe(
    tracer: Tracer, events: NatsClient, subject: str, queue: str, handle: Callable[[bytes], Awaitable[None]]
) -> None:
    """Each event goes to one member of the queue group."""

    async def receive(message: Msg) -> None:
        parent = extract((message.headers or {}).items())
        with record(tracer, f"{subject} process", SpanKind.CONSUMER, _messaging(subject), parent):
            await handle(message.data)

    await events.subscribe(subject, queue=queue, cb=receive)
    await events.flush()  # the server knows of the subscription before the shop says that it is ready


def _messaging(subject: str) -> dict[str, str | int]:
    return {"messaging.system": "nats", "messaging.destination.name": subject}
