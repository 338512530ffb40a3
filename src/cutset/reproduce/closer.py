"""After a success: is it the cause, or one of several that show the symptom? (Beyond ANDURIL, which ends there.)

A symptom may have several causes, and the failure log tells them apart. So the search goes on next to what did it
(other exceptions at that moment, the same at neighbouring moments) and, by turns, at other sites, until so many rounds
in a row brought nothing that explains the log better. While the log differs, what was found may not be the cause, and
the search is more patient: the more so if messages are lacking or added, and not only values are others.

The other sites are those that were tried least, so that each has a chance before one has its second, and among them
those that are near in the causal graph and in time, and likely in themselves: steps, and the bits of the number of
lines.
"""

from collections import Counter
from collections.abc import AsyncIterator

from cutset.model.reproduction.event import RoundFinished, RoundStage
from cutset.reproduce.attempt import attempt, take
from cutset.reproduce.explorer import PlannedRound
from cutset.reproduce.fault_space import SiteCandidate
from cutset.reproduce.state import ReproductionState
from cutset.reproduce.strategies import ANOTHER_TRY

PATIENCE_VALUES, PATIENCE_MESSAGES = 2, 5  # times as many rounds while values, or messages, differ


async def come_closer(state: ReproductionState) -> AsyncIterator[RoundFinished]:
    best = min(state.reproductions, key=state.likeness)
    if best.fired_ground:
        return  # two faults together are unlikely enough
    done = in_vain = 0
    while in_vain < state.settings.closer * _patience(best):
        planned = _next_rounds(state, best, done, min(state.settings.jobs, state.rounds_left))
        if not planned:
            return
        for finished in await attempt(state, RoundStage.CLOSER, planned):
            yield finished
            take(state, state.explorer, finished)
            done += 1
            in_vain += 1
            if finished.reproduces and finished.nearness < best.nearness:
                best, in_vain = finished, 0


def _patience(best: RoundFinished) -> int:
    lacking_or_added, values = best.standing
    return PATIENCE_MESSAGES if lacking_or_added else PATIENCE_VALUES if values else 1


def _next_rounds(state: ReproductionState, best: RoundFinished, done: int, most: int) -> list[PlannedRound]:
    assert best.fired is not None
    beside = [(fault,) for fault in state.explorer.neighbours(best.fired.at_site)]
    tried = Counter(done.fired.number for done in state.tried if done.fired)
    others = [each for each in state.explorer.ranking() if each.executed and each.site != best.fired.number]

    def unlikely(each: SiteCandidate) -> int:
        return each.distance + ANOTHER_TRY * each.step + int(each.apart).bit_length()

    others.sort(key=lambda each: (tried[each.site], unlikely(each)))
    elsewhere = [each.choices[:1] for each in others]
    planned = []
    for turn in range(done, done + most):
        first, second = (beside, elsewhere) if turn % 2 == 0 else (elsewhere, beside)
        if window := next((waiting.pop(0) for waiting in (first, second) if waiting), None):
            planned.append(PlannedRound(window, 1))
    return planned
