"""gRPC clients with asyncio: what they do not share with the synchronous ones."""

import asyncio

import grpc
import pytest
from tests.samples.grpc_quotes import ASKED, CODECS, ENDPOINT, STREAMS, get_quote

from cutset_agent.hooks.rpc import grpc as hook


@pytest.mark.parametrize("fault", [*hook.STATUSES, "lost-answer"])
def test_a_fault_is_an_error_as_an_asyncio_channel_raises_it(installed, calls, run, quotes, fault):
    async def work(channel):
        with installed.request((ENDPOINT, fault)), pytest.raises(grpc.aio.AioRpcError) as raised:
            await get_quote(channel)(ASKED, timeout=0.1 if fault == "no-answer" else 5)
        return raised.value

    error = run(work)
    code, details = hook.STATUSES["timeout" if fault == "lost-answer" else fault]
    assert (error.code().name, error.details(), tuple(error.trailing_metadata())) == (code, details, ())
    (span,) = calls(ENDPOINT)
    assert (span["fault"], span["error"], span["timeout"]) == (fault, "true", "0.1" if fault == "no-answer" else "5")
    assert len(quotes.asked) == (fault == "lost-answer")


@pytest.mark.parametrize("method", STREAMS)
def test_asyncio_streams_fail_when_they_are_read(installed, calls, run, method):
    kind, asked = STREAMS[method]

    async def work(channel):
        call = getattr(channel, kind)(f"/shop.Quotes/{method}", *CODECS)
        with installed.request((f"rpc/grpc/{method}", "unavailable", {"occurrence": 1})):
            failing = call(asked)
            with pytest.raises(grpc.aio.AioRpcError):
                await failing.read()
            assert await failing.code() is grpc.StatusCode.UNAVAILABLE
            return [quote.value async for quote in call(asked)]

    assert run(work) == ["boots: 12 EUR"] * 2
    assert [span.get("fault") for span in calls("rpc/")] == ["unavailable", None]


def test_asyncio_streams_can_be_written_to(installed, calls, run):
    async def work(channel):
        with installed.request(("rpc/grpc/SumQuotes", "unavailable", {"occurrence": 2})):
            call = channel.stream_unary("/shop.Quotes/SumQuotes", *CODECS)()
            await call.write(ASKED)
            await call.write(ASKED)
            await call.done_writing()
            assert (await call).value == "boots+boots: 12 EUR"
            with pytest.raises(grpc.aio.AioRpcError):
                await channel.stream_unary("/shop.Quotes/SumQuotes", *CODECS)([ASKED])

    run(work)
    assert [span.get("fault") for span in calls("rpc/")] == [None, "unavailable"]


def test_a_call_that_waits_for_good_can_be_cancelled(installed, run, quotes):
    async def work(channel):
        with installed.request((ENDPOINT, "no-answer")):
            call = get_quote(channel)(ASKED)
            await asyncio.sleep(0.05)
            assert not call.done()
            assert call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    run(work)
    assert quotes.asked == []
