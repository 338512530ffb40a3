"""Rounds with faults: several at once, each recorded before it counts; what is known already is not run again."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import replace

from cutset.errors import CutsetError
from cutset.model.reproduction.event import RoundFinished, RoundStage
from cutset.model.reproduction.site import SiteFault
from cutset.reproduce.explorer import Explorer, PlannedRound
from cutset.reproduce.logs.agreement import FaultyRun
from cutset.reproduce.narrate import fired_fault, ranking_of
from cutset.reproduce.oracle.expression import judge
from cutset.reproduce.prepare import plan_of
from cutset.reproduce.rounds.runner import run_round
from cutset.reproduce.state import ReproductionState, lines_before


async def attempt(
    state: ReproductionState, stage: RoundStage, planned: Sequence[PlannedRound], ground: tuple[SiteFault, ...] = ()
) -> list[RoundFinished]:
    """All at once."""
    known = [_known(state, stage, each, ground) for each in planned]
    start = max((done.number for done in (*state.tried, *state.past)), default=0)
    missing = [each for each, done in zip(planned, known, strict=True) if done is None]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_round(state, stage, start + number, each, ground))
                for number, each in enumerate(missing, start=1)
            ]
    except* CutsetError as errors:
        raise errors.exceptions[0] from None  # one is enough to know what is wrong
    fresh = iter([task.result() for task in tasks])
    return [done or next(fresh) for done in known]


async def attempt_one(
    state: ReproductionState, stage: RoundStage, fault: SiteFault, ground: tuple[SiteFault, ...] = ()
) -> RoundFinished:
    (done,) = await attempt(state, stage, [PlannedRound((fault,), 1)], ground)
    return done


def take(state: ReproductionState, explorer: Explorer, done: RoundFinished) -> None:
    """What a round teaches."""
    fired = done.fired.at_site if done.fired is not None else None
    explorer.learn(
        PlannedRound(done.window, done.size), fired, done.shown, done.visits, (*done.standing, done.agreement.apart)
    )
    if done.reproduces:
        state.reproductions.append(done)


def _known(
    state: ReproductionState, stage: RoundStage, planned: PlannedRound, ground: tuple[SiteFault, ...]
) -> RoundFinished | None:
    for done in state.past:
        if (done.stage, done.ground, done.window) == (stage, ground, planned.window):
            state.past.remove(done)
            state.tried.append(done)
            return done
    return None


async def _round(
    state: ReproductionState, stage: RoundStage, number: int, planned: PlannedRound, ground: tuple[SiteFault, ...]
) -> RoundFinished:
    subject, prepared = state.subject, state.prepared
    folder = state.folder / f"round-{number:04}"
    shutil.rmtree(folder, ignore_errors=True)  # what an interrupted round left
    plan = replace(plan_of(state), window=planned.window, ground=ground)
    run = await run_round(state.workload, plan, folder, subject.front_end)
    verdict = await judge(subject.case.oracle, run, subject.front_end.dialect)
    visited = {visit.site for visit in prepared.good_visits}
    records = await asyncio.to_thread(subject.records_of, run.logs)
    shown = prepared.facts.shown(prepared.good[0], prepared.reader.entries(records))
    faulty = FaultyRun(records, lines_before(run.logs, [*run.fired_ground, *filter(None, [run.fired])]))
    agreement, unlike = await asyncio.to_thread(prepared.agreement, [faulty], state.chance)
    done = RoundFinished(
        number=number,
        stage=stage,
        fired=fired_fault(state, run.fired) if run.fired is not None else None,
        answer=verdict.answer,
        reason=verdict.reason,
        missing=tuple(text for key, text in prepared.texts.items() if key not in shown),
        seconds=round(run.wall_s, 3),
        folder=folder,
        problems=run.problems,
        ranking=ranking_of(state, planned),
        window=planned.window,
        size=planned.size,
        ground=ground,
        fired_ground=tuple(fired_fault(state, firing) for firing in run.fired_ground),
        shown=shown,
        unlike=unlike,
        agreement=agreement,
        visits=tuple(visit for visit in run.visits if visit.site not in visited),
        logs=run.logs,
        early=await asyncio.to_thread(prepared.early, faulty),
    )
    state.record(done)
    state.tried.append(done)
    return done
