import asyncio
import json

import httpx
from starlette.routing import Router

from cutset.receive.server import listen, serve, url_of
from cutset.traces import relaying
from cutset.traces.relaying import CUT_OFF, POSITION, Relay, relay_routes


async def read(relay, number, lines):
    """So many lines that are not empty."""
    found = []
    async for line in relay.lines(number):
        if line.strip():
            found.append(line.decode().strip())
        if len(found) == lines:
            break
    return found


def test_a_reader_gets_what_arrives_from_then_on_and_goes_on_where_it_was():
    async def scenario():
        relay = Relay()
        relay.publish("before")
        start = relay.start("")
        relay.publish("first")
        relay.publish("second")

        assert await read(relay, start, 2) == ["first", "second"]
        assert await read(relay, relay.start(f"{relay.instance}/2"), 1) == ["second"]
        assert relay.position == f"{relay.instance}/3"

    asyncio.run(scenario())


def test_positions_of_another_process_or_of_no_line_that_is_left_begin_with_now():
    relay = Relay(max_bytes=8)
    for line in ("first", "second", "third"):
        relay.publish(line)

    assert relay.start(f"{'0' * 16}/1") == relay.start("anything") == 3
    assert [relay.start(f"{relay.instance}/{number}") for number in (0, 1, 2, 3, 4)] == [3, 3, 2, 3, 3]


def test_who_is_too_slow_is_cut_off_and_told():
    async def scenario():
        relay = Relay(max_bytes=20)
        reading = relay.lines(relay.start(""))
        relay.publish("first")
        assert await anext(reading) == b"first\n"
        for number in range(10):
            relay.publish(f"line {number}")

        assert await anext(reading) == CUT_OFF
        assert [line async for line in reading] == []

    asyncio.run(scenario())


def test_empty_lines_say_that_nothing_arrives(monkeypatch):
    monkeypatch.setattr(relaying, "HEARTBEAT_SECONDS", 0.01)

    async def scenario():
        relay = Relay()
        assert await anext(relay.lines(0)) == b"\n"

    asyncio.run(scenario())


def test_memory_is_bounded_but_the_newest_line_is_always_there():
    async def scenario():
        relay = Relay(max_bytes=10)
        relay.publish("x" * 100)
        assert await read(relay, 0, 1) == ["x" * 100]

    asyncio.run(scenario())


def test_over_http_readers_are_told_where_they_are_and_no_more_than_some_are_let_in(monkeypatch):
    monkeypatch.setattr(relaying, "MAX_READERS", 1)

    async def scenario():
        relay = Relay()
        relay.publish("before")
        listener = listen("127.0.0.1", 0, for_what="tests", hint="")
        url = url_of("127.0.0.1", listener)
        async with serve(Router(relay_routes(relay)), listener), httpx.AsyncClient(base_url=url, timeout=30) as client:
            async with client.stream("GET", "/spans") as stream:
                assert stream.headers[POSITION] == f"{relay.instance}/1"
                relay.publish(json.dumps({"resourceSpans": []}))
                lines = (line async for line in stream.aiter_lines() if line)
                assert await anext(lines) == '{"resourceSpans": []}'
                ready = (await client.get("/ready")).json()
                assert ready == {"position": f"{relay.instance}/2", "readers": 1}
                assert (await client.get("/spans")).status_code == 503
            while (await client.get("/ready")).json()["readers"]:  # noqa: ASYNC110 -- beyond a socket
                await asyncio.sleep(0)
            relay.close()
            assert (await client.get("/spans")).status_code == 200

    asyncio.run(scenario())


def test_a_reader_that_takes_nothing_is_let_go(monkeypatch):
    monkeypatch.setattr(relaying, "STALL_SECONDS", 0.05)

    async def scenario():
        relay = Relay()
        listener = listen("127.0.0.1", 0, for_what="tests", hint="")
        async with serve(Router(relay_routes(relay)), listener):
            _, writer = await asyncio.open_connection(*listener.getsockname(), limit=1)
            writer.write(b"GET /spans HTTP/1.1\r\nhost: relay\r\n\r\n")
            while not relay.readers:  # noqa: ASYNC110 -- beyond a socket
                await asyncio.sleep(0)
            while relay.readers:
                relay.publish("x" * 1_000_000)
                await asyncio.sleep(0.001)
            writer.close()

    asyncio.run(scenario())
