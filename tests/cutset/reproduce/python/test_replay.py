"""A small queue on disk, which accepts nothing any more once the third write of its index has failed."""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

from cutset.model.reproduction.site import FiredFault
from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.python.replay_script import write_replay
from cutset.reproduce.python.source import read_program
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase

QUEUE = """
class DiskQueue:
    def __init__(self):
        self.items, self.broken = [], False

    def push(self, item):
        if self.broken:
            return
        self.items.append(item)
        try:
            self._write_index()
        except OSError as error:
            print("cannot write the index:", error)
            self.broken = len(self.items) > 2

    def _write_index(self):
        with open("index", "w") as file:
            file.write(str(len(self.items)))
"""
FIXED = QUEUE.replace("self.broken = len(self.items) > 2", "self.broken = False").replace(
    "class", "# The index can be written again from the items.\n\nclass"
)
WITHOUT_SITE = QUEUE.replace("open(", "io.open(").replace("class", "import io\n\nclass")

WORKLOAD = """
import os
from diskqueue import DiskQueue
queue = DiskQueue()
for number in range(6):
    queue.push(f"item-{number}")
print("kept", len(queue.items))
"""

DISK_FULL = "OSError(28, 'No space left on device')"


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where replays leave their failures."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def replay_of(
    folder: Path,
    *,
    command: Sequence[str] = (sys.executable,),
    oracle: str = "log:'kept 3'",
    occurrences: Sequence[int] = (3,),
    package: Path | None = None,
    within: str = "",
) -> Path:
    package = package or folder
    (package / "diskqueue.py").write_text(QUEUE)
    (folder / "workload.py").write_text(WORKLOAD)
    site = next(site for site in read_program(["diskqueue"], [str(package)]).sites if site.expression == "open")
    faults = [
        FiredFault(site, 0, each, DISK_FULL, "", 0, 0, "MainThread", (), within=within, nth=each if within else 0)
        for each in occurrences
    ]
    case = FailureCase(
        sources=("diskqueue",),
        search_path=(str(package),),
        drivers=(),
        failure_log="",
        workload=Workload((*command, str(folder / "workload.py")), timeout_s=30),
        oracle=parse_oracle(oracle),
    )
    return write_replay(folder / "replay", case, faults)


def run(script: Path, *options: str) -> subprocess.CompletedProcess[str]:
    # Without site-packages: a replay needs the standard library only.
    return subprocess.run([sys.executable, "-I", "-S", script, *options], capture_output=True, text=True, check=False)


def run_generated_test(script: Path) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(script.parent)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=script.parent).stdout


def test_the_failure_shows_again(tmp_path: Path) -> None:
    ran = run(replay_of(tmp_path), "--keep")

    assert (ran.returncode, ran.stderr) == (1, "")
    assert "The failure is there" in ran.stdout
    assert "run.log:2: kept 3" in ran.stdout
    assert f"{DISK_FULL} at diskqueue::DiskQueue._write_index::open, occurrence 3" in ran.stdout
    assert f"fired at {tmp_path / 'diskqueue.py'}:17 in _write_index" in ran.stdout
    assert Path(ran.stdout.split()[-1]).read_text().endswith("kept 3\n")


def test_after_a_fix_the_fault_fires_on_its_new_line_and_does_no_harm(tmp_path: Path) -> None:
    script = replay_of(tmp_path)
    (tmp_path / "diskqueue.py").write_text(FIXED)

    ran = run(script, "--json")

    outcome = json.loads(ran.stdout)
    assert (ran.returncode, outcome["answer"]) == (0, "no")
    assert outcome["faults"][0]["what"].startswith(f"fired at {tmp_path / 'diskqueue.py'}:19 in _write_index")


