"""`cutset ingest --follow` as a user meets it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.samples.otlp_shop import LINES, SPANS

from cutset.store.manifest import open_spans


def follow(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "cutset", "ingest", "--follow", *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "100", "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )


def stored(folder: Path) -> int:
    return open_spans(folder / ".cutset").spans


def wait_for(folder: Path, spans: int) -> None:
    until = time.monotonic() + 100
    while stored(folder) < spans and time.monotonic() < until:
        time.sleep(0.05)  # until it has committed
    assert stored(folder) >= spans


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_is_its_proper_end(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "spans.jsonl").write_text("\n".join(LINES) + "\n")
    process = follow(tmp_path, "spans.jsonl", "--json")
    assert process.stderr is not None
    assert process.stderr.readline() == "Following spans.jsonl; stop with Ctrl-C\n"
    assert process.stderr.readline().startswith(f"{SPANS} spans of 1 source, ")
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert json.loads(output)["spans_new"] == stored(tmp_path) == SPANS


def test_killed_at_any_instant_it_goes_on(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text("\n".join(LINES[:10]) + "\n")
    process = follow(tmp_path, ".")
    wait_for(tmp_path, 1)
    process.kill()
    process.communicate()
    with (tmp_path / "spans.jsonl").open("a") as file:
        file.write("\n".join(LINES[10:]) + "\n")
    process = follow(tmp_path, ".")
    wait_for(tmp_path, SPANS)
    process.terminate()
    output, _ = process.communicate(timeout=60)
    assert output.startswith("Read ")
    assert stored(tmp_path) == SPANS
