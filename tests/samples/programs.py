"""Short words for tests of simulated programs."""

from cutset.model.effect import Effect, EffectChoice, EffectKind
from cutset.model.fault import Cut, cut_of
from cutset.model.outcome import Points
from cutset.model.point import Point
from cutset.simulation.program_truth import Does, minimal_sets
from cutset.simulation.programs import DELAY_MS, Behaviour, RequestProgram

ABORT = EffectChoice()
DELAY = EffectChoice((Effect(EffectKind.DELAY, DELAY_MS),))


def points(*names: str) -> Points:
    return frozenset(Point.parse(f"simulated/{name}") for name in names)


def faults(*names: str, effects: EffectChoice = ABORT) -> Cut:
    return cut_of(points(*names), *effects.usual)


def minimal(program: Behaviour, does: Does = Does.FAIL, effects: EffectChoice = ABORT, **options: int) -> set[Cut]:
    return minimal_sets(RequestProgram(program, **options), 3, effects)[does]
