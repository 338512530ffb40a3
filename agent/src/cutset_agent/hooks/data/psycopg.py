"""psycopg 3, sync and async, and its pool: statements, commits, connecting, taking a connection from the pool.

Where a server's error is wanted, the server itself is made to raise it, so that class, `sqlstate`, `diag` and the state
of the transaction afterwards are the real ones. Where a connection is lost, it is closed, so that whoever keeps it
finds it broken. Facts of a statement are `verb` and `rows`.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import sys
import weakref
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from cutset_agent import peers
from cutset_agent.calls import AfterCall, HookedCall, MakeFault, SharedFault
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
    as_text,
    server_error,
    shared,
    statement_payload,
    verb_of,
)

MODULE = ("psycopg", "psycopg_pool")
TESTED = "psycopg 3.1, 3.3; psycopg_pool 3.2, 3.3 (real server 16)"

MAX_RECORDED_ROWS = 100
_STATEMENT_TIMEOUT = re.compile(r"statement_timeout\s*=\s*'?(\d+)\s*(ms|s|min)?")
_IDLE, _IN_TRANSACTION = 0, 2  # libpq's PQTRANS_IDLE and PQTRANS_INTRANS
_peers: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()  # of connections
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0}


def _library(name: str = "psycopg") -> Any:
    return sys.modules[name]


# ---- errors of a live connection; the first argument is a cursor, a transaction or a connection


def _connection(owner: Any) -> Any:
    return getattr(owner, "connection", owner)


def _raised_by_server(connection: Any, error: ServerError) -> BaseException | None:
    """Made by hand where the connection is busy; None where it is closed, which says enough.

    In asynchronous hooks it blocks the loop for a round trip; a drill bears that.
    """
    psycopg, pgconn = _library(), connection.pgconn
    raised: BaseException = psycopg.errors.lookup(error.sqlstate)(error.message)
    if connection.closed:
        return None
    if connection.lock.locked() or pgconn.pipeline_status or pgconn.transaction_status not in (_IDLE, _IN_TRANSACTION):
        return raised
    if pgconn.transaction_status == _IDLE and not connection.autocommit:
        pgconn.exec_(b"BEGIN")  # as psycopg would have done before the statement
    result = pgconn.exec_(error.statement().encode())
    if result.status == psycopg.pq.ExecStatus.FATAL_ERROR:
        raised = psycopg.errors.error_from_result(result, connection.info.encoding)
    return raised


def _failed_statement(fault: str) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException | None:
        error = server_error(fault, _query(args, kwargs))
        return error and _raised_by_server(_connection(args[0]), error)

    return make


def _lost() -> BaseException:
    error: BaseException = _library().OperationalError(LOST)
    return error


def _connection_lost(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    _connection(args[0]).pgconn.finish()
    return _lost()


def _broken(message: str) -> MakeFault:
    """Closes the connection if the request has it to itself, as what comes next in its transaction must fail as well.
    One that others may use stays as it is; only a commit is undone.
    """

    def make(call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
        connection = _connection(args[0])
        if _is_pooled(args[0]):
            connection.pgconn.finish()
        elif call.endpoint.endswith("/commit") and not connection.closed:
            connection.pgconn.exec_(b"ROLLBACK")
        error: BaseException = _library().OperationalError(message.format(**address_in(call.peer)))
        return error

    return make


def _lost_answer(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> LostAnswer:
    return LostAnswer(_lost(), _connection(args[0]).pgconn.finish)


def _server_shutdown(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    pgconn = _connection(args[0]).pgconn
    pgconn.send_query(b"SELECT pg_terminate_backend(pg_backend_pid())")
    farewell = pgconn.get_result()  # a second result would say that the connection is closed
    error: BaseException = _library().errors.error_from_result(farewell)
    pgconn.finish()
    return error


def _is_pooled(owner: Any) -> bool:
    return getattr(_connection(owner), "_pool", None) is not None


def _is_alone(owner: Any) -> bool:
    """Whether a statement that fails leaves nothing to others: outside of a transaction, or on a connection of ours."""
    connection = _connection(owner)
    return _is_pooled(owner) or (connection.autocommit and connection.pgconn.transaction_status == _IDLE)


_OF_CONNECTION: Mapping[str, MakeFault] = {
    "connection-refused": _broken(f"connection failed: {AT_SERVER}{REFUSED}"),
    "connection-reset": _broken(RESET),
    "connection-lost": shared(_connection_lost, _is_pooled),
    "lost-answer": shared(_lost_answer, _is_pooled),
    "server-shutdown": shared(_server_shutdown, _is_pooled),
}
STATEMENT_FAULTS: Mapping[str, MakeFault] = {
    **{fault: shared(_failed_statement(fault), _is_alone) for fault in (*SERVER_ERRORS, "read-only")},
    "no-answer": shared(_failed_statement("timeout"), _is_alone),
    **_OF_CONNECTION,
}


# A call to `copy` only promises to copy: there is no answer yet that could be lost.
_COPY_FAULTS = {name: make for name, make in STATEMENT_FAULTS.items() if name != "lost-answer"}


# ---- commit: when it fails, the server has rolled the transaction back


def _failed_commit(name: str) -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
        connection = _connection(args[0])
        error = _raised_by_server(connection, SERVER_ERRORS[name])
        if error is not None:
            connection.pgconn.exec_(b"ROLLBACK")
        return error

    return make


COMMIT_FAULTS: Mapping[str, MakeFault] = {
    "serialization-failure": _failed_commit("serialization-failure"),
    "disk-full": _failed_commit("disk-full"),
    "timeout": _failed_commit("timeout"),
    "no-answer": _failed_commit("timeout"),
    **_OF_CONNECTION,
}


def _at_end_of_block(make: MakeFault) -> MakeFault:
    """psycopg must leave the block of a transaction, or the connection would count one too many for good."""

    def make_after(call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        action = make(call, args, kwargs)
        return AfterCall(action) if isinstance(action, BaseException) else action

    return SharedFault(make_after, make.why, make.is_own) if isinstance(make, SharedFault) else make_after


# ---- connecting


def _connect_error(message: str, error_class: str = "OperationalError") -> MakeFault:
    def make(_call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException:
        known = _connection_parameters(args, kwargs)
        text = message.format(host=known.get("host") or "localhost", port=known.get("port") or 5432)
        error: BaseException = getattr(_library().errors, error_class, _library().OperationalError)(text)
        return error

    return make


_FAILED = f"connection failed: {AT_SERVER}"

CONNECT_FAULTS: Mapping[str, MakeFault] = {
    "connection-refused": _connect_error(_FAILED + REFUSED),
    "too-many-connections": _connect_error(_FAILED + "FATAL:  sorry, too many clients already"),
    "loading": _connect_error(_FAILED + "FATAL:  the database system is starting up"),
    "dns-failure": _connect_error("failed to resolve host '{host}': [Errno -2] Name or service not known"),
    "timeout": _connect_error("connection timeout expired", "ConnectionTimeout"),
    "no-answer": _connect_error("connection timeout expired", "ConnectionTimeout"),
}


def _pool_timeout(call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    waited = f"couldn't get a connection after {call.timeout or 0:.2f} sec"
    error: BaseException = _library("psycopg_pool").PoolTimeout(waited)
    return error


POOL_FAULTS: Mapping[str, MakeFault] = {"pool-exhausted": _pool_timeout, "no-answer": _pool_timeout}

FAULTS: Mapping[str, MakeFault] = {**CONNECT_FAULTS, **POOL_FAULTS, **COMMIT_FAULTS, **STATEMENT_FAULTS}


def faults_at(method: str) -> Mapping[str, MakeFault]:
    known = {"connect": CONNECT_FAULTS, "commit": COMMIT_FAULTS, "getconn": POOL_FAULTS, "copy": _COPY_FAULTS}
    return known.get(method, STATEMENT_FAULTS)


# ---- what is hooked


def install(module: Any) -> None:
    if module.__name__ == "psycopg_pool":
        wrap(module.ConnectionPool, "getconn", _describe_getconn, POOL_FAULTS)
        wrap(module.AsyncConnectionPool, "getconn", _describe_getconn, POOL_FAULTS, asynchronous=True)
        return
    for asynchronous in (False, True):
        kind = "Async" if asynchronous else ""
        connection = getattr(module, f"{kind}Connection")
        for cursor in (getattr(module, f"{kind}Cursor"), getattr(module, f"{kind}ServerCursor")):
            for method, outcome, response in (("execute", _outcome, _rows), ("executemany", None, None)):
                describe = _describe_statement(method)
                facts: dict[str, Any] = {"outcome": outcome, "response": response}
                wrap(cursor, method, describe, STATEMENT_FAULTS, asynchronous=asynchronous, **facts)
        wrap(connection, "cursor", _describe_cursor, {})
        wrap(connection, "connect", _describe_connect, CONNECT_FAULTS, asynchronous=asynchronous)
        wrap(connection, "commit", _describe_commit, COMMIT_FAULTS, asynchronous=asynchronous)
        block_end = {name: _at_end_of_block(make) for name, make in COMMIT_FAULTS.items()}
        exit_name = "__aexit__" if asynchronous else "__exit__"
        block = getattr(module, f"{kind}Transaction")
        wrap(block, exit_name, _describe_block_end, block_end, asynchronous=asynchronous)
    module.connect = module.Connection.connect  # the module kept the one from before
    wrap(module.Cursor, "copy", _describe_statement("copy"), _COPY_FAULTS)
    _hook_asynchronous_copy(module.AsyncCursor, _COPY_FAULTS)


def _hook_asynchronous_copy(cursor: Any, faults: Mapping[str, MakeFault]) -> None:
    """`copy` is no coroutine function, so a delay in it would block the loop: it happens as its block is entered."""
    original = cursor.copy
    if hasattr(original, "_cutset_gate"):
        return

    class Gate:
        @staticmethod
        async def copy(cursor: Any, *args: Any, **kwargs: Any) -> None:
            """Where the fault happens."""

    wrap(Gate, "copy", _describe_statement("copy"), faults, asynchronous=True)

    @functools.wraps(original)
    @contextlib.asynccontextmanager
    async def copy(self: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        await Gate.copy(self, *args, **kwargs)
        async with original(self, *args, **kwargs) as block:
            yield block

    copy._cutset_gate = Gate  # type: ignore[attr-defined]  # noqa: SLF001
    cursor.copy = copy


def _query(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    query = args[1] if len(args) > 1 else kwargs.get("query", kwargs.get("statement", ""))
    return query.as_string(_connection(args[0])) if hasattr(query, "as_string") else query


def _describe_statement(method: str) -> Callable[[tuple[Any, ...], dict[str, Any]], HookedCall]:
    endpoint = f"db/psycopg/{method}"

    def describe(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall:
        def payload() -> str:
            parameters = args[2] if len(args) > 2 else kwargs.get("params")
            # A sequence of parameters may be a generator, which nobody else must use up.
            shown = parameters if method == "execute" or isinstance(parameters, (list, tuple)) else None
            return statement_payload(_query(args, kwargs), shown)

        verb = {"verb": verb_of(_query(args, kwargs))}
        connection = args[0].connection
        return HookedCall(endpoint, statement_timeout(connection), payload, verb, peer_of(connection))

    return describe


def _describe_cursor(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall | None:
    """A closed connection fails here, before there is a statement."""
    return HookedCall("db/psycopg/execute", peer=peer_of(args[0])) if args[0].closed else None


def peer_of(connection: Any) -> str:
    """A connection that is closed no longer tells; within a request it mostly was asked before."""
    if not connection.closed:
        known = connection.pgconn
        _peers[connection] = peers.store(known.host, known.port, known.db)
    return _peers.get(connection, "")


def statement_timeout(connection: Any) -> float | None:
    """As given when connecting, which is where services set it; libpq has none of its own for statements."""
    if connection.closed:
        return None
    found = _STATEMENT_TIMEOUT.search(connection.pgconn.options.decode())
    seconds = int(found[1]) * _SECONDS[found[2] or "ms"] if found else 0.0
    return seconds or None


def _describe_commit(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall | None:
    connection = args[0]
    nothing_to_commit = connection.pgconn.transaction_status == _IDLE
    return None if nothing_to_commit else _commit(connection)


def _describe_block_end(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall | None:
    transaction, error = args[0], args[2]
    commits = error is None and not transaction.force_rollback and transaction._outer_transaction  # noqa: SLF001
    return _commit(transaction.connection) if commits else None


def _commit(connection: Any) -> HookedCall:
    return HookedCall("db/psycopg/commit", statement_timeout(connection), peer=peer_of(connection))


def _describe_connect(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall:
    known = _connection_parameters(args, kwargs)
    timeout = _library().conninfo.timeout_from_conninfo(known)
    return HookedCall("db/psycopg/connect", timeout, peer=peers.database_of("", known, os.environ))


def _connection_parameters(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    ours = {"autocommit", "prepare_threshold", "context", "row_factory", "cursor_factory", "conninfo"}
    conninfo = args[1] if len(args) > 1 else kwargs.get("conninfo", "")
    given = {name: value for name, value in kwargs.items() if name not in ours}
    return dict(_library().conninfo.conninfo_to_dict(conninfo, **given))


def _describe_getconn(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall:
    timeout = args[1] if len(args) > 1 else kwargs.get("timeout")
    pool = args[0]
    conninfo = pool.conninfo if isinstance(pool.conninfo, str) else ""  # newer ones may be told later
    given = pool.kwargs if isinstance(pool.kwargs, dict) else {}
    peer = peers.database_of(conninfo, given, os.environ) if conninfo or given else ""
    return HookedCall("db/psycopg_pool/getconn", pool.timeout if timeout is None else timeout, peer=peer)


def _outcome(cursor: Any) -> dict[str, str]:
    return {"rows": str(cursor.rowcount)}


def _rows(cursor: Any) -> str | None:
    """Read beside the cursor, whose position belongs to the service."""
    result = cursor.pgresult
    if result is None or not result.nfields:
        return None
    columns = [(number, result.fname(number).decode()) for number in range(result.nfields)]
    rows = range(min(result.ntuples, MAX_RECORDED_ROWS))
    found = [{name: result.get_value(row, number) for number, name in columns} for row in rows]
    return json.dumps(found, default=as_text, ensure_ascii=False)
