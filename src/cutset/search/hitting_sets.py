"""All minimal hitting sets of at most k points: the sets that hit every clause, none of whose points can be spared.

This is the problem of FastFI §3.2.1, solved exactly, from scratch and size by size (MMCS of Murakami and Uno, bounded).
Points are numbered; clauses and sets are bit sets in `int`.

Points that occur in exactly the same clauses are interchangeable, and no minimal set has two of them. They are taken as
one *group*, whose sets stand for products: 5e12 sets may be eight sets of groups.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import product

from cutset.search.bitset import bits, indices, transposed


def always() -> bool:
    return True


def minimal_hitting_sets(
    clauses: Sequence[int],
    max_size: int,
    *,
    min_size: int = 0,
    may_go_on: Callable[[], bool] = always,
) -> Iterator[int]:
    """The minimal hitting sets of `min_size` to `max_size` points, the smallest first, one by one as they are found.

    Ends early once `may_go_on` says no.
    """
    formula = _Formula(clauses, may_go_on)
    for size in range(min_size, max_size + 1):
        yield from formula.sets_of(size)


class _Formula:
    """Clauses without those that others imply, over groups of interchangeable points."""

    def __init__(self, clauses: Sequence[int], may_go_on: Callable[[], bool]) -> None:
        clauses = _without_implied(clauses)
        width = max(clauses, default=0).bit_length()
        degrees = [occurrence.bit_count() for occurrence in transposed(clauses, width)]
        # Clauses of frequent points first, and rare points first: that halves the search.
        clauses.sort(key=lambda clause: -sum(degrees[point] for point in indices(clause)))
        points_of: dict[int, int] = {}
        for point, occurrence in enumerate(transposed(clauses, width)):
            if occurrence:
                points_of[occurrence] = points_of.get(occurrence, 0) | 1 << point
        groups = sorted(points_of.items(), key=lambda group: group[0].bit_count())
        self._occurrences = [occurrence for occurrence, _ in groups]
        self._groups = [points for _, points in groups]
        self._clauses = transposed(self._occurrences, len(clauses))
        self._may_go_on = may_go_on

    def sets_of(self, size: int) -> Iterator[int]:
        """All minimal hitting sets of exactly this size."""
        unhit = (1 << len(self._clauses)) - 1
        candidates = (1 << len(self._groups)) - 1
        if not size or not unhit:
            found = iter([] if size or unhit else [0])
        elif size == 1:
            found = self._finished(0, [], self._in_all(unhit, candidates))
        else:
            found = self._branch(0, [], unhit, candidates, left=size, most=len(self._clauses))
        yield from choices(found, self._groups)

    def _branch(
        self, chosen: int, own: list[int], unhit: int, candidates: int, *, left: int, most: int
    ) -> Iterator[int]:
        """On the clause with the fewest candidates. To each of them, only those that came before it are candidates.

        `own` are the clauses that one chosen group alone hits, for each; `left` is how many groups are still to be
        chosen, at least two; no candidate hits more than `most` clauses.
        """
        if not self._may_go_on():
            return
        smallest, candidates, most = self._narrowed(unhit, candidates, left, most)
        candidates &= ~smallest
        for index in indices(smallest):
            bit, occurrence = 1 << index, self._occurrences[index]
            rest = unhit & ~occurrence
            if left == 2:
                if 0 < rest.bit_count() <= most and (last := self._in_all(rest, candidates)):
                    still_own = [*(clauses & ~occurrence for clauses in own), unhit & occurrence]
                    yield from self._finished(chosen | bit, still_own, last)
            else:
                still_own = [*(clauses & ~occurrence for clauses in own), unhit & occurrence]
                if not all(still_own):
                    continue  # nor is it of use together with those that come after it
                if rest.bit_count() <= most * (left - 1):
                    yield from self._branch(chosen | bit, still_own, rest, candidates, left=left - 1, most=most)
            candidates |= bit

    def _finished(self, chosen: int, own: list[int], last: int) -> Iterator[int]:
        for index in indices(last):
            elsewhere = ~self._occurrences[index]
            if all(clauses & elsewhere for clauses in own):
                yield chosen | 1 << index

    def _in_all(self, clauses: int, candidates: int) -> int:
        while clauses and candidates:
            lowest = clauses & -clauses
            candidates &= self._clauses[lowest.bit_length() - 1]
            clauses ^= lowest
        return candidates

    def _narrowed(self, unhit: int, candidates: int, left: int, most: int) -> tuple[int, int, int]:
        """The clause to branch on (0: there are no sets here), the candidates that may be of use, and a new `most`."""
        smallest, fewest = 0, len(self._groups) + 1
        disjoint = seen = 0
        for index in indices(unhit):
            clause = self._clauses[index] & candidates
            if (number := clause.bit_count()) < fewest:
                smallest, fewest = clause, number
            if not clause & seen:
                seen |= clause
                disjoint += 1
                if disjoint > left:  # each of them takes a candidate of its own
                    return 0, candidates, most
        total = unhit.bit_count()
        if left > 2 and total > left:
            degrees = [(self._occurrences[index] & unhit).bit_count() for index in indices(candidates)]
            others = sorted(degrees)[1 - left :]
            most = max(others, default=0)
            needed = total - sum(others)  # what a candidate has to hit at least, however useful the others are
            if needed > 1:
                for index, degree in zip(list(indices(candidates)), degrees, strict=True):
                    if degree < needed:
                        candidates ^= 1 << index
                smallest &= candidates
        return smallest, candidates, most


def choices(sets: Iterable[int], groups: Sequence[int]) -> Iterator[int]:
    """All ways to take one point from each group of a set."""

    @cache
    def points(group: int) -> list[int]:
        return list(bits(groups[group]))

    for chosen in sets:
        yield from map(sum, product(*map(points, indices(chosen))))


def _without_implied(clauses: Sequence[int]) -> list[int]:
    """Who hits a clause hits all clauses that contain it."""
    needed: list[int] = []
    shorter = 0  # how many of the needed ones have fewer points than the present clause; only these may imply it
    for clause in sorted(dict.fromkeys(clauses), key=int.bit_count):
        while shorter < len(needed) and needed[shorter].bit_count() < clause.bit_count():
            shorter += 1
        if not any(known & clause == known for known in needed[:shorter]):
            needed.append(clause)
    return needed
