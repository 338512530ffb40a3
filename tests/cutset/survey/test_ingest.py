import asyncio
import json
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import duckdb
import pytest
from aiohttp import web
from benchmarks.request_classes import PROFILES
from benchmarks.trace_generator import generate, limited
from benchmarks.trace_writers import write

from cutset.errors import CutsetError, InputError, TargetError
from cutset.model.span import Span, SpanKind, row_of
from cutset.store.manifest import open_spans
from cutset.store.spans import begin_ingest
from cutset.survey.ingest import SourceRead, SpansRead, ingest_files, ingest_server
from cutset.traces.files.read import FileBatch
from cutset.traces.servers.read import ServerQuery
from cutset.traces.tally import ReadTally

SECOND_NS = 1_000_000_000
START_NS = 1_700_000_000 * SECOND_NS


def zipkin_span(second: int) -> dict[str, object]:
    return {
        "traceId": f"{second:016x}",
        "id": f"{second:016x}",
        "name": "get",
        "kind": "SERVER",
        "timestamp": (START_NS + second * SECOND_NS) // 1000,
        "duration": 10,
        "localEndpoint": {"serviceName": "shop"},
    }


class Zipkin:
    """Has a trace of every tenth second; goes down, if so wished, when it is asked for what comes after some moment."""

    def __init__(self, seconds: int, down_after: int | None = None) -> None:
        self.spans = [zipkin_span(second) for second in range(1, seconds, 10)]
        self.down_after = down_after
        self.asked: list[tuple[int, int]] = []  # windows, in seconds since START

    async def services(self, _: web.Request) -> web.Response:
        return web.json_response(["shop"])

    async def traces(self, request: web.Request) -> web.Response:
        until_ms, lookback_ms = int(request.query["endTs"]), int(request.query["lookback"])
        until = until_ms - START_NS // 1_000_000
        if self.down_after is not None and until > self.down_after * 1000:
            return web.Response(status=401)
        self.asked.append(((until - lookback_ms) // 1000, until // 1000))
        found = [
            [span]
            for span in self.spans
            if (until_ms - lookback_ms) * 1000 <= int(str(span["timestamp"])) <= until_ms * 1000
        ]
        return web.json_response(found)


Ingesting = Callable[[Zipkin, int, int], int]


@pytest.fixture
def ingest(tmp_path: Path) -> Ingesting:
    """Reads the seconds from … to … into a store, always from the same address; returns how many spans are stored."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    async def run(zipkin: Zipkin, since: int, until: int) -> None:
        app = web.Application()
        app.router.add_get("/api/v2/services", zipkin.services)
        app.router.add_get("/api/v2/traces", zipkin.traces)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        moments = (START_NS + second * SECOND_NS for second in (since, until))
        try:
            with begin_ingest(tmp_path) as into:
                query = ServerQuery(f"zipkin+http://127.0.0.1:{port}", *moments)
                async for _ in ingest_server(query, into, open_spans(tmp_path).cursors):
                    pass
        finally:
            await runner.cleanup()

    def read(zipkin: Zipkin, since: int, until: int) -> int:
        asyncio.run(run(zipkin, since, until))
        return open_spans(tmp_path).spans

    return read


def test_a_later_reading_goes_on_where_the_last_one_ended(ingest: Ingesting) -> None:
    zipkin = Zipkin(1000)
    assert ingest(zipkin, 0, 500) == 50
    zipkin.asked.clear()

    assert ingest(zipkin, 0, 1000) == 100
    assert min(since for since, _ in zipkin.asked) >= 430  # spans that came late are looked for


def test_what_was_read_before_the_server_went_down_is_kept(ingest: Ingesting, tmp_path: Path) -> None:
    with pytest.raises(TargetError):
        ingest(Zipkin(1000, down_after=600), 0, 1000)
    assert 0 < open_spans(tmp_path).spans < 100

    zipkin = Zipkin(1000)
    assert ingest(zipkin, 0, 1000) == 100
    assert min(since for since, _ in zipkin.asked) > 0


def test_earlier_traces_than_those_of_the_last_reading_are_read(ingest: Ingesting) -> None:
    ingest(Zipkin(1000), 500, 1000)
    assert ingest(Zipkin(1000), 100, 1000) == 90


def test_an_interrupted_earlier_reading_does_not_claim_what_it_did_not_read(ingest: Ingesting) -> None:
    ingest(Zipkin(1000), 500, 1000)
    with pytest.raises(TargetError):
        ingest(Zipkin(1000, down_after=200), 0, 1000)
    assert ingest(Zipkin(1000), 0, 1000) == 100


def test_a_gap_between_readings_is_not_taken_for_read(ingest: Ingesting) -> None:
    ingest(Zipkin(1000), 0, 200)
    ingest(Zipkin(1000), 600, 1000)
    assert ingest(Zipkin(1000), 0, 1000) == 100


def read_into(store: Path, file: Path, *, without_room: bool = False) -> list[CutsetError | None]:
    with begin_ingest(store) as into:
        if without_room:
            shutil.rmtree(into.staging)
        told = list(ingest_files([file], into, None, format=None, mapping=None))
    return [event.problem for event in told if isinstance(event, SourceRead)]


def test_what_cannot_be_stored_is_no_problem_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "spans.json").write_text(json.dumps([zipkin_span(1)]))

    with pytest.raises(TargetError, match="Cannot write traces"):
        read_into(tmp_path / "store", tmp_path / "spans.json", without_room=True)


def test_what_was_read_before_a_file_broke_off_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks_off(_path: Path, tally: ReadTally, *_: object) -> Iterator[FileBatch]:
        for number in range(3):
            tally.spans += 1
            span = Span("1", f"{number}", "", "shop", "get", SpanKind.SERVER, START_NS, START_NS)
            yield FileBatch([row_of(span)], (number,), 0)
        raise InputError("the disk is broken")

    monkeypatch.setattr("cutset.survey.ingest.read_rows", breaks_off)
    problems = read_into(tmp_path, tmp_path / "spans.json")

    assert open_spans(tmp_path).spans == 3
    assert [str(problem) for problem in problems] == ["the disk is broken"]


def test_files_are_told_of_one_by_one(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.json" for number in range(2)]
    for number, file in enumerate(files, 1):
        file.write_text(json.dumps([zipkin_span(second) for second in range(1, number + 1)]))
    with begin_ingest(tmp_path / "store") as into:
        told = list(ingest_files(files, into, None, format=None, mapping=None))

    assert [(event.source, event.spans) for event in told if isinstance(event, SpansRead)] == [
        (str(files[0]), 1),
        (str(files[1]), 2),
    ]
    read = [event for event in told if isinstance(event, SourceRead)]
    assert [(event.name, event.tally.spans) for event in read] == [(str(files[0]), 1), (str(files[1]), 2)]


def test_what_was_read_when_nobody_asks_any_more_is_kept(tmp_path: Path) -> None:
    async def scenario() -> None:
        zipkin, app = Zipkin(1000), web.Application()
        app.router.add_get("/api/v2/services", zipkin.services)
        app.router.add_get("/api/v2/traces", zipkin.traces)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        query = ServerQuery(f"zipkin+http://127.0.0.1:{port}", START_NS, START_NS + 1000 * SECOND_NS)
        try:
            with begin_ingest(tmp_path) as into:
                reading = ingest_server(query, into, {})
                async for event in reading:
                    if isinstance(event, SpansRead) and event.spans:
                        break
                await reading.aclose()
                assert 0 < open_spans(tmp_path).spans < 100
        finally:
            await runner.cleanup()

    asyncio.run(scenario())


# A process that can be killed: what it and its workers do, they do in small steps, and every event is a line.
INGESTING = """
import sys
from pathlib import Path
import cutset.store.spans, cutset.survey.ingest
from cutset.app.ingest import IngestSettings, ingest_traces
from cutset.traces.files import in_order, json_stream

cutset.survey.ingest.BATCH_SPANS, cutset.store.spans._COMMIT_SPANS = 300, 600
json_stream.CHUNK_BYTES, in_order._BATCH_ROWS = 50_000, 100
if __name__ == "__main__":
    store, workers, *files = sys.argv[1:]
    for event in ingest_traces(Path(store), files, IngestSettings(workers=int(workers))):
        print(type(event).__name__, getattr(event, "spans", 0), flush=True)
"""
SPANS_OF_FILE = 3_000


def write_big(folder: Path, name: str, format: str, compress: str = "") -> Path:  # noqa: A002
    traces = limited(generate(7, PROFILES["production"], len(name)), SPANS_OF_FILE)
    write(traces, format, folder / name, compress)
    return folder / name


def ingest_until(
    script: Path, store: Path, files: list[Path], lines: int = 10**6, *, end: int = signal.SIGKILL, workers: int = 1
) -> list[list[str]]:
    """What the process said; it gets that signal after so many lines, if it has not come to its end by then."""
    command = [sys.executable, str(script), str(store), str(workers), *map(str, files)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        said = [line.split() for line in islice(process.stdout, lines)]
        process.send_signal(end)
        said += [line.split() for line in process.stdout]
    return said


def stored_ids(store: Path) -> list[tuple[str, ...]]:
    stored = open_spans(store)
    files = [str(stored.folder / part.file) for part in stored.parts]
    query = "SELECT trace_id, span_id, kind, service FROM read_parquet($1) ORDER BY ALL"
    return duckdb.execute(query, [files]).fetchall() if files else []


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "ingesting.py"
    path.write_text(INGESTING)
    return path


@pytest.mark.parametrize(
    ("name", "format", "compress"),
    [
        ("lines.jsonl", "otlp-json", ""),
        ("lines.jsonl.gz", "otlp-json", "gzip"),
        ("messages.zst", "otlp-proto", "zstd"),
        ("document.json", "jaeger", ""),
        ("table.csv", "nezha", ""),
    ],
)
def test_a_killed_ingest_of_one_file_goes_on_where_it_was(
    name: str,
    format: str,  # noqa: A002
    compress: str,
    tmp_path: Path,
    script: Path,
) -> None:
    file, store = write_big(tmp_path, name, format, compress), tmp_path / "store"
    ingest_until(script, tmp_path / "whole", [file])
    expected, before = stored_ids(tmp_path / "whole"), 0
    for lines in (2, 4, 10**6):
        event, spans = ingest_until(script, store, [file], lines)[1]
        # It went on behind what was there, unless it had come to its end before it was killed.
        assert int(spans) > before or before == len(expected)
        assert event == "SpansRead" or before == len(expected)
        assert len(stored_ids(store)) >= before
        before = len(stored_ids(store))

    assert stored_ids(store) == expected  # every span, and none of them twice
    assert len(expected) == len(set(expected))
    assert not open_spans(store).positions


def test_killed_workers_lose_nothing_that_was_committed(tmp_path: Path, script: Path) -> None:
    files = [write_big(tmp_path, f"{'x' * number}.jsonl", "otlp-json") for number in range(1, 4)]
    ingest_until(script, tmp_path / "whole", files)
    before = 0
    for lines in (4, 8):
        ingest_until(script, tmp_path / "store", files, lines, workers=2)
        assert len(stored_ids(tmp_path / "store")) >= before
        before = len(stored_ids(tmp_path / "store"))
    said = ingest_until(script, tmp_path / "store", files, workers=2)

    assert stored_ids(tmp_path / "store") == stored_ids(tmp_path / "whole")
    assert "SpansRead" in {event for event, _ in said}  # workers tell how far they are
    assert not open_spans(tmp_path / "store").positions


def test_what_was_told_of_before_ctrl_c_is_kept(tmp_path: Path, script: Path) -> None:
    file = write_big(tmp_path, "lines.jsonl", "otlp-json")
    said = ingest_until(script, tmp_path / "store", [file], 2, end=signal.SIGINT)

    kept = [int(spans) for event, spans in said if event == "SpansRead"]
    assert 0 < max(kept) <= len(stored_ids(tmp_path / "store"))


def test_a_file_that_changed_is_read_from_its_beginning(tmp_path: Path, script: Path) -> None:
    file, store = write_big(tmp_path, "lines.jsonl", "otlp-json"), tmp_path / "store"
    ingest_until(script, store, [file], 4)
    assert open_spans(store).positions
    file.write_text(json.dumps([zipkin_span(1)]))
    said = ingest_until(script, store, [file])

    assert ["SpansRead", "1"] in said
