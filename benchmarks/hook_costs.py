"""What the hook of a reproduction costs: a visit to a site, a round, the analysis before.

    python -m benchmarks.hook_costs [FOLDER]    ends with one line of JSON

    site_visit_us              recorded, with no fault in the plan, in each Python from 3.8 to 3.14 that is found
    armed_visit_us             with a fault at another site, or at an occurrence of this that never comes: the larger
    analysis_lines_per_second  of `read_program`, over a package of more than 100,000 lines
    round_setup_s              what a round takes beyond its workload, which imports all of that package

Visits are timed in a thread and in an asyncio task, and the larger counts. A figure is the median of several processes;
for visits, each gives the quickest of five batches, as `timeit` would. FOLDER keeps the package between runs.
"""

import argparse
import ast
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from checks.pythons import find_python

import cutset_agent
from cutset.model.reproduction.site import SiteFault
from cutset.reproduce.python.harness import PythonHarness
from cutset.reproduce.python.source import read_program
from cutset.reproduce.python.syntax import PythonProgram
from cutset.reproduce.rounds.harness import ArmedRound, Workload
from cutset.reproduce.rounds.runner import run_round

KEPT = Path(tempfile.gettempdir(), "cutset-hook-benchmarks")
PYTHONS = tuple(f"3.{minor}" for minor in range(8, 15))
HOOK = Path(cutset_agent.__file__).parent / "sites/hook"
LARGE = "sqlalchemy"
LARGE_REQUIREMENT = "sqlalchemy==2.0.44"
REPEATS = 7
ANALYSES = 3

SITES = 8
VISITED = "def visit(f, times):\n    for _ in range(times):\n" + "        f()\n" * SITES
VISITED += "\ndef elsewhere(g):\n    g()\n"
TIMES = 600  # in a batch: few enough that all visits of a process are recorded
# By processor time, as others may be at work on the same machine.
TIMED = f"""
import asyncio, json, time
from visited import visit

def batches():
    seconds = []
    for _ in range(6):
        begun = time.process_time()
        visit([].clear, {TIMES})
        seconds.append(time.process_time() - begun)
    return seconds[1:]

async def in_task():
    return batches()

print(json.dumps([batches(), asyncio.run(in_task())]))
"""
IMPORT_ALL = """
import importlib, pkgutil, sys, warnings
warnings.simplefilter("ignore")
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, sys.argv[1] + ".", onerror=lambda name: None):
    try:
        importlib.import_module(module.name)
    except Exception:
        pass  # it wants other packages
"""


def measure(folder: Path = KEPT) -> dict[str, Any]:
    return visit_costs() | package_costs(folder)


# -- a visit -----------------------------------------------------------------------------------------------------------


def visit_costs() -> dict[str, dict[str, float]]:
    """In microseconds, for each Python."""
    costs: dict[str, dict[str, float]] = {"site_visit_us": {}, "armed_visit_us": {}}
    for version, python in pythons().items():
        with tempfile.TemporaryDirectory() as folder:
            tracing, elsewhere, here = _visits(python, Path(folder))
        costs["site_visit_us"][version] = _show(f"Python {version}, site_visit_us", tracing)
        armed = max(elsewhere, here, key=statistics.median)
        costs["armed_visit_us"][version] = _show(f"Python {version}, armed_visit_us", armed)
    return costs


def pythons() -> dict[str, str]:
    """Interpreters by version."""
    return {version: python for version in PYTHONS if (python := find_python(version))}


def _visits(python: str, folder: Path) -> list[list[float]]:
    """Microseconds for a visit, without faults, with one elsewhere, and with one at each site."""
    (folder / "visited.py").write_text(VISITED)
    (folder / "timed.py").write_text(TIMED)
    calls = [node for node in ast.walk(ast.parse(VISITED)) if isinstance(node, ast.Call)]
    rows = [
        [site, "call", call.lineno, call.col_offset, call.end_lineno, call.end_col_offset]
        for site, call in enumerate(call for call in calls if not call.args)
    ]
    never = [[site, 10**9, "OSError()"] for site, *_ in rows]
    plans: list[list[list[Any]]] = [[], never[SITES:], never[:SITES]]
    costs: list[list[float]] = [[] for _ in plans]
    for repeat in range(REPEATS):
        plain = _timed(python, folder, {})
        for number, choices in enumerate(plans):
            out = folder / f"out-{number}-{repeat}"
            out.mkdir()
            plan = {"files": {str(folder / "visited.py"): rows}, "choices": choices, "trace": True, "out": str(out)}
            (out / "plan.json").write_text(json.dumps(plan))
            hooked = _timed(python, folder, {"CUTSET_SITES": str(out / "plan.json"), "PYTHONPATH": str(HOOK)})
            costs[number].append(max(after - before for before, after in zip(plain, hooked, strict=True)))
    return costs


