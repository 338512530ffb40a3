"""A topic as a source: of a real broker."""

import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.samples.go_programs import NotToBeHadError
from tests.samples.kafka_broker import kafka_broker
from tests.samples.otlp_shop import LINES, SPANS

from cutset.app.follow import follow_traces
from cutset.errors import TargetError, UsageError
from cutset.model.steps import finished
from cutset.store.manifest import open_spans
from cutset.survey.follow import FollowSettings
from cutset.traces import kafka
from cutset.traces.kafka import KafkaTopic
from cutset.traces.tally import ReadTally

client = pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
CAUGHT_UP = FollowSettings(until_caught_up=True)
NAMES = (f"spans-{number}" for number in count())


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        with kafka_broker(tmp_path_factory.mktemp("kafka")) as address:
            yield address
    except NotToBeHadError as missing:
        pytest.skip(str(missing))


def send(broker: str, topic: str, *messages: bytes, compression: str = "none") -> None:
    producer = client.Producer({"bootstrap.servers": broker, "compression.type": compression})
    for number, message in enumerate(messages):
        producer.produce(topic, message, key=str(number))
    assert producer.flush(30) == 0


def as_protobuf(line: str) -> bytes:
    """As OTLP has it: ids are bytes, which JSON of OTLP has in hexadecimal, and JSON of protobuf in base64."""
    import base64
    import re

    def encoded(found: re.Match[str]) -> str:
        return f'"{found[1]}": "{base64.b64encode(bytes.fromhex(found[2])).decode()}"'

    text = re.sub(r'"(traceId|spanId|parentSpanId)": "([0-9a-f]*)"', encoded, line)
    return Parse(text, ExportTraceServiceRequest()).SerializeToString()


def ingest(store: Path, source: str) -> int:
    return finished(follow_traces(store, [source], threading.Event(), CAUGHT_UP)).spans_read


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_messages_are_protobuf_or_json_and_each_is_read_once(broker: str, tmp_path: Path, compression: str) -> None:
    topic = next(NAMES)
    source = f"kafka://{broker}/{topic}"
    half = len(LINES) // 2
    mixed = [as_protobuf(line) if number % 3 else line.encode() for number, line in enumerate(LINES)]
    send(broker, topic, *mixed[:half], compression=compression)
    first = ingest(tmp_path, source)
    assert ingest(tmp_path, source) == 0
    send(broker, topic, *mixed[half:], compression=compression)
    assert first + ingest(tmp_path, source) == open_spans(tmp_path).spans == SPANS
    assert not open_spans(tmp_path).log[-1].skipped


def test_a_topic_is_followed_until_it_is_told_to_end(broker: str, tmp_path: Path) -> None:
    topic, ended = next(NAMES), threading.Event()
    send(broker, topic, LINES[0].encode())
    states = follow_traces(tmp_path, [f"kafka://{broker}/{topic}"], ended)
    while next(states).spans == 0:
        pass
    send(broker, topic, *(line.encode() for line in LINES[1:]))
    while next(states).spans < SPANS:
        pass
    ended.set()
    assert finished(states).spans_new == SPANS


def test_what_the_broker_deleted_before_it_was_read_is_told(broker: str, tmp_path: Path) -> None:
    topic = next(NAMES)
    source = f"kafka://{broker}/{topic}"
    send(broker, topic, *(line.encode() for line in LINES))
    tally = ReadTally()
    reader = KafkaTopic(source, tally)
    reader.look(lambda cursor: 0)
    positions = {piece.cursor: piece.position for piece in reader.pieces(lambda cursor: 0)}
    reader.close()
    send(broker, topic, *(line.encode() for line in LINES))
    admin = client.admin.AdminClient({"bootstrap.servers": broker})
    gone = [client.TopicPartition(topic, int(cursor.rpartition("/")[2]), at + 1) for cursor, at in positions.items()]
    for done in admin.delete_records(gone).values():
        done.result()
    reader = KafkaTopic(source, tally)
    reader.look(lambda cursor: positions[cursor])
    reader.close()
    assert tally.skipped == {"message that was deleted before it was read": len(gone)}


def test_what_is_wrong_is_said(broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka, "ANSWER_SECONDS", 1)
    with pytest.raises(TargetError, match=r"Cannot read from Kafka at 127\.0\.0\.1:1"):
        ingest(tmp_path, "kafka://127.0.0.1:1/spans")
    with pytest.raises(UsageError, match="is no topic"):
        ingest(tmp_path, "kafka://127.0.0.1:1")
    (tmp_path / "client.properties").write_text("# of ours\nno.such.setting = 1\n")
    monkeypatch.setenv("CUTSET_KAFKA_PROPERTIES", str(tmp_path / "client.properties"))
    with pytest.raises(UsageError, match=r"no\.such\.setting"):
        ingest(tmp_path, f"kafka://{broker}/spans")
