"""Runs a reproduced failure again: the same faults at the same sites, wherever these are by now.

The script that `replay_script` writes calls `main` with the case as plain data. It runs from a copy of this file and of
those that it imports, without Cutset: they need the standard library only.
"""

import argparse
import asyncio
import json
import os
import shlex
import shutil
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cutset.errors import CutsetError, UsageError
from cutset.model.reproduction import Site, SiteKind
from cutset.reproduce.interpreter import is_python, modules_path
from cutset.reproduce.locate import locate, locate_in
from cutset.reproduce.oracle import Oracle, judge, parse_oracle
from cutset.reproduce.runner import Workload, how_it_ended, run_round
from cutset.reproduce.symptoms import Answer, OracleVerdict
from cutset_agent.sites.visits import read_counts

EXIT_CODES = {Answer.YES: 1, Answer.NO: 0, Answer.CANNOT_TELL: 3}
_HEADLINES = {
    Answer.YES: "The failure is there.",
    Answer.NO: "The failure is not there.",
    Answer.CANNOT_TELL: "It cannot be told whether the failure is there.",
}


@dataclass(frozen=True, slots=True)
class Planned:
    """A fault of the case, with its site as it was."""

    site: Site
    occurrence: int
    effect: str

    def __str__(self) -> str:
        return f"{self.effect} at {self.site}, occurrence {self.occurrence}"


@dataclass(frozen=True, slots=True)
class Replayed:
    fault: str
    fired: bool
    what: str  # where it fired, or why it did not


@dataclass(frozen=True, slots=True)
class Outcome:
    answer: Answer
    reason: str
    faults: tuple[Replayed, ...] = ()
    problems: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()


def main(faults: Sequence[Mapping[str, Any]], workload: Mapping[str, Any], oracle: str) -> int:
    """The exit code: 1 the failure is there, 0 it is not, 3 cannot tell."""
    options = _parse_arguments()
    folder = Path(tempfile.mkdtemp(prefix="cutset-replay-"))
    outcome = Outcome(Answer.CANNOT_TELL, "interrupted")
    try:
        outcome = asyncio.run(
            _replay(
                [_planned(row) for row in faults], _workload(workload), parse_oracle(oracle), options.python, folder
            )
        )
    except CutsetError as error:
        outcome = Outcome(Answer.CANNOT_TELL, f"{error.message}. {error.hint}".strip())
    except Exception:  # noqa: BLE001 - Python would exit with 1, which says that the failure is there
        outcome = Outcome(Answer.CANNOT_TELL, traceback.format_exc())
    finally:
        if not options.keep and (outcome.answer is Answer.NO or not outcome.logs):  # else it is worth looking at
            shutil.rmtree(folder, ignore_errors=True)
            outcome = replace(outcome, logs=())
    summary = _summary(outcome)
    shown = json.dumps({**asdict(outcome), "summary": summary}) if options.json else summary
    sys.stdout.buffer.write(f"{shown}\n".encode(errors="replace"))  # whatever the terminal takes
    return EXIT_CODES[outcome.answer]


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Replay a failure.", epilog="Exit code: 1 the failure is there, 0 it is not, 3 cannot tell."
    )
    parser.add_argument("--python", help="run the workload with this interpreter, as of a venv with a fixed version")
    parser.add_argument("--keep", action="store_true", help="keep the folder of the run even if nothing failed")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    return parser.parse_args()


def _planned(row: Mapping[str, Any]) -> Planned:
    name = {**row["site"], "kind": SiteKind(row["site"]["kind"])}
    return Planned(Site(**name, column=0, end_line=0, end_column=0), row["occurrence"], row["effect"])


def _workload(fields: Mapping[str, Any]) -> Workload:
    cwd = None if fields["cwd"] is None else Path(fields["cwd"])
    return Workload(**{**fields, "command": tuple(fields["command"]), "cwd": cwd})


