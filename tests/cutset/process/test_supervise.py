"""Real processes, short-lived; those that would stay are to be ended by the keeper."""

import asyncio
import contextlib
import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cutset.process.keeper import MARKER, Ending, Job, JobReport, end_marked, marked_processes
from cutset.process.supervise import supervise

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def a_job(folder: Path, script: str, **changes: object) -> Job:
    settings = {
        "command": (sys.executable, "-I", "-S", "-c", script),
        "cwd": str(folder),
        "env": {MARKER: f"test-{os.getpid()}-{folder.name}"},
        "stdout": str(folder / "run.log"),
        "stderr": str(folder / "run.log"),
        "logs": "",
        "links": (),
        "grace_s": 0.0,
        "timeout_s": 20.0,
        "quiet_s": 0.0,
        "output_limit": 1_000_000,
    }
    return Job(**(settings | changes))


def run(folder: Path, script: str, **changes: object) -> JobReport:
    return asyncio.run(supervise(a_job(folder, script, **changes)))


def output_of(folder: Path) -> str:
    return (folder / "run.log").read_text()


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b") ")[2][:1] != b"Z"
    except OSError:
        return False


def processes_in(folder: Path, count: int) -> list[int]:
    """That have written their numbers there."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):
            found = [int(line) for line in (folder / "processes").read_text().splitlines()]
            if len(found) == count:
                return found
        time.sleep(0.01)
    raise AssertionError(f"not {count} processes: {output_of(folder)}")


def wait_until_dead(processes: list[int]) -> None:
    deadline = time.monotonic() + 20
    while any(map(is_alive, processes)):
        assert time.monotonic() < deadline, "they live on"
        time.sleep(0.01)


# A child, one in a session of its own, and a daemon as of old, which forks twice and forgets its environment.
FAMILY = """
import os, subprocess, sys, time
def note():
    with open('processes', 'a') as file:
        file.write(f'{os.getpid()}\\n')
STAY = "import os, time; open('processes', 'a').write(f'{os.getpid()}\\\\n'); time.sleep(60)"
stay = [sys.executable, '-I', '-S', '-c', STAY]
subprocess.Popen(stay)
subprocess.Popen(stay, start_new_session=True, env={})
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, stay, {})
    os._exit(0)
note()
while len(open('processes').readlines()) < 4:
    time.sleep(0.01)
