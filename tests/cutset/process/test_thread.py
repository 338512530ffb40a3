import asyncio
import subprocess
import sys
import threading

import pytest

from cutset.errors import UsageError
from cutset.process.thread import in_a_thread

LONG = """
import asyncio, threading
from cutset.process.thread import in_a_thread

async def main():
    begun = threading.Event()
    work = in_a_thread(lambda: (begun.set(), threading.Event().wait()))
    while not begun.is_set():
        await asyncio.sleep(0.01)
    work.cancel()

asyncio.run(main())
print("gone")
"""


def test_others_go_on_meanwhile_and_the_result_is_told() -> None:
    gate = threading.Event()

    async def both() -> str:
        work = in_a_thread(lambda: "done" if gate.wait(30) else "")
        gate.set()
        return await work

    assert asyncio.run(both()) == "done"


def test_an_error_is_told_to_who_waits() -> None:
    def fail() -> None:
        raise UsageError("There is none")

    async def wait() -> None:
        await in_a_thread(fail)

    with pytest.raises(UsageError, match="There is none"):
        asyncio.run(wait())


def test_a_program_ends_although_the_work_never_does() -> None:
    done = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "gone\n"
