"""asyncpg: statements, also prepared ones, `begin` and `commit` of its transactions, connecting, acquiring of a pool.

Errors of the server are raised by the server, and lost connections are closed, as in the hook of psycopg.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Mapping
from typing import Any

from cutset_agent import peers
from cutset_agent.calls import Describe, HookedCall, MakeFault
from cutset_agent.hooking import wrap
from cutset_agent.hooks.data.postgres import (
    SERVER_ERRORS,
    LostAnswer,
    ServerError,
    server_error,
    shared,
    statement_payload,
    verb_of,
)

MODULE = "asyncpg"
TESTED = "asyncpg 0.29, 0.32 (real server 16)"

LOST = "connection was closed in the middle of operation"
CONNECT_TIMEOUT = 60.0  # asyncpg's own, where the caller gives none
METHODS = ("execute", "executemany", "fetch", "fetchrow", "fetchval", "fetchmany")
_OF_TRANSACTIONS = {"BEGIN": "begin", "COMMIT": "commit", "ROLLBACK": "rollback"}


def install(module: Any) -> None:
    for owner in (module.Connection, module.prepared_stmt.PreparedStatement):
        for method in METHODS:
            if hasattr(owner, method):
                describe = _describe_statement(method)
                wrap(owner, method, describe, STATEMENT_FAULTS, asynchronous=True, outcome=_outcome)
    wrap(module.connection, "connect", _describe_connect, CONNECT_FAULTS, asynchronous=True)
    module.connect = module.connection.connect  # the package kept the one from before
    wrap(module.pool.Pool, "_acquire", _describe_acquire, POOL_FAULTS, asynchronous=True)


def _describe_statement(method: str) -> Describe:
    def describe(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall:
        connection, query = _connection(args[0]), _query(args)
        verb = verb_of(query)
        timeout = kwargs.get("timeout")
        if timeout is None:
            timeout = connection._config.command_timeout  # noqa: SLF001
        parameters = args[1 if connection is not args[0] else 2 :]
        endpoint = f"db/asyncpg/{_OF_TRANSACTIONS.get(verb, method) if method == 'execute' else method}"
        payload = lambda: statement_payload(query, parameters)  # noqa: E731
        return HookedCall(endpoint, timeout, payload, {"verb": verb}, _peer(connection))

    return describe


def _connection(owner: Any) -> Any:
    """Of a prepared statement, or the connection itself."""
    return getattr(owner, "_connection", owner)


def _query(args: tuple[Any, ...]) -> str:
    prepared = getattr(args[0], "_query", None)
    return str(prepared or (args[1] if len(args) > 1 else ""))


def _peer(connection: Any) -> str:
    address, database = connection._addr, connection._params.database  # noqa: SLF001
    host, port = (address, "") if isinstance(address, str) else address[:2]
    return peers.store(host, port, database)


def _describe_connect(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall:
    peer = peers.database_of(str((args[0] if args else kwargs.get("dsn")) or ""), kwargs, os.environ)
    return HookedCall("db/asyncpg/connect", kwargs.get("timeout", CONNECT_TIMEOUT), peer=peer)


def _describe_acquire(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall:
    pool = args[0]
    dsn = next(iter(pool._connect_args), None) or ""  # noqa: SLF001
    peer = peers.database_of(str(dsn), pool._connect_kwargs, os.environ)  # noqa: SLF001
    return HookedCall("db/asyncpg/acquire", args[1] if len(args) > 1 else kwargs.get("timeout"), peer=peer)


def _outcome(result: Any) -> dict[str, str]:
    if isinstance(result, list):
        return {"rows": str(len(result))}
    count = result.rpartition(" ")[2] if isinstance(result, str) else ""  # of a status such as `INSERT 0 1`
    return {"rows": count} if count.isdigit() else {}


# ---- faults


def _error(name: str, *arguments: object) -> BaseException:
    error: BaseException = getattr(sys.modules["asyncpg.exceptions"], name)(*arguments)
    return error


async def _raised_by_server(call: HookedCall, connection: Any, error: ServerError) -> BaseException:
    """A commit that fails has ended its transaction."""
    execute = sys.modules["asyncpg"].Connection.execute.__wrapped__
    try:
        await execute(connection, error.statement())
    except Exception as raised:  # noqa: BLE001 -- it is what we want
        if call.endpoint.endswith("/commit"):
            await execute(connection, "ROLLBACK")
        return raised
    raise RuntimeError(f"the server did not raise {error.sqlstate}")


def _failed_statement(fault: str) -> MakeFault:
    async def make(call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
        # A commit writes what its transaction has written.
        commits = call.endpoint.endswith("/commit")
        error = SERVER_ERRORS.get(fault) if commits else server_error(fault, _query(args))
        return None if error is None else await _raised_by_server(call, _connection(args[0]), error)

    return make


def _connection_lost(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    _connection(args[0]).terminate()
    return _error("ConnectionDoesNotExistError", LOST)


async def _broken(call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    """As in the hook of psycopg: what others may use stays as it is, and only a commit is undone."""
    connection = _connection(args[0])
    if _is_pooled(args[0]):
        connection.terminate()
    elif call.endpoint.endswith("/commit"):
        await sys.modules["asyncpg"].Connection.execute.__wrapped__(connection, "ROLLBACK")
    return _error("ConnectionDoesNotExistError", LOST)


def _lost_answer(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> LostAnswer:
    return LostAnswer(_error("ConnectionDoesNotExistError", LOST), _connection(args[0]).terminate)


def _timeout(_call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    return asyncio.TimeoutError()  # not the built-in one before Python 3.11


def _pool_exhausted(call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
    """Without a timeout an exhausted pool makes callers wait, which is the fault `no-answer`."""
    return None if call.timeout is None else asyncio.TimeoutError()


def _connect_refused(_call: HookedCall, _args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException:
    address = kwargs.get("host") or "127.0.0.1", kwargs.get("port") or 5432
    return ConnectionRefusedError(111, f"Connect call failed {address}")


def _is_pooled(owner: Any) -> bool:
    return getattr(_connection(owner), "_proxy", None) is not None


STATEMENT_FAULTS: Mapping[str, MakeFault] = {
    **{fault: _failed_statement(fault) for fault in (*SERVER_ERRORS, "read-only")},
    "connection-refused": _broken,
    "connection-reset": _broken,
    "connection-lost": shared(_connection_lost, _is_pooled),
    "lost-answer": shared(_lost_answer, _is_pooled),
    "timeout": _timeout,
    "no-answer": _timeout,
}
CONNECT_FAULTS: Mapping[str, MakeFault] = {
    "connection-refused": _connect_refused,
    "too-many-connections": lambda *_: _error("TooManyConnectionsError", "sorry, too many clients already"),
    "loading": lambda *_: _error("CannotConnectNowError", "the database system is starting up"),
    "dns-failure": lambda *_: socket.gaierror(-2, "Name or service not known"),
    "timeout": _timeout,
    "no-answer": _timeout,
}
POOL_FAULTS: Mapping[str, MakeFault] = {"pool-exhausted": _pool_exhausted, "no-answer": _timeout}
FAULTS: Mapping[str, MakeFault] = {**CONNECT_FAULTS, **POOL_FAULTS, **STATEMENT_FAULTS}


def faults_at(method: str) -> Mapping[str, MakeFault]:
    return {"connect": CONNECT_FAULTS, "acquire": POOL_FAULTS}.get(method, STATEMENT_FAULTS)
