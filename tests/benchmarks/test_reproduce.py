"""The benchmark of reproductions on a failure of our own, as from a command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
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


def environment(folder: Path) -> None:
    """As one that was made before."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / "ready").touch()


def test_a_known_failure_is_searched_for_judged_and_told_as_json_and_as_a_table(cases: Path, tmp_path: Path) -> None:
    environments, table = tmp_path / "environments", tmp_path / "table.md"
    for name in ("checkpoint-1", "_servers"):
        environment(environments / name)
    options = ["--quick", "--replays", "2", "--environments", environments, "--table", table]
    command = [sys.executable, "-m", "benchmarks.reproduce", cases, *options]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    numbers = json.loads(ran.stdout.splitlines()[-1])
    counted = ("cases", "reproduced", "true_cause", "true_among_equals", "graded_right", "replay_stable")
    assert {key: numbers[key] for key in counted} == dict.fromkeys(counted, 1), ran.stdout
    found = numbers["found"]["checkpoint-1"]
    assert (found["site"], found["grade"], found["replay"]) == (CHECKPOINT.site, "LOG", "2 of 2")
    assert "| checkpoint-1 | yes | LOG | yes |" in table.read_text()
    assert "own_cases" not in numbers, "a folder was named"