@pytest.mark.parametrize("source", [QUEUE, FIXED, WITHOUT_SITE])
def test_a_run_leaves_nothing_unless_asked_to(tmp_path: Path, temporary_folder: Path, source: str) -> None:
    script = replay_of(tmp_path)
    (tmp_path / "diskqueue.py").write_text(source)

    run(script)
    assert list(temporary_folder.iterdir()) == []

    told = json.loads(run(script, "--keep", "--json").stdout)
    assert [Path(path).read_text().splitlines()[-1] for path in told["logs"]] == [
        "kept 3" if source == QUEUE else "kept 6"
    ]
    assert [str(path) for path in temporary_folder.iterdir()] == [told["kept"]]


def test_nothing_is_told_of_the_bug_if_the_site_is_gone(tmp_path: Path) -> None:
    script = replay_of(tmp_path)
    (tmp_path / "diskqueue.py").write_text(WITHOUT_SITE)

    ran = run(script)

    assert ran.returncode == 3
    assert "nothing was tested: the fault did not fire: its site is gone" in ran.stdout


def test_nothing_is_told_of_the_bug_if_the_occurrence_does_not_come(tmp_path: Path) -> None:
    ran = run(replay_of(tmp_path, occurrences=[7]))

    assert ran.returncode == 3
    assert f"did not fire: its site, {tmp_path / 'diskqueue.py'}:17, was visited 6 times" in ran.stdout


def test_a_failure_without_the_fault_is_still_a_failure(tmp_path: Path) -> None:
    script = replay_of(tmp_path)
    (tmp_path / "diskqueue.py").write_text(WITHOUT_SITE.replace("self.broken = False", "self.broken = True"))
    (tmp_path / "workload.py").write_text("print('kept 3')\n")

    assert run(script).returncode == 1


PUSHED = "diskqueue.py:_write_index < diskqueue.py:push"


def test_the_visit_is_counted_within_its_context(tmp_path: Path) -> None:
    script = replay_of(tmp_path, within=PUSHED)
    (tmp_path / "workload.py").write_text(WORKLOAD.replace("DiskQueue()", "DiskQueue()\nqueue._write_index()", 1))

    ran = run(script, "--json")

    outcome = json.loads(ran.stdout)
    assert (ran.returncode, outcome["answer"]) == (1, "yes")


def test_where_the_context_no_longer_comes_up_the_occurrence_counts(tmp_path: Path, temporary_folder: Path) -> None:
    script = replay_of(tmp_path, within="diskqueue.py:_write_index < diskqueue.py:old_name")

    assert run(script).returncode == 1
    assert list(temporary_folder.iterdir()) == []

    ran = run(replay_of(tmp_path, within="diskqueue.py:_write_index < diskqueue.py:old_name", occurrences=[7]))
    assert ran.returncode == 3
    assert "was visited 6 times, but not 7 times within diskqueue.py:_write_index < diskqueue.py:old_name" in ran.stdout


def test_a_site_is_found_after_its_function_was_moved_and_renamed(tmp_path: Path) -> None:
    script = replay_of(tmp_path)
    moved = QUEUE.replace("self._write_index()", "self.store()").replace("_write_index(", "store(")
    (tmp_path / "diskqueue.py").write_text(moved)

    ran = run(script)

    assert ran.returncode == 1
    assert "in store, thread MainThread, which is in diskqueue::DiskQueue.store by now" in ran.stdout


def test_two_faults_fire_in_one_run(tmp_path: Path) -> None:
    ran = run(replay_of(tmp_path, occurrences=[1, 4], oracle="log:'kept 4'"), "--json", "--keep")

    outcome = json.loads(ran.stdout)
    assert outcome["answer"] == "yes"
    assert [fault["fired"] for fault in outcome["faults"]] == [True, True]
    assert Path(outcome["logs"][0]).read_text().count("cannot write the index") == 2


