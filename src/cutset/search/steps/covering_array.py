"""Chooses the fewest paths such that injecting their complements certifies all that is left: a covering array.

FastFI §3.2.2 injects one small candidate at a time and gets a long, accidental path back. Injecting everything *but* a
chosen path makes that path the survivor's, as short as can be, so that it certifies as many sets as can be. A path has
one healthy point per column (the replicas of one call); a set of points is *open* if it hits every path, chosen or
already seen, and contains no set that is known to fail. We look for the fewest paths that leave no open set of at most
k points, by annealing: change a cell so that an open set misses a path, and keep the change unless it opens more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, log2
from random import Random

from cutset.search.bitset import bits

_COUNTED_SETS = 4_000  # open sets that are told apart; beyond that a plan is just bad
_STEPS_PER_MOVE = 20  # in time, without those that it takes to find what it opens
_FIRST_HEAT, _LAST_HEAT, _COOLING = 1.0, 0.15, 0.9995
_SWAPS = 0.8  # share of moves that exchange two cells; the others change one


def choose_paths(
    columns: Sequence[int], seen: Sequence[int], failing: Sequence[int], max_size: int, *, random: Random, effort: int
) -> list[int]:
    """As few paths as the effort finds; none, if none will do.

    `seen` are paths that are certified already, `failing` the sets that need not be certified. Each column of at most
    `max_size` points must contain one of those: no path misses a whole column. The effort is in steps per cell and per
    point of a set, a microsecond or two each.
    """
    expected = _expected_rows(columns, max_size)
    rows = max(1, expected - len(seen))
    best: list[int] = []
    while 0 < rows <= 2 * expected:
        plan = _Plan(columns, rows, seen, failing, max_size, random)
        if plan.improve(effort * rows * len(columns) * max_size):
            best = plan.paths
            rows -= 1
        elif best:
            break
        else:
            rows += 1
    return best


def _expected_rows(columns: Sequence[int], max_size: int) -> int:
    """What annealing tends to reach, fitted to 2–25 columns of 2–6 points; where the search begins, no more."""
    widest = min(max_size, max(map(int.bit_count, columns)))
    return round(2 * widest + widest / 2 * log2(max(1.0, len(columns) / 2)))


@dataclass(slots=True)
class _Plan:
    """Bit sets of points, but for those in `hits`, which are of rows."""

    columns: Sequence[int]
    rows: int
    seen: Sequence[int]
    failing: Sequence[int]
    max_size: int
    random: Random
    paths: list[int] = field(init=False)
    hits: dict[int, int] = field(init=False)  # by point: the rows, of this plan and then of those seen, that contain it
    _steps: int = 0
    _longest: int = field(init=False)  # no point is in more rows, ever, so that few sets can hit them all

    def __post_init__(self) -> None:
        self.paths = [0] * self.rows
        for column in self.columns:
            self._fill_evenly(column)
        self.hits = {}
        for number, path in enumerate([*self.paths, *self.seen]):
            for point in bits(path):
                self.hits[point] = self.hits.get(point, 0) | 1 << number
        for column in self.columns:
            for point in bits(column):
                self.hits.setdefault(point, 0)
        self._longest = max(map(int.bit_count, self.hits.values()), default=0)

    def improve(self, effort: int) -> bool:
        """Whether a plan that leaves no open set was found."""
        random, heat = self.random, _FIRST_HEAT
        open_sets = self._all_open()
        while self._steps < effort:
            if not open_sets:
                open_sets = self._all_open()  # single moves overlook sets that were not minimal when they opened
                if not open_sets:
                    return True
            heat = max(_LAST_HEAT, heat * _COOLING)
            victim = random.choice(list(bits(random.choice(open_sets))))
            column = next((column for column in self.columns if column & victim), 0)
            cells = self._cells_to_change(victim, column)
            self._steps += _STEPS_PER_MOVE
            if not cells:
                continue
            before = [(row, self.paths[row] & column) for row, _ in cells]
            after = open_sets
            for row, point in cells:
                after = self._set_cell(row, column, point, after)
            growth = len(after) - len(open_sets)
            if growth <= 0 or exp(-growth / (heat * max(1.0, len(open_sets) * 0.02))) > random.random():
                open_sets = after
            else:
                for row, point in before:
                    self._assign(row, column, point)
        return False

    def _fill_evenly(self, column: int) -> None:
        """Each point of the column is in as many rows as the others, those seen included: long rows are few then."""
        load = {point: sum(bool(path & point) for path in self.seen) for point in bits(column)}
        order = list(range(self.rows))
        self.random.shuffle(order)
        for row in order:
            least = min(load.values())
            point = self.random.choice([point for point, number in load.items() if number == least])
            load[point] += 1
            self.paths[row] |= point

    def _cells_to_change(self, victim: int, column: int) -> list[tuple[int, int]]:
        """One cell that shows the victim gets another point; mostly in exchange with a row that has it."""
        showing = [row for row in range(self.rows) if self.paths[row] & victim]
        others = [row for row in range(self.rows) if not self.paths[row] & victim]
        if not showing or column == victim:
            return []
        row = self.random.choice(showing)
        if others and self.random.random() < _SWAPS:
            other = self.random.choice(others)
            return [(row, self.paths[other] & column), (other, victim)]
        rarer = [point for point in bits(column & ~victim) if self.hits[point].bit_count() < self._longest]
        return [(row, self.random.choice(rarer))] if rarer else []

    def _set_cell(self, row: int, column: int, point: int, open_sets: list[int]) -> list[int]:
        """Returns what is open after the change."""
        self._assign(row, column, point)
        path = self.paths[row]
        still_open = [each for each in open_sets if each & path]
        # Newly open is what hits this row by this point alone: all else hit it before.
        opened: list[int] = []
        everything = (1 << self.rows + len(self.seen)) - 1
        self._extend(everything & ~self.hits[point], point, self.max_size - 1, path, opened)
        return still_open + self._without_failing(opened)

    def _assign(self, row: int, column: int, point: int) -> None:
        self.hits[self.paths[row] & column] &= ~(1 << row)
        self.paths[row] = self.paths[row] & ~column | point
        self.hits[point] |= 1 << row

    def _all_open(self) -> list[int]:
        found: list[int] = []
        self._extend((1 << self.rows + len(self.seen)) - 1, 0, self.max_size, 0, found)
        return self._without_failing(found)

    def _without_failing(self, found: list[int]) -> list[int]:
        return [each for each in dict.fromkeys(found) if not any(known & each == known for known in self.failing)]

    def _extend(self, unhit: int, chosen: int, left: int, banned: int, found: list[int]) -> None:
        """Adds to `found` the sets that extend `chosen` by at most `left` points and hit the rows that are unhit."""
        self._steps += 1
        if not unhit:
            found.append(chosen)
            return
        if left == 0 or len(found) > _COUNTED_SETS:
            return
        rows = self.rows
        if left == 1:
            common = ~banned
            while unhit and common:
                row = (unhit & -unhit).bit_length() - 1
                common &= self.paths[row] if row < rows else self.seen[row - rows]
                unhit &= unhit - 1
            found.extend(chosen | point for point in bits(common))
            return
        needed = unhit.bit_count() - (left - 1) * self._longest  # or the others cannot hit the rest
        if needed > self._longest:
            return
        row = (unhit & -unhit).bit_length() - 1
        hits = self.hits
        for point in bits((self.paths[row] if row < rows else self.seen[row - rows]) & ~banned):
            if (hits[point] & unhit).bit_count() >= needed:
                self._extend(unhit & ~hits[point], chosen | point, left - 1, banned, found)
