"""psycopg 3 and its pool against a real PostgreSQL."""

import asyncio

import psycopg
import psycopg_pool
import pytest

from cutset_agent import wire


@pytest.fixture
def connection(postgres):
    with psycopg.connect(postgres, autocommit=True) as fresh:
        fresh.execute("TRUNCATE items")
    opened = psycopg.connect(postgres)
    yield opened
    opened.close()


def count(postgres):
    with psycopg.connect(postgres, autocommit=True) as other:
        return other.execute("SELECT count(*) FROM items").fetchone()[0]


def fired(calls):
    return [(call["endpoint"], call["fault"]) for call in calls() if "fault" in call]


def test_calls_have_their_peer(installed, calls, postgres):
    peer = postgres.partition("@")[2]
    with installed.request():
        with psycopg.connect(postgres) as connection:
            connection.execute("SELECT 1")
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 2")
        with psycopg_pool.ConnectionPool(postgres, min_size=1) as pool, pool.connection():
            pass
    assert {call["endpoint"].rpartition("/")[2] for call in calls()} >= {"connect", "execute", "commit", "getconn"}
    assert {call["peer"] for call in calls()} == {peer}


INSERT = "INSERT INTO items VALUES (%s, %s)"


def test_without_a_request_nothing_changes(installed, calls, postgres, connection):
    assert connection.execute(INSERT, (1, "a")).rowcount == 1
    connection.commit()
    assert count(postgres) == 1
    assert calls() == []


def test_calls_of_a_request_are_counted_and_described(installed, calls, connection):
    with installed.request():
        connection.execute(INSERT, (1, "a"))
        connection.execute("SELECT * FROM items")
        connection.commit()
    first, second = calls("db/psycopg/execute")
    assert (first["verb"], first["rows"], first["occurrence"]) == ("INSERT", "1", "1")
    assert (second["verb"], second["rows"], second["occurrence"]) == ("SELECT", "1", "2")
    assert len(first["payload"]) == 16
    assert len(calls("db/psycopg/commit")) == 1


@pytest.mark.parametrize("fault", ["connection-refused", "connection-reset"])
@pytest.mark.parametrize("endpoint", ["execute", "commit"])
def test_a_broken_connection_is_closed_only_if_it_is_the_request_s_own(  # noqa: PLR0917
    installed, calls, connection, postgres, fault, endpoint
):
    planned = (f"db/psycopg/{endpoint}", fault)

    def write():
        connection.execute(INSERT, (1, "a"))
        connection.commit()

    with installed.request(planned), pytest.raises(psycopg.OperationalError, match=f"Connection {fault[11:]}"):
        write()
    connection.rollback()
    assert connection.execute("SELECT 1").fetchone() == (1,)
    with psycopg_pool.ConnectionPool(postgres, min_size=1) as pool, installed.request(planned):
        with pytest.raises(psycopg.OperationalError), pool.connection() as own:
            own.execute(INSERT, (1, "a"))
        assert own.closed
    assert count(postgres) == 0
    assert {each["fault"] for each in calls() if "fault" in each} == {fault}


@pytest.mark.parametrize("fault", ["connection-refused", "connection-reset"])
def test_a_transaction_s_block_is_not_committed_when_its_connection_breaks(installed, calls, postgres, fault):
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("TRUNCATE items")
        broken = installed.request(("db/psycopg/commit", fault))
        with broken, pytest.raises(psycopg.OperationalError), connection.transaction():
            connection.execute(INSERT, (1, "a"))
        assert connection.execute("SELECT count(*) FROM items").fetchone() == (0,)


@pytest.mark.parametrize(
    ("fault", "error", "text"),
    [
        ("deadlock", psycopg.errors.DeadlockDetected, "deadlock detected"),
        ("serialization-failure", psycopg.errors.SerializationFailure, "could not serialize access"),
        ("read-only", psycopg.errors.ReadOnlySqlTransaction, "cannot execute INSERT in a read-only transaction"),
        ("out-of-memory", psycopg.errors.OutOfMemory, "out of memory"),
        ("disk-full", psycopg.errors.DiskFull, "No space left on device"),
    ],
)
def test_an_error_of_the_server_is_real_and_aborts_the_transaction(installed, calls, connection, fault, error, text):  # noqa: PLR0917
    with installed.request(("db/psycopg/execute", fault)), pytest.raises(error, match=text) as raised:
        connection.execute(INSERT, (1, "a"))
    assert (raised.value.diag.sqlstate, raised.value.diag.severity) == (error.sqlstate, "ERROR")
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        connection.execute("SELECT 1")
    connection.rollback()
    assert connection.execute("SELECT 1").fetchone() == (1,)
    assert fired(calls) == [("db/psycopg/execute", fault)]


