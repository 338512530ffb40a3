"""nats-py against a real NATS server with JetStream."""

import asyncio
import json
from contextlib import nullcontext
from types import SimpleNamespace

import nats
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nats.js.api import ConsumerConfig
from tests.cutset_agent.conftest import plan_headers

from cutset_agent import request
from cutset_agent.hooks.brokers import nats as hook
from cutset_agent.reports import errors as errors_of_agent

TRACE_ID = "ab" * 16  # of the requests that `installed` makes
SECONDS = 10.0  # for what comes at once


@pytest.fixture
def run(nats_url):
    """Runs an asynchronous function with a connected client."""

    def run(function):
        async def main():
            async def ignore(_error):
                pass

            client = await nats.connect(nats_url, error_cb=ignore)
            try:
                return await asyncio.wait_for(function(client), SECONDS)
            finally:
                await client.close()

        return asyncio.run(main())

    return run


def test_without_a_request_messages_carry_nothing_of_ours(installed, calls, run):
    async def work(client):
        subscription = await client.subscribe("orders")
        await client.publish("orders", b"1")
        return (await subscription.next_msg()).headers

    assert run(work) is None
    assert calls() == []


def test_a_message_carries_the_context_to_the_callback_that_handles_it(installed, calls, run):
    seen = asyncio.Queue()

    async def handle(message):
        await seen.put((message.data, message.headers["shop"], request.current().trace_id))

    async def work(client):
        await client.subscribe("orders.*", cb=handle)
        with installed.request():
            await client.publish("orders.42", b"1", headers={"shop": "a"})
        return await seen.get()

    assert run(work) == (b"1", "a", TRACE_ID)
    handled, published = sorted(calls(), key=lambda call: call["endpoint"])
    assert (published["endpoint"], published["subject"]) == ("mq/nats/publish", "orders.42")
    assert (handled["endpoint"], handled["payload"]) == ("mq/nats/handle", published["payload"])
    (entry,) = [span for span in installed.spans("mq/nats/handle") if "occurrence" not in span]
    assert entry["parentSpanId"] == published["spanId"]
    assert entry["peer"] == handled["peer"] == published["peer"] == "orders.*"


def test_a_message_without_a_plan_is_not_handled_for_the_request_that_subscribed(installed, calls, run):
    seen = asyncio.Queue()

    async def handle(_message):
        await seen.put(request.current())

    async def work(client):
        with installed.request():
            await client.subscribe("orders", cb=handle)
        await client.publish("orders", b"1")
        return await seen.get()

    assert run(work) is None


@pytest.mark.parametrize("how", ["next_msg", "async for", "fetch", "fetch many"])
def test_a_pulled_message_is_handled_until_the_next_is_pulled(installed, calls, run, how):
    async def publish(client, stream):
        with installed.request():
            await stream.publish("pulled.orders", b"planned")
        await stream.publish("pulled.orders", b"plain")

    async def traces(client):
        stream = client.jetstream()
        await stream.add_stream(name="PULLED", subjects=["pulled.*"])
        try:
            if how.startswith("fetch"):
                pulling = await stream.pull_subscribe("pulled.orders", durable="worker")
                await publish(client, stream)
                if how == "fetch":
                    return [(await pulling.fetch(1))[0].data + current() for _ in range(2)]
                return [message.data + current() for message in await pulling.fetch(2)]
            subscription = await client.subscribe("pulled.orders")
            await publish(client, stream)
            if how == "next_msg":
                return [(await subscription.next_msg()).data + current() for _ in range(2)]
            await subscription.unsubscribe(limit=2)
            return [message.data + current() async for message in subscription.messages]
        finally:
            await stream.delete_stream("PULLED")

    def current():
        found = request.current()
        return b" " + (found.trace_id.encode() if found else b"none")

    assert run(traces) == [b"planned " + TRACE_ID.encode(), b"plain none"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("broker-unavailable", nats.errors.ConnectionClosedError),
        ("message-too-large", nats.errors.MaxPayloadError),
        ("connection-lost", nats.errors.OutboundBufferLimitError),
        ("connection-reset", nats.errors.OutboundBufferLimitError),
    ],
)
def test_publishing_fails(installed, calls, run, fault, error):
    async def work(client):
        subscription = await client.subscribe("orders")
        with installed.request(("mq/nats/publish", fault)), pytest.raises(error):
            await client.publish("orders", b"1")
        with pytest.raises(nats.errors.TimeoutError):
            await subscription.next_msg(timeout=0.1)

    run(work)
    assert calls()[0]["fault"] == fault


