"""All minimal hitting sets of at most k points: the sets that hit every clause, none of whose points can be spared.

This is the problem of FastFI §3.2.1, solved exactly. Points are numbered; clauses and sets are bit sets in `int`.

- `HittingSets` follows a family of clauses that grows one by one, as in a search where each surviving experiment adds a
  path. A clause C keeps the sets that hit it, and extends a set S that misses it by each point of C that leaves every
  point of S a clause of its own (Berge's algorithm). In a minimal set at most one point is there for C alone; without
  it, the set was a minimal one of the former family. So nothing is lost, found twice or not minimal, and the sets of
  at most k points come from sets of at most k points.
- `minimal_hitting_sets` starts from scratch, size by size (MMCS of Murakami and Uno, bounded). It serves where there is
  nothing to update: for larger sizes, and for sizes that have more sets than are worth holding.

Points that occur in exactly the same clauses are interchangeable, and no minimal set has two of them. They are kept as
one *group*, whose sets stand for products: 5e12 sets may be eight sets of groups. Once most groups are single points,
grouping costs more than it saves; then the family goes over to points, for good.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from heapq import heapify, heappop, heappush
from itertools import count, islice, product
from math import prod

MAX_SETS = 200_000  # held at once: some 20 MB, and some 20 ms for each further clause
UNGROUP_FROM_SETS = 32  # with fewer sets it does not matter, and later clauses may bring large groups

Weights = Sequence[float]  # by point number


def always() -> bool:
    return True


class HittingSets:
    """The minimal hitting sets of at most `max_size` points of the clauses that were added so far.

    At most `max_sets` of them are held, by size; larger sizes that would not fit are searched when `sets` gets there.
    Work ends early once `may_go_on` says no, which it must not take back. Either way `complete_up_to` is honest: each
    minimal hitting set of at most this size is held, or has been served by an iteration since the last clause.
    """

    def __init__(self, max_size: int, *, max_sets: int = MAX_SETS, may_go_on: Callable[[], bool] = always) -> None:
        self.max_size = max_size
        self.complete_up_to = max_size
        self._max_sets = max_sets
        self._may_go_on = may_go_on
        self._clauses: list[int] = []
        self._points = 0  # all points of all clauses
        # An *element* is a group at first, a point later; the sets that we hold are sets of elements.
        self._groups: list[int] | None = []  # the points of each group; None: elements are points
        self._occurrences: list[int] = []  # of each element, the clauses that it is in
        self._held: list[list[int]] = [[0], *([] for _ in range(max_size))]  # by size

    def add(self, clause: int) -> None:
        elements, splits = self._to_elements(clause)
        held: list[list[int]] = []
        room = self._max_sets
        extensions = [(1 << index, ~self._occurrences[index]) for index in _indices(elements)]
        extended: list[int] = []
        for former in self._held:
            level = _refined(former, splits, room) if splits else former
            if len(level) > room:
                break
            hitting = [chosen for chosen in level if chosen & elements]
            missing = [chosen for chosen in level if not chosen & elements] if len(hitting) < len(level) else []
            hitting += extended
            room -= len(hitting)
            if room < 0:
                break
            held.append(hitting)
            if len(held) == len(self._held):
                break
            extended = self._extended(missing, extensions, room)
            if missing and not self._may_go_on():
                break
        for index in _indices(elements):
            self._occurrences[index] |= 1 << len(self._clauses)
        self._clauses.append(clause)
        self._points |= clause
        self._held = held
        self.complete_up_to = len(held) - 1
        self._ungroup_if_pointless()

    def grow(self, max_size: int) -> None:
        """Go on to sets of up to so many points; also, hold again what has become few enough to be held."""
        self.max_size = max(self.max_size, max_size)
        while len(self._held) <= self.max_size:
            room = self._max_sets - sum(map(len, self._held))
            level = list(islice(self._search(len(self._held)), room + 1))
            if len(level) > room or not self._may_go_on():
                break
            self._held.append(level)
        self.complete_up_to = max(self.complete_up_to, len(self._held) - 1)

    def count(self) -> int:
        """How many sets are held, without listing them: all, unless a limit was hit."""
        if self._groups is None:
            return sum(map(len, self._held))
        sizes = [points.bit_count() for points in self._groups]
        return sum(prod(sizes[index] for index in _indices(chosen)) for level in self._held for chosen in level)

    def sets(self, weights: Weights | None = None) -> Iterator[int]:
        """The smallest first; within a size, those of the highest total weight first.

        Where a size has more sets than are held, heavy points are tried first, which is near to that order.
        After a further clause, an iterator goes on with the sets of the former family that were held.
        """
        held, groups = self._held, self._groups
        for size in range(self.max_size + 1):
            if size < len(held):
                yield from _in_points(held[size], groups, weights)
                continue
            room = self._max_sets - sum(map(len, held))
            level: list[int] = []
            for chosen in self._search(size, weights) if held is self._held else ():
                if len(level) <= room:
                    level.append(chosen)
                yield from _in_points([chosen], groups, weights)
            if held is not self._held or not self._may_go_on():
                return
            if size == len(held) and len(level) <= room:
                held.append(level)
            self.complete_up_to = max(self.complete_up_to, size)

    def __iter__(self) -> Iterator[int]:
        return self.sets()

    def _to_elements(self, clause: int) -> tuple[int, dict[int, int]]:
        """A group that is in the clause only in part is split; its points inside become a group of their own."""
        splits: dict[int, int] = {}
        if self._groups is None:
            self._occurrences += [0] * (clause.bit_length() - len(self._occurrences))
            return clause, splits
        groups = list(self._groups)  # iterators may still go on with the former groups
        for index, points in enumerate(self._groups):
            inside = points & clause
            if inside and inside != points:
                splits[index] = len(groups)
                groups[index] ^= inside
                groups.append(inside)
                self._occurrences.append(self._occurrences[index])
        if unseen := clause & ~self._points:
            groups.append(unseen)
            self._occurrences.append(0)
        self._groups = groups
        return sum(1 << index for index, points in enumerate(groups) if points & clause), splits

    def _extended(self, missing: list[int], extensions: list[tuple[int, int]], room: int) -> list[int]:
        """The sets, each with one more element, that are minimal; stops when there are more than there is room."""
        extended: list[int] = []
        for chosen in missing:
            occurrences = [self._occurrences[index] for index in _indices(chosen)]
            once = twice = 0
            for occurrence in occurrences:
                twice |= once & occurrence
                once |= occurrence
            own = [occurrence & ~twice for occurrence in occurrences]
            for bit, elsewhere in extensions:
                for clauses in own:
                    if not clauses & elsewhere:
                        break
                else:
                    extended.append(chosen | bit)
            if len(extended) > room or not self._may_go_on():
                break
        return extended

    def _ungroup_if_pointless(self) -> None:
        if (
            self._groups is not None
            and 2 * len(self._groups) > self._points.bit_count()
            and sum(map(len, self._held)) >= UNGROUP_FROM_SETS
            and self.count() <= self._max_sets
        ):
            self._held = [list(_in_points(level, self._groups)) for level in self._held]
            occurrences = [0] * self._points.bit_length()
            for points, occurrence in zip(self._groups, self._occurrences, strict=True):
                for point in _indices(points):
                    occurrences[point] = occurrence
            self._occurrences = occurrences
            self._groups = None

    def _search(self, size: int, weights: Weights | None = None) -> Iterator[int]:
        """The sets of elements of this size, from scratch."""
        if self._groups is None:
            return _Formula(self._clauses, weights, self._may_go_on).sets_of(size)
        clauses = _transposed(self._occurrences, len(self._clauses))
        if weights is not None:
            weights = [_heaviest(points, weights) for points in self._groups]
        return _Formula(clauses, weights, self._may_go_on).sets_of(size)


def minimal_hitting_sets(
    clauses: Sequence[int],
    max_size: int,
    *,
    min_size: int = 0,
    weights: Weights | None = None,
    may_go_on: Callable[[], bool] = always,
) -> Iterator[int]:
    """The minimal hitting sets of `min_size` to `max_size` points, the smallest first, one by one as they are found.

    Within a size, heavy points are tried first. Ends early once `may_go_on` says no.
    """
    formula = _Formula(clauses, weights, may_go_on)
    for size in range(min_size, max_size + 1):
        yield from formula.sets_of(size)


class _Formula:
    """Clauses without those that others imply, over groups of interchangeable points, the heaviest group first."""

    def __init__(self, clauses: Sequence[int], weights: Weights | None, may_go_on: Callable[[], bool]) -> None:
        clauses = _without_implied(clauses)
        width = max(clauses, default=0).bit_length()
        degrees = [occurrence.bit_count() for occurrence in _transposed(clauses, width)]
        # Clauses of frequent points first, and rare points first: that halves the search.
        clauses.sort(key=lambda clause: -sum(degrees[point] for point in _indices(clause)))
        points_of: dict[int, int] = {}
        for point, occurrence in enumerate(_transposed(clauses, width)):
            if occurrence:
                points_of[occurrence] = points_of.get(occurrence, 0) | 1 << point
        groups = sorted(points_of.items(), key=lambda group: group[0].bit_count())
        if weights is not None:
            groups.sort(key=lambda group: -_heaviest(group[1], weights))
        self._occurrences = [occurrence for occurrence, _ in groups]
        self._groups = [points for _, points in groups]
        self._clauses = _transposed(self._occurrences, len(clauses))
        self._weights = weights
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
        if self._weights is None:
            yield from _choices(found, self._groups, None)
        else:
            for chosen in found:
                yield from _choices([chosen], self._groups, self._weights)

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
        for index in _indices(smallest):
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
        for index in _indices(last):
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
        for index in _indices(unhit):
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
            degrees = [(self._occurrences[index] & unhit).bit_count() for index in _indices(candidates)]
            others = sorted(degrees)[1 - left :]
            most = max(others, default=0)
            needed = total - sum(others)  # what a candidate has to hit at least, however useful the others are
            if needed > 1:
                for index, degree in zip(list(_indices(candidates)), degrees, strict=True):
                    if degree < needed:
                        candidates ^= 1 << index
                smallest &= candidates
        return smallest, candidates, most


def _in_points(level: list[int], groups: list[int] | None, weights: Weights | None = None) -> Iterator[int]:
    if groups is not None:
        return _choices(level, groups, weights)
    if weights is None:
        return iter(level)
    return iter(sorted(level, key=lambda chosen: -sum(weights[point] for point in _indices(chosen))))


def _choices(sets: Iterable[int], groups: list[int], weights: Weights | None) -> Iterator[int]:
    """All ways to take one point from each group of a set; of all sets together, the heaviest first."""

    @cache
    def bits(group: int) -> list[int]:
        points = list(_indices(groups[group]))
        if weights is not None:
            points.sort(key=lambda point: -weights[point])
        return [1 << point for point in points]

    if weights is None:
        for chosen in sets:
            yield from map(sum, product(*map(bits, _indices(chosen))))
        return

    def weight(bit: int) -> float:
        return weights[bit.bit_length() - 1]

    # Each choice is reached once: from the next heavier in the last of the groups that are not at their heaviest point.
    tie = count()
    heap = []
    for chosen in sets:
        options = [bits(group) for group in _indices(chosen)]
        heap.append((-sum(weight(option[0]) for option in options), next(tie), options, [0] * len(options), 0))
    heapify(heap)
    while heap:
        negative, _, options, taken, last = heappop(heap)
        yield sum(option[position] for option, position in zip(options, taken, strict=True))
        for group in range(last, len(options)):
            position = taken[group]
            if position + 1 < len(options[group]):
                lighter = negative + weight(options[group][position]) - weight(options[group][position + 1])
                heappush(
                    heap, (lighter, next(tie), options, [*taken[:group], position + 1, *taken[group + 1 :]], group)
                )


def _heaviest(points: int, weights: Weights) -> float:
    return max(weights[point] for point in _indices(points))


def _refined(level: list[int], splits: dict[int, int], room: int) -> list[int]:
    """With a group split in two, a set that has it stands for two; stops when there are more than there is room."""
    split = sum(1 << index for index in splits)
    refined: list[int] = []
    for chosen in level:
        variants = [chosen]
        for index in _indices(chosen & split):
            swap = 1 << index | 1 << splits[index]
            variants += [variant ^ swap for variant in variants]
        refined += variants
        if len(refined) > room:
            break
    return refined


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


def _transposed(rows: Sequence[int], width: int) -> list[int]:
    columns = [0] * width
    for number, row in enumerate(rows):
        bit = 1 << number
        for index in _indices(row):
            columns[index] |= bit
    return columns


def _indices(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