@pytest.mark.parametrize("fault", ["read-only", "disk-full"])
def test_a_server_that_refuses_writes_still_reads(installed, calls, connection, fault):
    with installed.request(("db/psycopg/execute", fault)):
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert fired(calls) == []


def test_only_the_chosen_occurrence_fails(installed, calls, connection):
    connection.autocommit = True
    with installed.request(("db/psycopg/execute", "deadlock", {"occurrence": 2})):
        connection.execute("SELECT 1")
        with pytest.raises(psycopg.errors.DeadlockDetected):
            connection.execute("SELECT 1")
        connection.execute("SELECT 1")


def test_a_lost_connection_is_really_lost(installed, calls, postgres, connection):
    with (
        installed.request(("db/psycopg/execute", "connection-lost")),
        pytest.raises(psycopg.OperationalError, match="server closed the connection unexpectedly"),
    ):
        connection.execute(INSERT, (1, "a"))
    assert connection.broken
    with pytest.raises(psycopg.OperationalError, match="the connection is closed"):
        connection.execute("SELECT 1")
    assert count(postgres) == 0


def test_a_call_on_a_broken_connection_is_still_reported(installed, calls, connection):
    connection.pgconn.finish()
    with installed.request(("db/psycopg/execute", "deadlock")), pytest.raises(psycopg.OperationalError, match="closed"):
        connection.execute("SELECT 1")
    (call,) = calls("db/psycopg/execute")
    assert call["error"] == "true"
    assert "fault" not in call


def test_a_server_that_shuts_down_says_so_and_is_gone(installed, calls, connection):
    with installed.request(("db/psycopg/execute", "server-shutdown")), pytest.raises(psycopg.errors.AdminShutdown):
        connection.execute("SELECT 1")
    assert connection.broken


def test_a_lost_answer_leaves_the_row_and_a_dead_connection(installed, calls, postgres, connection):
    connection.autocommit = True
    with installed.request(("db/psycopg/execute", "lost-answer")), pytest.raises(psycopg.OperationalError):
        connection.execute(INSERT, (1, "a"))
    assert connection.broken
    assert count(postgres) == 1


def test_a_lost_answer_within_a_transaction_loses_the_transaction(installed, calls, postgres, connection):
    with installed.request(("db/psycopg/execute", "lost-answer")), pytest.raises(psycopg.OperationalError):
        connection.execute(INSERT, (1, "a"))
    assert count(postgres) == 0


def test_the_lost_answer_to_a_commit_leaves_what_was_committed(installed, calls, postgres, connection):
    connection.execute(INSERT, (1, "a"))
    with installed.request(("db/psycopg/commit", "lost-answer")), pytest.raises(psycopg.OperationalError):
        connection.commit()
    assert count(postgres) == 1


@pytest.mark.parametrize("in_block", [False, True])
def test_a_commit_that_fails_is_rolled_back_and_the_connection_goes_on(
    installed, calls, postgres, connection, in_block
):
    def write_and_commit():
        if in_block:
            with connection.transaction():
                connection.execute(INSERT, (1, "a"))
        else:
            connection.execute(INSERT, (1, "a"))
            connection.commit()

    failing = installed.request(("db/psycopg/commit", "serialization-failure"))
    with failing, pytest.raises(psycopg.errors.SerializationFailure):
        write_and_commit()
    assert count(postgres) == 0
    assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    write_and_commit()
    assert count(postgres) == 1
    assert fired(calls) == [("db/psycopg/commit", "serialization-failure")]


def test_a_connection_lost_at_the_end_of_a_block_rolls_back(installed, calls, postgres, connection):
    losing = installed.request(("db/psycopg/commit", "connection-lost"))
    with losing, pytest.raises(psycopg.OperationalError, match="server closed the"), connection.transaction():
        connection.execute(INSERT, (1, "a"))
    assert connection.broken
    assert count(postgres) == 0


