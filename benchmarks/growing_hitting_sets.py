"""All minimal hitting sets of a family of clauses that grows one by one: what FastFI's solver is compared with.

As in a search where each surviving experiment adds a path. A clause C keeps the sets that hit it, and extends a set S
that misses it by each point of C that leaves every point of S a clause of its own (Berge's algorithm). In a minimal set
at most one point is there for C alone; without it, the set was a minimal one of the former family. So nothing is lost,
found twice or not minimal, and the sets of at most k points come from sets of at most k points. Larger sizes, and sizes
with more sets than are worth holding, are searched from scratch (`cutset.search.hitting_sets`).

Interchangeable points are kept as one *group*, as there. Once most groups are single points, grouping costs more than
it saves; then the family goes over to points, for good.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from math import prod

from cutset.search.bitset import indices, transposed
from cutset.search.hitting_sets import always, choices, minimal_hitting_sets

MAX_SETS = 200_000  # held at once: some 20 MB, and some 20 ms for each further clause
UNGROUP_FROM_SETS = 32  # with fewer sets it does not matter, and later clauses may bring large groups


class HittingSets:
    """The minimal hitting sets of at most `max_size` points of the clauses that were added so far.

    At most `max_sets` of them are held, by size; larger sizes that would not fit are searched when an iteration gets
    there. Work ends early once `may_go_on` says no, which it must not take back. Either way `complete_up_to` is honest:
    each minimal hitting set of at most this size is held, or was served by an iteration since the last clause.
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
        extensions = [(1 << index, ~self._occurrences[index]) for index in indices(elements)]
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
        for index in indices(elements):
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
        return sum(prod(sizes[index] for index in indices(chosen)) for level in self._held for chosen in level)

    def __iter__(self) -> Iterator[int]:
        """The smallest first. After a further clause, an iterator goes on with those of the former family it held."""
        held, groups = self._held, self._groups
        for size in range(self.max_size + 1):
            if size < len(held):
                yield from _in_points(held[size], groups)
                continue
            room = self._max_sets - sum(map(len, held))
            level: list[int] = []
            for chosen in self._search(size) if held is self._held else ():
                if len(level) <= room:
                    level.append(chosen)
                yield from _in_points([chosen], groups)
            if held is not self._held or not self._may_go_on():
                return
            if size == len(held) and len(level) <= room:
                held.append(level)
            self.complete_up_to = max(self.complete_up_to, size)

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
            occurrences = [self._occurrences[index] for index in indices(chosen)]
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
                for point in indices(points):
                    occurrences[point] = occurrence
            self._occurrences = occurrences
            self._groups = None

    def _search(self, size: int) -> Iterator[int]:
        """The sets of elements of this size, from scratch."""
        clauses = self._clauses if self._groups is None else transposed(self._occurrences, len(self._clauses))
        return minimal_hitting_sets(clauses, size, min_size=size, may_go_on=self._may_go_on)


def _in_points(level: list[int], groups: list[int] | None) -> Iterator[int]:
    return iter(level) if groups is None else choices(level, groups)


def _refined(level: list[int], splits: dict[int, int], room: int) -> list[int]:
    """With a group split in two, a set that has it stands for two; stops when there are more than there is room."""
    split = sum(1 << index for index in splits)
    refined: list[int] = []
    for chosen in level:
        variants = [chosen]
        for index in indices(chosen & split):
            swap = 1 << index | 1 << splits[index]
            variants += [variant ^ swap for variant in variants]
        refined += variants
        if len(refined) > room:
            break
    return refined
