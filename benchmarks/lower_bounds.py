"""How few injections can be enough for a complete and proven result.

Whatever the strategy: every minimal cut must be injected itself, because no other experiment can tell that it fails;
and every set of at most k points that is survived must miss the path of some surviving run. So at least

    minimal cuts + fewest paths such that each survived set misses one of them - 1

are needed; the fault-free run gives one path for nothing.
"""

from collections.abc import Iterable
from functools import cache
from itertools import combinations, count
from math import ceil, comb

from cutset.model.fault import points_of
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.simulated import System, all_points


def replica_bound(needed: int, replicas: int) -> int:
    """For `needed` APIs with so many replicas each, and cuts of at least that size."""
    return needed + fewest_paths(needed, replicas) - 1


def fewest_paths(apis: int, replicas: int) -> int:
    """A path is a choice of one replica for each API; a lower bound, exact for two replicas.

    Take the paths as columns of a table with one line per API. The paths that use replica y of API a form a block. If a
    block of API a lay within a block of API b, then all other replicas of a, and that one of b, would be a survived set
    of `replicas` points that hits every path. So the blocks are an antichain (the LYM inequality) and none has a single
    path; for two replicas the bound of Kleitman and Spencer is exact. With twice as many paths as replicas, each API
    would pair the paths off, and three APIs with three replicas or more would colour those pairs so that every perfect
    matching has one colour, which cannot be (Bogdanov).
    """
    if apis == 0 or replicas == 1:
        return 1
    if apis == 1:
        return replicas
    if replicas == 2:
        return next(paths for paths in count(4) if comb(paths - 1, (paths + 1) // 2) >= apis)
    for paths in count(2 * replicas):
        all_pairs = paths == 2 * replicas and apis >= 3
        if not all_pairs and apis * _least_weight(paths, replicas, 2) <= 1 + 1e-12:
            return paths
    raise AssertionError


def _least_weight(paths: int, blocks: int, smallest: int) -> float:
    """The least share of an antichain that one API takes: its blocks divide the paths among them."""

    @cache
    def least(left: int, blocks: int, smallest: int) -> float:
        if blocks == 0:
            return 0.0 if left == 0 else float("inf")
        return min(
            (
                1 / comb(paths, size) + least(left - size, blocks - 1, size)
                for size in range(smallest, left // blocks + 1)
            ),
            default=float("inf"),
        )

    return least(paths, blocks, smallest)


def exact_bound(system: System, max_size: int) -> int | None:
    """By integer programming, for monotone systems of about a dozen points; None without SciPy."""
    try:
        from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 - not a dependency
    except ImportError:
        return None
    points = sorted(all_points(system))
    bits = {point: 1 << position for position, point in enumerate(points)}
    failing = [sum(bits[point] for point in points_of(cut)) for cut in minimal_cuts_by_brute_force(system, len(points))]
    paths = minimal_transversals(failing)
    survived = [cut for cut in _subsets(len(points), max_size) if not any(known & cut == known for known in failing)]
    cover = sorted({tuple(int(not path & cut) for path in paths) for cut in survived})
    solution = milp(
        [1] * len(paths), constraints=LinearConstraint(cover, lb=1), integrality=[1] * len(paths), bounds=Bounds(0, 1)
    )
    fewest = ceil(float(solution.mip_dual_bound) - 1e-6)
    return sum(1 for cut in failing if cut.bit_count() <= max_size) + fewest - 1


def minimal_transversals(sets: Iterable[int]) -> list[int]:
    """All minimal sets that hit each of these (Berge's algorithm): of all minimal cuts, the minimal paths."""
    found = [0]
    for each in sets:
        extended = {known if known & each else known | 1 << bit for known in found for bit in _bits(each)}
        found = []
        for candidate in sorted(extended, key=int.bit_count):
            if not any(known & candidate == known for known in found):
                found.append(candidate)
    return found


def _subsets(points: int, max_size: int) -> Iterable[int]:
    for size in range(min(points, max_size) + 1):
        for chosen in combinations(range(points), size):
            yield sum(1 << bit for bit in chosen)


def _bits(number: int) -> Iterable[int]:
    return (bit for bit in range(number.bit_length()) if number >> bit & 1)
