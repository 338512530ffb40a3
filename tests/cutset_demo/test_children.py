import textwrap
import time

import pytest

from cutset_demo.children import configure, log_tail, start_child, stop_children, wait_until_ready

SECONDS = 20


@pytest.fixture
def child(tmp_path, monkeypatch):
    """Starts a process that runs this."""
    started = []

    def start(source):
        (tmp_path / "program.py").write_text("from cutset_demo.children import *\n" + textwrap.dedent(source))
        monkeypatch.chdir(tmp_path)
        started.append(start_child("child", "program", tmp_path))
        return started[-1]

    yield start
    stop_children(started)


def test_a_child_is_told_what_to_do_says_when_it_is_ready_and_goes_with_its_input(child, tmp_path):
    one = child(
        """
        import pathlib, threading
        gone = threading.Event()
        told = read_configuration()
        when_told_to_go(gone.set)
        report_ready()
        gone.wait()
        pathlib.Path("told").write_text(told["word"])
        """
    )
    configure(one, {"word": "grüße"})
    wait_until_ready(one, time.monotonic() + SECONDS)
    stop_children([one])

    assert one.process.returncode == 0
    assert (tmp_path / "told").read_text() == "grüße"


def test_a_child_that_ends_before_it_is_ready_is_told_of_with_its_last_words(child):
    one = child("import sys; sys.exit('no room for me')")

    with pytest.raises(RuntimeError, match=r"child ended with status 1\n(.*\n)*.*no room for me"):
        wait_until_ready(one, time.monotonic() + SECONDS)


def test_a_child_that_is_never_ready_is_told_of(child):
    one = child("read_configuration(); import sys; sys.stdin.read()")

    with pytest.raises(RuntimeError, match="child did not become ready in time"):
        wait_until_ready(one, time.monotonic())


@pytest.mark.parametrize("name", ["OTEL_SERVICE_NAME", "CUTSET_KEY"])
def test_a_users_settings_of_telemetry_and_key_are_not_the_shops(child, monkeypatch, name):
    monkeypatch.setenv(name, "mine")
    one = child(f"import os; report_ready() if {name!r} not in os.environ else None")

    wait_until_ready(one, time.monotonic() + SECONDS)


def test_of_a_long_log_the_end_is_shown(tmp_path):
    (tmp_path / "a.log").write_text("".join(f"line {number}\n" for number in range(100)))

    lines = log_tail(tmp_path / "a.log").splitlines()
    assert (len(lines), lines[-1].strip()) == (21, "line 99")