def _timed(python: str, folder: Path, env: Mapping[str, str]) -> list[float]:
    """Microseconds for a call in a thread and in a task: the quickest of the batches, as others were disturbed."""
    run = subprocess.run(
        [python, "timed.py"], cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, check=True
    )
    return [min(batches) / TIMES / SITES * 1e6 for batches in json.loads(run.stdout)]


def _show(name: str, values: Sequence[float]) -> float:
    median = statistics.median(values)
    print(f"{name}: {median:.3f} (of {len(values)}: {min(values):.3f} to {max(values):.3f})", flush=True)
    return round(median, 3)


# -- a round, and the analysis before ----------------------------------------------------------------------------------


def package_costs(folder: Path) -> dict[str, float]:
    python = environment(folder / LARGE, [LARGE_REQUIREMENT])
    search_path = packages_of(python)
    analyses = []
    for _ in range(ANALYSES):
        # In a process of its own, so that its memory can be told.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            analyses.append(pool.submit(_analysis, search_path).result())
    lines = analyses[0][0]
    seconds = _show(f"analysis of {LARGE}, {lines} lines, seconds", [seconds for _, seconds, _ in analyses])
    peak = _show("analysis, peak MB", [peak for _, _, peak in analyses])
    return {
        "analysis_lines": lines,
        "analysis_s": seconds,
        "analysis_peak_mb": peak,
        "analysis_lines_per_second": round(lines / seconds),
        "round_setup_s": _round_setup(python, search_path),
    }


def environment(folder: Path, requirements: Sequence[str]) -> Path:
    """The Python of an environment with these packages, made unless it is there."""
    ready = folder / "ready"
    wanted = "\n".join(requirements)
    if not ready.exists() or ready.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", *requirements], check=True)
        ready.write_text(wanted)
    return folder / "bin" / "python"


def packages_of(python: Path) -> list[str]:
    """The search path of an environment, but for the standard library."""
    return [str(path) for path in python.parent.parent.glob("lib/python*/site-packages")]


def plan_of(program: PythonProgram) -> ArmedRound:
    """To trace all sites."""
    return ArmedRound(tuple(enumerate(program.sites)))


def _analysis(search_path: Sequence[str]) -> tuple[int, float, float]:
    """Lines, seconds, megabytes at most."""
    begun = time.perf_counter()
    program = read_program([LARGE], search_path)
    seconds = time.perf_counter() - begun
    return program.lines, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _round_setup(python: Path, search_path: Sequence[str]) -> float:
    """Seconds, with all sites traced and a fault that never fires, the rewritten code kept from the round before."""
    plan = plan_of(read_program([LARGE], search_path))
    plain, rounds = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "import_all.py").write_text(IMPORT_ALL)
        command = (str(python), str(folder / "import_all.py"), LARGE)
        plan = replace(plan, window=(SiteFault(0, 10**9, "OSError()"),), cache=folder / "cache")
        for repeat in range(REPEATS + 1):
            begun = time.perf_counter()
            subprocess.run(command, check=True)
            plain.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            record = asyncio.run(
                run_round(Workload(command, timeout_s=600), plan, folder / str(repeat), PythonHarness())
            )
            rounds.append(time.perf_counter() - begun)
            if record.exit_code != 0 or record.problems or not record.visits:
                sys.exit(f"the round went wrong: exit {record.exit_code}, {record.problems}, {record.outputs}")
    _show("the workload alone, s", plain[1:])  # the first of each finds nothing compiled
    _show(f"the workload in a round with {len(record.visits)} visits, s", rounds[1:])
    return _show("round_setup_s", [after - before for before, after in zip(plain[1:], rounds[1:], strict=True)])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=KEPT)
    print(json.dumps(measure(parser.parse_args().folder)))


if __name__ == "__main__":
    main()
