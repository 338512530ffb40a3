"""Before the first fault (ANDURIL §4, §5.1): the program is read, good runs tell what the workload does by itself.

Good runs must not show the symptom.
"""

import hashlib
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from cutset.errors import UsageError
from cutset.model.reproduction.event import GoodRunFinished, OracleAnswer, ProgramAnalysed, ReproductionEvent
from cutset.process.thread import in_a_thread
from cutset.reproduce.explorer import Explorer
from cutset.reproduce.facts import choose_reader, gather_facts
from cutset.reproduce.front_end import FrontEnd
from cutset.reproduce.logs.agreement import agreement_with, said_early
from cutset.reproduce.logs.difference import difference, keyed
from cutset.reproduce.logs.reading import formats_of, read_log
from cutset.reproduce.oracle.expression import judge
from cutset.reproduce.oracle.terms import is_symptom
from cutset.reproduce.progress import Progress, nobody_watches
from cutset.reproduce.rounds.harness import ArmedRound
from cutset.reproduce.rounds.limit import limit_after
from cutset.reproduce.rounds.runner import how_it_ended, last_words, run_round
from cutset.reproduce.settings import FailureCase, ReproductionSettings
from cutset.reproduce.state import Preparation, ReproductionState, Subject

GOOD_RUNS = 2  # the second tells what comes and goes by itself,
MOST_GOOD_RUNS = 4  # and more of them, as long as each shows something else that does


async def read_subject(
    case: FailureCase, front_end: FrontEnd, progress: Progress = nobody_watches, cache: Path | None = None
) -> Subject:
    """What is wrong with a case is said before anything is run."""
    begun = time.monotonic()
    formats = formats_of(case.failure_log, pattern=case.log_pattern, dialect=front_end.dialect)
    failure = read_log(case.failure_log, formats, dialect=front_end.dialect)
    if not failure:
        raise UsageError("The failure log has no entries", hint="Check `--log` and `--log-pattern`")
    if case.prints is None:
        case = replace(case, prints=not formats)
    program = await in_a_thread(lambda: front_end.read_program(case, progress, cache))
    if not program.sites:
        raise UsageError(
            f"There is nothing to inject in {', '.join(case.sources)}",
            hint="Name the packages whose handling of failures is in question with `--source`",
        )
    return Subject(case, front_end, program, formats, tuple(failure), time.monotonic() - begun)


def identity(subject: Subject, settings: ReproductionSettings) -> dict[str, Any]:
    """What must be the same for a search to go on, by the names of the options."""
    case = subject.case
    return {
        "source": case.sources,
        "content of the source": hashlib.sha256(repr(list(subject.program.sites)).encode()).hexdigest(),
        "log": case.failure_log,
        "run": case.workload.command,
        "oracle": str(case.oracle),
        "strategy": settings.strategy,
        "faults": frozenset(settings.faults),
    }


async def prepare(state: ReproductionState) -> AsyncIterator[ReproductionEvent]:
    state.workload = state.subject.case.workload
    runs: list[GoodRunFinished] = []
    while len(runs) < GOOD_RUNS or (len(runs) < MOST_GOOD_RUNS and await in_a_thread(lambda: _surprises(state, runs))):
        number = len(runs) + 1
        runs.append(state.past_good.get(number) or await _good_run(state, number))
        yield runs[-1]
    begun = time.monotonic()
    limit = limit_after([run.seconds for run in runs], state.workload.timeout_s, state.workload.quiet_s)
    state.workload = replace(state.workload, timeout_s=limit)
    state.subject = state.subject.with_logs(*(run.logs for run in runs))
    state.prepared = await in_a_thread(lambda: _preparation(state, runs))
    facts, subject = state.prepared.facts, state.subject
    state.explorer = Explorer(
        facts.sites,
        facts.observables,
        state.prepared.good_visits,
        facts.apart,
        state.settings.strategy,
        alike=facts.alike,
        sometimes=[
            site for run in runs[1:] for site in subject.front_end.visit_counts(state.folder / f"good-{run.number}")
        ],
    )
    analysed = _analysed(state, subject.seconds + time.monotonic() - begun)
    state.record(analysed)
    yield analysed


