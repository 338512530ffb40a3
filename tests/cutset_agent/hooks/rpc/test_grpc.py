"""gRPC clients, synchronous ones, and what asyncio's share with them."""

import asyncio

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from tests.cutset_agent.conftest import CALLER_ID, TRACE_ID
from tests.samples.grpc_quotes import ASKED, CODECS, ENDPOINT, STREAMS, get_quote

from cutset_agent import wire
from cutset_agent.hooks.rpc import grpc as hook
from cutset_agent.hooks.rpc import grpc_aio as aio_hook


def test_faults_are_the_same_in_both():
    assert set(hook.FAULTS) == set(aio_hook.FAULTS) == {*hook.STATUSES, "lost-answer", *hook.SPOILT}


CODES = {("A", 503): "UNAVAILABLE", ("A", 404): "UNIMPLEMENTED", ("A", 500): "UNKNOWN", ("G", 10): "ABORTED"}


@pytest.mark.parametrize(("asked", "code"), CODES.items())
def test_a_status_is_that_of_the_plan_or_what_a_proxy_makes_of_it(installed, calls, channel, run, asked, code):  # noqa: PLR0917
    kind, number = asked
    call = get_quote(channel)
    stream = channel.unary_stream("/shop.Quotes/ListQuotes", *CODECS)

    async def work(asynchronous):
        with pytest.raises(grpc.RpcError) as raised:
            await get_quote(asynchronous)(ASKED)
        return raised.value

    ways = [call, call.with_call, lambda asked: call.future(asked).result(), lambda asked: list(stream(asked))]
    errors = []
    with installed.request(*((name, wire.WireFault(kind, number)) for name in (ENDPOINT, "rpc/grpc/ListQuotes"))):
        for way in ways:
            with pytest.raises(grpc.RpcError) as raised:
                way(ASKED)
            errors.append(raised.value)
        errors.append(run(work))
    assert [error.code().name for error in errors] == [code] * 5
    assert {span["fault"] for span in calls("rpc/")} == {f"{'status' if kind == 'A' else 'grpc'}-{number}"}


def test_a_status_can_come_with_a_message(installed, channel):
    with installed.request((ENDPOINT, wire.WireFault("A", 503, text="busy"))), pytest.raises(grpc.RpcError) as raised:
        get_quote(channel)(ASKED)
    assert raised.value.details() == "busy"


@pytest.mark.parametrize("fault", hook.SPOILT)
def test_an_answer_that_cannot_be_read_is_an_error_after_the_call(installed, calls, channel, run, quotes, fault):  # noqa: PLR0917
    async def work(asynchronous):
        return (await get_quote(asynchronous)(ASKED)).value

    call = get_quote(channel)
    with installed.request((ENDPOINT, fault)):
        for way in (lambda: call(ASKED).value, lambda: call.with_call(ASKED)[0].value, lambda: run(work)):
            if fault == "empty-body":
                assert way() == ""
                continue
            with pytest.raises(grpc.RpcError) as raised:
                way()
            assert raised.value.code() is grpc.StatusCode.INTERNAL
    assert len(quotes.asked) == 3
    assert [span["fault"] for span in calls(ENDPOINT)] == [fault] * 3


@pytest.mark.parametrize("fault", [*hook.STATUSES, "lost-answer"])
def test_a_fault_is_an_error_as_a_channel_raises_it(installed, calls, channel, quotes, fault):
    with installed.request((ENDPOINT, fault)), pytest.raises(grpc.RpcError) as raised:
        get_quote(channel)(ASKED, timeout=0.1 if fault == "no-answer" else 5)
    code, details = hook.STATUSES["timeout" if fault == "lost-answer" else fault]
    error = raised.value
    assert (error.code().name, error.details(), error.trailing_metadata()) == (code, details, ())
    assert f"status = StatusCode.{code}" in repr(error)
    (span,) = calls(ENDPOINT)
    assert (span["fault"], span["error"], span["timeout"]) == (fault, "true", "0.1" if fault == "no-answer" else "5")
    assert len(quotes.asked) == (fault == "lost-answer")


