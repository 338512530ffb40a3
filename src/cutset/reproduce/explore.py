"""Which fault brings the failure about (ANDURIL §5.2): try one, look at the log, rank again.

Single faults first; if none will do, a second one on top of the one that came nearest. When the oracle holds, the
search goes on for a few more rounds, unless the run's log is just like the failure log: the symptom may have several
causes, and that log tells them apart.
"""

from collections.abc import AsyncIterator

from cutset.model.reproduction.event import RoundFinished, RoundStage
from cutset.model.reproduction.site import SiteFault
from cutset.reproduce.attempt import attempt
from cutset.reproduce.explorer import Explorer, PlannedRound
from cutset.reproduce.facts import timed
from cutset.reproduce.state import ReproductionState, likeness

SINGLES_SHARE = 0.75  # of the rounds, if a second fault is to be tried at all


async def explore(state: ReproductionState) -> AsyncIterator[RoundFinished]:
    prepared, settings = state.prepared, state.settings
    share = SINGLES_SHARE if settings.second_fault else 1
    facts = prepared.facts
    state.explorer = Explorer(facts.sites, facts.observables, prepared.good_visits, facts.apart, settings.strategy)
    async for event in _explore(state, state.explorer, RoundStage.SINGLE, (), max(1, round(share * settings.rounds))):
        yield event
    if not state.reproductions and settings.second_fault:
        async for event in _second_faults(state):
            yield event


async def explore_elsewhere(state: ReproductionState, budget: int) -> AsyncIterator[RoundFinished]:
    """Other sites, once the failure was reproduced."""
    done = 0
    while done < budget and (planned := state.explorer.next_rounds(min(state.settings.jobs, budget - done))):
        for finished in await attempt(state, RoundStage.ELSEWHERE, planned):
            done += 1
            yield finished
            _take(state, state.explorer, finished)


async def _second_faults(state: ReproductionState) -> AsyncIterator[RoundFinished]:
    """On top of the fault that brought most of the messages: the second is to bring those that are missing then."""
    fired = [done for done in state.tried if done.fired is not None]
    base = max(fired, key=lambda done: (len(done.shown), -done.number), default=None)
    if base is None or base.fired is None:
        return
    subject, prepared, facts = state.subject, state.prepared, state.prepared.facts
    wanted = [each for each in facts.observables if each.key not in base.shown] or list(facts.observables)
    apart = timed(prepared.reader.entries(subject.records_of(base.logs)), prepared.failed, wanted)
    visits = subject.front_end.visits(base.folder)
    explorer = Explorer(facts.sites, wanted, visits, apart, state.settings.strategy)
    explorer.exclude_site(base.fired.number)
    async for event in _explore(state, explorer, RoundStage.SECOND, (base.fired.at_site,), state.rounds_left):
        yield event


async def _explore(
    state: ReproductionState, explorer: Explorer, stage: RoundStage, ground: tuple[SiteFault, ...], budget: int
) -> AsyncIterator[RoundFinished]:
    """Until a fault reproduces the failure well, nothing is left to try, or the budget is spent."""
    done = 0
    for finished in [known for known in state.past if known.stage is stage and known.ground == ground]:
        state.past.remove(finished)
        state.tried.append(finished)
        done += 1
        yield finished
        _take(state, explorer, finished)
    while done < budget and not _is_close_enough(state):
        planned = explorer.next_rounds(min(state.settings.jobs, budget - done))
        if not planned:
            return
        for finished in await attempt(state, stage, planned, ground):
            done += 1
            yield finished
            _take(state, explorer, finished)


def _take(state: ReproductionState, explorer: Explorer, done: RoundFinished) -> None:
    fired = done.fired.at_site if done.fired is not None else None
    explorer.learn(PlannedRound(done.window, done.size), fired, done.shown, done.visits)
    if done.fired is not None and done.reproduces:
        state.reproductions.append(done)
        explorer.exclude_site(done.fired.number)


def _is_close_enough(state: ReproductionState) -> bool:
    if not state.reproductions:
        return False
    since = state.tried[-1].number - state.reproductions[0].number
    return min(map(likeness, state.reproductions))[0] == 0 or since >= state.settings.closer
