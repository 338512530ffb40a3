"""What the agent costs a call of each hooked library while nothing is armed: `python benchmarks/agent_overhead.py`.

Unarmed is the state of every request that is no experiment: the agent is on, the request came in through its entry and
carries no plan. The hooked function is called in turn with the one that it wraps, on the library's own client with its
network part replaced by nothing, so that the difference is not lost in a server's noise; medians of many short rounds.
"""
# ruff: noqa: SLF001 -- hooks are where libraries keep what is theirs

import asyncio
import contextlib
import inspect
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

ROUNDS = 300
CALLS = 100  # in each round


def measure() -> dict[str, dict[str, float]]:
    """Microseconds that the hook adds to a call, by library."""
    os.environ.update(CUTSET_AGENT="1", CUTSET_KEY="benchmark" * 4)
    import cutset_agent  # noqa: PLC0415 -- after the environment is set
    from cutset_agent import request  # noqa: PLC0415

    cutset_agent.install()
    found = {}
    entry = request.enter([("traceparent", f"00-{'ab' * 16}-{'cd' * 8}-01")], "GET /")
    try:
        for library, cost in LIBRARIES.items():
            try:
                found[library] = round(cost(), 2)
            except ImportError:  # this one is not installed here
                continue
    finally:
        request.leave(entry)
    return {"agent_overhead_us": found}


def added_by_hook(owner: Any, name: str, *args: Any, **kwargs: Any) -> float:
    """Microseconds per call of a hooked function beyond its original. `args` begin with self, if there is one."""
    hooked = getattr(owner, name)
    return _difference(hooked, hooked.__wrapped__, lambda function: _time(function, args, kwargs))


def added_by_asynchronous_hook(owner: Any, name: str, *args: Any, **kwargs: Any) -> float:
    hooked = getattr(owner, name)
    loop = asyncio.new_event_loop()
    try:
        return _difference(
            hooked,
            hooked.__wrapped__,
            lambda function: loop.run_until_complete(_time_asynchronously(function, args, kwargs)),
        )
    finally:
        loop.close()


def _difference(hooked: Callable[..., Any], original: Callable[..., Any], time_calls: Callable[..., float]) -> float:
    # Alternating, so that both meet the same state of the machine.
    differences = [time_calls(hooked) - time_calls(original) for _ in range(ROUNDS)]
    return statistics.median(differences) / CALLS * 1e6


