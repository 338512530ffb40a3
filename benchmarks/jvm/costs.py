"""What the agent costs in the programs that it watches: visits, functions, the start of a JVM, the size of its jar.

python -m benchmarks.jvm.costs
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cutset.model.reproduction.site import Site, SiteFault, SiteKind
from cutset.reproduce.jvm.harness import JvmHarness
from cutset.reproduce.jvm.jar import find_java, jvm_jar
from cutset.reproduce.rounds.harness import ArmedRound

PROGRAM = Path(__file__).parent / "costs_program"
STARTS = 7  # of which the median counts
PLANNED = 10_000  # sites of a large program, none of which is loaded
NEVER = SiteFault(1, 2_000_000_000, 'java.io.IOException("never")')


def agent_costs() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="cutset-costs-") as name:
        folder = Path(name)
        subprocess.run([_javac(), "-g", "-d", name, str(PROGRAM / "costs/Costs.java")], check=True)
        sites = [_site("counted"), _site("armed"), *(_site("visit", ordinal) for ordinal in range(40))]
        # Functions are told in a run of their own: it is theirs that is measured, not that of what visits are in.
        visits = _run(folder, "visits", sites, [NEVER], functions=False)
        functions = _run(folder, "functions", [], [], functions=True)
        many = [_site(f"m{number}", module="not.Loaded") for number in range(PLANNED)]
        return {
            "visit_ns": visits[0],
            "armed_ns": visits[1],
            "recorded_visit_ns": visits[2],
            "function_ns": functions[3],
            "start_ms": _start_ms(folder, None),
            "start_with_agent_ms": _start_ms(folder, many),
            "jar_kb": round(jvm_jar().stat().st_size / 1000),
        }


def _run(
    folder: Path, name: str, sites: Sequence[Site], window: Sequence[SiteFault], *, functions: bool
) -> list[float]:
    plan = ArmedRound(
        tuple(enumerate(sites)), tuple(window), records_functions=functions, analysed=["costs/Costs.java"]
    )
    env = JvmHarness().arm(plan, folder / name, {})
    command = [find_java(), "-Xmx128m", "-cp", str(folder), "costs.Costs"]
    said = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
    if problems := JvmHarness().report(plan, folder / name, []).problems:
        raise RuntimeError(f"the agent says: {problems}")
    return [float(line) for line in said.split()]


def _start_ms(folder: Path, sites: Sequence[Site] | None) -> float:
    times = []
    for number in range(STARTS):
        round_folder = folder / f"start-{sites is None}-{number}"
        env = {**os.environ}
        if sites is not None:
            env = JvmHarness().arm(ArmedRound(tuple(enumerate(sites))), round_folder, {})
        before = _cpu_s()
        subprocess.run([find_java(), "-Xmx128m", "-version"], env=env, capture_output=True, check=True)
        times.append(1000 * (_cpu_s() - before))
    return round(statistics.median(times), 1)


def _cpu_s() -> float:
    """Of processes that have ended: others may be at work here, too."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _site(function: str, ordinal: int = 0, module: str = "costs.Costs") -> Site:
    path = module.replace(".", "/") + ".java"
    return Site(module, function, "Costs$Sink.take", ordinal, SiteKind.CALL, path, 1, 0, 1, 0)


def _javac() -> str:
    found = shutil.which("javac")
    if found is None:
        raise FileNotFoundError("there is no `javac`; install a JDK")
    return found


if __name__ == "__main__":
    print(json.dumps(agent_costs()))
