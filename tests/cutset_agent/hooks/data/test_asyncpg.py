"""asyncpg against a real PostgreSQL."""

import asyncio

import pytest

asyncpg = pytest.importorskip("asyncpg")

INSERT = "INSERT INTO items VALUES ($1, $2)"
SERVER_ERRORS = {
    "deadlock": asyncpg.exceptions.DeadlockDetectedError,
    "serialization-failure": asyncpg.exceptions.SerializationError,
    "read-only": asyncpg.exceptions.ReadOnlySQLTransactionError,
    "out-of-memory": asyncpg.exceptions.OutOfMemoryError,
    "disk-full": asyncpg.exceptions.DiskFullError,
}


@pytest.fixture
def run(postgres):
    """Runs an asynchronous function with a connection to an empty table; the result comes with the rows left."""

    def run(function, **options):
        async def main():
            other = await asyncpg.connect(postgres)
            await other.execute("TRUNCATE items")
            connection = await asyncpg.connect(postgres, **options)
            try:
                result = await function(connection)
                return result, await other.fetchval("SELECT count(*) FROM items")
            finally:
                await connection.close()
                await other.close()

        return asyncio.run(main())

    return run


def test_without_a_request_nothing_changes(installed, calls, run):
    assert run(lambda connection: connection.execute(INSERT, 1, "a")) == ("INSERT 0 1", 1)
    assert calls() == []


def test_calls_of_a_request_are_counted_and_described(installed, calls, run):
    async def work(connection):
        with installed.request():
            async with connection.transaction():
                await connection.execute(INSERT, 1, "a")
            await connection.fetch("SELECT * FROM items")
            statement = await connection.prepare("SELECT * FROM items WHERE id = $1")
            return await statement.fetchval(1)

    run(work)
    endpoints = [(call["endpoint"].split("/")[2], call["verb"], call.get("rows")) for call in calls()]
    assert endpoints == [
        ("begin", "BEGIN", None),
        ("execute", "INSERT", "1"),
        ("commit", "COMMIT", None),
        ("fetch", "SELECT", "1"),
        ("fetchval", "SELECT", None),
    ]


def test_calls_have_their_peer(installed, calls, run, postgres):
    async def work(connection):
        with installed.request():
            await connection.execute("SELECT 1")
            await (await connection.prepare("SELECT 1")).fetchval()
            async with asyncpg.create_pool(postgres, min_size=1) as pool:
                await pool.fetch("SELECT 1")

    run(work)
    assert {call["endpoint"].rpartition("/")[2] for call in calls()} >= {"connect", "execute", "fetchval", "acquire"}
    assert {call["peer"] for call in calls()} == {postgres.partition("@")[2]}


@pytest.mark.parametrize("fault", ["connection-refused", "connection-reset"])
@pytest.mark.parametrize("endpoint", ["execute", "commit"])
def test_a_broken_connection_is_closed_only_if_it_is_the_request_s_own(  # noqa: PLR0917
    installed, calls, run, postgres, fault, endpoint
):
    planned = (f"db/asyncpg/{endpoint}", fault)

    async def write(connection):
        # One that is closed cannot leave its transaction either.
        broken = (asyncpg.exceptions.ConnectionDoesNotExistError, asyncpg.exceptions.InterfaceError)
        with pytest.raises(broken):
            async with connection.transaction():
                await connection.execute(INSERT, 1, "a")

    async def work(connection):
        with installed.request(planned):
            await write(connection)
        assert await connection.fetchval("SELECT 1") == 1
        assert not connection.is_in_transaction()
        async with asyncpg.create_pool(postgres, min_size=1) as pool, pool.acquire() as own:
            with installed.request(planned):
                await write(own)
            with pytest.raises(asyncpg.exceptions.InterfaceError):
                await own.fetchval("SELECT 1")

    assert run(work) == (None, 0)
    assert {each["fault"] for each in calls() if "fault" in each} == {fault}


