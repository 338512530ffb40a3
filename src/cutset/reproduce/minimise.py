"""A simpler variant of what was found, and other sites that show the same symptom."""

from collections.abc import AsyncIterator
from dataclasses import replace

from cutset.model.reproduction.event import RoundFinished, RoundStage
from cutset.reproduce.attempt import attempt_one
from cutset.reproduce.confirm import repeat
from cutset.reproduce.explore import explore_elsewhere
from cutset.reproduce.state import ReproductionState

ELSEWHERE_ROUNDS = 20


async def minimise(state: ReproductionState) -> AsyncIterator[RoundFinished]:
    """Earlier, halving the way to an occurrence that does not show the symptom; and with any exception."""
    found = state.best
    assert found is not None
    assert found.fired is not None
    exact, ground = found.fired.at_site, tuple(fault.at_site for fault in found.fired_ground)
    earliest, fails = found, 0
    while (high := earliest.fired.occurrence if earliest.fired else 0) - fails > 1:
        middle = 1 if fails == 0 and high > 2 and earliest is found else (fails + high) // 2
        earlier = await attempt_one(state, RoundStage.MINIMISE, replace(exact, occurrence=middle), ground)
        yield earlier
        if earlier.reproduces:
            earliest = earlier
        else:
            fails = middle
    if earliest is not found:
        state.best = earliest
        async for event in repeat(state, earliest):
            yield event
    ground = tuple(fault.at_site for fault in earliest.fired_ground)
    plain = replace(exact, occurrence=high, effect=state.subject.front_end.any_exception)
    with_any = await attempt_one(state, RoundStage.MINIMISE, plain, ground)
    yield with_any
    name = plain.effect.partition("(")[0]
    state.remarks += [
        f"a plain {name} there shows the symptom, too: the type does not matter"
        if with_any.reproduces
        else f"a plain {name} there does not show the symptom: the type matters",
        f"occurrence {fails} does not show the symptom" if fails else "the first occurrence shows the symptom",
    ]
    async for event in explore_elsewhere(state, min(ELSEWHERE_ROUNDS, state.rounds_left)):
        yield event
