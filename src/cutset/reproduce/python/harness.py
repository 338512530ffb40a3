"""Faults in the Python processes of a workload: `cutset_agent.sites` in a copy of its own, and what it reported.

What it leaves in the folder of a round:

    plan.json   what the hook was told; `out/` what it reported
    sites/      the copy of `cutset_agent.sites` that it ran with: its interpreter may be another one, without Cutset
"""

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from cutset.errors import InputError, UsageError
from cutset.model.reproduction.site import Site, SiteFault, Visit
from cutset.process.supervise import inherited_environment
from cutset.reproduce.python.interpreter import is_python, modules_path
from cutset.reproduce.python.locate import file_of, locate
from cutset.reproduce.python.log_dialect import PythonLogs
from cutset.reproduce.python.source import find_files
from cutset.reproduce.rounds.firing import report_of, timed_visits
from cutset.reproduce.rounds.harness import ArmedRound, HookReport, LocatedSites, Workload
from cutset.reproduce.rounds.log_clock import LogMoment
from cutset_agent.sites.visits import read_counts, read_functions, read_visits

_PARTS_OF_HOOK = (
    *("hook/sitecustomize.py", "runtime.py", "plan.py", "loading.py", "rewriting.py", "contexts.py", "names.py"),
    *("functions.py", "log_position.py", "record.py", "faults.py"),
)


class PythonHarness:
    runtime = "python"
    dialect = PythonLogs()

    def arm(self, plan: ArmedRound, folder: Path, env: Mapping[str, str]) -> dict[str, str]:
        for name in ("out", "sites/hook"):
            (folder / name).mkdir(parents=True)
        for part in _PARTS_OF_HOOK:
            (folder / "sites" / part).write_bytes(files("cutset_agent").joinpath("sites", part).read_bytes())
        (folder / "plan.json").write_text(json.dumps(hook_plan(plan, folder / "out")))
        armed = inherited_environment() | {"PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"} | dict(env)
        armed["CUTSET_SITES"] = str(folder / "plan.json")
        armed["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder / "sites/hook"), armed.get("PYTHONPATH")]))
        return armed

    def report(self, plan: ArmedRound, folder: Path, logs: Sequence[Path]) -> HookReport:
        out = folder / "out"
        said = out / "problems.txt"
        problems = said.read_text(errors="replace").splitlines() if said.exists() else []
        if plan.sites and not (out / "processes").exists():
            problems.append(
                "no interpreter of the workload loaded the hook: is it started with -I, -E or -S, or no Python?"
            )
        return report_of(plan, out, "first", self._timed_visits(folder, logs), problems)

    def visits(self, folder: Path, logs: Sequence[Path]) -> tuple[Visit, ...]:
        return self._timed_visits(folder, logs)[0]

    def record_lines(self, log: str) -> Sequence[int]:  # noqa: ARG002
        """On which lines of a log records of a logger begin. A replay does without: it asks for no moment."""
        return ()

    def _timed_visits(self, folder: Path, logs: Sequence[Path]) -> tuple[tuple[Visit, ...], Callable[[LogMoment], int]]:
        return timed_visits(list(read_visits(str(folder / "out"))), logs, self.record_lines)

    def executed(self, folder: Path) -> Mapping[str, frozenset[int]]:
        functions = read_functions(str(folder / "out"))
        paths = json.loads((folder / "plan.json").read_text())["analysed"] if functions else ()
        return {paths[number - 1]: frozenset(lines - {0}) for number, lines in functions.items()}

    def visit_counts(self, folder: Path) -> Mapping[int, int]:
        most: dict[int, int] = {}
        for (_, site), count in read_counts(str(folder / "out")).items():
            most[site] = max(count, most.get(site, 0))
        return most

    def locate(
        self, sites: Mapping[Site, Sequence[str]], sources: Sequence[str], workload: Workload, runtime: str | None
    ) -> LocatedSites:
        """In what an import finds, and in the file that each was in, which the workload may load in another way; else
        in all files of the sources."""
        search_path = _search_path(workload) if runtime is not None or is_python(workload.command[0]) else []
        files = _source_files(sources, search_path)
        places = {}
        for site, around in sites.items():
            own = [path for path in (file_of(site.module, search_path), Path(site.path).resolve()) if path is not None]
            found = [locate(site, around, [(site.module, path)]) for path in own]
            if not any(found):
                found = [locate(site, around, files)]
            places[site] = list(dict.fromkeys(place for place in found if place is not None))
        return LocatedSites(places, [str(path) for _, path in files])

    def with_runtime(self, workload: Workload, runtime: str) -> Workload:
        found = shutil.which(runtime)
        if found is None:
            raise UsageError(f"--python: `{runtime}` is no program", hint="Name an interpreter, as in venv/bin/python.")
        first, *rest = workload.command
        if not is_python(first):
            raise UsageError(
                f"--python: the command `{shlex.join(workload.command)}` does not start with an interpreter to replace",
                hint="Edit the command at the top of replay.py.",
            )
        return replace(workload, command=(str(Path(found).absolute()), *rest))  # not resolved: a venv's is a link


def hook_plan(plan: ArmedRound, out: Path) -> dict[str, Any]:
    """A plan as `cutset_agent.sites` reads it."""
    rows: dict[str, list[list[Any]]] = {}
    for number, site in plan.sites:
        row = [number, site.kind.value, site.line, site.column, site.end_line, site.end_column]
        rows.setdefault(site.path, []).append(row)
    return {
        "files": {str(Path(path).resolve()): found for path, found in rows.items()},
        "choices": _rows(plan.window),
        "first": _rows(plan.ground),
        "analysed": [str(Path(path).resolve()) for path in plan.analysed or rows],
        "functions": plan.records_functions,
        "trace": plan.records_visits,
        "log": str(plan.log or ""),
        "out": str(out),
        **({} if plan.cache is None else {"cache": str(plan.cache.absolute())}),
    }


def _rows(faults: Sequence[SiteFault]) -> list[list[Any]]:
    return [[fault.site, fault.occurrence, fault.effect, fault.within] for fault in faults]


def _source_files(sources: Sequence[str], search_path: Sequence[str]) -> list[tuple[str, Path]]:
    """Modules and their files, as far as they are still there."""
    found: dict[Path, str] = {}
    for name in sources:
        with suppress(InputError):
            found.update({path: module for module, path in find_files(name, search_path)})
    return [(module, path) for path, module in found.items()]


def _search_path(workload: Workload) -> list[str]:
    cwd = workload.cwd or Path(tempfile.gettempdir())
    own = modules_path(workload.command[0], {**os.environ, **workload.env}, cwd)
    scripts = [str((cwd / word).parent) for word in workload.command[1:] if word.endswith(".py")]
    return [*scripts, *([str(cwd)] if workload.cwd else []), *own]