def _time(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> float:
    start = time.perf_counter()
    for _ in range(CALLS):
        function(*args, **kwargs)
    return time.perf_counter() - start


async def _time_asynchronously(
    function: Callable[..., Awaitable[Any]], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> float:
    start = time.perf_counter()
    for _ in range(CALLS):
        await function(*args, **kwargs)
    return time.perf_counter() - start


def redis_overhead() -> float:
    import redis  # noqa: PLC0415

    client = redis.Redis()
    vars(client)["_execute_command"] = lambda *_args, **_options: b"value"
    return added_by_hook(redis.Redis, "execute_command", client, "GET", "key")


def redis_asyncio_overhead() -> float:
    import redis.asyncio  # noqa: PLC0415

    class Connection:
        should_reconnect = _close = bool
        db, host, port = 0, "localhost", 6379
        retry: Any = None

    async def answer_at_once(*_args: Any, **_options: Any) -> bytes:
        return b"value"

    client = redis.asyncio.Redis()
    client.connection = Connection()  # type: ignore[assignment]
    client.connection.retry = type("Retry", (), {"call_with_retry": staticmethod(answer_at_once)})
    return added_by_asynchronous_hook(redis.asyncio.Redis, "execute_command", client, "GET", "key")


def httpx_overhead() -> float:
    import httpcore  # noqa: PLC0415
    import httpx  # noqa: PLC0415

    transport = httpx.HTTPTransport()
    transport._pool = SimpleNamespace(handle_request=lambda _request: httpcore.Response(200))  # type: ignore[assignment]
    send = httpx.HTTPTransport.handle_request
    request = httpx.Request("GET", "http://shop/quote/17")
    # Not `added_by_hook`: below the hook is another layer of ours, that keeps bodies while recording.
    return _difference(send, inspect.unwrap(send), lambda function: _time(function, (transport, request), {}))


def httpx_asyncio_overhead() -> float:
    import httpcore  # noqa: PLC0415
    import httpx  # noqa: PLC0415

    async def answer_at_once(_request: Any) -> Any:
        return httpcore.Response(200)

    transport = httpx.AsyncHTTPTransport()
    transport._pool = SimpleNamespace(handle_async_request=answer_at_once)  # type: ignore[assignment]
    send = httpx.AsyncHTTPTransport.handle_async_request
    arguments = (transport, httpx.Request("GET", "http://shop/quote/17"))
    loop = asyncio.new_event_loop()
    try:
        return _difference(
            send,
            inspect.unwrap(send),
            lambda function: loop.run_until_complete(_time_asynchronously(function, arguments, {})),
        )
    finally:
        loop.close()


def urllib3_overhead() -> float:
    import urllib3  # noqa: PLC0415

    response = SimpleNamespace(version_string="HTTP/1.1", status=200, length_remaining=0, headers={})
    connection = SimpleNamespace(timeout=None, is_closed=False, request=lambda *_args, **_options: None)
    connection.getresponse = lambda: response
    arguments = (urllib3.HTTPConnectionPool("shop"), connection, "GET", "/quote/17")
    send = urllib3.HTTPConnectionPool._make_request
    return _difference(send, inspect.unwrap(send), lambda function: _time(function, arguments, {"headers": {}}))


def aiohttp_overhead() -> float:
    import aiohttp  # noqa: PLC0415

    # The request itself is never run: the hook decides before it starts.
    def starting(function: Callable[..., Any]) -> float:
        return _time(lambda: function(None, "GET", "http://shop/quote/17").close(), (), {})

    return _difference(aiohttp.ClientSession._request, inspect.unwrap(aiohttp.ClientSession._request), starting)


def grpc_overhead() -> float:
    import grpc._channel  # noqa: PLC0415

    class Callee(grpc._channel._UnaryUnaryMultiCallable):  # type: ignore[misc]
        def __init__(self) -> None:
            self.state = grpc._channel._RPCState((), (), (), grpc.StatusCode.OK, "")

        def _blocking(self, *_args: Any) -> Any:
            return self.state, None

    return added_by_hook(grpc._channel._UnaryUnaryMultiCallable, "__call__", Callee(), b"request")


def grpc_aio_overhead() -> float:
    import grpc.aio._channel as channel  # noqa: PLC0415

    callee = SimpleNamespace(**dict.fromkeys(CALLEE_ATTRIBUTES), _init_metadata=lambda *_: None)
    callee._python_channel = SimpleNamespace(_register_call=lambda _call: None)
    real_call, channel.UnaryUnaryCall = channel.UnaryUnaryCall, lambda *_args: None
    try:
        return added_by_hook(channel.UnaryUnaryMultiCallable, "__call__", callee, b"request")
    finally:
        channel.UnaryUnaryCall = real_call


CALLEE_ATTRIBUTES = (
    "_channel", "_interceptors", "_loop", "_method", "_registered_call_handle", "_request_serializer",
    "_response_deserializer",
)  # fmt: skip


def grpc_server_overhead() -> float:
    """Of a call that is served: finding its handler, entering and leaving it."""
    import grpc  # noqa: PLC0415

    from cutset_agent.hooks.entries import grpc_server  # noqa: PLC0415

    handler = grpc.unary_unary_rpc_method_handler(lambda _request, _context: b"answer")
    metadata = (("user-agent", "grpc"),)
    context = SimpleNamespace(code=lambda: None, invocation_metadata=lambda: metadata)

    def hooked() -> Any:
        return grpc_server._entered_or_as_ever(grpc, handler, "/shop.Quotes/GetQuote").unary_unary(b"", context)

    def plain() -> Any:
        return handler.unary_unary(b"", context)

    return _difference(hooked, plain, lambda function: _time(function, (), {}))


async def _nothing(*_args: Any, **_options: Any) -> None:
    pass


def psycopg_overhead() -> float:
    import psycopg  # noqa: PLC0415

    connection = SimpleNamespace(lock=contextlib.nullcontext(), wait=lambda _statement: None)
    cursor = SimpleNamespace(_conn=connection, _execute_gen=lambda *_args, **_options: None)
    return added_by_hook(psycopg.Cursor, "execute", cursor, "SELECT 1")


def psycopg_asyncio_overhead() -> float:
    import psycopg  # noqa: PLC0415

    connection = SimpleNamespace(lock=contextlib.nullcontext(), wait=_nothing)
    cursor = SimpleNamespace(_conn=connection, _execute_gen=lambda *_args, **_options: None)
    return added_by_asynchronous_hook(psycopg.AsyncCursor, "execute", cursor, "SELECT 1")


def asyncpg_overhead() -> float:
    import asyncpg  # noqa: PLC0415

    connection = SimpleNamespace(_check_open=lambda: None, _execute=_nothing)
    return added_by_asynchronous_hook(asyncpg.Connection, "fetch", connection, "SELECT 1")


def sqlalchemy_overhead() -> float:
    from sqlalchemy.engine.default import DefaultDialect  # noqa: PLC0415

    cursor = SimpleNamespace(execute=lambda *_: None)
    return added_by_hook(DefaultDialect, "do_execute", None, cursor, "SELECT 1", ())


def pymongo_overhead() -> float:
    from pymongo.synchronous.cursor import Cursor  # noqa: PLC0415

    return added_by_hook(Cursor, "_refresh", SimpleNamespace(_data=(b"",), _killed=False))


def nats_overhead() -> float:
    from nats.aio.client import Client  # noqa: PLC0415

    attributes = {"is_closed": False, "is_draining_pubs": False, "is_connected": True, "_max_payload": 9}
    client = SimpleNamespace(**attributes, _skip_subject_validation=True, _send_publish=_nothing)
    return added_by_asynchronous_hook(Client, "publish", client, "orders", b"1")


def nats_handling_overhead() -> float:
    """Of a message that is handled: entering and leaving it."""
    from cutset_agent.hooks.brokers import nats  # noqa: PLC0415

    handling = SimpleNamespace(handle=nats._handling(_nothing))
    return added_by_asynchronous_hook(handling, "handle", SimpleNamespace(headers=None))


def aiokafka_overhead() -> float:
    from aiokafka import AIOKafkaProducer  # noqa: PLC0415

    client = SimpleNamespace(_wait_on_metadata=_nothing)
    accumulator = SimpleNamespace(add_message=_nothing)
    producer = SimpleNamespace(client=client, _txn_manager=None, _message_accumulator=accumulator)
    vars(producer).update(_serialize=lambda *_: (b"", b""), _partition=lambda *_: 0, _request_timeout_ms=1)
    return added_by_asynchronous_hook(AIOKafkaProducer, "send", producer, "orders", b"1")


def pika_overhead() -> float:
    from pika.channel import Channel  # noqa: PLC0415

    channel = SimpleNamespace(_raise_if_not_open=lambda: None, _send_method=lambda *_: None)
    return added_by_hook(Channel, "basic_publish", channel, "", "orders", b"1")


# Each adds its line.
LIBRARIES: dict[str, Callable[[], float]] = {
    "redis": redis_overhead,
    "redis.asyncio": redis_asyncio_overhead,
    "httpx": httpx_overhead,
    "httpx.asyncio": httpx_asyncio_overhead,
    "urllib3": urllib3_overhead,
    "aiohttp": aiohttp_overhead,
    "grpc": grpc_overhead,
    "grpc.aio": grpc_aio_overhead,
    "grpc.server": grpc_server_overhead,
    "psycopg": psycopg_overhead,
    "psycopg.asyncio": psycopg_asyncio_overhead,
    "asyncpg": asyncpg_overhead,
    "sqlalchemy": sqlalchemy_overhead,
    "pymongo": pymongo_overhead,
    "nats": nats_overhead,
    "nats.handling": nats_handling_overhead,
    "aiokafka": aiokafka_overhead,
    "pika": pika_overhead,
}

if __name__ == "__main__":
    print(json.dumps(measure()))