def test_a_lost_connection_is_really_lost_and_comes_back(installed, calls, nats_url):
    async def work():
        lost, back = asyncio.Event(), asyncio.Event()

        async def when_lost():
            lost.set()

        async def when_back():
            back.set()

        client = await nats.connect(
            nats_url, disconnected_cb=when_lost, reconnected_cb=when_back, reconnect_time_wait=0.01
        )
        losing = installed.request(("mq/nats/publish", "connection-lost"))
        with losing, pytest.raises(nats.errors.OutboundBufferLimitError):
            await client.publish("orders", b"1")
        await asyncio.wait_for(lost.wait(), SECONDS)
        await asyncio.wait_for(back.wait(), SECONDS)
        await client.close()

    asyncio.run(work())


def test_a_lost_message_is_published_in_vain(installed, calls, run):
    async def work(client):
        subscription = await client.subscribe("orders")
        with installed.request(("mq/nats/publish", "lost-message")):
            await client.publish("orders", b"1")
        with pytest.raises(nats.errors.TimeoutError):
            await subscription.next_msg(timeout=0.1)

    run(work)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("no-responders", nats.errors.NoRespondersError),
        ("timeout", nats.errors.TimeoutError),
        ("no-answer", nats.errors.TimeoutError),
        ("lost-answer", nats.errors.TimeoutError),
        ("broker-unavailable", nats.errors.ConnectionClosedError),
    ],
)
def test_requests_fail(installed, calls, run, fault, error):
    served = []

    async def work(client):
        async def serve(message):
            served.append(message.data)
            await message.respond(b"yes")

        await client.subscribe("stock", cb=serve)
        with installed.request(("mq/nats/request", fault)), pytest.raises(error):
            await client.request("stock", b"1", timeout=0.05)

    run(work)
    (call,) = calls("mq/nats/request")
    assert (call["fault"], call["timeout"]) == (fault, "0.05")
    assert served == ([b"1"] if fault == "lost-answer" else [])


def test_a_request_is_one_call_and_its_answer_is_none(installed, calls, run):
    async def work(client):
        async def serve(message):
            await message.respond(b"yes")

        await client.subscribe("stock", cb=serve)
        with installed.request():
            return (await client.request("stock", b"1")).data

    assert run(work) == b"yes"
    assert sorted(call["endpoint"] for call in calls()) == ["mq/nats/handle", "mq/nats/request", "mq/nats/respond"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("no-responders", nats.js.errors.NoStreamResponseError),
        ("unavailable", nats.js.errors.ServiceUnavailableError),
        ("disk-full", nats.js.errors.ServerError),
        ("timeout", nats.errors.TimeoutError),
        ("lost-answer", nats.errors.TimeoutError),
    ],
)
def test_publishing_to_a_stream_fails(installed, calls, run, fault, error):
    async def work(client):
        stream = client.jetstream()
        await stream.add_stream(name="KEPT", subjects=["kept"])
        try:
            with installed.request(("mq/nats/publish", fault)), pytest.raises(error):
                await stream.publish("kept", b"1")
            with installed.request():
                await stream.publish("kept", b"2")
            return (await stream.stream_info("KEPT")).state.messages
        finally:
            await stream.delete_stream("KEPT")

    assert run(work) == (2 if fault == "lost-answer" else 1)
    failed, succeeded = calls()
    assert (failed["endpoint"], failed["fault"]) == ("mq/nats/publish", fault)
    assert succeeded["stream"] == "KEPT"


@pytest.mark.parametrize(
    ("fault", "bodies"),
    [
        ("empty-body", [b""]),
        ("truncated-body", [b'{"id']),
        ("wrong-body", [b"{}"]),
        ("lost-message", []),
        ("duplicate-message", [b'{"id": 1}', b'{"id": 1}']),
    ],
)
def test_the_handling_of_a_message_meets_faults(installed, calls, run, fault, bodies):
    handled = asyncio.Queue()

    async def handle(message):
        await handled.put(message.data)

    async def work(client):
        await client.subscribe("orders", cb=handle)
        with installed.request(("mq/nats/handle", fault)):
            await client.publish("orders", json.dumps({"id": 1}).encode())
        await client.publish("orders", b"end")
        found = []
        while (body := await handled.get()) != b"end":
            found.append(body)
        return found

    assert run(work) == bodies
    assert calls("mq/nats/handle")[0]["fault"] == fault


