"""The search for the fault behind a failure without a terminal: on the example that the documentation shows."""

import asyncio
import json
import shlex
import shutil
import sqlite3
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.samples.jars import jar

from cutset.app.reproduce import (
    FAILURE_LOG,
    FRONT_ENDS,
    ReportFiles,
    ReproductionPlan,
    plan_reproduction,
    plan_resumption,
    recorded_logs,
    recorded_reproduction,
    remove_rounds,
    reproduce,
    run_folder,
    write_results,
)
from cutset.config.case import CaseFile
from cutset.errors import CutsetError, UsageError
from cutset.model.reproduction.event import ReproductionEvent, ReproductionFinished, RoundFinished
from cutset.model.reproduction.result import Language, ReproductionResult
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.ledger import open_ledger

EXAMPLE = Path(__file__).parents[3] / "examples/reproduce"
RUN = f"{shlex.quote(sys.executable)} workload.py"
NEVER = "log:5 of 12 orders"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("__pycache__", ".cutset"))
    monkeypatch.chdir(tmp_path / "example")
    return tmp_path / "example"


def planned(**options: Any) -> ReproductionPlan:
    return plan_reproduction(CaseFile(run=RUN, **options), Path("case.yaml"), store=Path(".cutset"))


def events(plan: ReproductionPlan, most: int = 1_000) -> list[ReproductionEvent]:
    async def consume() -> list[ReproductionEvent]:
        seen: list[ReproductionEvent] = []
        async for event in reproduce(plan):
            seen.append(event)
            if sum(isinstance(one, RoundFinished) for one in seen) == most:
                break
        return seen

    return asyncio.run(consume())


def run_of(seen: list[ReproductionEvent]) -> str:
    assert isinstance(seen[0], RunStarted)
    return seen[0].run


def result_of(seen: list[ReproductionEvent]) -> ReproductionResult:
    assert isinstance(seen[-2], ReproductionFinished)
    return seen[-2].result


def test_every_event_is_in_the_ledger_as_it_was_told(folder: Path) -> None:
    plan = planned()
    seen = events(plan)

    assert seen[-1] == RunFinished()
    with open_ledger(plan.store) as ledger:
        assert ledger.events(run_of(seen)) == seen
        (run,) = ledger.runs(Loop.REPRODUCTION)
    assert run.finished


def test_what_was_found_is_written_for_its_owner_alone(folder: Path) -> None:
    plan = planned()
    seen = events(plan)
    run, result = run_of(seen), result_of(seen)

    files = write_results(plan, run, result)
    remove_rounds(plan, run, result)

    kept = run_folder(plan.store, run)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert {stat.S_IMODE((kept / name).stat().st_mode) for name in ("case.yaml", "result.json", "report.html")} == {
        0o600
    }
    assert json.loads((kept / "result.json").read_text())["best"]["faults"][0]["failure_log_line"]
    assert files == {"report": kept / "report.html", "replay": kept / "replay/replay.py"}
    assert "reproducing run" in files["report"].read_text()
    told = (result.best, result.first_found, *result.alternatives)
    assert {path.name for path in kept.glob("round-*")} == {f"round-{each.round:04}" for each in told if each}


def test_reports_that_travel_are_written_where_their_user_says_for_its_owner_alone(folder: Path) -> None:
    plan = planned()
    seen = events(plan)
    wanted = ReportFiles(folder / "out", folder / "new/report.html", folder / "new/report.md")
    wanted.out.mkdir()  # type: ignore[union-attr]

    write_results(plan, run_of(seen), result_of(seen), wanted)

    page, text = (folder / "new/report.html").read_text(), (folder / "new/report.md").read_text()
    assert "python out/replay/replay.py" in page
    assert "python out/replay/replay.py" in text
    assert stat.S_IMODE((folder / "new/report.html").stat().st_mode) == 0o600


