"""The benchmark of reproductions on a failure of our own, as from a command line."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.reproduce.summary import COUNTED
from tests.samples.incidents import CHECKPOINT

ROOT = Path(__file__).parents[2]
CASE = f"""
python = "3.11"
targets = ["FOLDER/app.py"]
[workload]
timeout_s = 20
[ground_truth]
site = "{CHECKPOINT.site}"
exception = "PermissionError(13, 'Permission denied')"
"""
ORACLE = """
import sys
from pathlib import Path
from told import counted
sys.exit(0 if counted(Path(sys.argv[1])) == {"counted": 15, "saved": 6} else 1)
"""
TOLD = """
import json
def counted(folder):
    return json.loads((folder / "state.json").read_text())
"""
STATE = """
import json
json.dump({"counted": counter.value, "saved": counter.saved}, open("state.json", "w"))
"""


@pytest.fixture
def environments(tmp_path: Path) -> Path:
    """As if they were made before."""
    for name in ("checkpoint-1", "checkpoint-2", "_servers"):
        folder = tmp_path / "environments" / name
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").symlink_to(sys.executable)
        (folder / "ready").touch()
    return tmp_path / "environments"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    folder, common = tmp_path / "cases" / "checkpoint-1", tmp_path / "cases" / "_common"
    folder.mkdir(parents=True)
    common.mkdir()
    CHECKPOINT.write(folder)
    (common / "told.py").write_text(TOLD)
    (folder / "case.toml").write_text(CASE.replace("FOLDER", str(folder)))
    (folder / "oracle.py").write_text(ORACLE)
    with (folder / "workload.py").open("a") as workload:
        workload.write(STATE)
    return folder.parent


def test_a_known_failure_is_searched_for_judged_and_told_as_json_and_as_a_table(
    cases: Path, environments: Path, tmp_path: Path
) -> None:
    table = tmp_path / "table.md"
    options = ["--quick", "--replays", "2", "--ablate", "full", "--environments", environments, "--table", table]
    command = [sys.executable, "-m", "benchmarks.reproduce", cases, *options]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    numbers = json.loads(ran.stdout.splitlines()[-1])
    counted = ("cases", "reproduced", *COUNTED)
    assert {key: numbers[key] for key in counted} == dict.fromkeys(counted, 1), ran.stdout
    found = numbers["found"]["checkpoint-1"]
    assert (found["site"], found["grade"], found["replay"]) == (CHECKPOINT.site, "LOG", "2 of 2")
    assert "| checkpoint-1 | yes | yes | LOG | yes |" in table.read_text()
    assert "own_cases" not in numbers, "a folder was named"
    assert numbers["ablations"]["full"]["reproduced"] == 1
    assert (numbers["left_out"], numbers["errors"]) == ([], {})


def test_ctrl_c_ends_with_what_is_known_and_with_what_is_not(cases: Path, environments: Path) -> None:
    shutil.copytree(cases / "checkpoint-1", cases / "checkpoint-2")
    options = ["--quick", "--at-once", "1", "--environments", environments]
    command = [sys.executable, "-m", "benchmarks.reproduce", cases, *options]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("  checkpoint-1 1:"):
                os.kill(process.pid, signal.SIGINT)
    numbers = json.loads(lines[-1])
    assert (process.returncode, numbers["interrupted"], numbers["left_out"]) == (130, True, ["checkpoint-2"])
    assert numbers["found"]["checkpoint-1"]["ended"] == "interrupted"
    assert numbers["cases"] == 1


def test_what_no_time_is_left_for_is_left_out_and_named(cases: Path, environments: Path) -> None:
    options = ["--quick", "--all-minutes", "0.001", "--ablate", "full", "--environments", environments]
    command = [sys.executable, "-m", "benchmarks.reproduce", cases, *options]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    numbers = json.loads(ran.stdout.splitlines()[-1])
    assert (numbers["cases"], numbers["left_out"]) == (0, ["checkpoint-1", "full: checkpoint-1"])


def test_a_case_that_is_not_there_is_refused(cases: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.reproduce", cases, "--case", "chekpoint-1"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, "there is no case chekpoint-1" in ran.stderr) == (2, True)
