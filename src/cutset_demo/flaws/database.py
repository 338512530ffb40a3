"""PostgreSQL as the small services use it: a pool, and statements with a time limit."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import LiteralString

from psycopg import AsyncConnection
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool

STATEMENT_SECONDS = 0.5
POOL_SECONDS = 0.3  # to wait for a connection: less than for the statement, so that the two can be told apart
CONNECTIONS = 16
_SCHEMA_LOCK = 60  # any number that all services agree on: `IF NOT EXISTS` alone fails when two create at once

Connection = AsyncConnection[TupleRow]
Pool = AsyncConnectionPool[Connection]


async def create_tables(dsn: str, schema: LiteralString) -> None:
    async with await AsyncConnection.connect(dsn) as connection:
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", [_SCHEMA_LOCK])
        await connection.execute(schema)


@asynccontextmanager
async def open_pool(dsn: str) -> AsyncIterator[Pool]:
    """The pool replaces a connection that comes back broken."""
    pool: Pool = AsyncConnectionPool(
        dsn, min_size=2, max_size=CONNECTIONS, timeout=POOL_SECONDS, kwargs={"autocommit": True}, open=False
    )
    async with pool:
        await pool.wait()
        yield pool


async def execute(pool: Pool, statement: LiteralString, *arguments: object) -> list[TupleRow]:
    """The rows that the statement gives, none if it is not one that gives rows."""
    async with asyncio.timeout(STATEMENT_SECONDS), pool.connection() as connection:
        cursor = await connection.execute(statement, arguments)
        return await cursor.fetchall() if cursor.description else []
