"""Faults in the JVMs of a workload: `cutset-jvm.jar` as their agent, and what it reported.

What it leaves in the folder of a round:

    plan.json   what the agent was told (`Plan.java`); `out/` what it reported (`Record.java`, `Faults.java`)
"""

import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cutset.errors import InputError, UsageError
from cutset.model.reproduction.site import Site, SiteFault, SiteKind, Visit
from cutset.process.supervise import inherited_environment
from cutset.reproduce.jvm.class_path import is_path
from cutset.reproduce.jvm.jar import find_java, jar_version, jvm_jar
from cutset.reproduce.jvm.java_command import is_java, parse_java, searched
from cutset.reproduce.jvm.locate import locate
from cutset.reproduce.jvm.log_dialect import JvmLogs
from cutset.reproduce.jvm.record import is_loaded, read_counts, read_functions, read_problems, read_visits
from cutset.reproduce.rounds.firing import report_of, timed_visits
from cutset.reproduce.rounds.harness import ArmedRound, HookReport, LocatedSites, Workload
from cutset.reproduce.rounds.log_clock import LogMoment

OPTIONS = "JAVA_TOOL_OPTIONS"  # every JVM reads it, those of child processes too


class JvmHarness:
    runtime = "java"
    dialect = JvmLogs()

    def arm(self, plan: ArmedRound, folder: Path, env: Mapping[str, str]) -> dict[str, str]:
        jar = jvm_jar()
        (folder / "out").mkdir(parents=True)
        (folder / "plan.json").write_text(json.dumps(agent_plan(plan, folder / "out")))
        armed = inherited_environment() | dict(env)
        agent = _quoted(f"-javaagent:{jar.absolute()}={(folder / 'plan.json').absolute()}")
        armed[OPTIONS] = " ".join(filter(None, [armed.get(OPTIONS), agent]))
        return armed

    def report(self, plan: ArmedRound, folder: Path, logs: Sequence[Path]) -> HookReport:
        out = folder / "out"
        problems = read_problems(out)
        if plan.sites and not is_loaded(out):
            problems.append(
                f"no JVM of the workload loaded the agent: does a script of it set {OPTIONS}, or is it no Java?"
            )
        return report_of(plan, out, "ground", self._timed_visits(folder, logs), problems)

    def visits(self, folder: Path, logs: Sequence[Path]) -> tuple[Visit, ...]:
        return self._timed_visits(folder, logs)[0]

    def record_lines(self, log: str) -> Sequence[int]:  # noqa: ARG002
        """On which lines of a log records of a logger begin. A replay does without: it asks for no moment."""
        return ()

    def _timed_visits(self, folder: Path, logs: Sequence[Path]) -> tuple[tuple[Visit, ...], Callable[[LogMoment], int]]:
        return timed_visits(list(read_visits(folder / "out")), logs, self.record_lines)

    def executed(self, folder: Path) -> Mapping[str, frozenset[int]]:
        functions = read_functions(folder / "out")
        paths = json.loads((folder / "plan.json").read_text())["analysed"] if functions else ()
        return {paths[number]: lines for number, lines in functions.items()}

    def visit_counts(self, folder: Path) -> Mapping[int, int]:
        return read_counts(folder / "out")

    def locate(
        self, sites: Mapping[Site, Sequence[str]], sources: Sequence[str], workload: Workload, runtime: str | None
    ) -> LocatedSites:
        """On the class path of the command; of a script's, which is not known, only jars and folders are looked at."""
        first, *_ = workload.command
        folder = workload.cwd or Path("/")
        classes = dict(inherited_environment() | dict(workload.env)).get("CLASSPATH", "")
        class_path = searched(parse_java(workload.command, folder), classes, folder) if is_java(first) else []
        if not class_path and not all(map(is_path, sources)):
            return LocatedSites({site: [site] for site in sites}, [])
        return locate(sites, sources, class_path, find_java(runtime or (first if is_java(first) else None)))

    def with_runtime(self, workload: Workload, runtime: str) -> Workload:
        """A command that is a script finds its `java` by JAVA_HOME, or on PATH."""
        try:
            java = Path(find_java(runtime)).absolute()
        except InputError as error:
            raise UsageError(f"--java: {error}", hint="Name a program, as in jdk-17/bin/java.") from error
        first, *rest = workload.command
        if is_java(first):
            return replace(workload, command=(str(java), *rest))
        if java.name != "java" or java.parent.name != "bin":
            raise UsageError(
                f"--java: the command `{shlex.join(workload.command)}` does not start with `java`, to be replaced",
                hint="Name the `bin/java` of a Java home, which is given to the command as JAVA_HOME.",
            )
        path = os.pathsep.join([str(java.parent), workload.env.get("PATH") or os.environ.get("PATH", os.defpath)])
        return replace(workload, env={**workload.env, "JAVA_HOME": str(java.parent.parent), "PATH": path})


def agent_plan(plan: ArmedRound, out: Path) -> dict[str, Any]:
    """A plan as the agent reads it."""
    return {
        "format": 1,
        "sites": [
            [number, site.module, site.function, site.expression, site.ordinal, int(site.kind is SiteKind.RAISE)]
            for number, site in plan.sites
        ],
        "window": _rows(plan.window),
        "ground": _rows(plan.ground),
        "visits": plan.records_visits,
        "functions": plan.records_functions,
        "analysed": list(dict.fromkeys(plan.analysed or (site.path for _, site in plan.sites))),
        "log": None if plan.log is None else str(plan.log.absolute()),
        "cache": None if plan.cache is None else str(_cache(plan.cache.absolute())),
        "out": str(out.absolute()),
    }


def _cache(folder: Path) -> Path:
    """Of one version of the agent: another may put other calls into classes."""
    cache = folder / f"woven-{jar_version(jvm_jar())}"
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def _rows(faults: Sequence[SiteFault]) -> list[list[Any]]:
    return [[fault.site, fault.occurrence, fault.effect, fault.within] for fault in faults]


def _quoted(option: str) -> str:
    """As JVMs read their options: words between spaces, unless in quotes."""
    return f'"{option}"' if " " in option else option
