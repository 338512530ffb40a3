import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route, Router
from tests.samples.otlp_payloads import TRACE, json_payload, json_span

from cutset.errors import TargetError
from cutset.receive.server import listen, serve, url_of
from cutset.traces import relay as relay_module
from cutset.traces.relay import relayed
from cutset.traces.relaying import Relay, relay_routes

LONG = 30  # seconds: a limit that no test that passes comes near


def span(number):
    return json_payload(json_span(spanId=f"{number:016x}")).decode()


def at_least(number):
    return lambda spans: len(spans) >= number


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(relay_module, "AGAIN_SECONDS", 0.01)


@asynccontextmanager
async def serving(relay):
    listener = listen("127.0.0.1", 0, for_what="tests", hint="")
    async with serve(Router(relay_routes(relay)), listener):
        yield url_of("127.0.0.1", listener)


async def wait_for_reader(relay):
    while not relay.readers:  # noqa: ASYNC110 -- it is on the other side of a socket
        await asyncio.sleep(0)


def test_what_arrives_there_is_here():
    async def scenario():
        relay = Relay()
        async with serving(relay) as url, relayed(lambda: nullcontext(url)) as collector:
            relay.publish(span(1))
            spans, complete = await collector.trace(TRACE, at_least(1), timeout=LONG)

            assert (len(spans), complete, collector.losses) == (1, True, 0)

    asyncio.run(scenario())


def test_a_broken_connection_costs_nothing_while_the_other_side_remembers():
    async def scenario():
        relay, urls = Relay(), []
        async with AsyncExitStack() as stack:
            async with serving(relay) as url:
                urls.append(url)
                collector = await stack.enter_async_context(relayed(lambda: nullcontext(urls[-1])))
                relay.publish(span(1))
                await collector.trace(TRACE, at_least(1), timeout=LONG)
            relay.publish(span(2))
            urls.append(await stack.enter_async_context(serving(relay)))

            spans, _ = await collector.trace(TRACE, at_least(2), timeout=LONG)
            assert (len(spans), collector.losses) == (2, 0)
            assert len(urls) == 2

    asyncio.run(scenario())


def test_another_collector_that_took_over_counts_as_a_loss():
    async def scenario():
        first, second = Relay(), Relay()
        urls = []
        async with serving(first) as url, serving(second) as other:
            urls.append(url)
            async with relayed(lambda: nullcontext(urls[-1])) as collector:
                await wait_for_reader(first)
                urls.append(other)
                first.close()
                await wait_for_reader(second)
                second.publish(span(1))
                await collector.trace(TRACE, at_least(1), timeout=LONG)

                assert collector.losses == 1

    asyncio.run(scenario())


def test_lines_that_were_dropped_meanwhile_count_as_a_loss():
    async def scenario():
        relay = Relay(max_bytes=1)
        async with serving(relay) as url, relayed(lambda: nullcontext(url)) as collector:
            await wait_for_reader(relay)
            for number in range(1, 100):
                relay.publish(span(number))
            while not collector.losses:
                await collector.up_to_date()
            relay.publish(span(100))
            spans, _ = await collector.trace(
                TRACE, lambda spans: any(s.span_id == f"{100:016x}" for s in spans), timeout=LONG
            )

            assert len(spans) < 100

    asyncio.run(scenario())


def test_silence_counts_only_when_all_that_had_arrived_there_was_read():
    async def scenario():
        relay, held = Relay(), asyncio.Event()

        class Slow(Relay):
            async def lines(self, number):
                async for line in relay.lines(number):
                    if line.strip():
                        await held.wait()
                    yield line

            position = property(lambda _: relay.position)

        slow = Slow()
        slow.instance = relay.instance
        async with serving(slow) as url, relayed(lambda: nullcontext(url)) as collector:
            relay.publish(span(1))
            asking = asyncio.ensure_future(collector.trace(TRACE, at_least(2), timeout=0.01))
            done, _ = await asyncio.wait([asking], timeout=0.3)
            assert not done, "one span is on its way"
            held.set()

            spans, complete = await asking
            assert (len(spans), complete, collector.losses) == (1, False, 0)

    asyncio.run(scenario())


def test_a_collector_that_stays_away_is_a_loss(monkeypatch):
    monkeypatch.setattr(relay_module, "PATIENCE_SECONDS", 0.05)

    async def scenario():
        relay = Relay()
        async with serving(relay) as url:
            opening = relayed(lambda: nullcontext(url))
            collector = await opening.__aenter__()
        spans, complete = await collector.trace(TRACE, at_least(1), timeout=0)
        assert (spans, complete, collector.losses) == ((), False, 1)
        await opening.__aexit__(None, None, None)

    asyncio.run(scenario())


def test_a_line_that_nobody_understands_is_a_loss():
    async def scenario():
        relay = Relay()
        async with serving(relay) as url, relayed(lambda: nullcontext(url)) as collector:
            relay.publish("{")
            await collector.up_to_date()

            assert (collector.stats.refused, collector.losses) == (1, 1)

    asyncio.run(scenario())


def test_a_relay_that_is_not_there_is_told_at_once():
    async def nothing(_):
        return PlainTextResponse("no", 404)

    async def scenario():
        listener = listen("127.0.0.1", 0, for_what="tests", hint="")
        url = url_of("127.0.0.1", listener)
        async with serve(Router([Route("/spans", nothing)]), listener):
            with pytest.raises(TargetError, match="404"):
                async with relayed(lambda: nullcontext(url)):
                    pass
        with pytest.raises(TargetError, match="does not answer"):
            async with relayed(lambda: nullcontext(url)):
                pass

    asyncio.run(scenario())
