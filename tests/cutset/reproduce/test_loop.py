"""A small queue on disk, which loses its work for good if the third write of its index fails."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cutset.errors import UsageError
from cutset.model.reproduction.event import (
    ProgramAnalysed,
    ReproductionEvent,
    ReproductionFinished,
    RoundFinished,
    RoundStage,
)
from cutset.model.reproduction.result import ReproductionResult
from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.loop import reproduce
from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.prepare import read_subject
from cutset.reproduce.python.front_end import PythonFrontEnd
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase, ReproductionSettings

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


def case(
    folder: Path, oracle: str, queue: str = QUEUE, workload: str = WORKLOAD, log: str = FAILURE_LOG
) -> FailureCase:
    (folder / "diskqueue.py").write_text(queue)
    (folder / "workload.py").write_text(workload)
    return FailureCase(
        sources=("diskqueue",),
        search_path=(str(folder),),
        drivers=(str(folder / "workload.py"),),
        failure_log=log,
        workload=Workload((sys.executable, str(folder / "workload.py")), timeout_s=30),
        oracle=parse_oracle(oracle),
    )


def events(
    found: FailureCase, folder: Path, past: Sequence[ReproductionEvent] = (), **settings: Any
) -> list[ReproductionEvent]:
    """All that was recorded, in an order in which it was."""
    recorded: list[ReproductionEvent] = []

    async def consume() -> list[ReproductionEvent]:
        subject = await read_subject(found, PythonFrontEnd())
        search = reproduce(
            subject, ReproductionSettings(**settings), folder / "runs", past=past, record=recorded.append
        )
        return [event async for event in search]

    shown = asyncio.run(consume())
    assert all(event in [*past, *recorded] for event in shown), "what counts was recorded"
    return shown


def result(seen: list[ReproductionEvent]) -> ReproductionResult:
    assert isinstance(seen[-1], ReproductionFinished)
    return seen[-1].result


def rounds(seen: list[ReproductionEvent], *stages: RoundStage) -> list[RoundFinished]:
    return [event for event in seen if isinstance(event, RoundFinished) and (not stages or event.stage in stages)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_fault_and_its_occurrence_are_found(tmp_path: Path, jobs: int) -> None:
    seen = events(case(tmp_path, "log:'kept 3'"), tmp_path, rounds=30, jobs=jobs)

    assert sum(isinstance(event, ProgramAnalysed) for event in seen) == 1
    best = result(seen).best
    assert best is not None
    [fault] = best.faults
    assert str(fault.site).startswith("diskqueue::DiskQueue._write_index::")
    assert fault.occurrence == 3
    assert fault.effect.startswith("OSError(28")
    assert "No space left" in fault.why
    assert (best.repeated, best.repeats) == (2, 2)
    assert any("push" in frame for frame in fault.stack)


def test_the_log_messages_are_explained_by_causal_chains(tmp_path: Path) -> None:
    best = result(events(case(tmp_path, "log:'kept 3'"), tmp_path)).best

    assert best is not None
    error, warning = best.messages
    assert error.text.startswith("cannot write the index")
    assert error.line == 3
    assert [message.shown for message in best.messages] == [True, True]
    assert error.chain[0].text == best.faults[0].site.expression
    assert warning.chain[-1].function == "DiskQueue.push"
    assert "except OSError" in best.group


def test_an_interrupted_search_goes_on_without_repeating_a_round(tmp_path: Path) -> None:
    impossible = case(tmp_path, "log:'kept 17'")
    whole = events(impossible, tmp_path, rounds=6, second_fault=False)

    past = [event for event in whole if not isinstance(event, RoundFinished) or event.number <= 4]
    for number in (1, 2, 3):
        (tmp_path / "runs" / f"round-000{number}" / "plan.json").unlink()  # no round can be run without it
    again = events(impossible, tmp_path, past, rounds=6, second_fault=False)

    assert [event.fired for event in rounds(again)] == [event.fired for event in rounds(whole)]
    analysed = next(event for event in again if isinstance(event, ProgramAnalysed))
    assert analysed.resumed == 4
    assert not (tmp_path / "runs" / "round-0001" / "plan.json").exists()
    assert [event.number for event in rounds(again)] == [1, 2, 3, 4, 5, 6]


def test_an_oracle_that_holds_without_a_fault_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="The oracle holds without any fault"):
        events(case(tmp_path, "log:'kept 6'"), tmp_path)


def test_a_workload_that_fails_by_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="fails by itself, without any fault: exit code 3"):
        events(case(tmp_path, "log:'kept 3'", workload=WORKLOAD + "sys.exit(3)\n"), tmp_path)


def test_a_log_that_differs_in_nothing_is_refused(tmp_path: Path) -> None:
    log = "".join(f"2026-11-16 03:00:00,001 INFO [MainThread] diskqueue: pushed item-{n}\n" for n in range(6))

    with pytest.raises(UsageError, match="nothing that good runs lack"):
        events(case(tmp_path, "log:'kept 3'", log=log), tmp_path)


def test_code_without_calls_has_nothing_to_inject(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is nothing to inject in diskqueue"):
        events(case(tmp_path, "log:x", queue="limit = 3\n"), tmp_path)


def test_what_no_fault_brings_about_is_given_up(tmp_path: Path) -> None:
    found = result(events(case(tmp_path, "log:'kept 17'"), tmp_path, rounds=4, second_fault=False))

    assert found.best is None
    assert found.rounds == 4
    assert "4 rounds tried" in found.summary


TWO_FAULTS = """
import logging, os

