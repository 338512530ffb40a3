"""SQLAlchemy with real drivers on a real PostgreSQL, and with SQLite."""

import asyncio

import pytest

sqlalchemy = pytest.importorskip("sqlalchemy")

INSERT = sqlalchemy.text("INSERT INTO items VALUES (1, 'a')")
COUNT = sqlalchemy.text("SELECT count(*) FROM items")
DRIVERS = ["psycopg", "psycopg2"]


@pytest.fixture(params=DRIVERS)
def engine(request, postgres):
    pytest.importorskip(request.param)
    made = sqlalchemy.create_engine(postgres.replace("postgresql:", f"postgresql+{request.param}:"))
    with made.begin() as connection:
        connection.execute(sqlalchemy.text("TRUNCATE items"))
    yield made
    made.dispose()


@pytest.fixture
def sqlite(tmp_path):
    made = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/items.db")
    with made.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE items (id int, name text)"))
    yield made
    made.dispose()


def count(engine):
    with engine.connect() as connection:
        return connection.execute(COUNT).scalar()


def write(engine):
    with engine.begin() as connection:
        connection.execute(INSERT)


def test_without_a_request_nothing_changes(installed, calls, engine):
    write(engine)
    assert count(engine) == 1
    assert calls() == []


def test_calls_of_a_request_are_described(installed, calls, engine):
    with installed.request():
        write(engine)
    endpoints = [(call["endpoint"], call.get("verb")) for call in calls("db/sqlalchemy")]
    assert endpoints == [
        ("db/sqlalchemy/checkout", None),
        ("db/sqlalchemy/execute", "INSERT"),
        ("db/sqlalchemy/commit", None),
    ]


def test_calls_have_their_peer(installed, calls, engine, sqlite, postgres):
    with installed.request():
        write(engine)
    assert {call["peer"] for call in calls("db/sqlalchemy")} == {postgres.partition("@")[2]}
    with installed.request():
        write(sqlite)
    assert calls("db/sqlalchemy")[-1]["peer"] == "items.db"


@pytest.mark.parametrize("fault", ["connection-refused", "connection-reset"])
@pytest.mark.parametrize("endpoint", ["execute", "commit"])
def test_a_broken_connection_is_thrown_away(installed, calls, engine, fault, endpoint):
    broken = installed.request((f"db/sqlalchemy/{endpoint}", fault))
    with broken, pytest.raises(sqlalchemy.exc.OperationalError) as raised:
        write(engine)
    assert raised.value.connection_invalidated
    assert fault.rpartition("-")[2] in str(raised.value)
    assert count(engine) == 0


def test_a_file_has_no_connection_that_breaks(installed, calls, sqlite):
    with installed.request(("db/sqlalchemy/execute", "connection-refused")):
        write(sqlite)
    assert calls("db/sqlalchemy/execute")[0]["not_fired"] == "connection-refused makes no sense for this call"


@pytest.mark.parametrize(
    ("fault", "sqlstate"),
    [
        ("deadlock", "40P01"),
        ("serialization-failure", "40001"),
        ("read-only", "25006"),
        ("out-of-memory", "53200"),
        ("disk-full", "53100"),
    ],
)
def test_an_error_of_the_server_is_wrapped_with_its_origin(installed, calls, engine, fault, sqlstate):
    failing = installed.request(("db/sqlalchemy/execute", fault))
    with failing, pytest.raises(sqlalchemy.exc.DBAPIError) as raised:
        write(engine)
    assert not raised.value.connection_invalidated
    origin = raised.value.orig
    assert (getattr(origin, "sqlstate", None) or origin.pgcode) == sqlstate
    write(engine)
    assert count(engine) == 1
    assert [call["fault"] for call in calls("db/sqlalchemy/execute")] == [fault]


def test_a_lost_connection_is_found_lost_and_replaced(installed, calls, engine):
    losing = installed.request(("db/sqlalchemy/execute", "connection-lost"))
    with losing, pytest.raises(sqlalchemy.exc.OperationalError, match="server closed the connection") as raised:
        write(engine)
    assert raised.value.connection_invalidated
    write(engine)
    assert count(engine) == 1


def test_the_lost_answer_to_a_commit_leaves_what_was_committed(installed, calls, engine):
    with installed.request(("db/sqlalchemy/commit", "lost-answer")), pytest.raises(sqlalchemy.exc.OperationalError):
        write(engine)
    assert count(engine) == 1


def test_a_commit_that_fails_is_rolled_back(installed, calls, engine):
    failing = installed.request(("db/sqlalchemy/commit", "serialization-failure"))
    with failing, pytest.raises(sqlalchemy.exc.OperationalError, match="could not serialize access"):
        write(engine)
    assert count(engine) == 0


@pytest.mark.parametrize("fault", ["connection-refused", "too-many-connections", "loading", "dns-failure"])
def test_connecting_fails(installed, calls, engine, fault):
    engine.dispose()
    with installed.request(("db/sqlalchemy/connect", fault)), pytest.raises(sqlalchemy.exc.OperationalError):
        write(engine)
    assert count(engine) == 0


def test_an_exhausted_pool_gives_no_connection(installed, calls, engine):
    exhausted = installed.request(("db/sqlalchemy/checkout", "pool-exhausted"))
    with exhausted, pytest.raises(sqlalchemy.exc.TimeoutError, match="QueuePool limit of size 5"):
        write(engine)


@pytest.mark.parametrize(
    ("fault", "text"),
    [("deadlock", "database is locked"), ("read-only", "readonly database"), ("disk-full", "disk is full")],
)
def test_sqlite_has_errors_of_its_own(installed, calls, sqlite, fault, text):
    failing = installed.request(("db/sqlalchemy/execute", fault))
    with failing, pytest.raises(sqlalchemy.exc.OperationalError, match=text):
        write(sqlite)
    assert count(sqlite) == 0


def test_a_fault_that_a_dialect_does_not_have_is_not_fired(installed, calls, sqlite):
    with installed.request(("db/sqlalchemy/execute", "serialization-failure")):
        write(sqlite)
    assert "makes no sense" in calls("db/sqlalchemy/execute")[0]["not_fired"]


def test_an_asyncio_engine_fails_at_its_driver(installed, calls, postgres):
    pytest.importorskip("asyncpg")
    pytest.importorskip("greenlet")
    from sqlalchemy.ext.asyncio import create_async_engine

    async def work():
        engine = create_async_engine(postgres.replace("postgresql:", "postgresql+asyncpg:"))
        async with engine.connect() as connection:
            await connection.execute(COUNT)
        with installed.request(("db/asyncpg/fetch", "deadlock")), pytest.raises(sqlalchemy.exc.DBAPIError) as raised:
            async with engine.connect() as connection:
                await connection.execute(COUNT)
        await engine.dispose()
        return raised.value.orig.sqlstate

    assert asyncio.run(work()) == "40P01"
    assert calls("db/sqlalchemy") == []