def test_a_search_that_is_over_is_read_again_wherever_its_store_is_now(folder: Path) -> None:
    seen = events(planned())
    (folder / "failure.log").unlink()  # of production, which rotates its logs
    (folder / ".cutset").rename(folder / "moved")

    run, result = recorded_reproduction(folder / "moved")
    logs = recorded_logs(folder / "moved", run, result)

    assert (run, result) == (run_of(seen), result_of(seen))
    assert logs is not None
    assert logs.has_run
    assert sum(row.message is not None for row in logs.rows) == 2
    (run_folder(folder / "moved", run) / FAILURE_LOG).unlink()
    assert recorded_logs(folder / "moved", run, result) is None


def test_of_a_search_that_goes_on_there_is_no_result_yet(folder: Path) -> None:
    events(planned(oracle=NEVER), most=1)

    with pytest.raises(UsageError, match="has not come to an end"):
        recorded_reproduction(Path(".cutset"))


def test_a_search_goes_on_after_an_interruption_with_what_its_case_said(folder: Path) -> None:
    begun = planned(oracle=NEVER, rounds=3, second_fault=False)
    first = events(begun, most=1)

    plan = plan_resumption(CaseFile(), store=Path(".cutset"))
    second = events(plan)

    assert plan.resumes == run_of(first) == run_of(second)
    assert plan.case == begun.case
    rounds = [event for event in second if isinstance(event, RoundFinished)]
    assert [event.number for event in rounds] == [1, 2, 3]
    assert rounds[0] in first
    assert isinstance(second[-1], RunFinished)
    assert second[-1].reason == "it was not reproduced"


def test_what_gave_up_can_go_on_with_more_rounds_but_what_succeeded_cannot(folder: Path) -> None:
    events(planned(oracle=NEVER, rounds=1, second_fault=False))
    more = plan_resumption(CaseFile(rounds=2), store=Path(".cutset"))
    assert result_of(events(more)).rounds == 2

    succeeded = run_of(events(planned()))

    assert plan_resumption(CaseFile(), store=Path(".cutset")).resumes != succeeded


def test_a_search_of_another_case_does_not_go_on(folder: Path) -> None:
    events(planned(oracle=NEVER, rounds=1, second_fault=False))

    with pytest.raises(UsageError, match="was begun with other oracle, so it cannot be resumed"):
        events(plan_resumption(CaseFile(oracle="log:4 of 12 orders"), store=Path(".cutset")))
    with Path("outbox/__init__.py").open("a") as source:
        source.write("\n\ndef more():\n    open('more')\n")
    with pytest.raises(UsageError, match="was begun with other content of the source"):
        events(plan_resumption(CaseFile(), store=Path(".cutset")))


def test_what_cannot_work_is_not_resumed(folder: Path) -> None:
    with pytest.raises(CutsetError, match="The oracle holds without any fault"):
        events(planned(oracle="log:wrote 3 orders"))

    with pytest.raises(UsageError, match="There is no unfinished reproduction in"):
        plan_resumption(CaseFile(), store=Path(".cutset"))


def test_a_changed_record_is_found_when_a_search_is_to_go_on(folder: Path) -> None:
    events(planned(oracle=NEVER, rounds=1, second_fault=False))
    with sqlite3.connect(".cutset/ledger.sqlite") as database:
        database.execute("UPDATE events SET fields = replace(fields, '\"no\"', '\"yes\"') WHERE kind = 'RoundFinished'")
    database.close()

    with pytest.raises(CutsetError, match="is not as it was written"):
        events(plan_resumption(CaseFile(rounds=2), store=Path(".cutset")))


def test_a_program_of_the_jvm_has_a_front_end_of_its_own(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"17\"' >&2\n")
    java.chmod(0o755)
    jar(tmp_path / "shop.jar", "org.shop.Queue", "org.shop.Main")
    (tmp_path / "failure.log").write_text("order lost\n")
    run, log = f"{java} -cp {tmp_path}/shop.jar org.shop.Main", str(tmp_path / "failure.log")

    plan = plan_reproduction(CaseFile(run=run, source=("org.shop",), log=log, oracle="log:lost"), store=tmp_path)

    assert plan.front_end is FRONT_ENDS[Language.JVM]
    assert plan.given.language is Language.JVM  # a resumption and reports need not be told again