def _surprises(state: ReproductionState, runs: Sequence[GoodRunFinished]) -> bool:
    """Whether the last of the good runs differs from the first in something that all others have alike."""
    subject = state.subject.with_logs(*(run.logs for run in runs))
    usual, *others = [keyed(subject.records_of(run.logs)) for run in runs]
    varies = [{entry.key for only in difference(usual, other) for entry in only} for other in others]
    return not varies[-1] <= set().union(*varies[:-1])


def _preparation(state: ReproductionState, runs: Sequence[GoodRunFinished]) -> Preparation:
    subject, settings, progress = state.subject, state.settings, state.progress
    program, failure = subject.program, subject.failure
    progress(0, 0, "comparing the logs")
    records = [subject.records_of(run.logs) for run in runs]
    reader = choose_reader(program, failure, records)
    good = [reader.entries(each) for each in records]
    progress(0, 0, "looking for what can go wrong")
    facts = gather_facts(
        program,
        reader,
        failure,
        good,
        effects=program.effects(failure, settings.faults, settings.delay_s),
        symptoms=[record.line for record in failure if is_symptom(record, subject.case.oracle)],
        executed=program.may_run(_executed(state)),
        progress=progress,
    )
    if not facts.observables:
        raise UsageError(
            "The failure log has nothing that good runs lack, and lacks nothing that they have",
            hint="Is it the log of the failure, at the same log level? The oracle recognises nothing in it either",
        )
    return Preparation(
        reader=reader,
        facts=facts,
        texts=reader.texts_of(facts.observables, failure),
        failed=tuple(reader.entries(failure)),
        good=tuple(good),
        agreement=agreement_with(records, failure),
        early=partial(said_early, records),
        good_visits=subject.front_end.visits(state.folder / "good-1", runs[0].logs),
    )


def _executed(state: ReproductionState) -> dict[str, frozenset[int]]:
    """The functions that ran in any of the good runs."""
    found: dict[str, frozenset[int]] = {}
    for number in range(1, MOST_GOOD_RUNS + 1):
        for path, lines in state.subject.front_end.executed(state.folder / f"good-{number}").items():
            found[path] = found.get(path, frozenset()) | lines
    return found


async def _good_run(state: ReproductionState, number: int) -> GoodRunFinished:
    subject, folder = state.subject, state.folder / f"good-{number}"
    shutil.rmtree(folder, ignore_errors=True)  # what an interrupted run left
    run = await run_round(subject.case.workload, plan_of(state), folder, subject.front_end)
    verdict = await judge(subject.case.oracle, run, subject.front_end.dialect)
    if verdict.answer is OracleAnswer.YES:
        raise UsageError(
            f"The oracle holds without any fault: {verdict.reason}",
            hint=f"It must recognise the failure alone; the run's output is in {folder}",
        )
    if not run.succeeded:
        said = last_words(run)
        raise UsageError(
            f"The workload fails by itself, without any fault: {how_it_ended(run)}{said and f', after `{said}`'}",
            hint=f"It must succeed while nothing is wrong; the run's output is in {folder}",
        )
    event = GoodRunFinished(number, max(GOOD_RUNS, number), round(run.wall_s, 3), run.problems, run.logs)
    state.record(event)
    return event


def plan_of(state: ReproductionState) -> ArmedRound:
    """Without a fault."""
    program = state.subject.program
    return ArmedRound(tuple(enumerate(program.sites)), analysed=program.paths, cache=state.folder / "cache")


def _analysed(state: ReproductionState, seconds: float) -> ProgramAnalysed:
    program, prepared = state.subject.program, state.prepared
    visited = {program.sites[visit.site].module.partition(".")[0] for visit in prepared.good_visits}
    packages = dict.fromkeys(site.module.partition(".")[0] for site in program.sites)
    return ProgramAnalysed(
        files=program.files,
        lines=program.lines,
        seconds=seconds,
        sites=len(program.sites),
        related_sites=sum(bool(site.distances) for site in prepared.facts.sites),
        visits=len(prepared.good_visits),
        unvisited=tuple(package for package in packages if package not in visited),
        messages=tuple(prepared.texts.values()),
        recognised=prepared.reader.recognised(state.subject.failure),
        skipped=tuple(program.skipped),
        resumed=len(state.past),
    )
