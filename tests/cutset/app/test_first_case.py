"""The first case.yaml of the example that the documentation shows."""

import asyncio
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from cutset.app.first_case import (
    FirstRun,
    check_case,
    run_first,
    sources_to_choose_from,
    symptoms_to_choose_from,
    write_first_case,
)
from cutset.config.case import CaseFile, build_case, read_case
from cutset.errors import UsageError

EXAMPLE = Path(__file__).parents[3] / "examples/reproduce"
ORACLE = "log:6 of 12 orders are on disk"
GIVEN = CaseFile(run=f"{shlex.quote(sys.executable)} workload.py", log="failure.log", oracle=ORACLE, source=("outbox",))


@pytest.fixture
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FirstRun:
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("__pycache__", ".cutset", "*.yaml"))
    monkeypatch.chdir(tmp_path / "example")
    (tmp_path / "first").mkdir()
    return asyncio.run(run_first(GIVEN, tmp_path / "first"))


def test_symptoms_are_proposed_that_do_not_hold_without_a_fault(first: FirstRun) -> None:
    found = [str(each.oracle) for each in asyncio.run(symptoms_to_choose_from(first))]

    assert found[:2] == [ORACLE, "log:outbox is suspended, dropping order-11"]
    assert all("wrote 3 orders" not in each for each in found)


def test_packages_are_proposed_by_what_the_workload_imports(first: FirstRun) -> None:
    assert [each.name for each in sources_to_choose_from(first)] == ["outbox"]


@pytest.mark.parametrize(
    ("oracle", "good", "words"),
    [
        (ORACLE, [True, True, True], "the oracle recognises the failure log: failure.log:7: "),
        ("log:wrote 3 orders", [True, False, True], "without a fault, the oracle holds: run.log:1: "),
        ("log:5 of 12", [True, True, False], "the oracle does not recognise the failure log: no line"),
        ("exit:!0", [True, True, None], "a log alone does not tell"),
        ("exit:!0 or not missing:suspended", [True, True, True], "the oracle recognises the failure log"),
    ],
)
def test_it_is_told_whether_a_case_will_do(first: FirstRun, oracle: str, good: list[bool | None], words: str) -> None:
    checks = asyncio.run(check_case(CaseFile(oracle=oracle), first))

    assert [each.good for each in checks] == good
    assert words in "\n".join(each.text for each in checks)


def test_what_is_written_is_the_case_from_wherever_it_is_and_nothing_is_overwritten(first: FirstRun) -> None:
    Path("cases").mkdir()
    for out in (Path("case.yaml"), Path("cases/first.yaml")):
        write_first_case(out, GIVEN, first)
        with pytest.raises(UsageError, match="is there already"):
            write_first_case(out, GIVEN, first)

    assert "\nlog: failure.log\n" in Path("case.yaml").read_text()
    here, below = (build_case(read_case(CaseFile(), path)) for path in (Path("case.yaml"), Path("cases/first.yaml")))
    assert here == below


def test_a_log_from_a_pipe_is_kept_beside_the_case(first: FirstRun) -> None:
    log = Path("failure.log").read_text()
    piped = CaseFile(run=GIVEN.run, log="-", oracle=ORACLE, source=("outbox",))
    with pytest.raises(UsageError, match="which is there already"):
        write_first_case(Path("case.yaml"), piped, first)
    Path("failure.log").unlink()

    write_first_case(Path("case.yaml"), piped, first)

    assert build_case(read_case(CaseFile(), Path("case.yaml"))).failure_log == log


def test_what_no_search_would_begin_with_is_not_written(first: FirstRun) -> None:
    with pytest.raises(UsageError, match="No Python source of 'nothere'"):
        write_first_case(Path("case.yaml"), CaseFile(run=GIVEN.run, log="-", oracle=ORACLE, source=("nothere",)), first)

    assert not Path("case.yaml").exists()
