"""Which fault brings the failure about (ANDURIL §5.2): try one, look at the log, rank again, until the oracle holds.

Single faults first; if none will do, a second one on top of the one that came nearest.
"""

from collections.abc import AsyncIterator

from cutset.model.reproduction.event import RoundFinished, RoundStage
from cutset.model.reproduction.site import SiteFault
from cutset.reproduce.attempt import attempt, take
from cutset.reproduce.explorer import Explorer
from cutset.reproduce.facts import timed
from cutset.reproduce.logs.timeline import align
from cutset.reproduce.state import ReproductionState

SINGLES_SHARE = 0.75  # of the rounds, if there is a fault on top of which a second can be tried


async def explore(state: ReproductionState) -> AsyncIterator[RoundFinished]:
    """Goes on where an earlier call ended, whose success turned out to be none."""
    settings = state.settings
    share = SINGLES_SHARE if settings.second_fault else 1
    async for event in _explore(state, state.explorer, RoundStage.SINGLE, (), max(1, round(share * settings.rounds))):
        yield event
    if state.reproductions or not settings.second_fault:
        return
    base = _nearest(state)
    following = _second_faults(state, base) if base else _explore(state, state.explorer, RoundStage.SINGLE)
    async for event in following:
        yield event


async def explore_elsewhere(state: ReproductionState, budget: int) -> AsyncIterator[RoundFinished]:
    """Other sites, once the failure was reproduced."""
    done = 0
    for found in state.reproductions:
        if found.fired is not None:
            state.explorer.exclude_site(found.fired.number)
    while (most := min(state.settings.jobs, budget - done, state.rounds_left)) > 0:
        planned = state.explorer.next_rounds(most)
        if not planned:
            return
        for finished in await attempt(state, RoundStage.ELSEWHERE, planned):
            done += 1
            yield finished
            take(state, state.explorer, finished)
            if finished.fired is not None and finished.reproduces:
                state.explorer.exclude_site(finished.fired.number)


def _nearest(state: ReproductionState) -> RoundFinished | None:
    """The single fault that brought most of the messages; one that brought none leads nowhere."""
    fired = [done for done in state.tried if done.stage is RoundStage.SINGLE and done.fired is not None and done.shown]
    return max(fired, key=lambda done: (len(done.shown), -done.unlike, -done.number), default=None)


async def _second_faults(state: ReproductionState, base: RoundFinished) -> AsyncIterator[RoundFinished]:
    """On top of another, to bring the messages that are missing then."""
    assert base.fired is not None
    subject, prepared, facts = state.subject, state.prepared, state.prepared.facts
    wanted = [each for each in facts.observables if each.key not in base.shown] or list(facts.observables)
    timeline = align(prepared.reader.entries(subject.records_of(base.logs)), prepared.failed)
    visits = subject.front_end.visits(base.folder, base.logs)
    explorer = Explorer(
        facts.sites, wanted, visits, timed(timeline, wanted), state.settings.strategy, alike=timeline.alike
    )
    explorer.exclude_site(base.fired.number)
    async for event in _explore(state, explorer, RoundStage.SECOND, (base.fired.at_site,)):
        yield event


async def _explore(
    state: ReproductionState,
    explorer: Explorer,
    stage: RoundStage,
    ground: tuple[SiteFault, ...] = (),
    budget: int | None = None,
) -> AsyncIterator[RoundFinished]:
    """Until a fault reproduces the failure, nothing is left to try, or the budget is spent: rounds of this stage."""
    done = sum(known.stage is stage and known.ground == ground for known in state.tried)
    for finished in [known for known in state.past if known.stage is stage and known.ground == ground]:
        if state.reproductions:
            return
        state.past.remove(finished)
        state.tried.append(finished)
        done += 1
        yield finished
        take(state, explorer, finished)
    while not state.reproductions:
        left = state.rounds_left if budget is None else min(budget - done, state.rounds_left)
        planned = explorer.next_rounds(min(state.settings.jobs, left)) if left > 0 else ()
        if not planned:
            return
        for finished in await attempt(state, stage, planned, ground):
            done += 1
            yield finished
            take(state, explorer, finished)