def test_a_fault_is_of_the_same_class_as_the_real_failure(installed, channel, run):
    async def work(asynchronous):
        with pytest.raises(grpc.RpcError) as raised:
            await get_quote(asynchronous)(ASKED)
        return raised.value

    async def really_fail():
        async with grpc.aio.insecure_channel("127.0.0.1:1") as unreachable:
            return await work(unreachable)

    with grpc.insecure_channel("127.0.0.1:1") as unreachable, pytest.raises(grpc.RpcError) as raised:
        get_quote(unreachable)(ASKED)
    real = [raised.value, asyncio.run(really_fail())]
    with installed.request((ENDPOINT, "connection-refused")):
        with pytest.raises(grpc.RpcError) as raised:
            get_quote(channel)(ASKED)
        made = [raised.value, run(work)]
    assert [(type(each), each.code()) for each in real] == [(type(each), each.code()) for each in made]
    assert all("Connection refused" in each.details() for each in real + made)


def test_calls_without_a_plan_do_as_ever(installed, channel, run, quotes):
    async def work(asynchronous):
        return await get_quote(asynchronous)(ASKED)

    assert get_quote(channel)(ASKED).value == run(work).value == "boots: 12 EUR"
    assert not any("traceparent" in metadata for metadata in quotes.asked)
    assert installed.spans() == []


def test_the_plan_goes_on_with_outgoing_calls(installed, calls, channel, run, quotes):
    async def work(asynchronous):
        return await get_quote(asynchronous)(ASKED, metadata=(("own", "yes"),))

    with installed.request() as request:
        get_quote(channel)(ASKED, metadata=(("own", "yes"),))
        assert run(work).value == "boots: 12 EUR"
    assert len(quotes.asked) == 2
    for metadata, span in zip(quotes.asked, calls(ENDPOINT)):  # noqa: B905 -- Python 3.9 runs this too
        assert metadata["traceparent"] == f"00-{request.trace_id}-{span['spanId']}-01"
        assert (metadata["tracestate"], metadata["own"]) == (request.carried["tracestate"], "yes")
        assert len(span["payload"]) == 16
    # Channels of asyncio do not tell in all versions.
    told = [quotes.address, quotes.address if hasattr(grpc._cython.cygrpc.AioChannel, "target") else None]
    assert [span.get("peer") for span in calls(ENDPOINT)] == told


def test_a_traceparent_that_is_only_handed_on_becomes_the_call_s_own(installed, calls, channel, run, quotes):
    handed_on = (("traceparent", f"00-{TRACE_ID}-{CALLER_ID}-01"),)

    async def work(asynchronous):
        await get_quote(asynchronous)(ASKED, metadata=handed_on)

    with installed.request():
        get_quote(channel)(ASKED, metadata=handed_on)
        run(work)
    parents = [metadata["traceparent"].split("-")[2] for metadata in quotes.asked]
    assert parents == [span["spanId"] for span in calls(ENDPOINT)]


def test_a_timeout_needs_a_call_site_that_has_one(installed, calls, channel, run):
    async def work(asynchronous):
        return await get_quote(asynchronous)(ASKED)

    with installed.request((ENDPOINT, "timeout")):
        assert get_quote(channel)(ASKED).value == run(work).value == "boots: 12 EUR"
    assert {span["not_fired"] for span in calls(ENDPOINT)} == {"timeout: the call site has no timeout"}


def test_an_empty_message_has_defaults_only(installed, channel, run, quotes):
    async def work(asynchronous):
        return await get_quote(asynchronous)(ASKED)

    with installed.request((ENDPOINT, "empty-body")):
        response, call = get_quote(channel).with_call(ASKED)
        assert get_quote(channel)(ASKED) == run(work) == response == StringValue()
        assert call.code() is grpc.StatusCode.OK
    assert len(quotes.asked) == 3


