"""What the analysis before a search costs: reading a program, following log messages back to faults.

    python -m benchmarks.analysis_cost [ENVIRONMENT]    ends with one line of JSON

    analysis_cpu_s_per_100k_lines          processor seconds of all of it, the first time
    analysis_again_cpu_s_per_100k_lines    the same with what the first time left in the cache
    read_s, again_read_s, effects_s, …     parts of it, of `lines` lines

The program is what is installed in ENVIRONMENT: packages of Python in the order of their names, until there are enough
lines; without one, packages of fixed versions are installed. Messages are those of its own log statements, spread
evenly. Each run is a process of its own, and the quickest counts: others may be at work on the same machine.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.hook_costs import environment

from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.graph.distances import reaches
from cutset.reproduce.logs.recognition import Sighting
from cutset.reproduce.python.front_end import PythonAnalysis
from cutset.reproduce.python.log_statements import log_statements
from cutset.reproduce.python.source import read_program

KEPT = Path(tempfile.gettempdir(), "cutset-analysis-benchmark")
REQUIREMENTS = ("celery==5.5.3", "kombu==5.5.4", "redis==6.4.0")
ENOUGH = 100_000  # lines
MESSAGES = 12  # that are news: as many as a failure log of middle size has
TOOLS = ("pip", "setuptools", "pkg_resources")  # of the environment itself
TOLD = ("WARNING", "ERROR", "CRITICAL")
RUNS = 3


def measure(folder: Path | None = None, runs: int = RUNS) -> dict[str, float]:
    """Of the packages of an environment."""
    folder = folder or environment(KEPT, REQUIREMENTS).parent.parent
    first = _quickest(folder, runs, kept=False)
    again = _quickest(folder, runs, kept=True)
    return {
        "analysis_cpu_s_per_100k_lines": round(first["all_s"] / first["lines"] * 100_000, 2),
        "analysis_again_cpu_s_per_100k_lines": round(again["all_s"] / again["lines"] * 100_000, 2),
        "again_read_s": again["read_s"],
        **first,
    }


def _quickest(folder: Path, runs: int, *, kept: bool) -> dict[str, float]:
    found = []
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(runs + kept):
            command = [sys.executable, "-m", "benchmarks.analysis_cost", str(folder), "--cache", cache if kept else ""]
            said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            found.append(json.loads(said.splitlines()[-1]))
    return min(found[kept:], key=lambda run: run["all_s"])


def analyse(folder: Path, cache: Path | None) -> dict[str, float]:
    """Once, here; processor seconds."""
    [packages] = folder.glob("lib/python*/site-packages")
    laps = [time.process_time()]
    program = read_program(chosen_packages(packages), [str(packages)], cache=cache)
    laps.append(time.process_time())
    analysis = PythonAnalysis(program, [str(packages)])
    told = [each for each in log_statements(program) if each.literals and each.level in TOLD]
    seen = [Sighting(each.key, each) for each in told[:: max(1, len(told) // MESSAGES)][:MESSAGES]]
    laps.append(time.process_time())
    effects = analysis.effects([], frozenset(FaultKind), 1.0)
    laps.append(time.process_time())
    near = reaches(analysis.causal_graph(seen))
    laps.append(time.process_time())
    for site in near:
        effects(site, ())
    laps.append(time.process_time())
    names = ("read_s", "index_s", "effects_s", "causes_s", "sites_s")
    parts = {name: round(after - before, 2) for name, before, after in zip(names, laps, laps[1:], strict=False)}
    return {"lines": program.lines, "related_sites": len(near), **parts, "all_s": round(laps[-1] - laps[0], 2)}


def chosen_packages(folder: Path) -> list[str]:
    """Until there are enough lines."""
    chosen: list[str] = []
    lines = 0
    for package in sorted(folder.iterdir()):
        if lines < ENOUGH and (package / "__init__.py").exists() and package.name not in TOOLS:
            chosen.append(package.name)
            lines += sum(path.read_bytes().count(b"\n") for path in package.rglob("*.py"))
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environment", nargs="?", type=Path)
    parser.add_argument("--cache", help=argparse.SUPPRESS)  # one run, with this folder, or none if it is empty
    options = parser.parse_args()
    if options.cache is None:
        print(json.dumps(measure(options.environment)))
    else:
        print(json.dumps(analyse(options.environment, Path(options.cache) if options.cache else None)))


if __name__ == "__main__":
    main()
