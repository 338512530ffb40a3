"""A small queue on disk, which accepts nothing any more once the third write of its index has failed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from jvm.maven import NoSuchJarError, jars
from tests.samples.java_samples import java_site

from cutset.errors import UsageError
from cutset.model.reproduction.result import Language
from cutset.model.reproduction.site import FiredFault
from cutset.reproduce.jvm.replay import on_class_path
from cutset.reproduce.jvm.replay_script import write_replay
from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase

DISK_FULL = 'java.io.IOException("No space left on device")'
WRITE = "queue.DiskQueue::writeIndex::FileWriter.<init>"
JUNIT = "org.junit.platform:junit-platform-console-standalone:1.10.2"

Compiled = Callable[..., Path]


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where replays leave their failures."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.fixture
def script(tmp_path: Path, jar: Path, compiled: Compiled) -> Path:
    assert jar.exists()
    return replay_of(tmp_path, compiled("queue"))


def replay_of(folder: Path, classes: Path, *, occurrence: int = 3, oracle: str = "log:'kept 3'") -> Path:
    java = shutil.which("java") or "java"
    site = java_site(WRITE, path="queue/DiskQueue.java", line=27)
    fault = FiredFault(site, 0, occurrence, DISK_FULL, "", 0, 0, "main", ())
    case = FailureCase(
        sources=(str(classes),),
        search_path=(str(classes),),
        drivers=(),
        failure_log="",
        workload=Workload((java, "-Xmx64m", "-cp", str(classes), "queue.Workload"), timeout_s=60),
        oracle=parse_oracle(oracle),
        runtime=java,
        language=Language.JVM,
    )
    return write_replay(folder / "replay", case, [fault])


def run(command: Sequence[str | Path], **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **env})


def run_by_python(script: Path, *options: str) -> subprocess.CompletedProcess[str]:
    # Without site-packages: a replay needs the standard library only.
    return run([sys.executable, "-I", "-S", script.with_name("replay.py"), *options])


def without_python(folder: Path) -> Mapping[str, str]:
    """A PATH with all that a shell script may need, and a Java."""
    folder.mkdir()
    for name in ("sh", "java", "dirname", "mktemp", "mkdir", "sed", "cat", "sleep"):
        (folder / name).symlink_to(shutil.which(name) or "/absent")
    return {"PATH": str(folder), "CUTSET_PYTHON": ""}


def test_the_failure_shows_again(script: Path) -> None:
    ran = run(["sh", script, "--keep"], CUTSET_PYTHON=sys.executable)

    assert (ran.returncode, ran.stderr) == (1, "")
    assert "The failure is there" in ran.stdout
    assert f"{DISK_FULL} at {WRITE}, occurrence 3" in ran.stdout
    assert "fired at queue/DiskQueue.java:27 in" in ran.stdout
    assert Path(ran.stdout.split()[-1]).read_text().endswith("kept 3\n")


def test_another_class_path_runs_a_fixed_version(script: Path, compiled: Compiled) -> None:
    ran = run_by_python(script, "--json", "--class-path", str(compiled("queue_fixed")))

    outcome = json.loads(ran.stdout)
    assert (ran.returncode, outcome["answer"]) == (0, "no"), outcome
    assert outcome["faults"][0]["fired"]


def test_a_run_leaves_nothing_unless_asked_to(script: Path, temporary_folder: Path) -> None:
    assert run_by_python(script).returncode == 1

    assert [path.name for path in temporary_folder.iterdir() if not path.name.startswith("hsperfdata")] == []


def test_nothing_is_told_of_the_bug_if_the_occurrence_does_not_come(
    tmp_path: Path, jar: Path, compiled: Compiled
) -> None:
    assert jar.exists()
    ran = run_by_python(replay_of(tmp_path, compiled("queue"), occurrence=7))

    assert ran.returncode == 3
    assert "nothing was tested: the fault did not fire: its site" in ran.stdout


def test_without_a_python_it_runs_once_and_tells_what_fired(script: Path, tmp_path: Path, compiled: Compiled) -> None:
    env = without_python(tmp_path / "bin")

    ran = run(["sh", script], **env)

    assert (ran.returncode, ran.stderr) == (3, "")
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("It cannot be told whether the failure is there: that takes a Python 3.11")
    assert lines[1] == "  oracle   log:kept 3"
    assert lines[2] == f"  fault    {DISK_FULL} at {WRITE}, occurrence 3"
    assert lines[3].lstrip().startswith("fired, as ")
    assert lines[4].startswith("  ended    with status 0")
    assert Path(lines[5].split()[-1]).read_text().endswith("kept 3\n")
    fixed = run(["sh", script, "--class-path", str(compiled("queue_fixed"))], **env)
    assert Path(fixed.stdout.split()[-1]).read_text().endswith("kept 6\n")
    wrong = run(["sh", script, "--jav", "x"], **env)
    assert (wrong.returncode, wrong.stdout) == (3, "")
    assert "replay.sh: what is --jav?" in wrong.stderr


def test_a_start_script_has_no_class_path_to_change() -> None:
    with pytest.raises(UsageError, match="does not start with `java`"):
        on_class_path(Workload(("bin/serve.sh",), timeout_s=1), "fixed.jar")


def test_the_generated_test_fails_until_the_bug_is_fixed(script: Path, tmp_path: Path, compiled: Compiled) -> None:
    junit = _junit()
    subprocess.run(
        ["javac", "-cp", junit, "-d", tmp_path / "test", script.with_name("ReproductionTest.java")], check=True
    )
    command = ["java", "-jar", junit, "execute", "-cp", tmp_path / "test", "-c", "ReproductionTest", "--details=tree"]

    failing = run(command, CUTSET_PYTHON=sys.executable)
    fixed = run(command, CUTSET_PYTHON=sys.executable, CUTSET_REPLAY_CLASS_PATH=str(compiled("queue_fixed")))

    assert (failing.returncode, fixed.returncode) == (1, 0), failing.stdout + fixed.stdout
    assert "The failure is there" in failing.stdout
    assert "1 tests successful" in fixed.stdout


def _junit() -> Path:
    try:
        return jars([JUNIT])[0]
    except NoSuchJarError as error:
        pytest.skip(f"JUnit cannot be had: {error}")
