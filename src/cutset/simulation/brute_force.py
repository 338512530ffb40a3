"""The minimal cuts of a simulated system by trying everything: what searches are compared with.

It knows nothing of `cutset.simulation.simulated.Execution`: that both agree is tested.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations

from cutset.model.fault import Cut, cut_of
from cutset.model.point import Point
from cutset.simulation.simulated import (
    All,
    Cache,
    Call,
    FirstOf,
    Optional,
    Quorum,
    Routes,
    System,
    all_points,
    points_of_call,
    servers_of,
)


def minimal_cuts_by_brute_force(node: System, max_size: int) -> set[Cut]:
    """Tries every set of at most `max_size` points, so it is exact and slow.

    Where caches make outcomes vary, a set that may fail the request counts as failing.
    """
    points = sorted(all_points(node))
    bits = {point: 1 << position for position, point in enumerate(points)}
    outcomes = _outcomes(node, bits)
    found: list[int] = []
    for size in range(max_size + 1):
        for chosen in combinations(bits.values(), size):
            cut = sum(chosen)
            if not any(known & cut == known for known in found) and outcomes(cut) & _FAILS:
                found.append(cut)
    return {cut_of(point for point in points if bits[point] & cut) for cut in found}


# What may come of a node: one of these bits or, where a cache may hit or miss, both.
_ANSWERS, _FAILS = 1, 2


def _outcomes(node: System, bits: Mapping[Point, int]) -> Callable[[int], int]:  # noqa: PLR0911 - one per kind of node
    """What may come of the node, as a function of the faulted points; and quick."""
    match node:
        case Call(body=body):
            inside = _outcomes(body, bits) if body is not None else lambda _: _ANSWERS
            servers = _mask(servers_of(node), bits)
            return lambda cut: _FAILS if cut & servers == servers else inside(cut)
        case Quorum(replicas=replicas, needed=needed):
            members = _mask(points_of_call(node), bits)
            return lambda cut: _FAILS if replicas - (cut & members).bit_count() < needed else _ANSWERS
        case All(parts):
            return _need_all([_outcomes(part, bits) for part in parts])
        case FirstOf(parts):
            refused = _need_all([_swapped(_outcomes(part, bits)) for part in parts])  # fails if all of them fail
            return _swapped(refused)
        case Optional(part, then):
            first = _outcomes(part, bits)
            second = _outcomes(then, bits) if then is not None else lambda _: _ANSWERS
            return lambda cut: (first(cut) & _FAILS and _ANSWERS) | (first(cut) & _ANSWERS and second(cut))
        case Cache(part):
            guarded = _outcomes(part, bits)
            return lambda cut: _ANSWERS | guarded(cut)
        case Routes(paths):
            masks = [_mask(path, bits) for path in paths]
            return lambda cut: _FAILS if all(cut & mask for mask in masks) else _ANSWERS


def _need_all(parts: list[Callable[[int], int]]) -> Callable[[int], int]:
    def outcomes(cut: int) -> int:
        may_fail = 0
        for part in parts:
            outcome = part(cut)
            if outcome == _FAILS:
                return _FAILS
            may_fail |= outcome & _FAILS
        return _ANSWERS | may_fail

    return outcomes


def _swapped(outcomes: Callable[[int], int]) -> Callable[[int], int]:
    swap = {0: 0, _ANSWERS: _FAILS, _FAILS: _ANSWERS, _ANSWERS | _FAILS: _ANSWERS | _FAILS}
    return lambda cut: swap[outcomes(cut)]


def _mask(points: Iterable[Point], bits: Mapping[Point, int]) -> int:
    return sum(bits[point] for point in points)
