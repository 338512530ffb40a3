"""`cutset ui`, as it is started and ended by people who make mistakes."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
from tests.samples.recorded_campaign import recorded_campaign
from typer.testing import CliRunner

from cutset.cli.main import app
from cutset.cli.ui import dashboard_beside
from cutset.errors import CutsetError
from cutset.receive.server import listen
from cutset.store.ledger import NAME

CONFIG = """\
target: {url: "http://127.0.0.1:9", environment: test}
requests: [{path: /}]
"""
KEY = "k" * 64


def refused(*arguments: str) -> CutsetError:
    """Why it does not begin: `main` prints that and ends with its exit code."""
    result = CliRunner().invoke(app, ["ui", *arguments], env={"CUTSET_KEY": ""})
    assert isinstance(result.exception, CutsetError)
    return result.exception


@contextmanager
def running(cwd: Path, *arguments: str, key: str = KEY) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """The process, its link, and what it said before that."""
    environment = os.environ | {"CUTSET_KEY": key, "COLUMNS": "200", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "cutset", "ui", "--port", "0", *arguments]
    with subprocess.Popen(command, cwd=cwd, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        said: list[str] = []
        try:
            for line in process.stderr:
                if found := re.match(r"Dashboard +(http://\S+)", line):
                    yield process, found[1], said
                    return
                said.append(line)
            pytest.fail("".join(said))
        finally:
            process.kill()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "build.example"])
def test_where_others_get_to_it_nothing_acts(host: str) -> None:
    error = refused("--host", host)

    assert error.exit_code == 2
    assert f"On `{host}` others could start experiments" in error.message
    assert "Add `--read-only`" in error.hint


def test_a_store_that_is_a_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    error = refused("--store", str(tmp_path / "file"))

    assert error.exit_code == 2
    assert f"`{tmp_path / 'file'}` is not a folder" in error.message


def test_a_ledger_that_cannot_be_read_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"no ledger" * 1000)

    error = refused("--store", str(tmp_path))

    assert error.exit_code == 2
    assert "is not a readable ledger" in error.message


def test_a_taken_port_is_told_with_a_way_out(tmp_path: Path) -> None:
    with listen("127.0.0.1", 0, for_what="", hint="") as taken:
        port = taken.getsockname()[1]
        error = refused("--store", str(tmp_path), "--port", str(port))

    assert error.exit_code == 3
    assert f"Cannot receive browsers on `127.0.0.1:{port}`: the port is in use" in error.message
    assert "Choose another port with `--port`" in error.hint


@pytest.mark.parametrize("port", ["-1", "65536", "many"])
def test_what_is_no_port_is_refused(port: str) -> None:
    assert CliRunner().invoke(app, ["ui", "--port", port]).exit_code == 2


def test_a_configuration_with_a_mistake_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "cutset.yaml").write_text("targt: {}\n")

    error = refused("--store", str(tmp_path), "-c", str(tmp_path / "cutset.yaml"))

    assert error.exit_code == 2
    assert "`targt`" in error.message


def test_a_configuration_that_was_named_must_be_there(tmp_path: Path) -> None:
    error = refused("--store", str(tmp_path), "-c", str(tmp_path / "other.yaml"))

    assert error.exit_code == 2
    assert "other.yaml" in error.message


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_end_and_that_is_its_proper_end(tmp_path: Path, sent: signal.Signals) -> None:
    recorded_campaign(tmp_path / ".cutset")
    (tmp_path / "cutset.yaml").write_text(CONFIG)
    with running(tmp_path) as (process, link, said):
        assert said == []
        with httpx.Client(follow_redirects=True) as browser:
            page = browser.get(link)
        assert page.status_code == 200
        assert "token" not in str(page.url)
        process.send_signal(sent)
        assert process.wait(20) == 0
        assert process.stderr
        rest = process.stderr.read()
    assert rest == "Press Ctrl-C to stop\n"  # nothing of what was asked for, hence no token, is logged


def test_who_only_looks_is_told_why_nothing_can_be_started(tmp_path: Path) -> None:
    with running(tmp_path) as (_, _, said):
        assert said == ["note: nothing can be started from here: there is no cutset.yaml\n"]
    (tmp_path / "cutset.yaml").write_text(CONFIG)
    with running(tmp_path, key="") as (_, _, said):
        (line,) = said
        assert line.startswith("note: nothing can be started from here: The environment variable `CUTSET_KEY` is not")
    assert not (tmp_path / ".cutset").exists()


def test_read_only_it_needs_no_token_and_no_configuration(tmp_path: Path) -> None:
    (tmp_path / "cutset.yaml").write_text("no: {configuration\n")
    with running(tmp_path, "--read-only", "--name", "build.example") as (_, link, said):
        assert said == []
        assert re.fullmatch(r"http://build\.example:\d+/", link)
        port = link.rstrip("/").rpartition(":")[2]
        answer = httpx.get(f"http://127.0.0.1:{port}/", headers={"host": f"build.example:{port}"})
        assert answer.status_code == 200


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    with running(tmp_path) as (process, _, _):
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        process.wait(20)
    assert psutil.wait_procs(children, timeout=10)[1] == []


def test_beside_another_command_it_shows_what_that_records_and_ends_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with dashboard_beside(tmp_path) as dashboard, httpx.Client(follow_redirects=True) as browser:
        link = capsys.readouterr().err.split()[1]
        assert "Nothing was explored yet" in browser.get(link).text
        recorded_campaign(tmp_path)
        assert "Latest campaign" in browser.get(link).text
        assert not dashboard.can_act
    with pytest.raises(httpx.ConnectError):
        httpx.get(link)
