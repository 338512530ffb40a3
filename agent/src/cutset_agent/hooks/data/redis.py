"""redis-py, synchronous and asyncio: single commands (`cache/redis/get`) and pipelines (`cache/redis/pipeline`).

Faults happen at the client's surface: what the application sees once the library's own retries are used up.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

from cutset_agent import peers
from cutset_agent.calls import AfterCall, ChangedAnswer, HookedCall, InjectedAnswer, MakeFault, inverted
from cutset_agent.hooking import wrap

MODULE = "redis"
TESTED = "redis 5.0, 6.4, 7.0, 8.1 (server 6.2)"

# fmt: off
# What a full or read-only server still does. The rest writes, or may.
READS = frozenset({
    "bitcount", "dbsize", "exists", "expiretime", "get", "getbit", "getrange", "hexists", "hget", "hgetall",
    "hkeys", "hlen", "hmget", "hvals", "keys", "lindex", "llen", "lpos", "lrange", "mget", "ping", "pttl",
    "randomkey", "scan", "scard", "sismember", "smembers", "srandmember", "sscan", "strlen", "ttl", "type",
    "xlen", "xrange", "zcard", "zcount", "zrange", "zrangebyscore", "zrank", "zscore",
})
# fmt: on
# Of these, None is what the server says of a key that is not there.
SINGLE_READS = frozenset({"get", "hget", "getrange", "lindex", "zscore", "zrank"})
VALUES = SINGLE_READS - {"zscore", "zrank"}  # what the service has put there
_OF_WRITES = frozenset({"read-only", "out-of-memory"})


def install(module: Any) -> None:
    for owner, asynchronous in ((module.client, False), (module.asyncio.client, True)):
        faults = ASYNCIO_FAULTS if asynchronous else FAULTS
        for method, describe in (
            ("execute_command", _describe_command),
            ("immediate_execute_command", _describe_command),
            ("execute", _describe_pipeline),
        ):
            cls = owner.Redis if method == "execute_command" else owner.Pipeline
            wrap(cls, method, describe, faults, asynchronous=asynchronous, response=_response)


def _describe_command(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall:
    command = _text(args[1]).lower().replace(" ", "-")
    payload = lambda: b" ".join(map(_as_bytes, args[1:]))  # noqa: E731
    return HookedCall(f"cache/redis/{command}", _timeout(args[0]), payload, peer=_peer(args[0]))


def _describe_pipeline(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> HookedCall | None:
    pipeline = args[0]
    commands = pipeline.command_stack
    if not commands:
        return None
    return HookedCall(
        "cache/redis/pipeline",
        _timeout(pipeline),
        lambda: b"\n".join(b" ".join(map(_as_bytes, command[0])) for command in commands),
        peer=_peer(pipeline),
    )


def _timeout(client: Any) -> float | None:
    timeout = client.connection_pool.connection_kwargs.get("socket_timeout")
    return None if timeout is None else float(timeout)


def _peer(client: Any) -> str:
    pool = client.connection_pool
    known = pool.connection_kwargs
    # Whichever server a sentinel names, it is the same store.
    named = getattr(pool, "service_name", "") or known.get("path")
    host, port = (named, "") if named else (known.get("host", "localhost"), known.get("port", 6379))
    return peers.store(host, port, known.get("db") or 0)


def _address(client: Any) -> str:
    known = client.connection_pool.connection_kwargs
    return known.get("path") or f"{known.get('host', 'localhost')}:{known.get('port', 6379)}"


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _as_bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")


def _response(result: Any) -> bytes:
    return b"" if result is None else _as_bytes(result)


def _exception(name: str, text: str, address: str = "") -> BaseException:
    made: BaseException = getattr(sys.modules["redis.exceptions"], name)(text.replace("{}", address))
    return made


def _raise(name: str, text: str) -> MakeFault:
    """`{}` stands for the server's address."""

    def make(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
        return _exception(name, text, _address(args[0]))

    return make


def _raise_on_write(name: str, text: str) -> MakeFault:
    def make(call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException | None:
        return None if call.endpoint.split("/")[-1] in READS else _exception(name, text, _address(args[0]))

    return make


def _lose_answer(call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> AfterCall:
    address = _address(args[0])
    if call.timeout is not None:
        return AfterCall(_exception("TimeoutError", "Timeout reading from {}", address))
    return AfterCall(_exception("ConnectionError", "Connection closed by server."))


def _command(pool: Any) -> tuple[str, ...]:
    """What older versions want to know."""
    needed = inspect.signature(pool.get_connection).parameters.get("command_name")
    return ("_",) if needed is not None and needed.default is inspect.Parameter.empty else ()


def _lose_connection(_call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> BaseException:
    """The one that the call would take, and no other: those are for others to take."""
    pool, connection = args[0].connection_pool, args[0].connection
    lost = connection or pool.get_connection(*_command(pool))
    lost.disconnect()
    if connection is None:
        pool.release(lost)
    return _exception("ConnectionError", "Connection closed by server.")


async def _lose_connection_asynchronously(
    _call: HookedCall, args: tuple[Any, ...], _kwargs: dict[str, Any]
) -> BaseException:
    pool, connection = args[0].connection_pool, args[0].connection
    lost = connection or await pool.get_connection(*_command(pool))
    await lost.disconnect()
    if connection is None:
        await pool.release(lost)
    return _exception("ConnectionError", "Connection closed by server.")


def _miss(call: HookedCall, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> InjectedAnswer | None:
    return InjectedAnswer(None) if call.endpoint.split("/")[-1] in SINGLE_READS else None


def _spoil(spoilt: Callable[[bytes], bytes]) -> MakeFault:
    """A cached value that cannot be read, as after a change of its format. A client that decodes gets text."""

    def change(result: Any) -> Any:
        if isinstance(result, str):
            return spoilt(result.encode("utf-8", "surrogateescape")).decode("latin-1")
        return spoilt(result) if isinstance(result, bytes) else result

    return lambda call, _args, _kwargs: ChangedAnswer(change) if call.endpoint.split("/")[-1] in VALUES else None


FAULTS: Mapping[str, MakeFault] = {
    "connection-refused": _raise("ConnectionError", "Error 111 connecting to {}. Connection refused."),
    "connection-reset": _raise("ConnectionError", "Error while reading from {} : (104, 'Connection reset by peer')"),
    "connection-lost": _lose_connection,
    "dns-failure": _raise("ConnectionError", "Error -2 connecting to {}. Name or service not known."),
    "timeout": _raise("TimeoutError", "Timeout reading from {}"),
    "no-answer": _raise("TimeoutError", "Timeout reading from {}"),
    "lost-answer": _lose_answer,
    "pool-exhausted": _raise("MaxConnectionsError", "Too many connections"),
    "too-many-connections": _raise("ConnectionError", "max number of clients reached"),
    "authentication-failed": _raise("AuthenticationError", "invalid username-password pair or user is disabled."),
    "read-only": _raise_on_write("ReadOnlyError", "You can't write against a read only replica."),
    "out-of-memory": _raise_on_write("OutOfMemoryError", "command not allowed when used memory > 'maxmemory'."),
    "loading": _raise("BusyLoadingError", "Redis is loading the dataset in memory"),
    "moved": _raise("MovedError", "3999 {}"),
    "serialization": _raise(
        "DataError", "Invalid input of type: 'object'. Convert to a bytes, string, int or float first."
    ),
    "cache-miss": _miss,
    "truncated-body": _spoil(lambda value: value[: len(value) // 2]),
    "garbled-body": _spoil(inverted),
}
ASYNCIO_FAULTS: Mapping[str, MakeFault] = {**FAULTS, "connection-lost": _lose_connection_asynchronously}


def faults_at(command: str) -> Mapping[str, MakeFault]:
    """Those that make sense for a command."""
    not_here = set(_OF_WRITES if command in READS else ())
    not_here |= {"cache-miss"} if command not in SINGLE_READS else set()
    not_here |= {"truncated-body", "garbled-body"} if command not in VALUES else set()
    return {name: make for name, make in FAULTS.items() if name not in not_here}
