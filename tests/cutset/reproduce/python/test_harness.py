import asyncio
import json
import sys
from pathlib import Path

import pytest
from tests.samples.small_programs import read_app

from cutset.errors import UsageError
from cutset.model.reproduction.site import SiteFault
from cutset.reproduce.python.harness import PythonHarness, hook_plan
from cutset.reproduce.python.locate import code_around
from cutset.reproduce.rounds.harness import ArmedRound, Harness, Workload
from cutset.reproduce.rounds.runner import RoundRecord, run_round

HARNESS: Harness = PythonHarness()
APP = "import os\n\ndef work():\n    for _ in range(3):\n        os.getpgid(0)\n"


def a_round(tmp_path: Path, *window: SiteFault) -> RoundRecord:
    tmp_path.mkdir(exist_ok=True)
    program = read_app(tmp_path, APP, driver="import app\napp.work()\n")
    workload = Workload((sys.executable, str(tmp_path / "drive.py")), 20)
    plan = ArmedRound(tuple(enumerate(program.sites)), window)
    return asyncio.run(run_round(workload, plan, tmp_path / "round", HARNESS))


def test_a_plan_names_files_by_where_they_really_are(tmp_path: Path):
    site = read_app(tmp_path, APP).sites[0]
    window, ground = (SiteFault(7, 2, "OSError()", "app.py:work"),), (SiteFault(7, 1, "hang()"),)
    plan = ArmedRound([(7, site)], window, ground, log=tmp_path / "run.log", cache=tmp_path / "c")
    told = hook_plan(plan, tmp_path / "out")
    assert told == {
        "files": {str((tmp_path / "app.py").resolve()): [[7, "call", 5, 8, 5, 21]]},
        "choices": [[7, 2, "OSError()", "app.py:work"]],
        "first": [[7, 1, "hang()", ""]],
        "analysed": [str((tmp_path / "app.py").resolve())],
        "functions": True,
        "trace": True,
        "log": str(tmp_path / "run.log"),
        "out": str(tmp_path / "out"),
        "cache": str(tmp_path / "c"),
    }


def test_visits_and_the_fault_are_read_back_from_the_folder_of_a_round(tmp_path: Path):
    record = a_round(tmp_path, SiteFault(0, 2, "OSError(5, 'gone')"))
    assert record.fired is not None
    assert record.fired.fault == SiteFault(0, 2, "OSError(5, 'gone')")
    assert [visit.occurrence for visit in HARNESS.visits(record.folder, record.logs)] == [1, 2]
    assert HARNESS.visit_counts(record.folder) == {0: 2}


def test_a_fault_within_a_context_fires_there_and_tells_both_counts(tmp_path: Path):
    record = a_round(tmp_path, SiteFault(0, 3, "OSError()", "app.py:work < drive.py:main"))
    assert record.fired is None
    record = a_round(tmp_path / "other", SiteFault(0, 3, "OSError()", "app.py:work"))
    assert record.fired is not None
    assert (record.fired.fault, record.fired.within, record.fired.nth) == (
        SiteFault(0, 3, "OSError()"),
        "app.py:work",
        3,
    )
    assert [(visit.within, visit.nth) for visit in record.visits] == [("app.py:work", nth) for nth in (1, 2, 3)]


def test_functions_that_ran_are_told_by_file(tmp_path: Path):
    record = a_round(tmp_path)
    assert HARNESS.executed(record.folder) == {str((tmp_path / "app.py").resolve()): {3}}
    assert HARNESS.executed(tmp_path / "gone") == {}


@pytest.mark.parametrize("armed", [1, 2])
def test_a_report_that_was_cut_short_is_a_problem_and_known_if_only_one_fault_was_armed(tmp_path: Path, armed: int):
    window = tuple(SiteFault(0, number, "OSError()") for number in range(1, armed + 1))
    record = a_round(tmp_path, *window)
    (record.folder / "out" / "fired.json").write_text('{"site": 0, "occ')
    told = HARNESS.report(ArmedRound(window=window), record.folder, record.logs)
    assert "what it was cannot be read" in told.problems[0]
    assert (told.fired.fault if told.fired else None) == (window[0] if armed == 1 else None)


def test_the_users_variables_win_but_not_over_what_the_hook_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CUTSET_KEY", "secret")
    monkeypatch.setenv("PYTHONHASHSEED", "5")
    env = HARNESS.arm(ArmedRound(), tmp_path, {"PYTHONPATH": "/mine", "CUTSET_SITES": "x", "PYTHONUNBUFFERED": ""})
    assert "CUTSET_KEY" not in env
    assert (env["PYTHONHASHSEED"], env["PYTHONUNBUFFERED"]) == ("0", "")
    assert env["PYTHONPATH"] == f"{tmp_path / 'sites/hook'}:/mine"
    assert json.loads(Path(env["CUTSET_SITES"]).read_text())["files"] == {}
    assert (tmp_path / "sites/hook/sitecustomize.py").exists()


def test_sites_are_found_by_name_wherever_their_lines_went(tmp_path: Path):
    site = read_app(tmp_path, APP).sites[0]
    workload = Workload((sys.executable, str(tmp_path / "drive.py")), 20)
    around = {site: code_around(tmp_path / "app.py", site.line, site.line)}
    (tmp_path / "app.py").write_text("# moved\n\n" + APP)
    located = HARNESS.locate(around, ["app", "no_such_package"], workload, None)
    (place,) = located.places[site]
    assert (place.path, place.line) == (str((tmp_path / "app.py").resolve()), site.line + 2)
    assert located.analysed == [str((tmp_path / "app.py").resolve())]
    (tmp_path / "app.py").write_text("")
    assert HARNESS.locate(around, ["app"], workload, None).places[site] == []
    (tmp_path / "other.py").write_text(APP)
    (place,) = HARNESS.locate(around, ["app", "other"], workload, None).places[site]
    assert (place.module, place.line) == ("other", site.line)


def test_another_interpreter_takes_the_place_of_the_first(tmp_path: Path):
    workload = Workload(("python3", "work.py"), 20)
    assert HARNESS.with_runtime(workload, sys.executable).command == (str(Path(sys.executable).absolute()), "work.py")
    with pytest.raises(UsageError, match="`/no/such/python` is no program"):
        HARNESS.with_runtime(workload, "/no/such/python")
    with pytest.raises(UsageError, match="does not start with an interpreter to replace"):
        HARNESS.with_runtime(Workload(("pytest", "x"), 20), sys.executable)
