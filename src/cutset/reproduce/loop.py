"""The search for the fault behind a failure (ANDURIL §3, §5): try one, look at the log, rank again.

A generator of events. Good runs come first: they must not show the symptom, and tell what the workload does by itself.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutset.errors import UsageError
from cutset.model.reproduction import Choice, LogRecord, Observable
from cutset.reproduce.explorer import Explorer, ExplorerSettings, Progress, Round
from cutset.reproduce.log_diff import Entry, present
from cutset.reproduce.logs import read_log
from cutset.reproduce.oracle import Oracle, judge
from cutset.reproduce.prepare import LogReader, Prepared, prepare
from cutset.reproduce.runner import Fired, RoundRecord, Workload, run_round
from cutset.reproduce.source import read_program
from cutset.reproduce.symptoms import Answer
from cutset.reproduce.syntax import Program

GOOD_RUNS = 2  # the second tells what comes and goes by itself


@dataclass(frozen=True, slots=True)
class Case:
    sources: tuple[str, ...]  # packages, modules or files to analyse
    search_path: tuple[str, ...]  # where the workload's Python finds them
    drivers: tuple[str, ...]  # scripts that drive them: read, but without faults
    failure_log: str
    workload: Workload
    oracle: Oracle
    log_pattern: str | None = None


@dataclass(frozen=True, slots=True)
class SearchLimits:
    rounds: int = 200
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class Analysed:
    program: Program
    prepared: Prepared
    visits: int  # of the good run


@dataclass(frozen=True, slots=True)
class RoundFinished:
    number: int
    planned: Round
    fired: Fired | None
    answer: Answer
    reason: str
    present: frozenset[str]
    folder: Path


@dataclass(frozen=True, slots=True)
class Reproduced:
    round: RoundFinished
    site: str


@dataclass(frozen=True, slots=True)
class GaveUp:
    progress: Progress


Event = Analysed | RoundFinished | Reproduced | GaveUp


async def reproduce(case: Case, limits: SearchLimits, settings: ExplorerSettings, folder: Path) -> AsyncIterator[Event]:
    program = read_program(case.sources, case.search_path, case.drivers)
    if not program.sites:
        raise UsageError(
            f"There is nothing to inject in {', '.join(case.sources)}",
            hint="Name the packages whose handling of failures is in question with `--source`",
        )
    reader = LogReader(program)
    failure = read_log(case.failure_log, case.log_pattern)
    plan = _plan(program, folder)
    good_runs = [await _good_run(case, plan, folder / f"good-{number}") for number in range(1, GOOD_RUNS + 1)]
    good = [reader.entries(_records(case, run)) for run in good_runs]
    prepared = prepare(program, case.search_path, reader, failure, good)
    if not prepared.observables:
        raise UsageError(
            "The failure log has nothing that good runs lack, and lacks nothing that they have",
            hint="Is it the log of the failure, and of the same workload?",
        )
    visits = good_runs[0].visits
    yield Analysed(program, prepared, len(visits))
    explorer = Explorer(prepared.facts, prepared.observables, visits, prepared.apart, settings)
    number = 0
    while number < limits.rounds:
        planned = explorer.next_rounds(min(limits.jobs, limits.rounds - number))
        if not planned:
            break
        folders = [folder / f"round-{number + step:04}" for step in range(1, len(planned) + 1)]
        async with asyncio.TaskGroup() as group:
            running = [
                group.create_task(run_round(case.workload, {**plan, "choices": _rows(each.window)}, at))
                for each, at in zip(planned, folders, strict=True)
            ]
        for each, task in zip(planned, running, strict=True):
            number += 1
            finished = await _judged(
                case,
                task.result(),
                reader=reader,
                good=good[0],
                observables=prepared.observables,
                number=number,
                planned=each,
            )
            yield finished
            if finished.answer is Answer.YES and finished.fired is not None:
                yield Reproduced(finished, prepared.facts[finished.fired.choice.site].name)
                return
            explorer.learn(
                each, finished.fired.choice if finished.fired else None, finished.present, task.result().visits
            )
    yield GaveUp(explorer.progress())


async def _good_run(case: Case, plan: Mapping[str, Any], folder: Path) -> RoundRecord:
    run = await run_round(case.workload, plan, folder)
    verdict = await judge(case.oracle, run)
    if verdict.answer is Answer.YES:
        raise UsageError(
            f"The oracle holds without any fault: {verdict.reason}",
            hint=f"It must recognise the failure alone; the run's output is in {folder}",
        )
    return run


async def _judged(
    case: Case,
    run: RoundRecord,
    *,
    reader: LogReader,
    good: Sequence[Entry],
    observables: Sequence[Observable],
    number: int,
    planned: Round,
) -> RoundFinished:
    verdict = await judge(case.oracle, run)
    shown = present(good, reader.entries(_records(case, run)), observables)
    return RoundFinished(number, planned, run.fired, verdict.answer, verdict.reason, frozenset(shown), run.folder)


def _records(case: Case, run: RoundRecord) -> list[LogRecord]:
    text = "".join(path.read_text(errors="replace") for path in run.logs if path.exists())
    return read_log(text, case.log_pattern)


def _plan(program: Program, folder: Path) -> dict[str, Any]:
    files: dict[str, list[list[Any]]] = {}
    for number, site in enumerate(program.sites):
        row = [number, site.kind.value, site.line, site.column, site.end_line, site.end_column]
        files.setdefault(str(Path(site.path).resolve()), []).append(row)
    return {"files": files, "choices": [], "trace": True, "cache": str(folder / "cache")}


def _rows(window: Sequence[Choice]) -> list[list[Any]]:
    return [[choice.site, choice.occurrence, choice.effect] for choice in window]
