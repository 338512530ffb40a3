"""pika with a stand-in for the broker: it opens channels, confirms what is published, and delivers it."""

import socketserver
import threading
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cutset_agent.conftest import plan_headers

pika = pytest.importorskip("pika")

from cutset_agent import request  # noqa: E402
from cutset_agent.hooks.brokers import pika as hook  # noqa: E402
from cutset_agent.reports import errors as errors_of_agent  # noqa: E402

spec = pika.spec
EXPECTED = {
    "broker-unavailable": pika.exceptions.ConnectionClosedByBroker,
    "connection-lost": pika.exceptions.StreamLostError,
    "connection-reset": pika.exceptions.StreamLostError,
    "lost-answer": pika.exceptions.StreamLostError,
    "message-too-large": pika.exceptions.ChannelClosedByBroker,
    "nacked": pika.exceptions.NackError,
    "unroutable": pika.exceptions.UnroutableError,
    "timeout": pika.exceptions.ConnectionBlockedTimeout,
    "no-answer": pika.exceptions.ConnectionBlockedTimeout,
}
PROPERTIES = {"capabilities": {"publisher_confirms": True, "basic.nack": True, "consumer_cancel_notify": True}}
ANSWERS = {
    spec.Connection.StartOk: lambda _: spec.Connection.Tune(0, 131072, 0),
    spec.Connection.Open: lambda _: spec.Connection.OpenOk(),
    spec.Connection.Close: lambda _: spec.Connection.CloseOk(),
    spec.Channel.Open: lambda _: spec.Channel.OpenOk(),
    spec.Channel.Close: lambda _: spec.Channel.CloseOk(),
    spec.Confirm.Select: lambda _: spec.Confirm.SelectOk(),
    spec.Basic.Consume: lambda method: spec.Basic.ConsumeOk(method.consumer_tag),
    spec.Basic.Cancel: lambda method: spec.Basic.CancelOk(method.consumer_tag),
}


class Broker(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Session)
        self.published = []  # properties and body