def test_the_site_is_looked_for_in_what_the_chosen_interpreter_imports(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for environment in (old, new):
        venv.create(environment)
    old_packages, new_packages = (next(each.glob("lib/python*/site-packages")) for each in (old, new))
    (new_packages / "diskqueue.py").write_text(FIXED)
    script = replay_of(tmp_path, command=[str(old / "bin/python")], package=old_packages)

    assert run(script).returncode == 1

    ran = run(script, "--python", os.path.relpath(new / "bin/python"))
    assert ran.returncode == 0
    assert f"fired at {new_packages / 'diskqueue.py'}:19 in _write_index" in ran.stdout


@pytest.mark.parametrize(
    ("program", "message"),
    [(None, "is no program"), ("echo; echo no Python >&2; exit 7", "does not tell where it looks for modules: no Py")],
)
def test_a_wrong_interpreter_is_refused(tmp_path: Path, program: str | None, message: str) -> None:
    path = tmp_path / "wrong"
    if program:
        path.write_text(f"#!/bin/sh\n{program}\n")
        path.chmod(0o755)

    ran = run(replay_of(tmp_path), "--python", str(path))

    assert ran.returncode == 3
    assert f"`{path}` {message}" in ran.stdout


def test_no_interpreter_is_put_in_the_place_of_another_program(tmp_path: Path) -> None:
    script = replay_of(tmp_path, command=["env", sys.executable])

    assert run(script).returncode == 1
    refused = run(script, "--python", sys.executable)
    assert refused.returncode == 3
    assert "does not start with an interpreter to replace" in refused.stdout


@pytest.mark.parametrize(
    ("options", "oracle", "message"),
    [
        ([], "command:'exit 5'", "exit 5"),
        (["-I"], "log:'kept 3'", "no interpreter of the workload loaded the hook"),
        ([], "log:'kept 3'", "does not start"),
    ],
)
def test_what_cannot_be_told_is_neither_a_failure_nor_a_success(
    tmp_path: Path, options: list[str], oracle: str, message: str
) -> None:
    command = ["no-such-program"] if message == "does not start" else [sys.executable, *options]

    ran = run(replay_of(tmp_path, command=command, oracle=oracle))

    assert ran.returncode == 3
    assert message in ran.stdout


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("raise SystemExit(4)", "the workload fails without the fault: exit code 4"),
        ("os.kill(os.getpid(), 9)", "the workload fails without the fault: signal 9"),
        ("import time; time.sleep(60)", "the workload fails without the fault: it timed out"),
    ],
)
def test_a_workload_that_fails_before_the_fault_does_not_tell_that_the_bug_is_fixed(
    tmp_path: Path, ending: str, message: str
) -> None:
    script = replay_of(tmp_path)
    (tmp_path / "workload.py").write_text(f"import os\n{ending}\n")
    script.write_text(script.read_text().replace("'timeout_s': 30", "'timeout_s': 1"))

    ran = run(script)

    assert ran.returncode == 3
    assert message in ran.stdout


def test_the_generated_test_is_in_error_if_the_workload_fails_before_the_fault(tmp_path: Path) -> None:
    script = replay_of(tmp_path)
    (tmp_path / "workload.py").write_text("raise SystemExit(4)\n")

    told = run_generated_test(script)

    assert "1 error" in told
    assert "the workload fails without the fault: exit code 4" in told


def test_the_generated_test_fails_until_the_bug_is_fixed(tmp_path: Path) -> None:
    script = replay_of(tmp_path)

    before = run_generated_test(script)
    assert "1 failed" in before
    assert "run.log:2: kept 3" in before

    (tmp_path / "diskqueue.py").write_text(FIXED)
    assert run_generated_test(script).splitlines()[-1].startswith("1 passed in")


def test_the_generated_test_does_not_pass_if_it_tested_nothing(tmp_path: Path) -> None:
    script = replay_of(tmp_path)
    (tmp_path / "diskqueue.py").write_text(WITHOUT_SITE)

    told = run_generated_test(script)

    assert "1 error" in told
    assert "nothing was tested: the fault did not fire: its site is gone" in told


def test_the_generated_test_is_in_error_if_it_cannot_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTSET_REPLAY_PYTHON", "no-such-python")

    told = run_generated_test(replay_of(tmp_path))

    assert "1 error" in told
    assert "--python: `no-such-python` is no program" in told
