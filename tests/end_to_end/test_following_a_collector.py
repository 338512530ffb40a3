"""`cutset ingest --follow` beside a real OpenTelemetry Collector, whose file exporter writes and rotates."""

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest
import yaml
from tests.samples.go_programs import NotToBeHadError, collector_program
from tests.samples.otlp_shop import otlp_line
from tests.samples.ports import free_port, wait_until_open

from cutset.app.follow import follow_traces
from cutset.model.steps import finished
from cutset.store.manifest import open_spans
from cutset.survey import follow
from cutset.survey.follow import FollowSettings

PAYLOADS, TRACES = 40, 60  # in each payload
SPANS = PAYLOADS * TRACES * 2


@contextmanager
def collector(folder: Path, **exporter: object) -> Iterator[str]:
    """A collector that writes to a file; the address that it receives at."""
    port = free_port()
    configuration = {
        "receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{port}"}}}},
        "exporters": {"file": {"path": str(folder / "traces.json"), **exporter}},
        "service": {
            "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["file"]}},
            "telemetry": {"metrics": {"level": "none"}},
        },
    }
    (folder / "collector.yaml").write_text(yaml.safe_dump(configuration))
    with (folder / "collector.log").open("wb") as log:
        process = subprocess.Popen(
            [collector_program(), "--config", str(folder / "collector.yaml")], stdout=log, stderr=log
        )
    try:
        wait_until_open(port, process)
        yield f"http://127.0.0.1:{port}/v1/traces"
    finally:
        process.terminate()  # which flushes what it has
        process.wait()


def payload(number: int) -> bytes:
    lines = [json.loads(otlp_line(number * TRACES + trace + 1)) for trace in range(TRACES)]
    return json.dumps({"resourceSpans": [each for line in lines for each in line["resourceSpans"]]}).encode()


def send(url: str, number: int) -> None:
    request = urllib.request.Request(url, payload(number), {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=30).read()


@pytest.mark.parametrize(
    "exporter",
    [
        {"rotation": {"max_megabytes": 1}},  # JSON, which is what it writes if nobody says otherwise
        {"format": "proto"},
        {"compression": "zstd"},
        {"format": "proto", "compression": "zstd"},
    ],
    ids=str,
)
def test_all_that_a_collector_writes_is_stored_once(
    tmp_path: Path, exporter: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"LOOK_SECONDS": 0, "COMMIT_SECONDS": -1, "COMMIT_SHARE": float("inf")}.items():
        monkeypatch.setattr(follow, name, value)
    try:
        collector_program()
    except NotToBeHadError as missing:
        pytest.skip(str(missing))
    written, ended = tmp_path / "written", Event()
    written.mkdir()
    states = follow_traces(tmp_path / "store", [str(written / "traces.json")], ended)
    with collector(written, **exporter) as url:
        for number in range(PAYLOADS):
            send(url, number)
            next(states)
            if number == PAYLOADS // 2:
                states.close()  # as if killed
                states = follow_traces(tmp_path / "store", [str(written / "traces.json")], ended)
    states.close()
    last = finished(
        follow_traces(tmp_path / "store", [str(written / "traces.json")], ended, FollowSettings(until_caught_up=True))
    )
    assert not last.skipped
    assert len(list(written.glob("traces*.json"))) > ("rotation" in exporter)
    assert open_spans(tmp_path / "store").spans == SPANS
