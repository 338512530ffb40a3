"""What was found is tried again, to see how reliably it shows the failure; and without what it may not need.

What explains the failure log as well as the best is tried again, too. What never shows the symptom again is no
reproduction.
"""

from collections.abc import AsyncIterator

from cutset.model.reproduction.event import RoundFinished, RoundStage
from cutset.model.wording import count
from cutset.reproduce.attempt import attempt, attempt_one
from cutset.reproduce.explorer import PlannedRound
from cutset.reproduce.oracle.terms import own_symptoms
from cutset.reproduce.state import ReproductionState

MOST_CONFIRMED = 4  # reproductions that are tried again


async def confirm(state: ReproductionState) -> AsyncIterator[RoundFinished]:
    """The one with the most similar log first, until one shows the symptom at least every second time.

    Of those that differ in values alone repeats may show that it was chance.
    """
    reliable: list[RoundFinished] = []
    for found in sorted(state.reproductions, key=state.likeness)[:MOST_CONFIRMED]:
        if any(found.unlike > state.standing(best)[0] for best in reliable):
            break
        async for event in repeat(state, found):
            yield event
        if 2 * state.held(found) >= state.settings.repeats:
            reliable.append(found)
    best = min(reliable, key=state.likeness, default=None) or _most_reliable(state)
    _discard_coincidences(state)
    if best is None:
        return
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


def _most_reliable(state: ReproductionState) -> RoundFinished | None:
    shown_again = [found for found in state.reproductions if state.held(found)]
    return min(shown_again, key=lambda found: (-state.held(found), state.likeness(found)), default=None)


def _discard_coincidences(state: ReproductionState) -> None:
    for found in list(state.reproductions):
        repeats = state.repeats.get(found.number, ())
        if repeats and not state.held(found):
            state.reproductions.remove(found)
            again = f"{count(len(repeats), 'more round')} did not show it again"
            state.remarks.append(f"{found.fired} showed the symptom once, in round {found.number}; {again}")
