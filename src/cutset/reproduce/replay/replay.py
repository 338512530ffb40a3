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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cutset.errors import CutsetError
from cutset.model.reproduction.event import OracleAnswer
from cutset.model.reproduction.site import Site, SiteFault, SiteKind
from cutset.reproduce.oracle.expression import Oracle, judge, parse_oracle
from cutset.reproduce.oracle.symptoms import OracleVerdict
from cutset.reproduce.rounds.harness import ArmedRound, Firing, Harness, LocatedSites, Workload
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
    around: tuple[str, ...]  # the code there
    occurrence: int
    within: str  # as in `Visit`
    nth: int
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
    kept: str = ""  # the folder of the run, if it was to be kept
    logs: tuple[str, ...] = ()  # likewise


@dataclass(frozen=True, slots=True)
class ReplayOption:
    """Of a language, besides another runtime: a value changes the workload."""

    name: str
    help: str
    change: Callable[[Workload, str], Workload]


def run_replay(
    harness: Harness,
    faults: Sequence[Mapping[str, Any]],
    workload: Mapping[str, Any],
    oracle: str,
    sources: Sequence[str] = (),
    *,
    own_options: Sequence[ReplayOption] = (),
) -> int:
    """The exit code: 1 the failure is there, 0 it is not, 3 cannot tell."""
    options = _parse_arguments(harness.runtime, own_options)
    runtime: str | None = getattr(options, harness.runtime)
    folder = Path(tempfile.mkdtemp(prefix="cutset-replay-"))
    outcome = ReplayOutcome(OracleAnswer.CANNOT_TELL, "interrupted")
    try:
        planned = [_planned(row) for row in faults]
        of_case = _workload(workload)
        if runtime is not None:
            of_case = harness.with_runtime(of_case, runtime)
        for option in own_options:
            if (value := getattr(options, option.name.replace("-", "_"))) is not None:
                of_case = option.change(of_case, value)
        located = harness.locate({fault.site: fault.around for fault in planned}, sources, of_case, runtime)
        parsed = parse_oracle(oracle)
        outcome = asyncio.run(_replay(harness, planned, located, workload=of_case, oracle=parsed, folder=folder))
    except CutsetError as error:
        outcome = ReplayOutcome(OracleAnswer.CANNOT_TELL, f"{error.message}. {error.hint}".strip())
    except Exception:  # noqa: BLE001 - Python would exit with 1, which says that the failure is there
        outcome = ReplayOutcome(OracleAnswer.CANNOT_TELL, traceback.format_exc())
    finally:
        if options.keep:
            outcome = replace(outcome, kept=str(folder))
        else:
            shutil.rmtree(folder, ignore_errors=True)
            outcome = replace(outcome, logs=())
    summary = _summary(outcome)
    shown = json.dumps({**asdict(outcome), "summary": summary}) if options.json else summary
    sys.stdout.buffer.write(f"{shown}\n".encode(errors="replace"))  # whatever the terminal takes
    return EXIT_CODES[outcome.answer]


def _parse_arguments(runtime: str, own_options: Sequence[ReplayOption]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Replay a failure.", epilog="Exit code: 1 the failure is there, 0 it is not, 3 cannot tell."
    )
    parser.add_argument(
        f"--{runtime}", help="run the workload with this one, as of an environment with a fixed version"
    )
    for option in own_options:
        parser.add_argument(f"--{option.name}", help=option.help)
    parser.add_argument("--keep", action="store_true", help="keep the folder of the run, and say where it is")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    return parser.parse_args()


def _planned(row: Mapping[str, Any]) -> Planned:
    name = {**row["site"], "kind": SiteKind(row["site"]["kind"])}
    return Planned(
        site=Site(**name, column=0, end_line=0, end_column=0),
        around=tuple(row.get("around", ())),
        occurrence=row["occurrence"],
        within=row.get("within", ""),
        nth=row.get("nth", 0),
        effect=row["effect"],
    )


def _workload(fields: Mapping[str, Any]) -> Workload:
    cwd = None if fields["cwd"] is None else Path(fields["cwd"])
    return Workload(**{**fields, "command": tuple(fields["command"]), "cwd": cwd})


