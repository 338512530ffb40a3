"""A ledger with runs of drills, impacts and reproductions, as if other processes had recorded them."""

from collections.abc import Iterable
from pathlib import Path

from tests.samples.drill import FAILED, PASSED
from tests.samples.impacts import impact_events
from tests.samples.reproduction import FAILURE_LOG, RUN_LOG, fault, reproduction, result

from cutset.app.reproduce import CASE, run_folder
from cutset.app.reproduce import FAILURE_LOG as LOG_FILE
from cutset.model.drill import DrillFinished, DrillResult, DrillsPlanned, ServiceStarted
from cutset.model.reproduction.event import (
    OracleAnswer,
    ProgramAnalysed,
    ReproductionFinished,
    RoundFinished,
    RoundStage,
)
from cutset.model.reproduction.result import ReproductionResult
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.ledger import open_ledger

ANALYSED = ProgramAnalysed(2, 52, 0.1, 9, 4, 8, (), ("cannot write the index", "queue is read-only"), 2, (), 0)


def record(store: Path, run: str, events: Iterable[object]) -> None:
    with open_ledger(store) as ledger:
        for event in events:
            ledger.append(run, event)  # type: ignore[arg-type]


def record_drills(
    store: Path, run: str = "drills", *results: DrillResult, planned: Iterable[DrillResult] = (), finished: bool = True
) -> None:
    known = results or (PASSED, FAILED)
    tests = tuple(each.test for each in (*known, *planned))
    ends = [RunFinished()] if finished else []
    record(
        store,
        run,
        [
            RunStarted(loop=Loop.DRILL, run=run, command="drill"),
            DrillsPlanned(tests=tests),
            ServiceStarted(number=1),
            *(DrillFinished(result=each, subject="") for each in known),
            *ends,
        ],
    )


def record_impact(store: Path, run: str = "impact") -> None:
    record(store, run, impact_events(run=run, others_per_second=20))


def record_reproduction(store: Path, run: str = "reproduction", found: ReproductionResult | None = None) -> None:
    """With what it leaves in its folder. Its result names a folder that is gone: that of a store elsewhere."""
    folder = run_folder(store, run)
    (folder / "round-0007").mkdir(parents=True)
    (folder / "round-0007" / "run.log").write_text(RUN_LOG)
    (folder / LOG_FILE).write_text(FAILURE_LOG)
    (folder / CASE).write_text("run: python workload.py\n")
    result_found = found or result(reproduction(Path("/gone/reproductions/1/round-0007"), fault()))
    record(store, run, [*search_begun(run), ReproductionFinished(result_found), RunFinished()])


def search_begun(run: str) -> list[object]:
    tried = RoundFinished(
        1, RoundStage.SINGLE, fault(), OracleAnswer.NO, "", ("cannot write the index",), 0.1, Path("round-0001")
    )
    return [RunStarted(loop=Loop.REPRODUCTION, run=run, command="reproduce"), ANALYSED, tried]
