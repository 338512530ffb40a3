"""A small queue on disk, which loses its work for good if the third write of its index fails."""

import asyncio
import sys
from pathlib import Path

import pytest

from cutset.errors import UsageError
from cutset.reproduce.explorer import ExplorerSettings
from cutset.reproduce.loop import Analysed, Case, GaveUp, Reproduced, RoundFinished, SearchLimits, reproduce
from cutset.reproduce.oracle import parse_oracle
from cutset.reproduce.runner import Workload

QUEUE = """
import logging, os

log = logging.getLogger("diskqueue")

class DiskQueue:
    def __init__(self, folder):
        self.folder, self.items, self.broken = folder, [], False

    def push(self, item):
        if self.broken:
            log.warning("queue is read-only, dropping %s", item)
            return
        self._append(item)
        try:
            self._write_index()
        except OSError as error:
            log.error("cannot write the index: %s", error)
            if len(self.items) > 2:
                self.broken = True
        log.info("pushed %s", item)

    def _append(self, item):
        with open(os.path.join(self.folder, "items"), "a") as file:
            file.write(item)
        self.items.append(item)

    def _write_index(self):
        with open(os.path.join(self.folder, "index"), "w") as file:
            file.write(str(len(self.items)))
"""

WORKLOAD = """
import logging, os, sys
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s [%(threadName)s] %(name)s: %(message)s")
from diskqueue import DiskQueue
queue = DiskQueue(os.getcwd())
for number in range(6):
    try:
        queue.push(f"item-{number}")
    except OSError as error:
        logging.error("push failed: %s", error)
print("kept", len(queue.items))
"""

FAILURE_LOG = """
2026-11-16 03:00:00,001 INFO [MainThread] diskqueue: pushed item-0
2026-11-16 03:00:00,002 INFO [MainThread] diskqueue: pushed item-1
2026-11-16 03:00:00,003 ERROR [MainThread] diskqueue: cannot write the index: [Errno 28] No space left on device
2026-11-16 03:00:00,004 INFO [MainThread] diskqueue: pushed item-2
2026-11-16 03:00:00,005 WARNING [MainThread] diskqueue: queue is read-only, dropping item-3
2026-11-16 03:00:00,006 WARNING [MainThread] diskqueue: queue is read-only, dropping item-4
2026-11-16 03:00:00,007 WARNING [MainThread] diskqueue: queue is read-only, dropping item-5
""".lstrip()


def case(folder: Path, oracle: str) -> Case:
    (folder / "diskqueue.py").write_text(QUEUE)
    (folder / "workload.py").write_text(WORKLOAD)
    return Case(
        sources=("diskqueue",),
        search_path=(str(folder),),
        drivers=(str(folder / "workload.py"),),
        failure_log=FAILURE_LOG,
        workload=Workload((sys.executable, str(folder / "workload.py")), timeout_s=30),
        oracle=parse_oracle(oracle),
    )


def events(found: Case, folder: Path, **limits: int) -> list[object]:
    async def consume() -> list[object]:
        return [event async for event in reproduce(found, SearchLimits(**limits), ExplorerSettings(), folder / "runs")]

    return asyncio.run(consume())


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_fault_and_its_occurrence_are_found(tmp_path: Path, jobs: int) -> None:
    seen = events(case(tmp_path, "log:'kept 3'"), tmp_path, rounds=30, jobs=jobs)

    analysed, *rounds, end = seen
    assert isinstance(analysed, Analysed)
    assert all(isinstance(event, RoundFinished) for event in rounds)
    assert isinstance(end, Reproduced)
    assert end.site.startswith("diskqueue::DiskQueue._write_index::")
    assert end.round.fired is not None
    assert end.round.fired.choice.occurrence == 3
    assert end.round.fired.choice.effect.startswith("OSError(28")


def test_an_oracle_that_holds_without_a_fault_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="The oracle holds without any fault"):
        events(case(tmp_path, "log:'kept 6'"), tmp_path)


def test_what_no_fault_brings_about_is_given_up(tmp_path: Path) -> None:
    seen = events(case(tmp_path, "log:'kept 17'"), tmp_path, rounds=4)

    assert isinstance(seen[-1], GaveUp)
    assert seen[-1].progress.rounds == 4