async def _replay(
    harness: Harness,
    faults: Sequence[Planned],
    located: LocatedSites,
    *,
    workload: Workload,
    oracle: Oracle,
    folder: Path,
) -> ReplayOutcome:
    outcome = await _round(harness, faults, located, workload=workload, oracle=oracle, folder=folder / "round")
    if outcome.answer is OracleAnswer.YES or all(fault.fired for fault in outcome.faults):
        return outcome
    if any(fault.within for fault in faults):  # functions may have other names now
        anywhere = [replace(fault, within="") for fault in faults]
        again = await _round(harness, anywhere, located, workload=workload, oracle=oracle, folder=folder / "again")
        if all(fault.fired for fault in again.faults):
            return again
    if outcome.answer is OracleAnswer.NO:
        untested = "; ".join(fault.what for fault in outcome.faults if not fault.fired)
        outcome = replace(outcome, answer=OracleAnswer.CANNOT_TELL, reason=f"nothing was tested: the fault {untested}")
    return outcome


async def _round(
    harness: Harness,
    faults: Sequence[Planned],
    located: LocatedSites,
    *,
    workload: Workload,
    oracle: Oracle,
    folder: Path,
) -> ReplayOutcome:
    plan = _plan(faults, located)
    record = await run_round(workload, plan, folder, harness)
    verdict = await judge(oracle, record, harness.dialect)
    counts = harness.visit_counts(record.folder)
    firings = [*record.fired_ground, *filter(None, [record.fired])]
    replayed = tuple(
        _replayed(fault, _firing_of(armed, firings), located.places[fault.site], counts.get(armed.site, 0))
        for fault, armed in zip(faults, (*plan.ground, *plan.window), strict=True)
    )
    if verdict.answer is OracleAnswer.NO and not record.succeeded and not all(fault.fired for fault in replayed):
        reason = f"the workload fails without the fault: {how_it_ended(record)}"
        verdict = OracleVerdict(OracleAnswer.CANNOT_TELL, reason)
    logs = tuple(map(str, dict.fromkeys((*record.outputs, *record.logs))))
    return ReplayOutcome(verdict.answer, verdict.reason, replayed, record.problems, logs=logs)


def _plan(faults: Sequence[Planned], located: LocatedSites) -> ArmedRound:
    """The last fault is the one of the round, those before it are its ground. Their sites alone are watched."""
    numbers = {site: number for number, site in enumerate(located.places)}  # two faults may be at one site
    sites = [(numbers[site], place) for site, found in located.places.items() for place in found]
    *ground, last = [_armed(fault, numbers[fault.site]) for fault in faults]
    return ArmedRound(sites, (last,), tuple(ground), records_functions=False, analysed=located.analysed)


def _armed(fault: Planned, number: int) -> SiteFault:
    if fault.within:
        return SiteFault(number, fault.nth, fault.effect, fault.within)
    return SiteFault(number, fault.occurrence, fault.effect)


def _firing_of(armed: SiteFault, firings: Iterable[Firing]) -> Firing | None:
    for firing in firings:
        fired = replace(firing.fault, occurrence=firing.nth, within=firing.within) if armed.within else firing.fault
        if armed in (fired, replace(fired, occurrence=0)):
            return firing
    return None


def _replayed(fault: Planned, firing: Firing | None, places: Sequence[Site], visits: int) -> Replayed:
    moved = {f"{place.module}::{place.function}" for place in places} - {f"{fault.site.module}::{fault.site.function}"}
    now = f", which is in {' or '.join(sorted(moved))} by now" if moved else ""
    if firing is not None:
        where = f"{firing.stack[-1]}, thread {firing.thread}" if firing.stack else "a place that was not recorded"
        return Replayed(str(fault), True, f"fired at {where}{now}")
    at = " or ".join(f"{place.path}:{place.line}" for place in places)
    if not at:
        return Replayed(str(fault), False, "did not fire: its site is gone, no code of the sources is like it")
    within = f", but not {fault.nth} times within {fault.within}" if fault.within and visits else ""
    return Replayed(str(fault), False, f"did not fire: its site, {at}{now}, was visited {visits} times{within}")


def _summary(outcome: ReplayOutcome) -> str:
    lines = [_HEADLINES[outcome.answer], f"  reason   {outcome.reason}"]
    for fault in outcome.faults:
        lines += [f"  fault    {fault.fault}", f"           {fault.what}"]
    lines += [f"  problem  {problem}" for problem in outcome.problems]
    lines += [f"  kept     {outcome.kept}"] * bool(outcome.kept)
    lines += [f"  log      {path}" for path in outcome.logs]
    return "\n".join(lines)
