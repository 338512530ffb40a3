"""Runs a reproduced failure again: the same faults at the same sites, wherever these are by now.

A script that a front end wrote calls `run_replay` with the case as plain data. It runs from a copy of this file and of
those that it imports, without Cutset: they need the standard library only.
"""

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cutset.errors import CutsetError
from cutset.model.reproduction.event import OracleAnswer
from cutset.model.reproduction.site import Site, SiteFault, SiteKind
from cutset.reproduce.oracle.expression import Oracle, judge, parse_oracle
from cutset.reproduce.oracle.symptoms import OracleVerdict
from cutset.reproduce.rounds.harness import ArmedRound, Firing, Harness, Workload
from cutset.reproduce.rounds.runner import how_it_ended, run_round

EXIT_CODES = {OracleAnswer.YES: 1, OracleAnswer.NO: 0, OracleAnswer.CANNOT_TELL: 3}
_HEADLINES = {
    OracleAnswer.YES: "The failure is there.",
    OracleAnswer.NO: "The failure is not there.",
    OracleAnswer.CANNOT_TELL: "It cannot be told whether the failure is there.",
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
class ReplayOutcome:
    answer: OracleAnswer
    reason: str
    faults: tuple[Replayed, ...] = ()
    problems: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()


def run_replay(harness: Harness, faults: Sequence[Mapping[str, Any]], workload: Mapping[str, Any], oracle: str) -> int:
    """The exit code: 1 the failure is there, 0 it is not, 3 cannot tell."""
    options = _parse_arguments(harness.runtime)
    runtime: str | None = getattr(options, harness.runtime)
    folder = Path(tempfile.mkdtemp(prefix="cutset-replay-"))
    outcome = ReplayOutcome(OracleAnswer.CANNOT_TELL, "interrupted")
    try:
        planned = [_planned(row) for row in faults]
        of_case = _workload(workload)
        if runtime is not None:
            of_case = harness.with_runtime(of_case, runtime)
        places = harness.locate([fault.site for fault in planned], of_case, runtime)
        parsed = parse_oracle(oracle)
        replay = _replay(harness, planned, places, workload=of_case, oracle=parsed, folder=folder / "round")
        outcome = asyncio.run(replay)
    except CutsetError as error:
        outcome = ReplayOutcome(OracleAnswer.CANNOT_TELL, f"{error.message}. {error.hint}".strip())
    except Exception:  # noqa: BLE001 - Python would exit with 1, which says that the failure is there
        outcome = ReplayOutcome(OracleAnswer.CANNOT_TELL, traceback.format_exc())
    finally:
        if not options.keep and (outcome.answer is OracleAnswer.NO or not outcome.logs):  # else it is worth looking at
            shutil.rmtree(folder, ignore_errors=True)
            outcome = replace(outcome, logs=())
    summary = _summary(outcome)
    shown = json.dumps({**asdict(outcome), "summary": summary}) if options.json else summary
    sys.stdout.buffer.write(f"{shown}\n".encode(errors="replace"))  # whatever the terminal takes
    return EXIT_CODES[outcome.answer]


def _parse_arguments(runtime: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Replay a failure.", epilog="Exit code: 1 the failure is there, 0 it is not, 3 cannot tell."
    )
    parser.add_argument(
        f"--{runtime}", help="run the workload with this one, as of an environment with a fixed version"
    )
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
    harness: Harness,
    faults: Sequence[Planned],
    places: Mapping[Site, Sequence[Site]],
    *,
    workload: Workload,
    oracle: Oracle,
    folder: Path,
) -> ReplayOutcome:
    plan = _plan(faults, places)
    record = await run_round(workload, plan, folder, harness)
    verdict = await judge(oracle, record, harness.dialect)
    firings = {firing.fault: firing for firing in (*record.fired_ground, record.fired) if firing is not None}
    counts = harness.visit_counts(record.folder)
    replayed = tuple(
        _replayed(fault, firings.get(armed), places[fault.site], counts.get(armed.site, 0))
        for fault, armed in zip(faults, (*plan.ground, *plan.window), strict=True)
    )
    if verdict.answer is OracleAnswer.NO and not all(fault.fired for fault in replayed):
        # Perhaps it did not fire because something is wrong with the replay, and not because the bug was fixed.
        if not record.succeeded:
            reason = f"the workload fails without the fault: {how_it_ended(record)}"
            verdict = OracleVerdict(OracleAnswer.CANNOT_TELL, reason)
        elif record.problems:
            reason = f"{verdict.reason}; but there were problems and no fault"
            verdict = OracleVerdict(OracleAnswer.CANNOT_TELL, reason)
    logs = tuple(map(str, dict.fromkeys((*record.outputs, *record.logs))))
    return ReplayOutcome(verdict.answer, verdict.reason, replayed, record.problems, logs)


def _plan(faults: Sequence[Planned], places: Mapping[Site, Sequence[Site]]) -> ArmedRound:
    """The last fault is the one of the round, those before it are its ground. Their sites alone are watched."""
    numbers = {site: number for number, site in enumerate(places)}  # two faults may be at one site
    sites = [(numbers[site], place) for site, found in places.items() for place in found]
    *ground, last = [SiteFault(numbers[fault.site], fault.occurrence, fault.effect) for fault in faults]
    return ArmedRound(sites, (last,), tuple(ground))


def _replayed(fault: Planned, firing: Firing | None, places: Sequence[Site], visits: int) -> Replayed:
    if firing is not None:
        where = f"{firing.stack[-1]}, thread {firing.thread}" if firing.stack else "a place that was not recorded"
        return Replayed(str(fault), True, f"fired at {where}")
    at = " or ".join(f"{place.path}:{place.line}" for place in places)
    why = f"its site, {at}, was visited {visits} times" if at else "its site is no longer in the source"
    return Replayed(str(fault), False, f"did not fire: {why}")


def _summary(outcome: ReplayOutcome) -> str:
    lines = [_HEADLINES[outcome.answer], f"  reason   {outcome.reason}"]
    for fault in outcome.faults:
        lines += [f"  fault    {fault.fault}", f"           {fault.what}"]
    lines += [f"  problem  {problem}" for problem in outcome.problems]
    lines += [f"  log      {path}" for path in outcome.logs]
    return "\n".join(lines)