class Session(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.recv(8)  # the protocol's name
        self.send(0, spec.Connection.Start(server_properties=PROPERTIES, mechanisms="PLAIN", locales="en_US"))
        buffer, properties, confirms = b"", None, 0
        while data := self.request.recv(65536):
            buffer += data
            while True:
                size, frame = pika.frame.decode_frame(buffer)
                if frame is None:
                    break
                buffer = buffer[size:]
                if isinstance(frame, pika.frame.Header):
                    properties = frame.properties
                elif isinstance(frame, pika.frame.Body):
                    self.server.published.append((properties, frame.fragment))
                    confirms += 1
                    self.send(frame.channel_number, spec.Basic.Ack(confirms))
                elif type(frame.method) in ANSWERS:
                    self.send(frame.channel_number, ANSWERS[type(frame.method)](frame.method))
                    if isinstance(frame.method, spec.Basic.Consume):
                        self.deliver(frame.channel_number, frame.method.consumer_tag)

    def send(self, channel, method):
        self.request.sendall(pika.frame.Method(channel, method).marshal())

    def deliver(self, channel, tag):
        for number, (properties, body) in enumerate(self.server.published, start=1):
            self.send(channel, spec.Basic.Deliver(tag, number, exchange="", routing_key="orders"))
            self.request.sendall(pika.frame.Header(channel, len(body), properties).marshal())
            self.request.sendall(pika.frame.Body(channel, body).marshal())


@pytest.fixture
def broker():
    with Broker() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def channel(broker):
    parameters = pika.ConnectionParameters("127.0.0.1", broker.server_address[1], blocked_connection_timeout=0.05)
    connection = pika.BlockingConnection(parameters)
    opened = connection.channel()
    opened.confirm_delivery()
    yield opened
    if connection.is_open:
        connection.close()


def consumed(channel, number):
    """The first deliveries to a callback, each with the trace that it is handled for."""
    seen = []

    def handle(_channel, _method, _properties, body):
        seen.append((body, getattr(request.current(), "trace_id", None)))

    channel.basic_consume("orders", on_message_callback=handle, auto_ack=True)
    while len(seen) < number:
        channel.connection.process_data_events(time_limit=0.1)
    return seen


def test_without_a_request_nothing_changes(installed, calls, broker, channel):
    channel.basic_publish("", "orders", b"1")
    assert [(properties.headers, body) for properties, body in broker.published] == [(None, b"1")]
    assert calls() == []


def test_a_message_carries_the_context_to_the_callback_that_handles_it(installed, calls, broker, channel):
    properties = pika.BasicProperties(headers={"shop": "a"})
    with installed.request():
        channel.basic_publish("", "orders", b"1", properties=properties)
    channel.basic_publish("", "orders", b"2")
    assert properties.headers == {"shop": "a"}
    assert broker.published[0][0].headers["shop"] == "a"
    assert consumed(channel, 2) == [(b"1", "ab" * 16), (b"2", None)]
    published, handled = calls()
    assert (published["endpoint"], published["key"]) == ("mq/pika/basic_publish", "orders")
    assert published["peer"] == handled["peer"] == "orders"
    assert (handled["endpoint"], handled["payload"]) == ("mq/pika/handle", published["payload"])


@pytest.mark.parametrize(("fault", "error"), EXPECTED.items())
def test_publishing_fails(installed, calls, broker, channel, fault, error):  # noqa: PLR0917
    with installed.request(("mq/pika/basic_publish", fault)), pytest.raises(error):
        channel.basic_publish("", "orders", b"1")
    assert len(broker.published) == (1 if fault == "lost-answer" else 0)
    (call,) = calls()
    assert (call["fault"], call["timeout"]) == (fault, "0.05")


def test_a_lost_connection_is_really_lost(installed, calls, channel):
    losing = installed.request(("mq/pika/basic_publish", "connection-lost"))
    with losing, pytest.raises(pika.exceptions.StreamLostError):
        channel.basic_publish("", "orders", b"1")
    assert channel.connection.is_closed
    with pytest.raises(pika.exceptions.ChannelWrongStateError):
        channel.basic_publish("", "orders", b"2")


def test_a_lost_message_is_published_in_vain(installed, calls, broker, channel):
    with installed.request(("mq/pika/basic_publish", "lost-message")):
        channel.basic_publish("", "orders", b"1")
    assert broker.published == []


@pytest.mark.parametrize(
    ("fault", "bodies"),
    [
        ("empty-body", [b"", b"end"]),
        ("truncated-body", [b"12", b"end"]),
        ("wrong-body", [b"{}", b"end"]),
        ("lost-message", [b"end"]),
        ("duplicate-message", [b"1234", b"1234", b"end"]),
    ],
)
def test_the_handling_of_a_message_meets_faults(installed, calls, channel, fault, bodies):
    with installed.request(("mq/pika/handle", fault)):
        channel.basic_publish("", "orders", b"1234")
    channel.basic_publish("", "orders", b"end")
    assert [body for body, _ in consumed(channel, len(bodies))] == bodies
    assert calls("mq/pika/handle")[0]["fault"] == fault


TABLES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**31), 2**31) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(headers=st.none() | st.dictionaries(st.text(), TABLES, max_size=4), body=st.binary(), planned=st.booleans())
def test_any_message_is_handled_as_it_would_be_without_the_agent(installed, headers, body, planned):
    found = {**(headers or {}), **plan_headers()} if planned else headers
    properties = pika.BasicProperties(headers=found)
    handled = []
    hook._handling(lambda *delivery: handled.append((*delivery, request.current() is not None)))(
        None, SimpleNamespace(exchange="", routing_key="orders"), properties, body
    )
    ((_channel, _method, given_properties, given_body, was_planned),) = handled
    assert (given_properties, given_properties.headers, given_body, was_planned) == (properties, found, body, planned)
    assert not errors_of_agent


@pytest.mark.parametrize("properties", [None, SimpleNamespace(headers=5)])
def test_a_message_without_readable_properties_is_handled(installed, properties):
    assert hook._handling(lambda *delivery: delivery[2])(None, None, properties, b"") is properties
    assert errors_of_agent
    errors_of_agent.clear()