def test_a_message_that_cannot_be_decoded_stays_so_when_it_is_redelivered(installed, calls, run):
    """Each delivery is a request of its own, and carries the plan."""
    seen = []

    async def work(client):
        twice = asyncio.Event()

        async def handle(message):
            seen.append(message.data)
            if len(seen) == 2:
                twice.set()
            json.loads(message.data)

        stream = client.jetstream()
        await stream.add_stream(name="WORK", subjects=["work"])
        try:
            await stream.subscribe("work", cb=handle, config=ConsumerConfig(ack_wait=0.1))
            with installed.request(("mq/nats/handle", "serialization")):
                await stream.publish("work", b"{}")
            await twice.wait()
        finally:
            await stream.delete_stream("WORK")

    run(work)
    assert b"{}" not in seen
    assert all(call["error"] == "true" for call in calls("mq/nats/handle"))


def test_an_acknowledgement_is_a_call_of_its_own(installed, calls, run):
    async def work(client):
        stream = client.jetstream()
        await stream.add_stream(name="ACKS", subjects=["acks"])
        try:
            pulling = await stream.pull_subscribe("acks", durable="worker")
            with installed.request():
                await stream.publish("acks", b"1")
            (message,) = await pulling.fetch(1)
            await message.ack()
        finally:
            await stream.delete_stream("ACKS")

    run(work)
    assert [call["endpoint"] for call in calls()] == ["mq/nats/publish", "mq/nats/handle", "mq/nats/ack"]


NAMES = st.from_regex(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}", fullmatch=True)  # what nats-py lets pass
VALUES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=30)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(sent=st.lists(st.tuples(st.dictionaries(NAMES, VALUES), st.binary()), min_size=1), planned=st.booleans())
@pytest.mark.parametrize("way", ["callback", "pulled"])
def test_any_message_arrives_as_it_would_without_the_agent(installed, run, way, sent, planned):
    async def work(client):
        arrived = asyncio.Queue()
        if way == "callback":
            await client.subscribe("orders", cb=arrived.put)
        else:
            subscription = await client.subscribe("orders")
        for headers, body in sent:
            with installed.request() if planned else nullcontext():
                await client.publish("orders", body, headers=headers)
        return [await (arrived.get() if way == "callback" else subscription.next_msg()) for _ in sent]

    for message, (headers, body) in zip(run(work), sent, strict=True):
        assert message.data == body
        assert {name: value for name, value in (message.headers or {}).items() if name not in plan_headers()} == headers
    assert not errors_of_agent


@pytest.mark.parametrize("headers", [{"a": None}, {"a": b"\xff"}, {None: "a"}, {"a": ["b", "c"]}, [("a", "b")], 5])
def test_a_message_with_headers_of_another_kind_is_handled(installed, headers):
    handled = []

    async def handle(message):
        handled.append(message.headers)

    message = SimpleNamespace(headers=headers, data=b"", subject="orders")
    asyncio.run(hook._handling(handle)(message))
    assert handled == [headers]
    errors_of_agent.clear()


@pytest.mark.parametrize("fault", ["connection-lost", "connection-reset"])
def test_a_lost_connection_is_refused_where_others_use_it_and_one_call_may_fail_in_its_place(
    installed, calls, run, fault
):
    request.configure(request.settings._replace(uncontained=False))

    async def work(client):
        with installed.request(("mq/nats/publish", fault)):
            try:
                await client.publish("orders", b"1")
            except nats.errors.OutboundBufferLimitError:
                return client.is_connected
        return client.is_connected

    assert run(work)
    (call,) = calls()
    if fault == "connection-lost":
        assert (
            call["not_fired"] == "connection-lost is not contained: the connection is that of all who use this client"
        )
    else:
        assert call["fault"] == fault


def test_what_a_request_pulls_is_part_of_it(installed, calls, run):
    """Whoever asks for the next job gets no fault of whoever gave it."""

    async def work(client):
        subscription = await client.subscribe("jobs")
        with installed.request(("mq/nats/publish", "broker-unavailable", {"occurrence": 2})):
            await client.publish("jobs", b"1")
        entry = request.enter([], "GET /next")
        await subscription.next_msg()
        await client.publish("jobs", b"2")
        await client.publish("jobs", b"3")
        request.leave(entry)

    run(work)
    assert [call["endpoint"] for call in calls()] == ["mq/nats/publish"]
