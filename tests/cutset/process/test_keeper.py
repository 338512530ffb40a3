import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cutset.process import keeper
from cutset.process.keeper import kept


def start(*command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(kept(*command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


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
def test_the_command_ends_with_the_keeper(number):
    with start(sys.executable, "-c", STUBBORN.format("")) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.wait(20) == 128 + number
        assert process.stdout.read() == ""


def test_a_command_that_listens_has_time_to_tidy_up():
    tidy = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: (print('tidy', flush=True), sys.exit(5))); "
    with start(sys.executable, "-c", STUBBORN.format(tidy)) as process:
        assert process.stdout.readline() == "ready\n"
        process.stdin.close()
        assert process.wait(20) == 5
        assert process.stdout.read() == "tidy\n"


def test_what_cannot_be_started_is_said():
    with subprocess.Popen(
        kept("/no/such/program"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.wait(20) == 1
        assert "cannot run `/no/such/program`: " in process.stderr.read()


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
def test_what_a_command_leaves_behind_ends_with_it():
    stays = [sys.executable, "-I", "-S", "-c", "import time; print('ready', flush=True); time.sleep(60)"]
    leaves = f"import subprocess; subprocess.Popen({stays!r}, start_new_session=True, stdin=None)"
    with start(sys.executable, "-c", leaves) as process:
        assert process.wait(20) == 0
        assert process.stdout.read() in ("", "ready\n")  # and is closed, as nobody holds it any more


def test_it_starts_without_what_takes_long():
    loaded = f"import sys; sys.argv = ['']; sys.path.insert(0, {str(Path(keeper.__file__).parent)!r}); import keeper"
    shown = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"{loaded}; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    assert not {"asyncio", "socket", "typing", "logging", "site", "cutset"} & set(shown.stdout.split())