def test_an_inner_block_is_no_commit(installed, calls, connection):
    with installed.request(("db/psycopg/commit", "connection-lost")), connection.transaction(force_rollback=True):
        with connection.transaction():
            connection.execute(INSERT, (1, "a"))
        connection.execute("SELECT 1")
    assert calls("db/psycopg/commit") == []


def test_a_statement_times_out_only_where_it_has_a_timeout(installed, calls, postgres, connection):
    connecting = psycopg.connect(postgres, options="-c statement_timeout=50", autocommit=True)
    with installed.request(("db/psycopg/execute", "no-answer")), connecting as limited:
        with pytest.raises(psycopg.errors.QueryCanceled, match="due to statement timeout"):
            limited.execute("SELECT 1")
        assert limited.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    (call,) = calls("db/psycopg/execute")
    assert call["timeout"] == "0.05"


def test_copy_fails_when_its_block_is_entered(installed, calls, connection):
    failing = installed.request(("db/psycopg/copy", "disk-full"))
    copying = connection.cursor()
    with failing, pytest.raises(psycopg.errors.DiskFull), copying.copy("COPY items FROM STDIN") as copy:
        copy.write_row((1, "a"))


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("connection-refused", "port 5999 failed: Connection refused"),
        ("too-many-connections", "FATAL:  sorry, too many clients already"),
        ("loading", "the database system is starting up"),
        ("dns-failure", "failed to resolve host 'db.internal'"),
    ],
)
def test_connecting_fails_as_libpq_words_it(installed, calls, fault, text):
    with installed.request(("db/psycopg/connect", fault)), pytest.raises(psycopg.OperationalError, match=text):
        psycopg.connect("host=db.internal", port=5999, autocommit=True)


def test_connecting_waits_as_long_as_its_timeout(installed, calls):
    with installed.request(("db/psycopg/connect", "timeout")), pytest.raises(psycopg.errors.ConnectionTimeout):
        psycopg.connect("host=db.internal connect_timeout=3")
    (call,) = calls()
    assert call["timeout"] == "3"


def test_an_exhausted_pool_gives_no_connection(installed, calls, postgres):
    with psycopg_pool.ConnectionPool(postgres, min_size=1, timeout=7, open=True) as pool:
        exhausting = installed.request(("db/psycopg_pool/getconn", "pool-exhausted"))
        with exhausting, pytest.raises(psycopg_pool.PoolTimeout, match="a connection after 7"), pool.connection():
            pass
        with installed.request(), pool.connection() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_pool_replaces_a_connection_that_a_fault_has_closed(installed, calls, postgres):
    with psycopg_pool.ConnectionPool(postgres, min_size=1, max_size=1, timeout=10, open=True) as pool:
        losing = installed.request(("db/psycopg/execute", "connection-lost"))
        with losing, pytest.raises(psycopg.OperationalError), pool.connection() as connection:
            connection.execute("SELECT 1")
        with pool.connection() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_composed_statements_are_read_too(installed, calls, connection):
    statement = psycopg.sql.SQL("DELETE FROM {}").format(psycopg.sql.Identifier("items"))
    with installed.request():
        connection.execute(statement)
    assert calls()[0]["verb"] == "DELETE"


def test_asynchronous_calls_fail_and_wait_without_blocking_the_loop(installed, calls, postgres):
    async def work() -> list[str]:
        events = []

        async def tick() -> None:
            await asyncio.sleep(0.01)
            events.append("tick")

        async with await psycopg.AsyncConnection.connect(postgres, autocommit=True) as connection:
            with installed.request(("db/psycopg/execute", wire.WireFault("D", 60)), ("db/psycopg/copy", "deadlock")):
                ticking = asyncio.ensure_future(tick())
                await connection.execute("SELECT 1")
                events.append("answer")
                await ticking
                with pytest.raises(psycopg.errors.DeadlockDetected):
                    async with connection.cursor().copy("COPY items TO STDOUT"):
                        pass
            failing = installed.request(("db/psycopg/execute", "deadlock"))
            with failing, pytest.raises(psycopg.errors.DeadlockDetected):
                await connection.execute("SELECT 1")
            failing = installed.request(("db/psycopg/commit", "serialization-failure"))
            with failing, pytest.raises(psycopg.errors.SerializationFailure):
                async with connection.transaction():
                    await connection.execute("SELECT 1")
            await connection.execute("SELECT 1")
        return events

    assert asyncio.run(work()) == ["tick", "answer"]
