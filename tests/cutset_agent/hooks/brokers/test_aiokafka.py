"""aiokafka without a broker: what lies beyond the client's own code is replaced."""

import asyncio
import dataclasses
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cutset_agent.conftest import plan_headers

aiokafka = pytest.importorskip("aiokafka")

from cutset_agent import request  # noqa: E402
from cutset_agent.reports import errors as errors_of_agent  # noqa: E402

errors = aiokafka.errors
EXPECTED = {
    "broker-unavailable": errors.KafkaConnectionError,
    "connection-lost": errors.KafkaConnectionError,
    "connection-reset": errors.KafkaConnectionError,
    "not-enough-replicas": errors.NotEnoughReplicasError,
    "timeout": errors.KafkaTimeoutError,
    "no-answer": errors.KafkaTimeoutError,
    "message-too-large": errors.MessageSizeTooLargeError,
    "serialization": TypeError,
    "lost-answer": errors.KafkaTimeoutError,
}
OF_CLIENT = {"message-too-large", "serialization"}  # these `send` raises itself


class Broker:
    """Keeps what is sent, and gives it back."""

    def __init__(self):
        self.records = []

    def producer(self):
        async def ready(_topic):
            pass

        async def add(partition, _key, value, _timeout, timestamp_ms, headers):
            record = aiokafka.ConsumerRecord(
                partition.topic, 0, len(self.records), timestamp_ms, 0, None, value, None, 0, len(value), headers
            )
            self.records.append(record)
            delivered = asyncio.get_running_loop().create_future()
            delivered.set_result(SimpleNamespace(partition=0, offset=record.offset))
            return delivered

        made = aiokafka.AIOKafkaProducer(bootstrap_servers="broker:9092", request_timeout_ms=50)
        made.client._wait_on_metadata = ready
        made._partition = lambda *_: 0
        made._message_accumulator.add_message = add
        made._closed = True  # it was never started, and is not to be missed
        return made

    def consumer(self):
        async def next_record(_partitions):
            return self.records.pop(0)

        made = aiokafka.AIOKafkaConsumer(bootstrap_servers="broker:9092")
        made._fetcher = SimpleNamespace(next_record=next_record)
        made._coordinator = SimpleNamespace(check_errors=lambda: None)
        return made


def test_without_a_request_nothing_changes(installed, calls):
    async def work():
        broker = Broker()
        await broker.producer().send_and_wait("orders", b"1")
        return broker.records[0].headers

    assert asyncio.run(work()) == []
    assert calls() == []


def test_a_record_carries_the_context_to_who_pulls_it(installed, calls):
    async def work():
        broker = Broker()
        producer, consumer = broker.producer(), broker.consumer()
        with installed.request():
            await producer.send_and_wait("orders", b"1", headers=[("shop", b"a")])
        await producer.send_and_wait("orders", b"2")
        first = await consumer.getone()
        seen = [request.current().trace_id, dict(first.headers)["shop"]]
        await consumer.getone()
        consumer._closed = True
        return [*seen, request.current()]

    assert asyncio.run(work()) == ["ab" * 16, b"a", None]
    sent, handled = calls()
    assert (sent["endpoint"], sent["topic"], sent["offset"]) == ("mq/aiokafka/send_and_wait", "orders", "0")
    assert sent["peer"] == "orders"
    assert (handled["endpoint"], handled["payload"]) == ("mq/aiokafka/handle", sent["payload"])


@pytest.mark.parametrize(("fault", "error"), EXPECTED.items())
def test_send_and_wait_fails(installed, calls, fault, error):
    async def work():
        broker = Broker()
        with installed.request(("mq/aiokafka/send_and_wait", fault)), pytest.raises(error):
            await broker.producer().send_and_wait("orders", b"1")
        return len(broker.records)

    assert asyncio.run(work()) == (1 if fault == "lost-answer" else 0)
    (call,) = calls()
    assert (call["fault"], call["timeout"]) == (fault, "0.05")


@pytest.mark.parametrize(("fault", "error"), EXPECTED.items())
def test_send_fails_by_its_future(installed, calls, fault, error):
    async def work():
        broker = Broker()
        with installed.request(("mq/aiokafka/send", fault)):
            sending = broker.producer().send("orders", b"1")
            if fault in OF_CLIENT:
                with pytest.raises(error):
                    await sending
            else:
                delivery = await sending
                with pytest.raises(error):
                    await delivery
        return len(broker.records)

    assert asyncio.run(work()) == (1 if fault == "lost-answer" else 0)
    assert calls()[0]["fault"] == fault


def test_a_record_arrives_damaged(installed, calls):
    async def work():
        broker = Broker()
        with installed.request(("mq/aiokafka/handle", "truncated-body")):
            await broker.producer().send("orders", b"12345678")
        consumer = broker.consumer()
        record = await consumer.getone()
        consumer._closed = True
        return record.value

    assert asyncio.run(work()) == b"1234"


HEADERS = st.lists(st.tuples(st.text(), st.none() | st.binary()), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(headers=HEADERS, planned=st.booleans(), value=st.none() | st.binary())
def test_any_record_arrives_as_it_would_without_the_agent(installed, headers, planned, value):
    ours = [(name, text.encode()) for name, text in plan_headers().items()] if planned else []
    record = aiokafka.ConsumerRecord("orders", 0, 0, 0, 0, None, value, None, 0, 0, (*headers, *ours))

    async def work():
        broker = Broker()
        broker.records.append(record)
        consumer = broker.consumer()
        found = await consumer.getone()
        consumer._closed = True
        return found, request.current() is not None

    before = dataclasses.astuple(record)
    assert asyncio.run(work()) == (record, planned)
    assert dataclasses.astuple(record) == before
    assert not errors_of_agent


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(headers=st.none() | HEADERS, planned=st.booleans(), value=st.binary())
def test_any_record_is_sent_as_it_would_be_without_the_agent(installed, headers, planned, value):
    async def work():
        broker = Broker()
        with installed.request() if planned else nullcontext():
            await broker.producer().send_and_wait("orders", value, headers=headers)
        return broker.records[0]

    sent = asyncio.run(work())
    assert sent.value == value
    assert list(sent.headers)[: len(headers or ())] == list(headers or ())
    assert not errors_of_agent


@pytest.mark.parametrize("headers", [None, [("a",)], [None], 5])
def test_a_record_whose_headers_are_none_at_all_arrives(installed, headers):
    record = aiokafka.ConsumerRecord("orders", 0, 0, 0, 0, None, b"1", None, 0, 0, headers)

    async def work():
        broker = Broker()
        broker.records.append(record)
        consumer = broker.consumer()
        found = await consumer.getone()
        consumer._closed = True
        return found

    assert asyncio.run(work()) is record
    assert errors_of_agent
    errors_of_agent.clear()
