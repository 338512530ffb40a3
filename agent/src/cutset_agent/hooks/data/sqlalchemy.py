"""SQLAlchemy: statements, commits, connecting and checking out of the pool, at the dialect.

Errors are those of the driver, raised where the driver would raise them, so that SQLAlchemy wraps them, decides whether
the connection is lost and clears its pool as it always does. Engines for asyncio are left to the hooks of their drivers
(asyncpg, psycopg): a dialect cannot wait there without blocking the loop.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from typing import Any

from cutset_agent import peers
from cutset_agent.calls import Describe, HookedCall, MakeFault
from cutset_agent.hooking import wrap
from cutset_agent.hooks.data.postgres import (
    AT_SERVER,
    LOST,
    REFUSED,
    RESET,
    SERVER_ERRORS,
    LostAnswer,
    ServerError,
    address_in,
    server_error,
    statement_payload,
    verb_of,
)
from cutset_agent.hooks.data.psycopg import peer_of, statement_timeout
from cutset_agent.reports import count_error

MODULE = "sqlalchemy"
TESTED = "SQLAlchemy 2.0, 2.1 with psycopg 3, psycopg2 (real server 16) and sqlite3; MySQL's errors against no server"

_PORTS = {"postgresql": 5432, "mysql": 3306, "mariadb": 3306}
# What an OperationalError of the driver holds, by dialect. PostgreSQL raises its own.
_MYSQL: Mapping[str, tuple[object, ...]] = {
    "deadlock": (1213, "Deadlock found when trying to get lock; try restarting transaction"),
    "read-only": (1290, "The MySQL server is running with the --read-only option so it cannot execute this statement"),
    "connection-lost": (2013, "Lost connection to MySQL server during query"),
    "connection-reset": (2013, "Lost connection to MySQL server during query ([Errno 104] Connection reset by peer)"),
    "connection-refused": (2003, "Can't connect to MySQL server on '{host}' ([Errno 111] Connection refused)"),
    "too-many-connections": (1040, "Too many connections"),
    "dns-failure": (2003, "Can't connect to MySQL server on '{host}' ([Errno -2] Name or service not known)"),
}
_TEXTS: Mapping[str, Mapping[str, tuple[object, ...]]] = {
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "sqlite": {
        "deadlock": ("database is locked",),
        "read-only": ("attempt to write a readonly database",),
        "disk-full": ("database or disk is full",),
    },
    "postgresql": {
        "connection-lost": (LOST.partition(": ")[2],),
        "connection-refused": (AT_SERVER + REFUSED,),
        "connection-reset": (RESET,),
        "too-many-connections": (AT_SERVER + "FATAL:  sorry, too many clients already",),
        "loading": (AT_SERVER + "FATAL:  the database system is starting up",),
        "dns-failure": ('could not translate host name "{host}" to address: Name or service not known',),
        "timeout": (AT_SERVER + "timeout expired",),
    },
}


def install(module: Any) -> None:
    dialect = module.engine.default.DefaultDialect
    for name, method in (
        ("do_execute", "execute"),
        ("do_execute_no_params", "execute"),
        ("do_executemany", "executemany"),
    ):
        wrap(dialect, name, _describe_statement(method), STATEMENT_FAULTS)
    wrap(dialect, "do_commit", _describe_commit, COMMIT_FAULTS)
    wrap(dialect, "connect", _describe_connect, CONNECT_FAULTS)
    wrap(module.pool.Pool, "connect", _describe_checkout, POOL_FAULTS)
    engine = module.engine.base.Engine
    if not hasattr(engine.__init__, "_cutset_hook"):
        engine.__init__ = _remembering(engine.__init__)


def _remembering(make: Callable[..., None]) -> Callable[..., None]:
    """An engine alone knows where it connects to; its dialect is asked."""

    @functools.wraps(make)
    def __init__(self: Any, pool: Any, dialect: Any, url: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        make(self, pool, dialect, url, *args, **kwargs)
        try:
            dialect.cutset_peer = _peer_in(url)
        except Exception as error:  # noqa: BLE001 -- the host's engine matters more
            count_error("peer of sqlalchemy", error)

    __init__._cutset_hook = True  # type: ignore[attr-defined]  # noqa: SLF001
    return __init__


def _peer_in(url: Any) -> str:
    name = str(url.database or "")
    if url.host is None:  # a file: where it is differs from run to run
        return name.replace("\\", "/").rpartition("/")[2] or ":memory:"
    default = _PORTS.get(url.get_backend_name(), "")
    return peers.store(url.host, url.port or default, name)


def _peer(dialect: Any, connection: Any = None) -> str:
    known: str = getattr(dialect, "cutset_peer", "")
    return known or (peer_of(connection) if hasattr(connection, "pgconn") else "")


def _describe_statement(method: str) -> Describe:
    def describe(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall | None:
        dialect, cursor, statement = args[:3]
        if dialect.is_async:
            return None
        parameters = args[3] if len(args) > 3 and not hasattr(args[3], "compiled") else None
        payload = lambda: statement_payload(statement, parameters)  # noqa: E731
        connection = _connection(cursor)
        facts = {"verb": verb_of(statement)}
        return HookedCall(f"db/sqlalchemy/{method}", _timeout(connection), payload, facts, _peer(dialect, connection))

    return describe


def _describe_commit(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall | None:
    dialect, connection = args[0], _connection(args[1])
    if dialect.is_async:
        return None
    return HookedCall("db/sqlalchemy/commit", _timeout(connection), peer=_peer(dialect, connection))


def _describe_connect(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall | None:
    if args[0].is_async:
        return None
    timeout = kwargs.get("connect_timeout")
    return HookedCall("db/sqlalchemy/connect", None if timeout is None else float(timeout), peer=_peer(args[0]))


def _describe_checkout(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall | None:
    pool = args[0]
    if pool._dialect.is_async:  # noqa: SLF001
        return None
    return HookedCall("db/sqlalchemy/checkout", getattr(pool, "_timeout", None), peer=_peer(pool._dialect))  # noqa: SLF001


def _connection(owner: Any) -> Any:
    """The driver's, of its cursor or of what the pool gave out."""
    return owner.dbapi_connection if hasattr(owner, "dbapi_connection") else owner.connection


