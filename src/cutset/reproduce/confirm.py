"""What was found is tried again, to see how reliably it shows the failure; and without what it may not need."""

from collections.abc import AsyncIterator

from cutset.model.reproduction.event import RoundFinished, RoundStage
from cutset.reproduce.attempt import attempt, attempt_one
from cutset.reproduce.explorer import PlannedRound
from cutset.reproduce.oracle.terms import own_symptoms
from cutset.reproduce.state import ReproductionState, likeness

MOST_CONFIRMED = 3  # reproductions that are tried again


async def confirm(state: ReproductionState) -> AsyncIterator[RoundFinished]:
    """The one with the most similar log first, until one shows the symptom at least every second time."""
    for found in sorted(state.reproductions, key=likeness)[:MOST_CONFIRMED]:
        async for event in repeat(state, found):
            yield event
        if 2 * state.held(found) >= state.settings.repeats:
            break
    best = max(state.reproductions, key=lambda found: (state.held(found), *(-part for part in likeness(found))))
    assert best.fired is not None
    if best.fired_ground:
        alone = await attempt_one(state, RoundStage.MINIMISE, best.fired.at_site)
        yield alone
        best = alone if alone.reproduces else best
    assert best.fired is not None
    state.best = best
    state.remarks += own_symptoms(best.fired.effect, state.subject.case.oracle)


async def repeat(state: ReproductionState, found: RoundFinished) -> AsyncIterator[RoundFinished]:
    assert found.fired is not None
    again = [PlannedRound((found.fired.at_site,), 1)] * state.settings.repeats
    ground = tuple(fault.at_site for fault in found.fired_ground)
    repeats = state.repeats.setdefault(found.number, [])
    for start in range(0, len(again), state.settings.jobs):
        for done in await attempt(state, RoundStage.REPEAT, again[start : start + state.settings.jobs], ground):
            repeats.append(done)
            yield done
