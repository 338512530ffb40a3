import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.samples.otlp_shop import otlp_line
from typer.testing import CliRunner, Result

from cutset.app.ingest import ingest_traces
from cutset.cli.main import app
from cutset.errors import UsageError
from cutset.model.steps import finished

Cutset = Callable[..., Result]


def test_classes_tell_what_is_called_when(cutset: Cutset, document: Callable[..., Any]) -> None:
    (only,) = document("classes")["classes"]
    assert (only["name"], only["traces"], only["kinds"]) == ("GET /cart", 20, 2)
    assert only["representative"]["trace_id"] == f"{5:032x}"
    assert "GET /cart" in cutset("classes").stdout

    calls = {call["callee"]: call for call in document("classes", "GET /cart")["calls"]}
    assert calls["redis(web)/GET"]["when"] == "always"
    assert (calls["redis(web)/GET"]["failures"], calls["redis(web)/GET"]["tolerated"]) == (4, 4)
    assert calls["cart/GetCart"]["when"] == "after-failure"
    assert calls["cart/GetCart"]["instead_of"] == ["redis(web)/GET"]
    assert "after failure  web>cart/GetCart  when failed: redis(web)/GET" in cutset("classes", "GET /cart").stdout


def test_a_window_of_time_chooses(cutset: Cutset, document: Callable[..., Any]) -> None:
    assert document("classes", "--until", "2023-11-14T22:13:20.0105")["traces"] == 10
    nothing = cutset("classes", "--since", "1h").exception
    assert isinstance(nothing, UsageError)
    assert "are of that time" in nothing.message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["GET /card"], "There is no class `GET /card`"),
        (["--workers", "none"], "`none` is no number of workers"),
        (["--since", "x"], "`x` is no moment"),
    ],
)
def test_wrong_usage_is_explained(cutset: Cutset, arguments: list[str], message: str) -> None:
    error = cutset("classes", *arguments).exception
    assert isinstance(error, UsageError)
    assert message in error.message


def test_without_traces_the_way_to_some_is_told(tmp_path: Path) -> None:
    error = CliRunner().invoke(app, ["classes", "--store", str(tmp_path)]).exception
    assert isinstance(error, UsageError)
    assert error.message == f"There are no traces in `{tmp_path}`"
    assert "cutset ingest" in error.hint


def test_names_from_traces_cannot_play_tricks_with_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text(otlp_line(1, path="/[red]\u001b[2J\nx"))
    finished(ingest_traces(tmp_path / "store", [str(tmp_path / "spans.jsonl")]))
    shown = CliRunner().invoke(app, ["classes", "--store", str(tmp_path / "store")]).stdout

    assert "\x1b" not in shown
    assert shown.count("\n") == 4  # heading, class, blank, summary


def test_a_reader_that_has_seen_enough_ends_the_command_quietly(stored_shop: Path) -> None:
    command = f"{sys.executable} -m cutset classes --store {stored_shop} --json | head -c 1"
    result = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, check=False)

    # The little that it prints may all have been written before the reader went.
    assert result.returncode in (0, 128 + signal.SIGPIPE)
    assert result.stderr == b""
