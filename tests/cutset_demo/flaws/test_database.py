import asyncio

import pytest

from cutset_demo.flaws.database import STATEMENT_SECONDS, create_tables, execute, open_pool


@pytest.fixture
def dsn(stores):
    return stores.settings("correct").postgres


def test_tables_may_be_created_by_all_services_at_once(dsn):
    async def create_at_once():
        schema = "CREATE TABLE IF NOT EXISTS made_by_many (id int)"
        await asyncio.gather(*(create_tables(dsn, schema) for _ in range(8)))

    asyncio.run(create_at_once())


def test_a_statement_gives_its_rows_or_none(dsn):
    async def use():
        async with open_pool(dsn) as pool:
            await execute(pool, "CREATE TABLE IF NOT EXISTS noted (word text)")
            return (
                await execute(pool, "INSERT INTO noted VALUES (%s)", "'; --"),
                await execute(pool, "SELECT DISTINCT word FROM noted"),
            )

    assert asyncio.run(use()) == ([], [("'; --",)])


def test_a_statement_that_takes_too_long_is_given_up_and_the_pool_goes_on(dsn):
    async def use():
        async with open_pool(dsn) as pool:
            with pytest.raises(TimeoutError):
                await execute(pool, "SELECT pg_sleep(%s)", 20 * STATEMENT_SECONDS)
            return await execute(pool, "SELECT 1")

    assert asyncio.run(use()) == [(1,)]
