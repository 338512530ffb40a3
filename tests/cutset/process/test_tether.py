import signal
import subprocess
import sys

import pytest

from cutset.process import tether


def start(*command: str) -> subprocess.Popen[str]:
    tethered = [sys.executable, "-I", "-S", tether.__file__, *command]
    return subprocess.Popen(tethered, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


# Says that it is there, and at its end holds nothing: its output closes when it is gone.
STUBBORN = "import signal, time; {}print('ready', flush=True); time.sleep(60)"


def test_the_result_of_the_command_is_passed_on():
    with start(sys.executable, "-c", "raise SystemExit(7)") as process:
        assert process.wait(20) == 7


def test_the_command_ends_when_the_pipe_closes():
    with start(sys.executable, "-c", STUBBORN.format("")) as process:
        assert process.stdout.readline() == "ready\n"
        process.stdin.close()
        assert process.wait(20) == signal.SIGTERM
        assert process.stdout.read() == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_command_ends_with_the_tether(number):
    with start(sys.executable, "-c", STUBBORN.format("")) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.wait(20) == 128 + number
        assert process.stdout.read() == ""


def test_a_command_that_does_not_listen_is_killed(monkeypatch):
    with subprocess.Popen(
        [sys.executable, "-c", STUBBORN.format("signal.signal(signal.SIGTERM, signal.SIG_IGN); ")],
        stdout=subprocess.PIPE,
    ) as process:
        process.stdout.readline()
        monkeypatch.setattr(tether, "GRACE_SECONDS", 0.05)
        tether._end(process)
        assert process.returncode == -signal.SIGKILL