"""


def test_the_end_of_the_command_is_reported(tmp_path):
    report = run(tmp_path, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    assert (report.ended, report.status) == (Ending.EXITED, 7)
    assert sorted(output_of(tmp_path).split()) == ["err", "out"]


def test_a_signal_is_reported_as_such(tmp_path):
    report = run(tmp_path, "import os; os.kill(os.getpid(), 11)")
    assert (report.ended, report.status) == (Ending.EXITED, -signal.SIGSEGV)


def test_signals_have_their_usual_meaning_in_the_command(tmp_path):
    script = "import signal; print([signal.getsignal(n) is signal.SIG_DFL for n in (1, 15, 17)], signal.getsignal(2))"
    run(tmp_path, script)
    assert output_of(tmp_path).startswith("[True, True, True] <built-in function default_int_handler>")


def test_what_cannot_be_started_is_said(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    report = run(tmp_path, "", command=("/no/such/program",), links=(str(link),))
    assert report.ended is Ending.NOT_STARTED
    assert "/no/such/program" in report.problem
    assert not link.is_symlink()


def test_no_descendant_remains_after_the_command(tmp_path):
    report = run(tmp_path, FAMILY)
    assert report.ended is Ending.EXITED, output_of(tmp_path)
    assert not any(map(is_alive, processes_in(tmp_path, 4)))


def test_a_time_limit_ends_all(tmp_path):
    report = run(tmp_path, FAMILY + "time.sleep(60)", timeout_s=2.0)
    assert (report.ended, report.status) == (Ending.TIMED_OUT, None)
    assert report.wall_s >= 2
    assert not any(map(is_alive, processes_in(tmp_path, 4)))


def test_what_does_not_listen_is_killed(tmp_path):
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    script = f"import subprocess, sys; subprocess.Popen([sys.executable, '-I', '-S', '-c', {deaf!r}])"
    wait = "\nimport time\nwhile 'deaf' not in open('run.log').read(): time.sleep(0.01)"
    assert run(tmp_path, script + wait).ended is Ending.EXITED
    assert marked_processes(f"test-{os.getpid()}-{tmp_path.name}") == []


def test_what_is_said_at_the_enforced_end_is_not_of_the_round(tmp_path):
    loud = "import signal, sys, time; signal.signal(15, lambda *_: (print('bye', flush=True), sys.exit()));"
    child = loud + "print('hello', flush=True); time.sleep(60)"
    script = f"import subprocess, sys; subprocess.Popen([sys.executable, '-I', '-S', '-c', {child!r}])"
    wait = "\nimport time\nwhile 'hello' not in open('run.log').read(): time.sleep(0.01)"
    run(tmp_path, script + wait)
    assert output_of(tmp_path) == "hello\n"


def test_a_flood_of_output_is_cut_off(tmp_path):
    report = run(tmp_path, "while True: print('x' * 1000)")
    assert report.ended is Ending.FLOODED
    assert (tmp_path / "run.log").stat().st_size == 1_000_000


def test_a_flood_in_a_log_file_ends_the_round_too(tmp_path):
    report = run(tmp_path, "f = open('app.log', 'w')\nwhile True: f.write('x' * 1000)", logs="*.log")
    assert report.ended is Ending.FLOODED


def test_output_of_any_bytes_is_kept(tmp_path):
    run(tmp_path, "import os; os.write(1, bytes(range(256))); os.write(2, 'grüße'.encode())")
    assert (tmp_path / "run.log").read_bytes() == bytes(range(256)) + "grüße".encode()


def test_neither_output_nor_work_is_a_hang(tmp_path):
    report = run(tmp_path, "print('begin', flush=True)\nimport time; time.sleep(60)", quiet_s=0.5)
    assert report.ended is Ending.HUNG
    assert 0.5 <= report.silent_s <= report.wall_s


BUSY = [
    "while time.monotonic() < end: pass",
    "while time.monotonic() < end: print('.', flush=True); time.sleep(0.1)",
    "log = open('app.log', 'w')\nwhile time.monotonic() < end: log.write('.'); log.flush(); time.sleep(0.1)",
    "import os\nif os.fork(): os.wait()\nelse:\n    while time.monotonic() < end: pass",
]


def test_work_or_output_is_no_hang(tmp_path):
    async def run_all() -> list[JobReport]:
        jobs = []
        for number, busy in enumerate(BUSY):
            (folder := tmp_path / str(number)).mkdir()
            script = f"import time; end = time.monotonic() + 1.5\n{busy}"
            jobs.append(a_job(folder, script, quiet_s=0.8, logs="app.log"))
        return await asyncio.gather(*map(supervise, jobs))

    assert [(report.ended, report.status) for report in asyncio.run(run_all())] == [(Ending.EXITED, 0)] * len(BUSY)


def test_the_time_of_all_processes_is_counted(tmp_path):
    burn = "import time; end = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])\n{burn}"
    assert run(tmp_path, script).cpu_s >= 0.6


async def cancelled_after_start(folder: Path) -> None:
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(supervise(a_job(folder, FAMILY + "time.sleep(60)")))
        await asyncio.to_thread(processes_in, folder, 4)
        task.cancel()


def test_to_cancel_ends_all(tmp_path):
    asyncio.run(cancelled_after_start(tmp_path))
    assert not any(map(is_alive, processes_in(tmp_path, 4)))


def test_nothing_survives_when_cutset_is_killed(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    job = a_job(tmp_path, FAMILY + "time.sleep(60)", links=(str(link),))
    imports = "import asyncio; from cutset.process.keeper import *; from cutset.process.supervise import *"
    cutset = f"{imports}; asyncio.run(supervise({job!r}))"
    with subprocess.Popen([sys.executable, "-c", cutset]) as process:
        family = processes_in(tmp_path, 4)
        process.kill()
    wait_until_dead(family)
    deadline = time.monotonic() + 20
    while link.is_symlink():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_job_whose_keeper_is_killed_is_lost_but_its_processes_end(tmp_path):
    # Only those are found that keep the marker; the rest of FAMILY would not.
    child = "import os, time; open('processes', 'a').write(f'{os.getpid()}\\n'); time.sleep(60)"
    script = f"""
import os, signal, subprocess, sys, time
subprocess.Popen([sys.executable, '-I', '-S', '-c', {child!r}], start_new_session=True)
while not (os.path.exists('processes') and os.path.getsize('processes')): time.sleep(0.01)
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(60)
"""
    report = run(tmp_path, script)
    assert report.ended is Ending.LOST
    assert "ended with -9" in report.problem
    wait_until_dead(processes_in(tmp_path, 1))


def test_processes_of_other_jobs_are_left_alone(tmp_path):
    with subprocess.Popen(["sleep", "60"], env={MARKER: "another-one"}) as other:
        end_marked("another")
        assert is_alive(other.pid)
        end_marked("another-one")
        assert other.wait(20) == -signal.SIGKILL


def test_a_command_that_does_not_follow_the_request_is_killed_after_its_grace(tmp_path):
    deaf = "import signal, time; signal.signal(15, lambda *_: open('asked', 'w').close())\nwhile True: time.sleep(60)"
    report = run(tmp_path, deaf, grace_s=0.2, timeout_s=1.0)
    assert report.ended is Ending.TIMED_OUT
    assert (tmp_path / "asked").exists()


def test_a_job_may_do_without_limits_and_files(tmp_path):
    job = Job((sys.executable, "-I", "-S", "-c", "raise SystemExit(3)"))
    report = asyncio.run(supervise(job))
    assert (report.ended, report.status, report.problem) == (Ending.EXITED, 3, "")


def test_who_is_cancelled_again_while_the_job_ends_waits_for_its_end(tmp_path):
    script = "import os, time; open('processes', 'w').write(f'{os.getpid()}\\n'); time.sleep(60)"

    async def cancelled_twice() -> None:
        task = asyncio.ensure_future(supervise(a_job(tmp_path, script)))
        await asyncio.to_thread(processes_in, tmp_path, 1)
        task.cancel()
        await asyncio.sleep(0)  # it has heard of that, and waits for the end of the job
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled_twice())
    assert not is_alive(*processes_in(tmp_path, 1))
    gc.collect()  # an open transport would complain here, in the name of this test