@pytest.mark.parametrize(("fault", "error"), SERVER_ERRORS.items())
def test_an_error_of_the_server_is_real_and_aborts_the_transaction(installed, calls, run, fault, error):
    async def work(connection):
        async with connection.transaction():
            with installed.request(("db/asyncpg/execute", fault)), pytest.raises(error) as raised:
                await connection.execute(INSERT, 1, "a")
            assert (raised.value.sqlstate, raised.value.severity) == (error.sqlstate, "ERROR")
            await connection.execute("SELECT 1")

    with pytest.raises(asyncpg.exceptions.InFailedSQLTransactionError):
        run(work)
    assert [call["fault"] for call in calls()] == [fault]


def test_a_commit_that_fails_is_rolled_back_and_the_connection_goes_on(installed, calls, run):
    async def write(connection):
        async with connection.transaction():
            await connection.execute(INSERT, 1, "a")

    async def work(connection):
        failing = installed.request(("db/asyncpg/commit", "serialization-failure"))
        with failing, pytest.raises(asyncpg.exceptions.SerializationError):
            await write(connection)
        assert not connection.is_in_transaction()
        await write(connection)

    assert run(work) == (None, 1)


def test_a_lost_connection_is_really_lost(installed, calls, run):
    async def work(connection):
        losing = installed.request(("db/asyncpg/execute", "connection-lost"))
        with losing, pytest.raises(asyncpg.exceptions.ConnectionDoesNotExistError):
            await connection.execute(INSERT, 1, "a")
        with pytest.raises(asyncpg.exceptions.InterfaceError, match="connection is closed"):
            await connection.execute("SELECT 1")
        return connection.is_closed()

    assert run(work) == (True, 0)


def test_a_lost_answer_leaves_the_row_and_a_dead_connection(installed, calls, run):
    async def work(connection):
        losing = installed.request(("db/asyncpg/execute", "lost-answer"))
        with losing, pytest.raises(asyncpg.exceptions.ConnectionDoesNotExistError):
            await connection.execute(INSERT, 1, "a")
        return connection.is_closed()

    assert run(work) == (True, 1)
    assert calls()[0]["fault"] == "lost-answer"


def test_a_statement_times_out_only_where_it_has_a_timeout(installed, calls, run):
    async def work(connection):
        with installed.request(("db/asyncpg/fetchval", "timeout")):
            with pytest.raises(asyncio.TimeoutError):
                await connection.fetchval("SELECT 1", timeout=5)
            return await connection.fetchval("SELECT 1")

    assert run(work) == (1, 0)
    assert "no timeout" in calls()[1]["not_fired"]


def test_no_answer_comes_within_the_connections_timeout(installed, calls, run):
    async def work(connection):
        with installed.request(("db/asyncpg/fetch", "no-answer")), pytest.raises(asyncio.TimeoutError):
            await connection.fetch("SELECT 1")

    run(work, command_timeout=0.05)
    assert calls()[0]["timeout"] == "0.05"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("connection-refused", ConnectionRefusedError),
        ("too-many-connections", asyncpg.exceptions.TooManyConnectionsError),
        ("loading", asyncpg.exceptions.CannotConnectNowError),
        ("dns-failure", OSError),
        ("timeout", asyncio.TimeoutError),
    ],
)
def test_connecting_fails(installed, calls, fault, error):
    async def work():
        with installed.request(("db/asyncpg/connect", fault)), pytest.raises(error):
            await asyncpg.connect(host="db.internal")

    asyncio.run(work())
    assert calls()[0]["fault"] == fault


def test_a_pool_gives_no_connection_when_exhausted_and_replaces_lost_ones(installed, calls, postgres):
    async def work():
        async with asyncpg.create_pool(postgres, min_size=1, max_size=1) as pool:
            exhausted = installed.request(("db/asyncpg/acquire", "pool-exhausted"))
            with exhausted, pytest.raises(asyncio.TimeoutError):
                await pool.acquire(timeout=3)
            losing = installed.request(("db/asyncpg/execute", "connection-lost"))
            with losing, pytest.raises(asyncpg.exceptions.ConnectionDoesNotExistError):
                await pool.execute("SELECT 1")
            return await pool.fetchval("SELECT 1")

    assert asyncio.run(work()) == 1
