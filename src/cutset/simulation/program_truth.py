"""What sets of faults do to a request program, by trying all of them: what searches are compared with."""

from collections.abc import Iterator
from enum import StrEnum
from itertools import combinations, product

from cutset.model.effect import EffectChoice
from cutset.model.fault import Cut, Fault
from cutset.simulation.programs import RequestProgram, points_in, run_of


class Does(StrEnum):
    """What a set of faults may do to a request, in one world or another."""

    FAIL = "fail"
    DEGRADE = "degrade"


def plans(request: RequestProgram, effects: EffectChoice, size: int) -> Iterator[Cut]:
    """All sets of exactly so many faults, at most one at each point."""
    for points in combinations(sorted(points_in(request)), size):
        for chosen in product(*map(effects.at, points)):
            yield frozenset(map(Fault, points, chosen))


def minimal_sets(
    request: RequestProgram,
    max_size: int,
    effects: EffectChoice = EffectChoice(),  # noqa: B008 - it is frozen
) -> dict[Does, set[Cut]]:
    """By trying every set of at most so many faults in every world. What contains a failing set degrades nothing."""
    found: dict[Does, list[Cut]] = {Does.FAIL: [], Does.DEGRADE: []}
    worlds = tuple(request.worlds())
    usual = {world: run_of(request, frozenset(), world)[1].answer for world in worlds}
    for size in range(max_size + 1):
        for chosen in plans(request, effects, size):
            if any(known <= chosen for known in found[Does.FAIL]):
                continue
            runs = {world: run_of(request, chosen, world) for world in worlds}
            if not all(ok for ok, _ in runs.values()):
                found[Does.FAIL].append(chosen)
            elif any(run.answer != usual[world] for world, (_, run) in runs.items()):
                found[Does.DEGRADE].append(chosen)
    degrading = found[Does.DEGRADE]
    minimal = {each for each in degrading if not any(other < each for other in degrading)}
    return {Does.FAIL: set(found[Does.FAIL]), Does.DEGRADE: minimal}