def test_futures_fail_when_they_are_asked(installed, calls, channel, quotes):
    with installed.request((ENDPOINT, "unavailable", {"occurrence": 1}), ("rpc/grpc/SumQuotes", "lost-answer")):
        failing = get_quote(channel).future(ASKED)
        assert get_quote(channel).future(ASKED).result().value == "boots: 12 EUR"
        losing = channel.stream_unary("/shop.Quotes/SumQuotes", *CODECS).future(iter([ASKED]), timeout=5)
    seen = []
    failing.add_done_callback(seen.append)
    assert failing.done()
    assert seen == [failing]
    with pytest.raises(grpc.RpcError) as raised:
        failing.result()
    assert raised.value.code() is failing.code() is failing.exception().code() is grpc.StatusCode.UNAVAILABLE
    assert losing.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert [span.get("fault") for span in calls(ENDPOINT)] == ["unavailable", None]


@pytest.mark.parametrize("method", STREAMS)
def test_streams_fail_when_they_are_read(installed, calls, channel, method):
    kind, asked = STREAMS[method]
    call = getattr(channel, kind)(f"/shop.Quotes/{method}", *CODECS)
    with installed.request((f"rpc/grpc/{method}", "unavailable", {"occurrence": 1})):
        failing, working = (call(asked if kind == "unary_stream" else iter(asked)) for _ in range(2))
        with pytest.raises(grpc.RpcError) as raised:
            next(failing)
        assert raised.value.code() is failing.code() is grpc.StatusCode.UNAVAILABLE
        assert [quote.value for quote in working] == ["boots: 12 EUR"] * 2
    assert [span.get("fault") for span in calls("rpc/")] == ["unavailable", None]


class RetryOnce(grpc.UnaryUnaryClientInterceptor):
    def intercept_unary_unary(self, continuation, details, request):
        outcome = continuation(details, request)
        return continuation(details, request) if outcome.code() is grpc.StatusCode.UNAVAILABLE else outcome


class RetryOnceAsynchronously(grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(self, continuation, details, request):
        call = await continuation(details, request)
        failed = await call.code() is grpc.StatusCode.UNAVAILABLE
        return await continuation(details, request) if failed else call


def test_the_applications_interceptors_meet_the_faults(installed, calls, channel, run):
    retrying = get_quote(grpc.intercept_channel(channel, RetryOnce()))
    with installed.request((ENDPOINT, "unavailable", {"attempts": 1})):
        assert retrying(ASKED).value == "boots: 12 EUR"

    async def work(asynchronous):
        with installed.request((ENDPOINT, "unavailable", {"attempts": 1})):
            return await get_quote(asynchronous)(ASKED)

    assert run(work, interceptors=[RetryOnceAsynchronously()]).value == "boots: 12 EUR"
    assert [span.get("fault") for span in calls(ENDPOINT)] == ["unavailable", None] * 2


def test_real_failures_are_seen_and_reported_as_they_are(installed, calls, channel, run):
    async def work(asynchronous):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await get_quote(asynchronous)(StringValue(value="nothing"))
        return raised.value

    with installed.request():
        with pytest.raises(grpc.RpcError) as raised:
            get_quote(channel)(StringValue(value="nothing"))
        errors = [raised.value, run(work)]
    assert [(error.code(), error.details()) for error in errors] == [(grpc.StatusCode.NOT_FOUND, "no such product")] * 2
    assert [(span.get("fault"), span["error"]) for span in calls(ENDPOINT)] == [(None, "true")] * 2


def test_messages_are_recorded(installed, channel, run, recorded):
    async def work(asynchronous):
        return await get_quote(asynchronous)(ASKED)

    with installed.request() as request:
        get_quote(channel)(ASKED)
        run(work)
    answer = StringValue(value="boots: 12 EUR").SerializeToString()
    assert [(each["request"], each["response"]) for each in request.operations] == [
        (ASKED.SerializeToString(), answer)
    ] * 2