log = logging.getLogger("diskqueue")

class DiskQueue:
    def __init__(self, folder):
        self.folder, self.items, self.broken = folder, [], False

    def push(self, item):
        try:
            os.stat(self.folder)
        except OSError:
            log.error("primary is gone")
            self.broken = True
        if self.broken:
            try:
                os.listdir(self.folder)
            except OSError:
                log.error("replica is gone too")
                return
        self.items.append(item)
"""

TWO_FAULTS_LOG = """
2026-11-16 03:00:00,003 ERROR [MainThread] diskqueue: primary is gone
2026-11-16 03:00:00,004 ERROR [MainThread] diskqueue: replica is gone too
""".lstrip()


def test_a_second_fault_is_tried_on_top_of_the_best_first_one(tmp_path: Path) -> None:
    two = case(tmp_path, "log:'replica is gone too'", queue=TWO_FAULTS, log=TWO_FAULTS_LOG)
    seen = events(two, tmp_path, rounds=40, faults=(FaultKind.EXCEPTION,), minimise=True)

    best = result(seen).best
    assert best is not None
    assert [fault.site.expression for fault in best.faults] == ["os.stat", "os.listdir"]
    assert (best.repeated, best.repeats) == (2, 2)
    alone = rounds(seen, RoundStage.MINIMISE)[0]
    assert [fault.site.expression for fault in alone.faults] == []  # the second does not even occur without the first


def test_the_earliest_occurrence_and_other_sites_are_found(tmp_path: Path) -> None:
    workload = WORKLOAD.replace("range(6)", "range(12)") + "print('lost' if queue.broken else 'fine')\n"
    late = FAILURE_LOG.replace(
        "item-2\n",
        "item-2\n"
        + "".join(f"2026-11-16 03:00:00,004 INFO [MainThread] diskqueue: pushed item-{n}\n" for n in range(3, 9)),
    )
    found = result(events(case(tmp_path, "log:lost", workload=workload, log=late), tmp_path, minimise=True, rounds=60))

    assert found.best is not None
    assert found.best.faults[0].occurrence == 3
    sites = {alternative.faults[0].site.expression for alternative in found.alternatives}
    assert sites
    assert sites <= {"open", "file.write", "str"} | {found.best.faults[0].site.expression}
    assert all("except OSError" in alternative.group for alternative in found.alternatives)
    assert found.remarks == (
        "a plain Exception there does not show the symptom: the type matters",
        "occurrence 2 does not show the symptom",
    )
