import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import aiohttp
import psutil
import pytest

from cutset.drill.service import running
from cutset.drill.settings import ServiceUnderTest
from cutset.errors import TargetError
from cutset.process.keeper import kept

# Leaves a grandchild in a session of its own, which ignores the wish that it should end.
STUBBORN = """
import signal, subprocess, sys, time
if len(sys.argv) == 2:
    subprocess.Popen([sys.executable, __file__, sys.argv[1], "child"], start_new_session=True)
    time.sleep(0.3)
signal.signal(signal.SIGTERM, signal.SIG_IGN if len(sys.argv) == 3 else signal.SIG_DFL)
open(sys.argv[1], "a").write("started\\n")
time.sleep(1000)
"""


def server(folder: Path) -> ServiceUnderTest:
    command = (sys.executable, "-m", "http.server", "{port}", "--bind", "127.0.0.1")
    return ServiceUnderTest(command, ready_url="http://127.0.0.1:{port}/", folder=folder)


def with_marker(marker: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if marker in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def wait_for(condition, seconds: float = 15) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


async def _answer_of_a_service(folder: Path) -> tuple[int, str]:
    async with (
        running(server(folder), {"CUTSET_KEY": "k"}, folder / "log") as service,
        aiohttp.ClientSession() as client,
        client.get(service.url) as answer,
    ):
        return answer.status, service.url


def test_a_service_is_there_when_the_block_begins_and_gone_when_it_ends(tmp_path: Path) -> None:
    status, url = asyncio.run(_answer_of_a_service(tmp_path))

    assert status == 200
    assert not with_marker(url.rpartition(":")[2])


def test_a_service_that_ends_at_once_is_reported_with_its_last_words(tmp_path: Path) -> None:
    service = ServiceUnderTest((sys.executable, "-c", "import sys; sys.exit('no database')"), folder=tmp_path)

    async def start() -> None:
        async with running(service, {}, tmp_path / "log"):
            pass

    with pytest.raises(TargetError, match=r"did not become ready: it ended with status 1\n  no database"):
        asyncio.run(start())


def test_a_service_that_is_never_ready_is_ended_and_reported(tmp_path: Path) -> None:
    marker = str(tmp_path / "never")
    command = (sys.executable, "-c", "import time; time.sleep(1000)", marker)
    service = ServiceUnderTest(command, ready_line="ready", folder=tmp_path, start_seconds=0.3)

    async def start() -> None:
        async with running(service, {}, tmp_path / "log"):
            pass

    with pytest.raises(TargetError, match="its output has no line with `ready`"):
        asyncio.run(start())
    assert not with_marker(marker)


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
@pytest.mark.parametrize("end", ["the pipe closes", "the parent is killed"])
def test_nothing_that_a_service_started_remains(tmp_path: Path, end: str) -> None:
    script, marker = tmp_path / "stubborn.py", tmp_path / "marker"
    script.write_text(STUBBORN)
    command = kept(sys.executable, str(script), str(marker))
    # A shell in between, which can be killed in place of us.
    starter = f"import subprocess, time; subprocess.Popen({command!r}, stdin=subprocess.PIPE); time.sleep(1000)"
    parent = (
        subprocess.Popen([sys.executable, "-c", starter])
        if end == "the parent is killed"
        else subprocess.Popen(command, stdin=subprocess.PIPE)
    )
    try:
        assert wait_for(lambda: marker.exists() and marker.read_text().count("started") == 2)
        if parent.stdin:
            parent.stdin.close()
        else:
            os.kill(parent.pid, signal.SIGKILL)
        assert wait_for(lambda: not with_marker(str(marker)))
    finally:
        parent.kill()
        parent.wait()


def test_a_service_of_our_own_may_meet_every_fault(tmp_path: Path) -> None:
    program = "import os, sys, time; print('agreed', os.environ['CUTSET_UNCONTAINED'], flush=True); time.sleep(1000)"
    service = ServiceUnderTest((sys.executable, "-c", program), ready_line="agreed 1", folder=tmp_path)

    async def work() -> bool:
        async with running(service, {}, tmp_path / "log") as started:
            return started.alive

    assert asyncio.run(work())