async def _replay(
    faults: Sequence[Planned], workload: Workload, oracle: Oracle, python: str | None, folder: Path
) -> Outcome:
    if python is not None:
        workload = _with_interpreter(workload, python)
    asked = python is not None or is_python(workload.command[0])
    places = _places([fault.site for fault in faults], _search_path(workload) if asked else [])
    record = await run_round(workload, _plan(faults, places), folder / "round")
    verdict = await judge(oracle, record)
    replayed = _replayed(faults, places, record.folder / "out")
    if verdict.answer is Answer.NO and not all(fault.fired for fault in replayed):
        # Perhaps it did not fire because something is wrong with the replay, and not because the bug was fixed.
        if not record.succeeded:
            verdict = OracleVerdict(Answer.CANNOT_TELL, f"the workload fails without the fault: {how_it_ended(record)}")
        elif record.problems:
            verdict = OracleVerdict(Answer.CANNOT_TELL, f"{verdict.reason}; but there were problems and no fault")
    logs = tuple(map(str, dict.fromkeys((*record.outputs, *record.logs))))
    return Outcome(verdict.answer, verdict.reason, replayed, record.problems, logs)


def _with_interpreter(workload: Workload, python: str) -> Workload:
    found = shutil.which(python)
    if found is None:
        raise UsageError(f"--python: `{python}` is no program", hint="Name an interpreter, as in venv/bin/python.")
    first, *rest = workload.command
    if not is_python(first):
        raise UsageError(
            f"--python: the command `{shlex.join(workload.command)}` does not start with an interpreter to replace",
            hint="Edit the command at the top of replay.py.",
        )
    return replace(workload, command=(str(Path(found).absolute()), *rest))  # not resolved: a venv's is a link


def _search_path(workload: Workload) -> list[str]:
    cwd = workload.cwd or Path(tempfile.gettempdir())
    own = modules_path(workload.command[0], {**os.environ, **workload.env}, cwd)
    scripts = [str((cwd / word).parent) for word in workload.command[1:] if word.endswith(".py")]
    return [*scripts, *([str(cwd)] if workload.cwd else []), *own]


def _places(sites: Sequence[Site], search_path: Sequence[str]) -> dict[Site, list[Site]]:
    """Where each site is now: in what an import finds, and in the file that it was in, which the workload may load in
    a way of its own. Whichever is loaded counts."""
    places = {}
    for site in sites:
        found = (locate(site, search_path), locate_in(site, Path(site.path).resolve()))
        places[site] = list(dict.fromkeys(place for place in found if place is not None))
    return places


def _plan(faults: Sequence[Planned], places: Mapping[Site, Sequence[Site]]) -> dict[str, Any]:
    """The last fault is the choice of the run, those before it are its ground. Their sites alone are traced."""
    files: dict[str, list[list[Any]]] = {}
    numbers = {site: number for number, site in enumerate(places)}  # two faults may be at one site
    for site, found in places.items():
        for place in found:
            position = [place.line, place.column, place.end_line, place.end_column]
            files.setdefault(place.path, []).append([numbers[site], site.kind.value, *position])
    rows = [[numbers[fault.site], fault.occurrence, fault.effect] for fault in faults]
    return {"files": files, "choices": rows[-1:], "first": rows[:-1], "trace": True}


def _replayed(faults: Sequence[Planned], places: Mapping[Site, Sequence[Site]], out: Path) -> tuple[Replayed, ...]:
    counts = read_counts(str(out))
    sites = list(places)
    replayed = []
    for number, fault in enumerate(faults):
        record = out / ("fired.json" if number == len(faults) - 1 else f"first.{number}.json")
        if record.exists():
            replayed.append(Replayed(str(fault), True, f"fired {_circumstances(record)}"))
            continue
        at = " or ".join(f"{place.path}:{place.line}" for place in places[fault.site])
        visits = max((count for (_, site), count in counts.items() if site == sites.index(fault.site)), default=0)
        why = f"its site, {at}, was visited {visits} times" if at else "its site is no longer in the source"
        replayed.append(Replayed(str(fault), False, f"did not fire: {why}"))
    return tuple(replayed)


def _circumstances(record: Path) -> str:
    try:
        fields = json.loads(record.read_text())
        return f"at {fields['stack'][-1]}, thread {fields['thread']}"
    except (ValueError, LookupError):  # its process was killed while it wrote
        return "at a place that was not recorded"


def _summary(outcome: Outcome) -> str:
    lines = [_HEADLINES[outcome.answer], f"  reason   {outcome.reason}"]
    for fault in outcome.faults:
        lines += [f"  fault    {fault.fault}", f"           {fault.what}"]
    lines += [f"  problem  {problem}" for problem in outcome.problems]
    lines += [f"  log      {path}" for path in outcome.logs]
    return "\n".join(lines)
