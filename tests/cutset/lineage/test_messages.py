import pytest
from tests.samples.agent_traces import agent_call

from cutset.lineage.messages import without_messages
from cutset.model.span import Span, SpanKind


def span(name: str, parent: str, kind: SpanKind, *times: int) -> Span:
    return Span("t" * 32, name, parent, "shop", name, kind, *times)


@pytest.mark.parametrize(("endpoint", "waits"), [("mq/nats/publish", False), ("mq/nats/request", True)])
def test_what_a_consumer_does_is_part_of_the_answer_if_somebody_waits_for_it(endpoint: str, *, waits: bool) -> None:
    sent = agent_call("s", "r", endpoint, kind=SpanKind.PRODUCER)
    handled = agent_call("h", "s", "mq/nats/handle", kind=SpanKind.CONSUMER, times=(1, 9))
    inside = agent_call("i", "h", "cache/redis/get", times=(2, 3))

    assert without_messages([sent, handled, inside]) == ((sent, handled, inside) if waits else (sent,))


def test_of_spans_without_an_agent_their_times_tell() -> None:
    sent = span("s", "r", SpanKind.PRODUCER, 0, 5)
    awaited, later = span("a", "s", SpanKind.CONSUMER, 1, 4), span("l", "s", SpanKind.CONSUMER, 1, 9)

    assert without_messages([sent, awaited, later]) == (sent, awaited)


def test_a_message_whose_sender_is_not_known_is_nobodys_call() -> None:
    assert without_messages([span("a", "lost", SpanKind.CONSUMER, 0, 1)]) == ()


def test_a_cycle_of_parents_does_not_hang() -> None:
    looped = [span("a", "b", SpanKind.INTERNAL, 0, 1), span("b", "a", SpanKind.INTERNAL, 0, 1)]
    handled = span("h", "lost", SpanKind.CONSUMER, 0, 1)

    assert without_messages([*looped, handled]) == tuple(looped)
