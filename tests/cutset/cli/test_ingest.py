"""`cutset ingest` as a user meets it."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.samples.otlp_shop import LINES, SPANS, otlp_line

from cutset.app.ingest import stored_traces


def cutset(*arguments: str, cwd: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "cutset", *arguments],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "100", "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        capture_output=True,
        input=stdin,
        timeout=120,
        check=False,
    )


def document(*arguments: str, cwd: Path, stdin: bytes = b"") -> dict:
    result = cutset(*arguments, "--json", cwd=cwd, stdin=stdin)
    assert result.returncode == 0, result.stderr.decode()
    return json.loads(result.stdout)


def test_the_same_spans_are_stored_once_from_wherever_they_come(tmp_path: Path) -> None:
    (tmp_path / "logs" / "deep").mkdir(parents=True)
    (tmp_path / "logs" / "deep" / "spans.jsonl.gz").write_bytes(gzip.compress("\n".join(LINES).encode()))
    (tmp_path / "logs" / "README.md").write_text("no traces")

    assert document("ingest", "logs", cwd=tmp_path)["spans_new"] == SPANS
    half = "\n".join(LINES[:10])
    assert document("ingest", "-", "logs/*/*.gz", cwd=tmp_path, stdin=half.encode())["spans_new"] == 0
    assert stored_traces(tmp_path / ".cutset")[0].spans == SPANS


def test_what_cannot_be_read_is_counted_and_shown_and_the_rest_is_kept(tmp_path: Path) -> None:
    torn = LINES[3][: len(LINES[3]) // 2]
    (tmp_path / "spans.jsonl").write_text("\n".join([LINES[0], "{nonsense", LINES[1], torn]))
    (tmp_path / "notes.json").write_text('"just a text"')

    result = cutset("ingest", ".", cwd=tmp_path)
    assert result.returncode == 3
    assert b"refused: The format of notes.json is not known" in result.stderr
    assert b"1 source not read, or not to the end" in result.stdout
    assert b"  skipped " in result.stdout
    assert stored_traces(tmp_path / ".cutset")[1].traces >= 2


def test_old_traces_are_forgotten_on_demand(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text("\n".join(LINES))
    assert document("ingest", "spans.jsonl", "--keep", "30d", cwd=tmp_path)["spans_forgotten"] == SPANS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "error: Missing argument 'SOURCE…'"),
        (["absent.json"], "error: "),
        ([""], "error: The name of a source is empty"),
        (["spans.jsonl", "jager+http://x"], "error: `jager+http://…` is no kind of trace server"),
        (["text.txt"], "error: "),
        (["spans.jsonl", "--format", "xml"], "error: Invalid value for '--format'"),
        (["spans.jsonl", "--keep", "long"], "error: `long` is no duration"),
        (["jaeger+http://localhost", "--since", "x"], "error: `x` is no moment"),
        (["jaeger+http://localhost", "--since", "1h", "--until", "2h"], "error: `--since 1h` is not before"),
        (["jaeger+http://user:secret@localhost"], "error: "),
        (["spans.jsonl", "--workers", "0"], "error: Invalid value for '--workers'"),
    ],
)
def test_wrong_usage_is_explained(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "spans.jsonl").write_text(LINES[0])
    (tmp_path / "text.txt").write_text("no traces at all")
    result = cutset("ingest", *arguments, cwd=tmp_path)

    assert result.returncode == 2
    assert message in result.stderr.decode()
    assert "Traceback" not in result.stderr.decode()
    assert "secret" not in result.stderr.decode()


@pytest.mark.parametrize("content", ["", '{"resourceSpans": []}'])
def test_to_read_nothing_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "empty.json").write_text(content)
    result = cutset("ingest", "empty.json", cwd=tmp_path)

    assert result.returncode == 2
    assert "error: No span could be read: 1 × file without spans" in result.stderr.decode()


def test_a_store_inside_what_is_read_is_not_read_itself(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text("\n".join(LINES))
    for _ in range(2):
        assert document("ingest", ".", "--store", "store", cwd=tmp_path)["problems"] == []


def test_an_unreachable_server_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text("\n".join(LINES))
    cutset("ingest", "spans.jsonl", cwd=tmp_path)
    result = cutset("ingest", "zipkin+http://127.0.0.1:9", "--since", "1m", cwd=tmp_path)

    assert result.returncode == 3
    assert b"127.0.0.1:9" in result.stderr
    assert stored_traces(tmp_path / ".cutset")[0].spans == SPANS


def test_ctrl_c_ends_an_ingest_cleanly_and_keeps_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text("\n".join(LINES))
    cutset("ingest", "spans.jsonl", cwd=tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "cutset", "ingest", "-"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(otlp_line(99).encode() + b"\n")
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not (tmp_path / ".cutset" / "traces" / "staging").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert stored_traces(tmp_path / ".cutset")[1].traces == 20