def _timeout(connection: Any) -> float | None:
    return statement_timeout(connection) if hasattr(connection, "pgconn") else None


# ---- faults: the arguments of a hooked method begin with the dialect, and a cursor or a connection


def _operational_error(dialect: Any, fault: str, **address: object) -> BaseException | None:
    texts = _TEXTS.get(dialect.name, {}).get(fault)
    if texts is None:
        return None
    filled = (text.format(**address) if isinstance(text, str) else text for text in texts)
    error: BaseException = dialect.dbapi.OperationalError(*filled)
    return error


def _raised_by_server(cursor: Any, error: ServerError) -> BaseException:
    """By a real server, and beside the hook of the driver, for which this is no call of the service."""
    execute = type(cursor).execute
    try:
        getattr(execute, "__wrapped__", execute)(cursor, error.statement())
    except Exception as raised:  # noqa: BLE001 -- it is what we want
        return raised
    raise RuntimeError(f"the server did not raise {error.sqlstate}")


def _failed_statement(fault: str) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
        dialect, cursor, statement = args[:3]
        error = server_error(fault, statement)
        if error is None:
            return None
        if dialect.name == "postgresql":
            return _raised_by_server(cursor, error)
        return _operational_error(dialect, fault)

    return make


def _failed_commit(fault: str) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
        dialect, connection = args[0], _connection(args[1])
        if dialect.name == "postgresql":
            error: BaseException | None = _raised_by_server(connection.cursor(), SERVER_ERRORS[fault])
        else:
            error = _operational_error(dialect, fault)
        if error is not None:
            connection.rollback()  # as a server does when it cannot commit
        return error

    return make


def _lost_connection(fault: str) -> MakeFault:
    def make(call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
        error = _operational_error(args[0], fault, **address_in(call.peer))
        if error is not None:
            _connection(args[1]).close()
        return error

    return make


def _lost_answer(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> LostAnswer | None:
    error = _operational_error(args[0], "connection-lost")
    return None if error is None else LostAnswer(error, _connection(args[1]).close)


def _failed_connect(fault: str) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException | None:
        address = {"host": kwargs.get("host", "localhost"), "port": kwargs.get("port", 5432)}
        return _operational_error(args[0], fault, **address)

    return make


def _exhausted_pool(call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
    pool = args[0]
    if call.timeout is None:  # a pool without a limit
        return None
    text = f"QueuePool limit of size {pool.size()} overflow {pool.overflow()} reached, connection timed out"
    error: BaseException = sys.modules["sqlalchemy.exc"].TimeoutError(
        f"{text}, timeout {call.timeout:0.2f}", code="3o7r"
    )
    return error


_OF_CONNECTION: Mapping[str, MakeFault] = {
    **{name: _lost_connection(name) for name in ("connection-lost", "connection-refused", "connection-reset")},
    "lost-answer": _lost_answer,
}
STATEMENT_FAULTS: Mapping[str, MakeFault] = {
    **{fault: _failed_statement(fault) for fault in (*SERVER_ERRORS, "read-only")},
    "no-answer": _failed_statement("timeout"),
    **_OF_CONNECTION,
}
COMMIT_FAULTS: Mapping[str, MakeFault] = {
    **{fault: _failed_commit(fault) for fault in ("deadlock", "serialization-failure", "disk-full", "timeout")},
    "no-answer": _failed_commit("timeout"),
    **_OF_CONNECTION,
}
CONNECT_FAULTS: Mapping[str, MakeFault] = {
    **{
        fault: _failed_connect(fault)
        for fault in ("connection-refused", "too-many-connections", "loading", "dns-failure", "timeout")
    },
    "no-answer": _failed_connect("timeout"),
}
POOL_FAULTS: Mapping[str, MakeFault] = {"pool-exhausted": _exhausted_pool, "no-answer": _exhausted_pool}
FAULTS: Mapping[str, MakeFault] = {**CONNECT_FAULTS, **POOL_FAULTS, **COMMIT_FAULTS, **STATEMENT_FAULTS}


def faults_at(method: str) -> Mapping[str, MakeFault]:
    return {"connect": CONNECT_FAULTS, "commit": COMMIT_FAULTS, "checkout": POOL_FAULTS}.get(method, STATEMENT_FAULTS)
