"""Traces from a topic of Kafka: `kafka://host:9092/topic`, messages of OTLP as the OpenTelemetry Collector sends them.

Protobuf or JSON, each message tells which. How far each partition was read is in the store, with the spans, and in no
consumer group: what is stored and what was read cannot come apart. By confluent-kafka, an extra: the client of Kafka's
makers, which has every compression and way to log in.
"""

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutset.errors import TargetError, UsageError
from cutset.traces.files.growing import Piece
from cutset.traces.tally import ReadTally

if TYPE_CHECKING:
    from confluent_kafka import Message

SCHEME = "kafka://"
PROPERTIES = "CUTSET_KAFKA_PROPERTIES"  # names a file of settings, `name=value`, such as those to log in with
DELETED_UNREAD = "message that was deleted before it was read"
ANSWER_SECONDS = 10
WAIT_SECONDS = 0.3  # for a message
ENDS_SECONDS = 5  # between looks at where partitions end
MESSAGES_AT_ONCE = 100  # of up to a megabyte each
_FETCHED_KILOBYTES = 16_384  # ahead of what was asked for


def is_kafka(source: str) -> bool:
    return source.startswith(SCHEME)


class KafkaTopic:
    def __init__(self, source: str, tally: ReadTally) -> None:
        self._brokers, _, self._topic = source.removeprefix(SCHEME).partition("/")
        if not self._brokers or not self._topic or "/" in self._topic:
            raise UsageError(f"`{source}` is no topic", hint="Write it as `kafka://host:9092/topic`")
        self._source = source
        self._tally = tally
        self._consumer = _consumer(self._brokers)
        self._ends: dict[int, int] = {}  # of partitions: the number of the next message
        self._next: dict[int, int] = {}  # that is to be read
        self._looked = 0.0
        self._read, self._bytes = 0, 0
        self.behind = 0

    def __len__(self) -> int:
        return len(self._ends)

    def look(self, position_of: Callable[[str], int]) -> list[str]:
        if time.monotonic() - self._looked > ENDS_SECONDS or not self._looked:
            with self._clear_errors():
                self._find_partitions(position_of)
            self._looked = time.monotonic()
        self._estimate()
        return []

    def pieces(self, _: Callable[[str], int]) -> Iterator[Piece]:
        while messages := self._messages():
            by_partition: dict[int, list[Message]] = defaultdict(list)
            for message in messages:
                by_partition[message.partition() or 0].append(message)
            for partition, received in by_partition.items():
                for is_json, alike in groupby(received, lambda each: _content(each).lstrip()[:1] in (b"{", b"[")):
                    yield self._piece(partition, list(alike), is_json=is_json)

    def close(self) -> None:
        self._consumer.close()

    def _messages(self) -> "list[Message]":
        with self._clear_errors():
            received: list[Message] = self._consumer.consume(MESSAGES_AT_ONCE, WAIT_SECONDS)
        return [message for message in received if message.error() is None]  # others tell of what is tried again

    def _piece(self, partition: int, messages: "list[Message]", *, is_json: bool) -> Piece:
        contents = [_content(message) for message in messages]
        framed = [content + b"\n" if is_json else len(content).to_bytes(4) + content for content in contents]
        first, position = messages[0].offset() or 0, (messages[-1].offset() or 0) + 1
        self._next[partition] = position
        self._read, self._bytes = self._read + len(messages), self._bytes + sum(map(len, contents))
        self._estimate()
        cursor = self._cursor(partition)
        return Piece(f"{cursor} from message {first}", b"".join(framed), cursor, position)

    def _find_partitions(self, position_of: Callable[[str], int]) -> None:
        from confluent_kafka import TopicPartition  # noqa: PLC0415 -- an extra

        topic = self._consumer.list_topics(self._topic, timeout=ANSWER_SECONDS).topics[self._topic]
        if topic.error is not None or not topic.partitions:
            raise TargetError(
                f"Kafka at {self._brokers} has no topic `{self._topic}`: {topic.error or 'it has no partitions'}",
                hint="Start what sends traces to it first",
            )
        is_new = topic.partitions.keys() != self._next.keys()
        for partition in topic.partitions:
            first, self._ends[partition] = self._consumer.get_watermark_offsets(
                TopicPartition(self._topic, partition), timeout=ANSWER_SECONDS
            )
            position = position_of(self._cursor(partition))
            if 0 < position < first:
                self._tally.skip(DELETED_UNREAD, self._cursor(partition), first - position)
            self._next[partition] = max(first, position, self._next.get(partition, 0))
        if is_new:
            self._consumer.assign([TopicPartition(self._topic, each, at) for each, at in self._next.items()])

    def _estimate(self) -> None:
        waiting = sum(max(0, end - self._next[partition]) for partition, end in self._ends.items())
        self.behind = waiting * self._bytes // self._read if self._read else waiting

    def _cursor(self, partition: int) -> str:
        return f"{self._source}/{partition}"

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        from confluent_kafka import KafkaException  # noqa: PLC0415

        try:
            yield
        except KafkaException as error:
            raise TargetError(
                f"Cannot read from Kafka at {self._brokers}: {error.args[0].str()}",
                hint=f"Settings to log in with are read from the file that `{PROPERTIES}` names",
            ) from None


def _content(message: "Message") -> bytes:
    value = message.value()
    return value if isinstance(value, bytes) else b""


def _consumer(brokers: str) -> Any:
    try:
        from confluent_kafka import Consumer, KafkaException  # noqa: PLC0415
    except ImportError:
        raise UsageError("Kafka needs the package `confluent-kafka`", hint="pip install 'cutset[kafka]'") from None
    settings = {
        **_properties(),
        "bootstrap.servers": brokers,
        "group.id": "cutset",  # the client wants one; nothing is ever committed to it
        "enable.auto.commit": "false",
        "auto.offset.reset": "earliest",
        "queued.max.messages.kbytes": str(_FETCHED_KILOBYTES),
    }
    try:
        return Consumer(settings)
    except KafkaException as error:
        raise UsageError(
            f"Kafka's client refuses its settings: {error.args[0].str()}", hint=f"`{PROPERTIES}`"
        ) from None


def _properties() -> dict[str, str]:
    name = os.environ.get(PROPERTIES)
    if not name:
        return {}
    try:
        lines = Path(name).read_text().splitlines()
    except OSError as error:
        raise UsageError(f"`{name}`, of `{PROPERTIES}`, cannot be read: {error.strerror}") from None
    pairs = (line.partition("=") for line in lines if line.strip() and not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs}
