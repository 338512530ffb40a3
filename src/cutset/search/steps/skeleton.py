"""Where paths of several skeletons are to choose from: the one path whose survivor would certify most.

A *skeleton* is a path whichever replicas serve. Where one skeleton serves for all, all paths are planned at once
(`cutset.search.steps.covering_array`); here they are chosen one by one.
"""

from dataclasses import dataclass
from random import Random

from cutset.search.bitset import bits
from cutset.search.certificates import Evidence


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The calls of a path whichever replicas serve, what must fail for it to be taken, and what it says nothing of."""

    calls: int
    failed: int
    hidden: int
    conditional: bool  # exact: it only certifies sets that contain `failed`

    def certifies(self, candidate: int) -> bool:
        """Given a path with these calls that the candidate misses."""
        if self.failed & candidate == self.failed:
            return True
        return not self.conditional and not self.hidden & candidate


def best_path(
    skeletons: list[Skeleton], candidates: list[int], settled: list[int], evidence: Evidence, random: Random
) -> tuple[Skeleton, int, list[int]] | None:
    """One healthy replica per call, by hill climbing from several candidates that it must miss."""
    missing = {
        point: sum(1 << number for number, candidate in enumerate(candidates) if not candidate & point)
        for point in bits(evidence.elements.everything())
    }
    best: tuple[int, Skeleton, int] | None = None
    for skeleton in skeletons if len(skeletons) <= 12 else random.sample(skeletons, 12):
        certified = sum(1 << number for number, each in enumerate(candidates) if skeleton.certifies(each))
        columns = [evidence.elements.in_faults(call) for call in bits(skeleton.calls)]
        to_hit = [cut for cut in settled if cut & ~skeleton.failed]
        for _ in range(4 if certified else 0):
            target = candidates[random.choice(list(bits(certified))).bit_length() - 1]
            path = _path_that_misses(target, columns, to_hit, certified, missing, random=random)
            if path is None:
                continue
            covered = certified
            for point in bits(path):
                covered &= missing[point]
            cut = skeleton.failed | evidence.elements.in_faults(skeleton.calls) & ~path
            better = best is None or covered.bit_count() > best[0].bit_count()
            if covered and better and not evidence.contains_failing(cut):
                best = (covered, skeleton, path)
    if best is None:
        return None
    covered, skeleton, path = best
    return skeleton, path, [candidates[number.bit_length() - 1] for number in bits(covered)]


def _path_that_misses(
    target: int, columns: list[int], to_hit: list[int], certified: int, missing: dict[int, int], *, random: Random
) -> int | None:
    path, covered = 0, certified
    random.shuffle(columns)
    to_hit = [*columns, *to_hit]
    for cut in to_hit:
        if not cut & path:
            choices = [point for point in bits(cut & ~target) if point in missing]
            if not choices:
                return None
            random.shuffle(choices)
            point = max(choices, key=lambda each: (covered & missing[each]).bit_count())
            path |= point
            covered &= missing[point]
    for point in bits(path):
        if all(cut & path & ~point for cut in to_hit):
            path &= ~point
    for point in bits(path):
        rest = certified
        for other in bits(path & ~point):
            rest &= missing[other]
        column = next((column for column in columns if column & point), 0)
        choices = [other for other in bits(column & ~path & ~target) if other in missing]
        best = max([point, *choices], key=lambda each: (rest & missing[each]).bit_count())
        changed = path & ~point | best
        if all(cut & changed for cut in to_hit):
            path = changed
    return path
