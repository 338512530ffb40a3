"""PyMongo, synchronous and asyncio: the methods of collections, `find` (when its cursor asks), `getMore`, `command`.

Faults happen at the client's surface: what the application sees once the driver's own retry has failed as well.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from cutset_agent import peers
from cutset_agent.calls import AfterCall, Describe, HookedCall, MakeFault
from cutset_agent.hooking import wrap

MODULE = "pymongo"
TESTED = "PyMongo 4.9, 4.19, against a stand-in for the server"

READS = ("aggregate", "count_documents", "distinct", "estimated_document_count")
WRITES = (
    "bulk_write",
    "delete_many",
    "delete_one",
    "find_one_and_delete",
    "find_one_and_replace",
    "find_one_and_update",
    "insert_many",
    "insert_one",
    "replace_one",
    "update_many",
    "update_one",
)
_COUNTS = ("matched_count", "modified_count", "deleted_count", "inserted_count")


def install(module: Any) -> None:
    for asynchronous in (False, True):
        rooms = module.asynchronous if asynchronous else module.synchronous
        faults = ASYNCIO_FAULTS if asynchronous else FAULTS
        kind = "Async" if asynchronous else ""
        collection = getattr(rooms.collection, f"{kind}Collection")
        for method in (*READS, *WRITES):
            wrap(collection, method, _describe(method), faults, asynchronous=asynchronous, outcome=_outcome)
        database = getattr(rooms.database, f"{kind}Database")
        wrap(database, "command", _describe("command"), faults, asynchronous=asynchronous)
        cursor = getattr(rooms.cursor, f"{kind}Cursor")
        wrap(cursor, "_refresh", _describe_refresh, faults, asynchronous=asynchronous)


def _describe(method: str) -> Describe:
    def describe(args: tuple[Any, ...], kwargs: dict[str, Any]) -> HookedCall:
        facts = {"collection": args[0].name}
        payload = lambda: _text([*args[1:], kwargs])  # noqa: E731
        return HookedCall(f"db/pymongo/{method}", _timeout(_client(args[0])), payload, facts, _peer(args[0]))

    return describe


def _describe_refresh(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall | None:
    cursor = args[0]
    if cursor._data or cursor._killed or cursor._id == 0:  # noqa: SLF001 -- nothing is asked of the server
        return None
    method = "find" if cursor._id is None else "getMore"  # noqa: SLF001
    facts = {"collection": cursor.collection.name}
    payload = lambda: _text(cursor._spec)  # noqa: E731, SLF001
    return HookedCall(f"db/pymongo/{method}", _timeout(_client(cursor)), payload, facts, _peer(cursor.collection))


def _client(owner: Any) -> Any:
    """Of a cursor, a collection or a database."""
    if hasattr(type(owner), "collection"):
        owner = owner.collection
    return owner.client if hasattr(type(owner), "client") else owner.database.client


def _peer(owner: Any) -> str:
    """Of a collection or a database: of several servers that stand for each other the first by name."""
    database = owner if hasattr(type(owner), "client") else owner.database
    host, port = min(_client(owner)._topology_settings.seeds)  # noqa: SLF001
    return peers.store(host, port, database.name)


def _timeout(client: Any) -> float | None:
    timeout = sys.modules["pymongo._csot"].get_timeout() or client.options.timeout
    found: float | None = timeout or client.options.pool_options.socket_timeout
    return found


def _text(value: object) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)


def _outcome(result: Any) -> dict[str, str]:
    if hasattr(result, "acknowledged") and not result.acknowledged:
        return {}
    counts = [getattr(result, name) for name in _COUNTS if hasattr(result, name)]
    return {"rows": str(max(counts))} if counts else {}


# ---- faults


def _address(client: Any) -> str:
    host, port = min(client._topology_settings.seeds)  # noqa: SLF001
    return f"{host}:{port}"


def _error(name: str, *arguments: object) -> BaseException:
    error: BaseException = getattr(sys.modules["pymongo.errors"], name)(*arguments)
    return error


def _raise(name: str, text: str) -> MakeFault:
    """`{}` stands for the server's address."""

    def make(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
        return _error(name, text.replace("{}", _address(_client(args[0]))))

    return make


def _answer(name: str, code: int, code_name: str, text: str, *labels: str) -> MakeFault:
    """An error that the server answers with."""

    def make(_call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
        details = {"ok": 0.0, "errmsg": text, "code": code, "codeName": code_name, "errorLabels": list(labels)}
        return _error(name, text, details) if name == "NotPrimaryError" else _error(name, text, code, details)

    return make


def _on_write(make: MakeFault) -> MakeFault:
    def make_on_write(call: HookedCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return make(call, args, kwargs) if call.endpoint.rpartition("/")[2] in WRITES else None

    return make_on_write


def _pools(client: Any) -> list[Any]:
    topology = client._topology  # noqa: SLF001 -- None until the first call
    return [server.pool for server in topology._servers.values()] if topology is not None else []  # noqa: SLF001


def _lose_connections(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    """All idle ones of the pool, as the driver does itself when one of them breaks."""
    client = _client(args[0])
    for pool in _pools(client):
        pool.reset_without_pause()
    return _error("AutoReconnect", f"{_address(client)}: connection closed")


async def _lose_connections_asynchronously(
    _call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]
) -> BaseException:
    client = _client(args[0])
    for pool in _pools(client):
        await pool.reset_without_pause()
    return _error("AutoReconnect", f"{_address(client)}: connection closed")


def _lose_answer(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> AfterCall:
    return AfterCall(_error("AutoReconnect", f"{_address(_client(args[0]))}: connection closed"))


def _exhaust_pool(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
    options = _client(args[0]).options.pool_options
    if options.wait_queue_timeout is None:  # then callers wait for good, which is `no-answer`
        return None
    text = "Timed out while checking out a connection from connection pool. maxPoolSize: {}, timeout: {}"
    return _error("WaitQueueTimeoutError", text.format(options.max_pool_size, options.wait_queue_timeout))


def _not_encodable(_call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    text = "cannot encode object: <object object>, of type: <class 'object'>"
    error: BaseException = sys.modules["bson.errors"].InvalidDocument(text)
    return error


FAULTS: Mapping[str, MakeFault] = {
    "connection-refused": _raise("ServerSelectionTimeoutError", "{}: [Errno 111] Connection refused"),
    "dns-failure": _raise("ServerSelectionTimeoutError", "{}: [Errno -2] Name or service not known"),
    "connection-reset": _raise("AutoReconnect", "{}: [Errno 104] Connection reset by peer"),
    "connection-lost": _lose_connections,
    "timeout": _raise("NetworkTimeout", "{}: timed out"),
    "no-answer": _raise("NetworkTimeout", "{}: timed out"),
    "lost-answer": _lose_answer,
    "pool-exhausted": _exhaust_pool,
    "authentication-failed": _answer("OperationFailure", 18, "AuthenticationFailed", "Authentication failed."),
    "read-only": _on_write(_answer("NotPrimaryError", 10107, "NotWritablePrimary", "not primary")),
    "serialization-failure": _answer(
        "OperationFailure",
        112,
        "WriteConflict",
        "Caused by :: Write conflict during plan execution and yielding is disabled. :: "
        "Please retry your operation or multi-document transaction.",
        "TransientTransactionError",
    ),
    "disk-full": _on_write(
        _answer("OperationFailure", 14031, "OutOfDiskSpace", "available disk space is less than required minimum")
    ),
    "serialization": _on_write(_not_encodable),
}
ASYNCIO_FAULTS: Mapping[str, MakeFault] = {**FAULTS, "connection-lost": _lose_connections_asynchronously}
